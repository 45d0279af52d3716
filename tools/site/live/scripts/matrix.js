// Pictures of a network's numbers: rows of bars, one for each feature, and tables of coloured cells. A reader opens
// a cell by pointer or with the arrow keys; the same numbers are there as tables of text.
(() => {
  const { element, legible } = courseLive;
  const { number, local } = courseLive.heat;

  const STRONG = 0.8; // of the scale: in the dark, black letters are read better then

  const largest = rows => Math.max(1e-9, ...rows.map(row => Math.max(...row.map(Math.abs))));
  const short = value =>
    local(Math.abs(value) < 9.95 ? value.toFixed(1).replace("-0.0", "0.0") : value.toFixed(0));

  // One row of numbers as bars, upwards where they are positive; thin lines part it into `parts`.
  function strip(row, { role, scale = largest([row]), parts = 1 }) {
    const bars = Array.from(row, (value, i) => `M${i + 0.1} 0v${(-value / scale).toFixed(3)}h.8V0z`).join("");
    const lines = Array.from({ length: parts - 1 }, (_, i) => `M${((i + 1) * row.length) / parts} -1v2`).join(
      "",
    );
    const svg = element("svg:svg", {
      viewBox: `0 -1.05 ${row.length} 2.1`,
      preserveAspectRatio: "none",
      class: `walk-strip walk-${role}`,
      "aria-hidden": "true",
    });
    svg.innerHTML = `<rect class="walk-mark" y="-1.05" width="1" height="2.1"/><path class="walk-axis" d="M0 0h${row.length}${lines}"/><path d="${bars}"/>`;
    return svg;
  }

  // The cells of one row of a table of scores or weights; what is masked has no number.
  function cells(row, i, { role, scale, isMasked, isShare, gold }) {
    return element(
      "span",
      { class: `walk-numbers walk-${role}`, "aria-hidden": "true" },
      Array.from(row, (value, j) => {
        const part = Math.min(1, Math.abs(value) / scale);
        const kind = [
          isMasked?.(i, j) && "walk-masked",
          value < 0 ? "walk-negative" : part > STRONG && "walk-strong",
          gold?.[i]?.includes(j) && "live-gold",
        ];
        return element(
          "span",
          { class: kind.filter(Boolean).join(" ") || false, style: { "--share": part } },
          isMasked?.(i, j) && !value ? "" : Number.isFinite(value) ? (isShare ? number : short)(value) : "−∞",
        );
      }),
    );
  }

  const headings = ({ columns, columnsLang }, words) =>
    element(
      "div",
      { class: "walk-row walk-columns", "aria-hidden": "true" },
      element("span"),
      element(
        "span",
        { class: "walk-numbers" },
        columns.map(token =>
          element(
            "span",
            { lang: columnsLang, class: legible(token, words) === token ? false : "live-upright" },
            legible(token, words),
          ),
        ),
      ),
    );

  // `matrix` has a symbol, a role (its colour), the tokens of its rows, its values and perhaps a note; of its rows the
  // first may be `kept` from before. Tables have the tokens of their columns too.
  function picture(matrix, words) {
    const { symbol, role, tokens, lang, values, columns, shape, note = "" } = matrix;
    const scale = matrix.scale ?? largest(values.map(row => row.filter(Number.isFinite)));
    const lines = values.map((row, i) =>
      element(
        "div",
        { class: i < (matrix.kept ?? 0) ? "walk-row walk-kept" : "walk-row" },
        element("span", { class: "walk-token", lang, "aria-hidden": "true" }, legible(tokens[i], words)),
        columns ? cells(row, i, { ...matrix, scale }) : strip(row, { role, scale, parts: matrix.parts }),
      ),
    );
    const area = element(
      "div",
      { class: columns ? "walk-area walk-table" : "walk-area" },
      columns ? headings(matrix, words) : "",
      lines,
    );
    const node = element(
      "div",
      { class: `walk-matrix${matrix.isBare ? " walk-bare" : ""}` },
      element(
        "p",
        { class: "walk-name" },
        element("b", { class: `walk-${role}` }, symbol),
        " ",
        element("code", {}, shape),
        " ",
        element("span", { class: "live-small" }, note),
      ),
      area,
    );
    return { node, area, lines };
  }

  // A picture whose cells a reader opens: `onopen(i, j)` is told which; `mark(i, j)` frames it.
  function draw(matrix, { words, onopen, label }) {
    const { values, columns } = matrix;
    const { node, area, lines } = picture(matrix, words);
    for (const [name, value] of Object.entries({ tabindex: "0", role: "group", "aria-label": label }))
      area.setAttribute(name, value);
    const width = values[0].length;
    let opened = [0, 0];

    function openUnder({ clientX, clientY }) {
      const line = lines.findIndex(row => clientY < row.getBoundingClientRect().bottom);
      const i = line < 0 ? lines.length - 1 : line;
      const { left, width: wide } = lines[i].lastChild.getBoundingClientRect();
      onopen(i, Math.max(0, Math.min(width - 1, Math.floor(((clientX - left) / wide) * width))));
    }
    area.addEventListener("pointerdown", event => {
      if (event.button === 0) openUnder(event);
    });
    area.addEventListener("pointermove", event => {
      if (event.buttons === 1) openUnder(event);
    });
    area.addEventListener("keydown", event => {
      const [down, right] =
        { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [];
      if (down === undefined) return;
      event.preventDefault();
      event.stopPropagation(); // the same keys lead from step to step elsewhere
      const [i, j] = [opened[0] + down, opened[1] + right];
      if (values[i] && j >= 0 && j < width) onopen(i, j);
    });

    function mark(i, j) {
      opened = [i, j];
      lines.forEach((line, place) => line.classList.toggle("walk-opened", place === i));
      area
        .querySelectorAll(".walk-numbers > .walk-opened")
        .forEach(cell => cell.classList.remove("walk-opened"));
      if (columns) lines[i]?.lastChild.children[j]?.classList.add("walk-opened");
      else lines[i]?.querySelector(".walk-mark").setAttribute("x", j);
    }
    return { node, mark };
  }

  // The same numbers as text.
  function table({ symbol, tokens, lang, values, columns, columnsLang }, words) {
    const heads = columns
      ? columns.map(token => element("th", { scope: "col", lang: columnsLang }, legible(token, words)))
      : Array.from(values[0], (_, i) => i);
    const lines = values.map((row, i) => [
      element("th", { scope: "row", lang }, legible(tokens[i], words)),
      ...Array.from(row, value => (Number.isFinite(value) ? number(value) : "−∞")),
    ]);
    const node = courseLive.table(undefined, ["", ...heads], lines);
    node.prepend(element("caption", {}, symbol));
    return node;
  }

  courseLive.matrix = { draw, picture, strip, table, largest };
})();
