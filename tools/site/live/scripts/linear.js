// The table of linear attention: pairs of a key and a value are written into it, by the plain sum or the delta rule,
// and each key is looked up again.
courseLive.components.linear = ({ box, words }) => {
  const {
    element,
    svg,
    button,
    fill,
    choice,
    normals,
    heat: { bar, number },
  } = courseLive;
  const SIZE = 8; // components of a key, and classes of the values, which are one-hot
  const PAIRS = 32; // at most
  const MORE = 8; // pairs that one press adds
  const [DRAWS, POINTS] = [40, 8]; // of a curve
  const RULES = ["sum", "delta"];

  const dot = (a, b) => {
    let sum = 0;
    for (let i = 0; i < SIZE; i += 1) sum += a[i] * b[i];
    return sum;
  };
  const empty = () => Array.from({ length: SIZE }, () => new Float64Array(SIZE));
  const read = (table, query) => table.map(row => dot(row, query));
  const largest = numbers => numbers.indexOf(Math.max(...numbers));

  function write(table, { key, right }, rule) {
    const before = rule === "delta" ? read(table, key) : Array(SIZE).fill(0);
    table.forEach((row, c) =>
      key.forEach((component, i) => {
        row[i] += ((c === right ? 1 : 0) - before[c]) * component;
      }),
    );
  }

  function drawPair() {
    const numbers = normals(SIZE);
    const length = Math.sqrt(dot(numbers, numbers));
    return { key: numbers.map(value => value / length), right: Math.floor(Math.random() * SIZE) };
  }
  const drawPairs = () => Array.from({ length: PAIRS }, drawPair);
  const shareRight = (table, pairs) =>
    pairs.filter(({ key, right }) => largest(read(table, key)) === right).length / pairs.length;

  // The share of right answers after 4, 8, … pairs, averaged over random draws.
  const pairsAt = point => (PAIRS * (point + 1)) / POINTS;
  function averageShares(rule, draws) {
    const tables = draws.map(empty);
    return [...Array(POINTS).keys()].map(point => {
      const shares = draws.map((pairs, i) => {
        pairs.slice(pairsAt(point - 1), pairsAt(point)).forEach(pair => write(tables[i], pair, rule));
        return shareRight(tables[i], pairs.slice(0, pairsAt(point)));
      });
      return shares.reduce((sum, share) => sum + share) / draws.length;
    });
  }

  let rule = "sum";
  let pairs; // of this table; `right` is the class that was written last for a key
  let count; // how many of them are written
  let writes; // all writes in their order
  let asked = 0; // the pair whose key is the query
  const draws = Array.from({ length: DRAWS }, drawPairs);
  const curves = RULES.map(name => averageShares(name, draws));

  const one = button(words.write, () => add(1));
  const more = button(fill(words.more, { n: MORE }), () => add(MORE));
  const table = element("table", { class: "live-heat live-state" });
  const verdict = element("p", { class: "live-line", role: "status" });
  const chips = element("div", { class: "live-asked" });
  const summary = element("p", { class: "live-line" });
  const picture = element("div");
  box.append(
    element("p", { class: "live-small" }, fill(words.hint, { d: SIZE })),
    choice({
      legend: words.rule,
      name: "live-linear",
      chosen: rule,
      options: RULES.map(name => [name, words[name]]),
      onchange: name => {
        rule = name;
        show();
      },
    }),
    element("div", { class: "live-stepper" }, one, more, button(words.again, restart)),
    element(
      "div",
      { class: "live-pair" },
      element(
        "div",
        {},
        element("div", { class: "live-scroll" }, table),
        element("p", { class: "live-small" }, words.colours),
        verdict,
        button(words.overwrite, overwrite),
      ),
      element(
        "div",
        {},
        element("p", { class: "live-small" }, words.ask),
        chips,
        summary,
        picture,
        element("p", { class: "live-small" }, fill(words.curve, { draws: DRAWS, d: SIZE })),
      ),
    ),
  );

  function restart() {
    [pairs, count, writes, asked] = [drawPairs(), 0, [], 0];
    add(3);
  }

  function add(n) {
    const fresh = pairs.slice(count, count + n);
    writes.push(...fresh.map(pair => ({ ...pair })));
    count += fresh.length;
    show();
  }

  function overwrite() {
    pairs[asked].right = (pairs[asked].right + 1 + Math.floor(Math.random() * (SIZE - 1))) % SIZE;
    writes.push({ ...pairs[asked] });
    show();
  }

  const shade = value =>
    element(
      "td",
      { class: value < 0 ? "live-minus" : false, style: { "--share": Math.min(1, Math.abs(value)) } },
      element("span", { class: "hidden" }, number(value)),
    );

  function drawTable(state, query, answer) {
    const best = largest(answer);
    const row = (numbers, c) =>
      element(
        "tr",
        { class: c === best ? "live-best" : false },
        element("th", { scope: "row" }, String(c)),
        [...numbers].map(shade),
        element(
          "td",
          { class: c === pairs[asked].right ? "live-answer live-written-class" : "live-answer" },
          element("span", { class: "live-amount" }, number(answer[c])),
          bar(Math.max(0, Math.min(1, answer[c]))),
        ),
      );
    table.replaceChildren(
      element("caption", { class: "hidden" }, words.table),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("th", { scope: "row", class: "live-of-query" }, "q"),
          [...query].map(shade),
          element("th", { scope: "col" }, "S q"),
        ),
      ),
      element("tbody", {}, state.map(row)),
    );
    verdict.textContent = fill(best === pairs[asked].right ? words.right : words.wrong, {
      i: asked + 1,
      best,
      right: pairs[asked].right,
    });
  }

  function drawCurve(share) {
    const [x, y] = [n => 5 + (90 * n) / PAIRS, value => 44 - 40 * value];
    const line = (shares, i) =>
      svg("polyline", {
        class: `live-of-${RULES[i]}`,
        points: shares.map((value, j) => `${x(pairsAt(j)).toFixed(2)},${y(value).toFixed(2)}`).join(" "),
      });
    const name = i =>
      svg(
        "text",
        {
          class: `live-of-${RULES[i]}`,
          x: x(PAIRS),
          y: y(curves[i].at(-1)) + (i ? 5.5 : -3.5),
          "text-anchor": "end",
        },
        words[RULES[i]],
      );
    picture.replaceChildren(
      svg(
        "svg",
        { class: "live-shares", viewBox: "0 0 100 52", "aria-hidden": "true" },
        svg("line", { x1: x(SIZE), x2: x(SIZE), y1: y(1), y2: y(0) }),
        [0, 1].map(value => svg("text", { x: 0, y: y(value) + 1.5 }, String(value))),
        [SIZE, 2 * SIZE, PAIRS].map(n => svg("text", { x: x(n), y: 51, "text-anchor": "middle" }, String(n))),
        curves.map(line),
        RULES.map((_, i) => name(i)),
        svg("circle", { class: `live-of-${rule}`, cx: x(count), cy: y(share), r: 2 }),
      ),
    );
  }

  function show() {
    const state = empty();
    writes.forEach(pair => write(state, pair, rule));
    const written = pairs.slice(0, count);
    const share = shareRight(state, written);
    one.disabled = more.disabled = count === PAIRS;
    chips.replaceChildren(
      ...written.map(({ key, right }, i) => {
        const missed = largest(read(state, key)) !== right;
        return element(
          "button",
          {
            type: "button",
            class: missed ? "live-missed" : false,
            "aria-pressed": String(i === asked),
            "aria-label": fill(missed ? words.missed : words.found, { i: i + 1 }),
            onclick: () => {
              asked = i;
              show();
              chips.children[i].focus();
            },
          },
          String(i + 1),
        );
      }),
    );
    summary.textContent = fill(words.count, { right: Math.round(share * count), n: count });
    drawTable(state, pairs[asked].key, read(state, pairs[asked].key));
    drawCurve(share);
  }

  restart();
};
