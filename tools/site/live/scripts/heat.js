// Attention weights as pictures: a table that is a heat-map to the eye and numbers to a screen reader, a small
// drawing, and bars.
(() => {
  const { element, legible } = courseLive;
  const { decimal } = courseLive.language;
  const local = text => text.replace(".", decimal).replace("-", "−");
  const number = value => local(value.toFixed(2).replace(/^-(0\.0+)$/, "$1")); // zero has no sign
  const share = value => (value > 0 && value < 0.005 ? `<${number(0.01)}` : number(value)); // a weight or a probability
  const pair = numbers => `(${numbers.join(decimal === "," ? "; " : ", ")})`;

  // `rows` and `columns` are {tokens, lang}; `gold` has the gold columns of each row; `label` makes the
  // content of a row's heading.
  function table({ rows, columns, weights, gold, words, label = token => token }) {
    const head = element(
      "tr",
      {},
      element("td"),
      columns.tokens.map(token =>
        element(
          "th",
          { scope: "col", lang: columns.lang },
          element(
            "span",
            { class: legible(token, words) === token ? false : "live-upright" },
            legible(token, words),
          ),
        ),
      ),
    );
    const body = rows.tokens.map((token, t) =>
      element(
        "tr",
        {},
        element("th", { scope: "row", lang: rows.lang }, label(legible(token, words), t)),
        columns.tokens.map((_, i) => {
          const weight = weights[t][i] ?? 0; // a step of a decoder does not see later ones
          const dot = gold?.[t]?.includes(i);
          return element(
            "td",
            { class: dot ? "live-gold" : false, style: { "--share": weight } },
            element("span", { class: "hidden" }, share(weight) + (dot ? `, ${words.gold}` : "")),
          );
        }),
      ),
    );
    const caption = element("caption", { class: "hidden" }, words.weights);
    return element(
      "table",
      { class: "live-heat" },
      caption,
      element("thead", {}, head),
      element("tbody", {}, body),
    );
  }

  // A square drawing without words; dark where the weight is near 1.
  function drawing(weights, columns) {
    const cells = weights.map((line, y) =>
      [...line]
        .map((weight, x) =>
          weight < 0.02
            ? ""
            : `<rect x="${x}" y="${y}" width="1" height="1" fill-opacity="${weight.toFixed(2)}"/>`,
        )
        .join(""),
    );
    const svg = element("svg:svg", {
      viewBox: `0 0 ${columns} ${weights.length}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    });
    svg.innerHTML = cells.join("");
    return svg;
  }

  const bar = share =>
    element("span", { class: "live-bar", "aria-hidden": "true", style: { "--share": share } });

  courseLive.heat = { table, drawing, bar, number, share, pair, local };
})();
