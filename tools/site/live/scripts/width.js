// What the width of query and keys does to scores, weights and gradient, with and without the division by √d.
courseLive.components.width = ({ box, words }) => {
  const {
    element,
    svg,
    button,
    table,
    slider,
    fill,
    softmax,
    normals,
    heat: { number, local },
  } = courseLive;
  const KEYS = 10;
  const WIDEST = 10; // the slider's last step: 2 ** 10
  const MORE = 20; // draws that one press adds
  const MAX_DRAWS = 60;
  const AXIS = 20; // of the scores; what is larger leaves the picture
  const [SMALLEST, LARGEST] = [-6, 2]; // powers of ten on the axis of the gradients
  const VARIANTS = [
    ["plain", () => 1],
    ["scaled", d => 1 / Math.sqrt(d)],
  ];

  let power = 6; // d is 2 ** power
  let draws = []; // the last one is shown

  const draw = () => ({
    query: normals(2 ** WIDEST),
    keys: Array.from({ length: KEYS }, () => normals(2 ** WIDEST)),
    values: normals(KEYS), // one number a key
  });

  // Scores, weights and the length of ∂o/∂q = β Σ αᵢ (vᵢ − o) kᵢ, from the first d numbers of each vector.
  function attend({ query, keys, values }, d, beta) {
    const scores = keys.map(key => {
      let sum = 0;
      for (let j = 0; j < d; j += 1) sum += query[j] * key[j];
      return beta * sum;
    });
    const weights = softmax(scores);
    const output = weights.reduce((sum, weight, i) => sum + weight * values[i], 0);
    const pushes = weights.map((weight, i) => beta * weight * (values[i] - output));
    let squares = 0;
    for (let j = 0; j < d; j += 1)
      squares += pushes.reduce((sum, push, i) => sum + push * keys[i][j], 0) ** 2;
    return { scores, weights, gradient: Math.sqrt(squares) };
  }

  const bars = (numbers, top, bottom, name) =>
    svg(
      "svg",
      {
        viewBox: `0 0 ${KEYS} 1`,
        preserveAspectRatio: "none",
        class: `live-bars ${name}`,
        "aria-hidden": "true",
      },
      numbers.flatMap((value, i) => {
        const high = (top - Math.max(value, 0)) / (top - bottom);
        const low = (top - Math.min(value, 0)) / (top - bottom);
        const bar = svg("rect", { x: i + 0.1, width: 0.8, y: high, height: Math.max(low - high, 0.008) });
        const gap = y => svg("rect", { class: "live-gap", x: i, width: 1, y, height: 0.04 });
        return value > top ? [bar, gap(0.08)] : value < bottom ? [bar, gap(0.88)] : bar;
      }),
    );
  const small = value =>
    value >= 0.01 ? number(value) : value >= 0.0001 ? local(value.toFixed(4)) : local(value.toExponential(0));

  const { field, input, display } = slider(
    words.width,
    {
      min: "0",
      max: String(WIDEST),
      value: String(power),
      oninput: () => {
        power = Number(input.value);
        update();
      },
    },
    ["1", String(2 ** WIDEST)],
  );
  const columns = VARIANTS.map(() => element("div"));
  const numbers = element("div", { class: "live-scroll" });
  const again = count => {
    draws.push(...Array.from({ length: count }, draw));
    draws = draws.slice(-MAX_DRAWS);
    update();
  };
  box.append(
    element("p", { class: "live-small" }, words.hint, " ", words.gap),
    field,
    element(
      "div",
      { class: "live-stepper" },
      button(words.draw, () => again(1)),
      button(fill(words.draws, { n: MORE }), () => again(MORE)),
    ),
    element("div", { class: "live-pair live-narrow" }, columns),
    element("details", {}, element("summary", {}, words.numbers), numbers),
  );

  // All gradients that were drawn, on an axis of powers of ten; the last one is filled.
  function gradientAxis(gradients) {
    const at = value => Math.max(0, Math.min(1, (Math.log10(value) - SMALLEST) / (LARGEST - SMALLEST)));
    const ticks = [];
    for (let i = SMALLEST; i <= LARGEST; i += 2)
      ticks.push(
        svg("line", { x1: at(10 ** i) * 100, x2: at(10 ** i) * 100, y1: 0, y2: 12, class: "live-tick" }),
      );
    const dots = gradients.map((gradient, i) =>
      svg("circle", {
        cx: at(gradient) * 100,
        cy: 6,
        r: 2,
        class: i === gradients.length - 1 ? "live-last" : "",
      }),
    );
    return svg("svg", { viewBox: "-3 0 106 12", class: "live-axis", "aria-hidden": "true" }, ticks, dots);
  }

  function update() {
    const d = 2 ** power;
    display.textContent = `d = ${d}`;
    input.setAttribute("aria-valuetext", String(d));
    const results = VARIANTS.map(([, beta]) => draws.map(one => attend(one, d, beta(d))));
    VARIANTS.forEach(([name], i) => {
      const { scores, weights, gradient } = results[i].at(-1);
      const sorted = results[i].map(one => one.gradient).sort((a, b) => a - b);
      const line = text => element("p", { class: "live-small" }, text);
      columns[i].replaceChildren(
        element("p", { class: "live-line" }, element("b", {}, words[name])),
        element(
          "p",
          { class: "live-small live-ends" },
          element("span", {}, words.score),
          element("span", {}, `−${AXIS} … ${AXIS}`),
        ),
        bars(scores, AXIS, -AXIS, "live-of-scores"),
        line(fill(words.largest, { weight: number(Math.max(...weights)) })),
        bars(weights, 1, 0, "live-of-weights"),
        line(fill(words.gradient, { length: small(gradient) })),
        gradientAxis(results[i].map(one => one.gradient)),
        element(
          "p",
          { class: "live-ends", "aria-hidden": "true" },
          element("span", {}, "10⁻⁶"),
          element("span", {}, "10²"),
        ),
        line(
          sorted.length < 2
            ? "\u00a0"
            : fill(words.median, {
                n: sorted.length,
                median: small(sorted[Math.floor((sorted.length - 1) / 2)]),
              }),
        ),
      );
    });
    const [plain, scaled] = results.map(result => result.at(-1));
    numbers.replaceChildren(
      table(
        "live-scores",
        [words.key, ...VARIANTS.flatMap(([name]) => [`${words[name]}: ${words.score}`, words.weight])],
        plain.scores.map((score, i) => [
          String(i),
          ...[score, plain.weights[i], scaled.scores[i], scaled.weights[i]].map(number),
        ]),
      ),
    );
  }

  again(1);
};
