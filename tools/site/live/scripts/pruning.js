// Heads are removed one after another: which goes when, how many sentences are still translated exactly, and what
// becomes of one sentence. The curves were measured with the package (tools/experiments/live_pruning.py); the
// sentence is translated here.
courseLive.components.pruning = async ({ box, words }) => {
  const {
    element,
    svg,
    button,
    fill,
    choice,
    readState,
    writeState,
    heat: { number },
  } = courseLive;
  const WAYS = ["leave_one_out", "greedy", "random", "reversed"];
  const SENTENCE = "give me two new hats .";
  const WIDTH = 360; // of the curve; one unit is a pixel on a phone
  const HEIGHT = 190;
  const EDGE = { left: 34, right: 10, top: 10, bottom: 36 };

  const transformer = await courseLive.transformer(words);
  const { network, heads } = transformer;
  const { sentences, importance, ways } = await courseLive.content("pruning-fr");
  const most = ways.random[0].exact.length - 1; // each module keeps a head
  const mostImportant = Math.max(...Object.values(importance));
  const random = Array.from({ length: most + 1 }, (_, k) =>
    ways.random.map(({ exact }) => exact[k] / sentences),
  );
  const mean = numbers => numbers.reduce((sum, value) => sum + value, 0) / numbers.length;

  const asked = readState("pruning");
  let way = WAYS.includes(asked.way) ? asked.way : WAYS[0];
  let draw = asked.draw in ways.random ? Number(asked.draw) : 0; // of the random orders
  let tokens; // the sentence
  let whole; // its translation by the whole network
  let stopSearch = () => {};

  const chosen = () => ways[way][way === "random" ? draw : 0];
  const removed = () => Number(slider.value);

  // --- the parts of the picture -----------------------------------------------------------------------

  const choices = choice({
    legend: words.first,
    name: "live-way",
    options: WAYS.map(name => [name, words[name]]),
    chosen: way,
    onchange: name => {
      way = name;
      drawBars();
      show();
    },
  });
  const again = button(words.draw, () => {
    draw = (draw + 1) % ways.random.length;
    drawBars();
    show();
  });
  const slider = element("input", {
    type: "range",
    min: 0,
    max: most,
    value: asked.removed ?? 0,
    oninput: show,
  });
  const amount = element("output");
  const bars = element("ol", { class: "live-heads-left", "aria-label": words.order });
  const curve = element("div", { class: "live-quality" });
  const quality = element("p", { class: "live-small" });
  const before = element("p", { class: "live-line" });
  const now = element("p", { class: "live-line", role: "status" });
  const unchanged = element("p", { class: "live-stepper live-small live-same", role: "status" });
  choices.append(again);
  box.append(
    element("p", { class: "live-small" }, words.hint),
    choices,
    element("label", { class: "live-beta live-remove" }, words.remove, " ", amount, slider),
    bars,
    element(
      "div",
      { class: "live-columns" },
      element("div", {}, curve, quality),
      element(
        "div",
        {},
        before,
        now,
        unchanged,
        element(
          "div",
          { class: "live-stepper" },
          button(words.another, () => setSentence(transformer.anySentence())),
        ),
      ),
    ),
    courseLive.copyLink(words, tellAddress),
  );

  // --- drawing ----------------------------------------------------------------------------------------

  // The heads in the order in which they go; those that are never removed come last.
  function drawBars() {
    const { order } = chosen();
    const last = heads.map(({ name }) => name).filter(name => !order.includes(name));
    bars.replaceChildren(
      ...[...order, ...last].map(name =>
        element(
          "li",
          {
            class: `live-is-${name[0]}`,
            style: { "--share": Math.max(importance[name], 0) / mostImportant },
          },
          element("span", {}, name),
        ),
      ),
    );
  }

  const across = k => EDGE.left + ((WIDTH - EDGE.left - EDGE.right) * k) / most;
  const up = share => HEIGHT - EDGE.bottom - (HEIGHT - EDGE.top - EDGE.bottom) * share;
  const points = shares => shares.map((share, k) => `${across(k).toFixed(1)},${up(share).toFixed(1)}`);
  const line = (shares, name) => svg("polyline", { class: name, points: points(shares).join(" ") });
  const text = (x, y, content, anchor) => svg("text", { x, y, "text-anchor": anchor }, content);

  function drawCurve() {
    const shares = chosen().exact.map(right => right / sentences);
    const k = removed();
    const highest = points(random.map(all => Math.max(...all)));
    const lowest = points(random.map(all => Math.min(...all)));
    curve.replaceChildren(
      element(
        "svg:svg",
        { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" },
        svg("polygon", { class: "live-luck", points: [...highest, ...lowest.reverse()].join(" ") }),
        [0, 0.5, 1].map(share => [
          svg("line", { x1: EDGE.left, x2: WIDTH - EDGE.right, y1: up(share), y2: up(share) }),
          text(EDGE.left - 6, up(share) + 4, number(share), "end"),
        ]),
        Array.from({ length: most / 6 + 1 }, (_, i) =>
          text(across(6 * i), HEIGHT - EDGE.bottom + 16, 6 * i, "middle"),
        ),
        text(across(most / 2), HEIGHT - 4, words.axis, "middle"),
        line(random.map(mean), "live-mean"),
        line(shares, "live-ahead"),
        line(shares.slice(0, k + 1), "live-done"),
        svg("circle", { cx: across(k), cy: up(shares[k]), r: 5 }),
      ),
    );
    const all = random[k];
    const numbers = {
      n: k,
      share: number(shares[k]),
      mean: number(mean(all)),
      low: number(Math.min(...all)),
      high: number(Math.max(...all)),
      draws: all.length,
    };
    quality.textContent = fill(words.quality, numbers);
    slider.setAttribute("aria-valuetext", quality.textContent);
    amount.textContent = fill(words.amount, { n: k, all: heads.length });
  }

  // --- what happens -----------------------------------------------------------------------------------

  const options = () => {
    const gone = chosen().order.slice(0, removed());
    return { off: new Set(heads.filter(({ name }) => gone.includes(name)).map(({ key }) => key)) };
  };

  function show() {
    stopSearch();
    again.hidden = way !== "random";
    [...bars.children].forEach((bar, i) => bar.classList.toggle("live-gone", i < removed()));
    drawCurve();
    const result = network.translate(tokens, options());
    now.replaceChildren(
      fill(words.heads_off, { n: removed() }),
      " ",
      transformer.compared(result.tokens, whole.tokens),
    );
    const isSame = removed() > 0 && result.tokens.join(" ") === whole.tokens.join(" ");
    const chances = {
      before: transformer.shown(transformer.chance(whole)),
      now: transformer.shown(transformer.chance(result)),
    };
    unchanged.replaceChildren(
      ...(isSame
        ? [`${words.unchanged} ${fill(words.chance, chances)}`, button(words.find_changed, find)]
        : []),
    );
    tellAddress();
  }

  function tellAddress() {
    writeState("pruning", {
      way,
      removed: removed(),
      draw: way === "random" ? draw : "",
      sentence: tokens.join(" "),
    });
  }

  function find() {
    stopSearch();
    stopSearch = transformer.findChanged(options(), setSentence, unchanged);
  }

  function setSentence(sentence) {
    tokens = sentence;
    whole = network.translate(tokens);
    before.replaceChildren(...transformer.asTrained(tokens, whole.tokens));
    show();
  }

  drawBars();
  setSentence((asked.sentence ?? SENTENCE).split(" "));
};
