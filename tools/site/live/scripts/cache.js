// Writing a sentence without and with a key-value cache: what each step computes, and what is kept.
courseLive.components.cache = ({ box, words }) => {
  const { element, button, table, fill, legible, whole } = courseLive;
  const TOKENS = ["<bos>", "donne-moi", "deux", "chapeaux", "neufs", "."];
  // As the layer of the page: floating-point operations of four projections of a token, and of one query and key.
  const [WIDTH, PROJECTIONS, PAIR] = [64, 4 * 64 * 64 * 2, 2 * 64 * 2];
  const VARIANTS = ["without", "with"];

  let current = 0; // the token that is read in this step

  const operations = {
    // of step t, which reads token t
    without: t => t * (PROJECTIONS + PAIR * t),
    with: t => PROJECTIONS + PAIR * t,
  };
  const total = (name, t) => [...Array(t).keys()].reduce((sum, i) => sum + operations[name](i + 1), 0);

  // "now" is computed in this step, "masked" too, but then masked; "kept" was computed before, "" is not there.
  const stateOf = {
    without: i => (i <= current ? "now" : ""),
    with: i => (i === current ? "now" : i < current ? "kept" : ""),
  };

  const back = button(words.back, () => show(current - 1));
  const forward = button(words.forward, () => show(current + 1));
  const place = element("output", { class: "live-place" });
  const panels = VARIANTS.map(() => element("div"));
  const counts = element("div", { class: "live-scroll", role: "status" });
  const key = kind =>
    element(
      "span",
      { class: "live-legend" },
      element("span", { class: `live-spot live-${kind}` }),
      words[kind],
    );
  box.append(
    element("div", { class: "live-stepper" }, back, place, forward),
    element("div", { class: "live-stepper" }, key("now"), key("kept"), key("masked")),
    element("div", { class: "live-pair" }, panels),
    counts,
  );

  // Three lines of what is projected, and a square of which query meets which key.
  function drawPanel(name) {
    const spot = (kind, color = "") =>
      element("span", { class: `live-spot ${kind ? `live-${kind}` : "live-none"} ${color}` });
    const line = (label, color, state) => [
      element("i", {}, label),
      TOKENS.map((_, i) => spot(state(i), color)),
    ];
    const queries = name === "without" ? stateOf.without : i => (i === current ? "now" : "");
    const pairs = TOKENS.map((token, t) => [
      element("span", { lang: "fr" }, legible(token, words)),
      TOKENS.map((_, i) => spot(i <= current && queries(t) ? (i <= t ? "now" : "masked") : "")),
    ]);
    return [
      element("p", { class: "live-line" }, element("b", {}, words[name])),
      element(
        "div",
        { class: "live-board", "aria-hidden": "true" },
        line("q", "live-of-query", queries),
        line("k", "live-of-key", stateOf[name]),
        line("v", "live-of-value", stateOf[name]),
      ),
      element("p", { class: "live-small" }, words.pairs),
      element("div", { class: "live-board", "aria-hidden": "true" }, pairs),
    ];
  }

  function show(step) {
    current = step;
    const t = step + 1;
    back.disabled = step === 0;
    forward.disabled = t === TOKENS.length;
    place.textContent = fill(words.step, { t, n: TOKENS.length });
    panels.forEach((panel, i) => panel.replaceChildren(...drawPanel(VARIANTS[i])));
    const lines = [
      [words.projected, t, 1],
      [words.operations, operations.without(t), operations.with(t)],
      [words.so_far, total("without", t), total("with", t)],
      [words.stored, 0, 2 * WIDTH * t],
    ];
    counts.replaceChildren(
      table(
        "live-counts",
        ["", ...VARIANTS.map(name => words[name])],
        lines.map(([label, ...numbers]) => [label, ...numbers.map(whole)]),
      ),
    );
  }

  show(3); // where the two differ already
};
