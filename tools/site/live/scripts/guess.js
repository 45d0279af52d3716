// A guess before the measurement: how many words does a translator get right whose decoder sees one vector?
courseLive.components.guess = ({ box, words }) => {
  const {
    element,
    svg,
    button,
    table,
    fill,
    heat: { number },
  } = courseLive;
  // The shares of right words that the page prints.
  const LENGTHS = [4, 8, 12, 16, 20];
  const MEASURED = { vector: [0.93, 0.63, 0.41, 0.31, 0.24], attention: [1, 1, 1, 1, 1] };

  let revealed = false;

  const sliders = LENGTHS.map(n =>
    element("input", {
      type: "range",
      min: "0",
      max: "1",
      step: "0.01",
      value: "0.5",
      "aria-label": fill(words.length, { n }),
      oninput: () => show(),
    }),
  );
  const plot = element("div", { class: "live-plot" });
  const compared = element("div", { class: "live-scroll" });
  const verdict = element("p", { class: "live-line", role: "status" });
  const reveal = button(
    words.reveal,
    () => {
      revealed = true;
      reveal.hidden = true;
      show();
    },
    { class: "button live-main" },
  );
  box.append(
    element("p", { class: "live-small" }, words.hint),
    element(
      "div",
      { class: "live-sliders" },
      plot,
      sliders.map((slider, i) =>
        element("label", {}, slider, element("span", { "aria-hidden": "true" }, String(LENGTHS[i]))),
      ),
    ),
    element("p", { class: "live-small" }, words.axes),
    reveal,
    verdict,
    compared,
  );

  function draw(guesses) {
    const line = (shares, name) => {
      const points = shares.map((value, i) => [(100 * (i + 0.5)) / LENGTHS.length, 100 * (1 - value)]);
      return [svg("polyline", { class: name, points: points.map(point => point.join(",")).join(" ") })];
    };
    plot.replaceChildren(
      svg(
        "svg",
        { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" },
        [0, 0.5, 1].map(value =>
          svg("line", { x1: 0, x2: 100, y1: 100 - 100 * value, y2: 100 - 100 * value }),
        ),
        line(guesses, "live-guessed"),
        revealed ? Object.entries(MEASURED).map(([name, shares]) => line(shares, `live-by-${name}`)) : [],
      ),
    );
  }

  function show() {
    const guesses = sliders.map(slider => Number(slider.value));
    sliders.forEach((slider, i) => slider.setAttribute("aria-valuetext", number(guesses[i])));
    draw(guesses);
    if (!revealed) return;
    const gaps = guesses.map((guess, i) => Math.abs(guess - MEASURED.vector[i]));
    const worst = gaps.indexOf(Math.max(...gaps));
    verdict.textContent = fill(words.gap, {
      gap: number(gaps.reduce((sum, gap) => sum + gap) / gaps.length),
      n: LENGTHS[worst],
      guess: number(guesses[worst]),
      value: number(MEASURED.vector[worst]),
    });
    const column = (text, name) => element("th", { scope: "col", class: name }, text);
    compared.replaceChildren(
      table(
        "live-counts",
        [
          words.words,
          column(words.yours, "live-guessed"),
          column(words.vector, "live-by-vector"),
          column(words.attention, "live-by-attention"),
        ],
        LENGTHS.map((n, i) => [
          String(n),
          ...[guesses[i], MEASURED.vector[i], MEASURED.attention[i]].map(number),
        ]),
      ),
    );
  }

  show();
};
