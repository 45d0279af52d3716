// Attention pooling in the plane: a query that can be dragged, keys, weights, and the output among the values.
courseLive.components.pooling = ({ box, words }) => {
  const {
    element,
    svg,
    button,
    table,
    slider,
    fill,
    softmax,
    pool,
    legible,
    heat: { bar, number, share, pair },
  } = courseLive;
  // Keys and queries are those of the page's first figure; two, new and hats have the values of its example by hand.
  const TOKENS = [
    { token: "give", key: [-2, 0], value: [0, 0] },
    { token: "me", key: [-1, -1], value: [6, 2] },
    { token: "two", key: [0, 2], value: [10, 10] },
    { token: "new", key: [1, 1], value: [0, 10] },
    { token: "hats", key: [2, 0], value: [10, 0] },
    { token: ".", key: [0, -2], value: [4, 7] },
  ];
  const QUERIES = { deux: [0.5, 1.5], chapeaux: [1.5, 0.5] };
  const EDGE = 3; // of the plane of keys, on each side
  const STEP = 0.1; // of an arrow key; five times as much with Shift
  const HULL = ["give", "hats", "two", "new"]; // the corners among the values

  let query = [...QUERIES.chapeaux];
  let beta = 1;

  const text = (x, y, token, name) =>
    svg("text", { x, y, class: name, "text-anchor": "middle" }, legible(token, words));
  const line = ([x, y], name) =>
    svg("line", { x1: 0, y1: 0, x2: x, y2: -y, class: name, "marker-end": `url(#live-arrow-${name})` });
  const marker = name =>
    svg(
      "marker",
      {
        id: `live-arrow-${name}`,
        viewBox: "0 0 8 8",
        refX: 7,
        refY: 4,
        markerWidth: 6,
        markerHeight: 6,
        orient: "auto",
      },
      svg("path", { d: "M0 0 8 4 0 8z", class: `${name} live-filled` }),
    );

  // --- the plane of keys and query: y grows upwards, so it is turned round for the drawing ------------------

  const grid = [-2, -1, 0, 1, 2].flatMap(i => [
    svg("line", { x1: i, x2: i, y1: -EDGE, y2: EDGE, class: "live-grid" }),
    svg("line", { y1: i, y2: i, x1: -EDGE, x2: EDGE, class: "live-grid" }),
  ]);
  const keys = TOKENS.map(({ key }) => line(key, "live-key"));
  const keyNames = TOKENS.map(({ token, key: [x, y] }) =>
    text(x, y > 0 ? -y - 0.2 : -y + 0.42, token, "live-key live-filled"),
  );
  const arrow = line(query, "live-query");
  const handle = svg("circle", { class: "live-handle", r: 0.2 });
  const reach = svg("circle", {
    class: "live-reach",
    r: 0.55,
    tabindex: "0",
    role: "slider",
    "aria-label": words.query,
    "aria-valuemin": -EDGE,
    "aria-valuemax": EDGE,
  });
  const plane = svg(
    "svg",
    { viewBox: `${-EDGE} ${-EDGE} ${2 * EDGE} ${2 * EDGE}`, class: "live-plane" },
    svg("defs", {}, marker("live-key"), marker("live-query")),
    grid,
    keys,
    arrow,
    handle,
    reach,
    keyNames,
  );

  // --- the plane of values and output ---------------------------------------------------------------------

  const at = ([x, y]) => [x, 10 - y];
  const corners = HULL.map(name => at(TOKENS.find(({ token }) => token === name).value).join(" ")).join(" ");
  const pulls = TOKENS.map(({ value }) =>
    svg("line", { x1: at(value)[0], y1: at(value)[1], class: "live-pull" }),
  );
  const dots = TOKENS.map(({ value }) =>
    svg("circle", { cx: at(value)[0], cy: at(value)[1], class: "live-value live-filled" }),
  );
  const names = TOKENS.map(({ token, value }) =>
    text(at(value)[0], at(value)[1] + (value[1] > 5 ? -1.1 : 1.7), token, "live-value live-filled"),
  );
  const output = svg("circle", { r: 0.42, class: "live-output live-filled" });
  const values = svg(
    "svg",
    { viewBox: "-2 -2 14 14", class: "live-plane", "aria-hidden": "true" },
    svg("polygon", { points: corners, class: "live-hull" }),
    pulls,
    dots,
    names,
    output,
  );

  // --- controls and numbers -------------------------------------------------------------------------------

  const { field, input, display } = slider(
    words.beta,
    {
      min: "0",
      max: "10",
      step: "0.05",
      value: String(beta),
      oninput: () => {
        beta = Number(input.value);
        update();
      },
    },
    [words.mean, words.lookup],
  );
  const ask = Object.entries(QUERIES).map(([token, vector]) =>
    button(token, () => move(...vector), { lang: "fr" }),
  );
  const numbers = element("div", {});
  const sum = element("p", { class: "live-line" });
  const figure = (picture, caption) =>
    element("div", {}, picture, element("p", { class: "live-small" }, caption));
  box.append(
    element(
      "p",
      { class: "live-small" },
      words.drag,
      element("span", { class: "live-keys" }, " ", words.keys),
    ),
    element("div", { class: "live-stepper" }, element("span", { class: "live-small" }, words.ask), ask),
    element("div", { class: "live-pair" }, figure(plane, words.plane), figure(values, words.values)),
    field,
    numbers,
    sum,
  );

  function update() {
    const scores = TOKENS.map(({ key }) => key[0] * query[0] + key[1] * query[1]);
    const weights = softmax(scores.map(score => beta * score));
    const pooled = pool(
      weights,
      TOKENS.map(({ value }) => value),
    );
    const [x, y] = query;
    arrow.setAttribute("x2", x);
    arrow.setAttribute("y2", -y);
    for (const circle of [handle, reach]) {
      circle.setAttribute("cx", x);
      circle.setAttribute("cy", -y);
    }
    Object.values(QUERIES).forEach((preset, i) =>
      ask[i].setAttribute("aria-pressed", String(preset.join() === query.join())),
    );
    reach.setAttribute("aria-valuenow", x);
    reach.setAttribute("aria-valuetext", pair(query.map(number)));
    const [left, top] = at(pooled);
    output.setAttribute("cx", left);
    output.setAttribute("cy", top);
    TOKENS.forEach((_, i) => {
      pulls[i].setAttribute("x2", left);
      pulls[i].setAttribute("y2", top);
      pulls[i].setAttribute("stroke-opacity", weights[i]);
      dots[i].setAttribute("r", 0.15 + 0.75 * Math.sqrt(weights[i])); // the area says the weight
    });
    display.textContent = fill(words.temperature, { beta: number(beta), t: beta ? number(1 / beta) : "∞" });
    input.setAttribute("aria-valuetext", number(beta));
    numbers.replaceChildren(
      table(
        "live-scores",
        [words.token, words.score, words.weight, words.value],
        TOKENS.map(({ token, value }, i) => [
          element("th", { scope: "row", lang: "en" }, legible(token, words)),
          number(scores[i]),
          [element("span", { class: "live-amount" }, share(weights[i])), bar(weights[i])],
          pair(value),
        ]),
      ),
    );
    sum.replaceChildren(
      words.output,
      " ",
      element("b", { class: "live-output" }, pair(Array.from(pooled, number))),
    );
  }

  // --- moving the query -----------------------------------------------------------------------------------

  function move(x, y) {
    query = [x, y].map(value => Math.max(-EDGE + 0.2, Math.min(EDGE - 0.2, value)));
    update();
  }

  function toPointer(event) {
    const { left, top, width, height } = plane.getBoundingClientRect();
    move(
      (((event.clientX - left) / width) * 2 - 1) * EDGE,
      (1 - ((event.clientY - top) / height) * 2) * EDGE,
    );
  }

  reach.addEventListener("pointerdown", event => reach.setPointerCapture(event.pointerId));
  reach.addEventListener("pointermove", event => {
    if (reach.hasPointerCapture(event.pointerId)) toPointer(event);
  });
  plane.addEventListener("click", event => {
    if (event.target !== reach) toPointer(event);
  });
  reach.addEventListener("keydown", event => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!way) return;
    event.preventDefault();
    const far = STEP * (event.shiftKey ? 5 : 1);
    move(...query.map((value, i) => Math.round((value + way[i] * far) * 100) / 100));
  });

  update();
};
