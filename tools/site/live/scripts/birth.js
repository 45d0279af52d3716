// The birth of an induction head: what the two layers look at while the page's model is trained. The weights were
// stored by tools/experiments/live_birth.py.
courseLive.components.birth = async ({ box, words }) => {
  const {
    element,
    svg,
    fill,
    heat: { number, share },
    readState,
    writeState,
  } = courseLive;
  const { every, letters, steps } = await courseLive.content("birth-steps");
  const TOKENS = [...letters, ...letters].slice(0, -1);
  const HALF = letters.length;
  // In which squares each layer should have its weight: query t, and its key.
  const FRAMES = [
    { name: "layer_0", from: 1, key: t => t - 1 }, // the token before
    { name: "layer_1", from: HALF, key: t => t - HALF + 1 }, // the token after the earlier copy
  ];

  const last = steps.length - 1;
  const slider = element("input", {
    type: "range",
    min: "0",
    max: String(last),
    "aria-label": words.training,
    oninput: () => show(),
    onchange: () => writeState("birth", { step: slider.value * every }),
  });
  const place = element("output", { class: "live-place" });
  const pictures = FRAMES.map(() => element("div"));
  const summary = element("p", { class: "live-line", role: "status" });
  const next = element("table", { class: "live-copied" });
  const curve = element("div");
  box.append(
    element("p", { class: "live-small" }, fill(words.hint, { letters: [...letters].join(" ") })),
    element("div", { class: "live-stays" }, place, element("label", { class: "live-beta" }, slider)),
    element(
      "div",
      { class: "live-pair" },
      FRAMES.map(({ name }, i) =>
        element("div", {}, element("p", { class: "live-line" }, element("b", {}, words[name])), pictures[i]),
      ),
    ),
    element("p", { class: "live-small" }, words.axes),
    element(
      "div",
      { class: "live-pair" },
      element(
        "div",
        {},
        summary,
        element("p", { class: "live-small" }, words.copied),
        element("div", { class: "live-scroll" }, next),
      ),
      element("div", {}, curve, element("p", { class: "live-small" }, words.curve)),
    ),
  );

  // The weights of all queries on the tokens up to their own; a byte each, row by row.
  function unpack(text) {
    const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
    return TOKENS.map((_, t) =>
      [...bytes.slice((t * (t + 1)) / 2, ((t + 1) * (t + 2)) / 2)].map(byte => byte / 255),
    );
  }

  function map(weights, { from, key }) {
    const square = (x, y, attributes) => svg("rect", { x, y, width: 1, height: 1, ...attributes });
    return svg(
      "svg",
      {
        class: "live-birth-map",
        viewBox: `-1.1 -1.1 ${TOKENS.length + 1.2} ${TOKENS.length + 1.2}`,
        "aria-hidden": "true",
      },
      square(0, 0, { class: "live-gap", width: TOKENS.length, height: TOKENS.length }),
      weights.flatMap((row, t) =>
        row.map((weight, i) => square(i, t, { "fill-opacity": weight.toFixed(3) })),
      ),
      TOKENS.slice(from).map((_, i) => square(key(from + i), from + i, { class: "live-framed" })),
      TOKENS.flatMap((token, i) => [
        svg("text", { x: i + 0.5, y: -0.25, class: "live-key" }, token),
        svg("text", { x: -0.55, y: i + 0.75, class: "live-query" }, token),
      ]),
    );
  }

  function drawCurve(step) {
    const [x, y] = [i => 5 + (90 * i) / last, value => 44 - 40 * value];
    const line = (name, style) =>
      svg("polyline", {
        class: style,
        points: steps.map((one, i) => `${x(i).toFixed(2)},${y(one[name]).toFixed(2)}`).join(" "),
      });
    return svg(
      "svg",
      { class: "live-shares", viewBox: "0 0 100 52", "aria-hidden": "true" },
      svg("line", { x1: x(step), x2: x(step), y1: y(1), y2: y(0) }),
      [0, 1].map(value => svg("text", { x: 0, y: y(value) + 1.5 }, String(value))),
      [0, 10, 20, 30].map(i => svg("text", { x: x(i), y: 51, "text-anchor": "middle" }, String(i * every))),
      line("previous", "live-of-sum"),
      line("stripe", "live-of-delta"),
      svg("circle", { class: "live-of-sum", cx: x(step), cy: y(steps[step].previous), r: 1.8 }),
      svg("circle", { class: "live-of-delta", cx: x(step), cy: y(steps[step].stripe), r: 1.8 }),
    );
  }

  function show() {
    const step = Number(slider.value);
    const one = steps[step];
    place.textContent = fill(words.step, { t: step * every, n: last * every });
    slider.setAttribute("aria-valuetext", place.textContent);
    pictures.forEach((picture, i) => picture.replaceChildren(map(unpack(one.maps[i]), FRAMES[i])));
    summary.textContent = fill(words.told, {
      previous: number(one.previous),
      stripe: number(one.stripe),
      loss: number(one.loss),
    });
    next.replaceChildren(
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          [...letters].slice(1).map(letter => element("th", { scope: "col" }, letter)),
        ),
      ),
      element(
        "tbody",
        {},
        element(
          "tr",
          {},
          one.right.map(value => element("td", { style: { "--share": value } }, share(value))),
        ),
      ),
    );
    curve.replaceChildren(drawCurve(step));
  }

  slider.value = Math.min(last, Math.max(0, Math.round((readState("birth").step ?? 0) / every)));
  show();
};
