// The way of a tensor into heads and back: every number keeps its colour while `view` and `transpose` move it.
courseLive.components.split = ({ box, words }) => {
  const { element, button, fill } = courseLive;
  const TOKENS = ["two", "new", "hats"];
  const [HEADS, SIZE] = [2, 2];
  const WIDTH = HEADS * SIZE;
  const CELLS = TOKENS.flatMap((token, t) =>
    [...Array(WIDTH).keys()].map(feature => ({ token, t, feature, head: Math.floor(feature / SIZE) })),
  );

  // What a step shows: the code, the shape with its names, and the order in which the numbers are read.
  const rowMajor = CELLS.map((_, i) => i);
  const byHead = [...rowMajor].sort((a, b) => CELLS[a].head - CELLS[b].head || a - b);
  const whole = { shape: [3, 4], names: "(tokens, num_hiddens)", order: rowMajor };
  const cut = { shape: [3, 2, 2], names: "(tokens, heads, head_dim)", order: rowMajor };
  const WAYS = {
    right: [
      { ...whole, code: "K", words: words.whole },
      { ...cut, code: "K.view(3, 2, 2)", words: words.view },
      {
        shape: [2, 3, 2],
        names: "(heads, tokens, head_dim)",
        order: byHead,
        code: "K.view(3, 2, 2).transpose(0, 1)",
        words: words.transpose,
      },
      { ...cut, code: "heads.transpose(0, 1)", words: words.back_again },
      { ...whole, code: "heads.transpose(0, 1).reshape(3, 4)", words: words.join },
    ],
    wrong: [
      { ...whole, code: "K", words: words.whole },
      {
        shape: [2, 3, 2],
        names: "(heads, tokens, head_dim)",
        order: rowMajor,
        code: "K.view(2, 3, 2)",
        words: words.mixed,
      },
    ],
  };

  let way = "right";
  let current = 0;

  const back = button(words.back, () => show(current - 1));
  const forward = button(words.forward, () => show(current + 1));
  const place = element("output", { class: "live-place" });
  const leave = element("input", {
    type: "checkbox",
    onchange: () => {
      way = leave.checked ? "wrong" : "right";
      show(leave.checked ? 1 : 2);
    },
  });
  const code = element("code");
  const shape = element("span");
  const explanation = element("p", { class: "live-line" });
  const cells = CELLS.map(({ token, feature, head }) =>
    element("span", { class: `live-cell live-head-${head}` }, token, element("sub", {}, String(feature))),
  );
  const frames = [...Array(TOKENS.length)].map(() => element("span", { class: "live-frame" }));
  const stage = element("div", { class: "live-stage", "aria-hidden": "true" }, frames, cells);
  const printed = element("p", { class: "live-printed", role: "status" });
  box.append(
    element(
      "div",
      { class: "live-stepper" },
      back,
      place,
      forward,
      element("label", { class: "live-check" }, leave, " ", words.leave),
    ),
    element("p", { class: "live-line" }, code, " ", shape),
    explanation,
    stage,
    element("details", {}, element("summary", {}, words.printed), printed),
  );

  // As `print` shows a tensor: the first of three axes makes blocks, then come rows and columns.
  function layOut({ shape: sizes, order }) {
    const [blocks, rows, columns] = sizes.length === 3 ? sizes : [1, ...sizes];
    order.forEach((cell, i) => {
      const block = Math.floor(i / (rows * columns));
      const row = Math.floor(i / columns);
      cells[cell].style.setProperty("--x", i % columns);
      cells[cell].style.setProperty("--y", row + block * 0.4);
    });
    frames.forEach((frame, block) => {
      frame.hidden = block >= blocks;
      frame.style.setProperty("--y", block * (rows + 0.4));
      frame.style.setProperty("--rows", rows);
      frame.style.setProperty("--columns", columns);
    });
  }

  // Rows stand below each other, and an empty line parts the blocks.
  function asText({ shape: sizes, order }) {
    let parts = order.map(cell => `${CELLS[cell].token}${CELLS[cell].feature}`);
    for (const [level, size] of [...sizes].reverse().entries()) {
      const gap = level ? "\n".repeat(level) + " ".repeat(sizes.length - level) : " ";
      parts = parts.flatMap((_, i) => (i % size ? [] : [`[${parts.slice(i, i + size).join(gap)}]`]));
    }
    return parts[0];
  }

  function show(step) {
    current = step;
    const steps = WAYS[way];
    const { code: line, names, shape: sizes, words: text } = steps[step];
    back.disabled = step === 0;
    forward.disabled = step === steps.length - 1;
    place.textContent = fill(words.step, { t: step + 1, n: steps.length });
    code.textContent = line;
    shape.textContent = `(${sizes.join(", ")}) = ${names}`;
    explanation.textContent = text;
    printed.textContent = asText(steps[step]);
    layOut(steps[step]);
  }

  show(0);
};
