// A text read token by token through a sliding window: what each query sees, and which place of the rolling cache
// is overwritten.
courseLive.components.window = ({ box, words }) => {
  const { element, button, table, fill, legible, choice, whole, readState, writeState } = courseLive;
  const TOKENS = ["this", "chair", "is", "very", "big", ".", "<eos>", "did", "he", "buy", "the", "green"];
  const WIDTHS = [3, 4, 6];
  const NUMBERS = 2 * 64; // of a key and a value, in one head of width 64
  const LATER = 100000; // tokens, for the last row of the table

  const asked = readState("window");
  let width = WIDTHS.includes(Number(asked.width)) ? Number(asked.width) : 4;
  let current; // the token that is read in this step

  const first = (t, layers) => Math.max(0, t - layers * (width - 1)); // the earliest token that reaches token t
  const readWithout = t => t + 1; // keys that the query of token t meets
  const readWith = t => Math.min(t + 1, width);
  const upTo = (count, t) => [...Array(t + 1).keys()].reduce((sum, i) => sum + count(i), 0);

  // The token at each place of the cache after token t: the newest one that belongs there.
  const cache = t => [...Array(width).keys()].map(place => t - ((((t - place) % width) + width) % width));

  const back = button(words.back, () => show(current - 1));
  const forward = button(words.forward, () => show(current + 1));
  const place = element("output", { class: "live-place" });
  const key = (kind, label) =>
    element("span", { class: "live-legend" }, element("span", { class: `live-spot live-${kind}` }), label);
  const mask = element("div", { class: "live-board", "aria-hidden": "true" });
  const slots = element("table", { class: "live-slots" });
  const stored = element("p", { class: "live-line" });
  const reach = element("p", { class: "live-line" });
  const counts = element("div", { class: "live-scroll" });
  box.append(
    element("div", { class: "live-stepper live-stays" }, back, place, forward),
    choice({
      legend: words.width,
      name: "live-window",
      chosen: width,
      options: WIDTHS.map(w => [w, String(w)]),
      onchange: w => {
        width = w;
        show(current);
      },
    }),
    element(
      "div",
      { class: "live-pair" },
      element(
        "div",
        {},
        element("p", { class: "live-small" }, words.pairs),
        mask,
        element(
          "div",
          { class: "live-stepper" },
          key("now", words.seen),
          key("kept", words.reached),
          key("none", words.lost),
        ),
      ),
      element(
        "div",
        { role: "status" },
        element("p", { class: "live-line" }, element("b", {}, words.rolling)),
        element("div", { class: "live-scroll" }, slots),
        stored,
        reach,
      ),
    ),
    counts,
    element("p", { class: "live-small" }, words.head),
  );

  const label = t => [legible(TOKENS[t], words), element("sub", {}, String(t))];

  function maskRow(t) {
    const kind = i =>
      t > current || i > t ? "empty" : i >= first(t, 1) ? "now" : i >= first(t, 2) ? "kept" : "none";
    return [
      element("span", { lang: "en", class: t === current ? "live-of-query" : "" }, label(t)),
      TOKENS.map((_, i) =>
        element("span", {
          class: `live-spot live-${kind(i)} ${t === current ? "live-of-query" : ""}`,
        }),
      ),
    ];
  }

  function slot(token) {
    if (token < 0) return element("td", {}, "–");
    return element("td", { lang: "en", class: token === current ? "live-newest" : false }, label(token));
  }

  function show(step) {
    current = step;
    writeState("window", { width, token: step });
    back.disabled = step === 0;
    forward.disabled = step === TOKENS.length - 1;
    place.textContent = fill(words.step, { t: step + 1, n: TOKENS.length });
    mask.replaceChildren(...TOKENS.flatMap((_, t) => maskRow(t)).flat());
    slots.replaceChildren(
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          cache(step).map((_, i) => element("th", { scope: "col" }, fill(words.slot, { i }))),
        ),
      ),
      element("tbody", {}, element("tr", {}, cache(step).map(slot))),
    );
    const old = step - width;
    stored.textContent = fill(old < 0 ? words.free : words.overwrites, {
      t: step,
      w: width,
      i: step % width,
      old,
    });
    reach.textContent = fill(words.reach, { t: step, from: first(step, 2) });
    const rows = [
      [words.read, readWithout(step), readWith(step)],
      [words.so_far, upTo(readWithout, step), upTo(readWith, step)],
      [words.stored, NUMBERS * readWithout(step), NUMBERS * readWith(step)],
      [fill(words.later, { n: whole(LATER) }), NUMBERS * LATER, NUMBERS * width],
    ];
    counts.replaceChildren(
      table(
        "live-counts",
        ["", words.without, fill(words.with, { w: width })],
        rows.map(([name, ...numbers]) => [name, ...numbers.map(whole)]),
      ),
    );
  }

  show(asked.token in TOKENS ? Number(asked.token) : 8); // which comes to a place that has been taken twice
};
