// What the walks share: the pictures of a step, and how the number in a cell came about.
// A step has a `name`, its texts (`title`, `told`), `show(run)` with its pictures, the `side` whose row is open, perhaps
// the `part` of the network that begins with it, what a reader `chooses` ("layer" or "head"), the `first` picture to
// open and its `column`, and `cell(run, [picture, row, column])`: an `equation`, `strips` of bars with a `mark`,
// `terms`, a `note`, a `figure`.
// A run has `rows`, the numbers by their names in PyTorch, and where the reader looks (`layer`, `head`).
courseLive.walkCells = ({ words, network, size }) => {
  const { number } = courseLive.heat;
  const { element, fill, legible } = courseLive;
  const root = Math.sqrt(size); // `size`: features of a head

  const word = (token, lang) => element("i", { lang }, legible(token, words));
  const ofHead = (rows, { head }) => rows.map(row => row.subarray(head * size, (head + 1) * size));
  const perHead = (rows, { head }) => rows.map(row => row[head]);
  const shape = (...numbers) => `(${numbers.join(", ")})`; // as PyTorch prints it
  const sub = text => element("sub", {}, text);
  const italic = text => element("i", {}, text);
  const weightOf = (name, row) => {
    const { columns, values } = network.parameters[`${name}.weight`];
    return values.subarray(row * columns, (row + 1) * columns);
  };
  const biasOf = (name, i) => network.parameters[`${name}.bias`].values[i];
  const times = (one, other) => Float64Array.from(one, (value, i) => value * other[i]);
  const sum = numbers => numbers.reduce((total, value) => total + value, 0);
  const dot = (one, other) => sum(times(one, other));
  const signed = value => `${value < 0 ? "−" : "+"} ${number(Math.abs(value))}`;
  const about = value => [" ≈ ", element("b", {}, number(value))]; // from numbers that are shown rounded
  const around = value => (value < 0 ? `(${number(value)})` : number(value));

  // --- what is shown ------------------------------------------------------------------------------------

  const features = (symbol, role, who, values, more = {}) => ({
    symbol,
    role,
    ...who,
    values,
    shape: shape(values.length, values[0].length),
    ...more,
  });
  const stream = (symbol, who, values, more) => features(symbol, "stream", who, values, more);

  // A table of one head: queries below each other, keys beside each other.
  function pairs(symbol, queries, keys, values, more = {}) {
    return {
      symbol,
      role: "weight",
      ...queries,
      columns: keys.tokens,
      columnsLang: keys.lang,
      values,
      shape: shape(queries.tokens.length, keys.tokens.length),
      ...more,
    };
  }

  // A causal row ends with its own token; the rest of the table is the future.
  const filledUp = (rows, length, filler) =>
    rows.map(row => Array.from({ length }, (_, j) => row[j] ?? filler));
  const isFuture = (i, j) => j > i;

  // --- how a number came about ----------------------------------------------------------------------------

  // A linear layer's feature: the products of the input with a row of the matrix, and a bias.
  function linearCell(symbol, name, input, j, role, inputName) {
    const weights = weightOf(name, j);
    const products = times(input, weights);
    const total = sum(products);
    return {
      equation: [
        italic(symbol),
        sub(j),
        " = Σ ",
        italic("W x"),
        " + ",
        italic("b"),
        ` = ${number(total)} ${signed(biasOf(name, j))}`,
        ...about(total + biasOf(name, j)),
      ],
      strips: [
        [inputName, input, "stream"],
        ["W", weights, "soft"],
        ["W x", products, role],
      ],
      terms: {
        heads: [words.feature, inputName, "W", words.product],
        rows: Array.from(products, (product, i) => [i, input[i], weights[i], product]),
      },
    };
  }

  function normCell(name, rows, i, j) {
    const x = rows[`${name}.input`][i];
    const mean = sum(x) / x.length;
    const deviation = Math.sqrt(sum(x.map(value => (value - mean) ** 2)) / x.length + 1e-5);
    const [scale, shift] = [
      network.parameters[`${name}.weight`].values[j],
      network.parameters[`${name}.bias`].values[j],
    ];
    return {
      equation: [
        `(${number(x[j])} − ${around(mean)}) / ${number(deviation)} · ${number(scale)} ${signed(shift)}`,
        ...about(rows[name][i][j]),
      ],
      strips: [
        ["x", x, "stream"],
        ["LN(x)", rows[name][i], "stream"],
      ],
      mark: j,
      note: words.learned,
    };
  }

  // A sum on the residual stream; the sequences are what was there, what is added, and their sum.
  function sumCell(symbol, sequences, i, j) {
    const [before, added, after] = sequences.map(rows => rows[i]);
    return {
      equation: [`${number(before[j])} ${signed(added[j])}`, ...about(after[j])],
      strips: [
        ["x", before, "stream"],
        [symbol, added, "output"],
        [`x + ${symbol}`, after, "stream"],
      ],
      mark: j,
    };
  }

  function scoreCell(query, key) {
    const products = times(query, key);
    return {
      equation: [
        element("b", { class: "walk-query" }, "q"),
        " · ",
        element("b", { class: "walk-key" }, "k"),
        " = Σ ",
        italic("q k"),
        " = ",
        element("b", {}, number(sum(products))),
      ],
      strips: [
        ["q", query, "query"],
        ["k", key, "key"],
        ["q k", products, "weight"],
      ],
      terms: {
        heads: [words.feature, "q", "k", words.product],
        rows: Array.from(products, (product, i) => [i, query[i], key[i], product]),
      },
    };
  }

  const scaledCell = score => ({
    equation: [`${number(score)} / √${size} = ${number(score)} / ${root}`, ...about(score / root)],
  });

  function softmaxCell(scores, who, j) {
    const powers = Array.from(scores, score => Math.exp(score / root));
    const total = sum(powers);
    return {
      equation: [
        `exp(${number(scores[j] / root)}) / Σ exp ≈ ${number(powers[j])} / ${number(total)}`,
        ...about(powers[j] / total),
      ],
      terms: {
        heads: [words.token, words.scaled_short, "exp"],
        rows: powers.map((power, i) => [who.tokens[i], scores[i] / root, power]),
        lang: who.lang,
        mark: j,
      },
    };
  }

  function mixtureCell(weights, values, who, j) {
    const products = Array.from(weights, (weight, i) => weight * values[i][j]);
    return {
      equation: [
        "Σ ",
        italic("α"),
        " ",
        element("b", { class: "walk-value" }, "v"),
        sub(j),
        " = ",
        element("b", {}, number(sum(products))),
      ],
      terms: {
        heads: [words.token, "α", "v", words.product],
        rows: products.map((product, i) => [who.tokens[i], weights[i], values[i][j], product]),
        lang: who.lang,
      },
    };
  }

  // A feature of the joined heads: it is one of its own head.
  function headCell(weights, values, who, j) {
    const [head, feature] = [Math.floor(j / size), j % size];
    const mixed = mixtureCell(weights[head], ofHead(values, { head }), who, feature);
    return { ...mixed, equation: [fill(words.of_head, { head, feature }), " ", mixed.equation] };
  }

  // A feature of a feed-forward network after its ReLU.
  function hiddenCell(name, rows, input, i, j) {
    const cell = linearCell("h", name, input, j, "stream", "x");
    const sumOfProducts = rows[name][i][j];
    return {
      ...cell,
      equation: [
        ...cell.equation,
        element("br"),
        `max(0, ${number(sumOfProducts)}) = `,
        element("b", {}, number(Math.max(0, sumOfProducts))),
      ],
    };
  }

  // Tokens with their ids; a reader can replace those from a place on, or none without it.
  const tokenCards = (axis, ids, from) => ({
    kind: "cards",
    ...axis,
    values: ids.map(id => [id]),
    from,
    shape: `(${ids.length},)`,
    symbol: words.tokens,
  });

  const embeddingCell = (ids, rows, i, j) => ({
    equation: [italic("E"), sub(`${ids[i]}, ${j}`), " = ", element("b", {}, number(rows[i][j]))],
  });

  return {
    about,
    dot,
    embeddingCell,
    headCell,
    hiddenCell,
    features,
    filledUp,
    isFuture,
    italic,
    linearCell,
    mixtureCell,
    normCell,
    ofHead,
    pairs,
    perHead,
    root,
    scaledCell,
    scoreCell,
    shape,
    signed,
    softmaxCell,
    stream,
    sub,
    sumCell,
    tokenCards,
    word,
  };
};
