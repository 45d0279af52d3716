// The steps of the walk: what each shows of a traced translation, and how the number in a cell came about.
// `run` holds the trace and where the reader looks: `rows`, `source`, `read` (the decoder's tokens), `word` (which
// target token is being written), `layer`, `head`. A cell is [matrix, row, column].
courseLive.walkSteps = ({ words, network }) => {
  const { number } = courseLive.heat;
  const { element } = courseLive;
  const size = network.parameters["encoder.norm.weight"].rows / network.numHeads; // features of a head
  const root = Math.sqrt(size);

  const block = (side, run) => `${side}.blocks.${run.layer}`;
  const rowsOf = (run, name) =>
    name.startsWith("decoder") && !/cross_attention\.W_[kv]$/.test(name)
      ? run.rows[name].slice(0, run.word + 1)
      : run.rows[name];
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
  const signed = value => `${value < 0 ? "−" : "+"} ${number(Math.abs(value))}`;
  const about = value => [" ≈ ", element("b", {}, number(value))]; // from numbers that are shown rounded
  const around = value => (value < 0 ? `(${number(value)})` : number(value));

  // --- what is shown ------------------------------------------------------------------------------------

  const english = run => ({ tokens: run.source, lang: "en" });
  const french = run => ({ tokens: run.read.slice(0, run.word + 1), lang: run.lang });
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

  function positionCell(run, side, i, j) {
    const [embedded, encoded] = [run.rows[`${side}.embedding`][i], run.rows[`${side}.positions`][i]];
    const pattern = encoded.map((value, feature) => value - embedded[feature]);
    const angle = [
      `${j % 2 ? "cos" : "sin"}(${i} / 10000`,
      element("sup", {}, `${j - (j % 2)}/${encoded.length}`),
      ")",
    ];
    return {
      equation: [
        italic("E"),
        " + ",
        italic("P"),
        ` = ${number(embedded[j])} ${signed(pattern[j])}`,
        ...about(encoded[j]),
        element("br"),
        italic("P"),
        " = ",
        angle,
      ],
      strips: [
        ["E", embedded, "stream"],
        ["P", pattern, "position"],
        ["E + P", encoded, "stream"],
      ],
      mark: j,
    };
  }

  const attention = (side, run) =>
    `${block(side, run)}.${{ encoder: "attention", decoder: "self_attention" }[side]}`;
  const cross = run => `${block("decoder", run)}.cross_attention`;
  const inEncoder = (run, name) => run.rows[`${attention("encoder", run)}.${name}`];
  const inCross = (run, name) => rowsOf(run, `${cross(run)}.${name}`);
  const positions = (run, side) =>
    run.rows[`${side}.positions`].map((row, i) =>
      row.map((value, j) => value - run.rows[`${side}.embedding`][i][j]),
    );

  // The two sums of a block are on the stream between its norms; what comes in is the input of the first.
  const streamBefore = (side, run, norm) => run.rows[`${block(side, run)}.norm_${norm}.input`];

  return [
    {
      name: "tokens",
      part: words.encoder,
      show: run => [
        {
          kind: "cards",
          ...english(run),
          values: run.sourceIds.map(id => [id]),
          shape: `(${run.source.length},)`,
          symbol: words.tokens,
        },
      ],
    },
    {
      name: "embedding",
      show: run => [stream("E", english(run), run.rows["encoder.embedding"])],
      cell: (run, [, i, j]) => ({
        equation: [
          italic("E"),
          sub(`${run.sourceIds[i]}, ${j}`),
          " = ",
          element("b", {}, number(run.rows["encoder.embedding"][i][j])),
        ],
      }),
    },
    {
      name: "position",
      show: run => [
        features("P", "position", english(run), positions(run, "encoder"), { scale: 1 }),
        stream("E + P", english(run), run.rows["encoder.positions"]),
      ],
      first: 1,
      cell: (run, [, i, j]) => positionCell(run, "encoder", i, j),
    },
    {
      name: "norm",
      chooses: "layer",
      show: run => [stream("LN(X)", english(run), run.rows[`${block("encoder", run)}.norm_1`])],
      cell: (run, [, i, j]) => normCell(`${block("encoder", run)}.norm_1`, run.rows, i, j),
    },
    {
      name: "project",
      chooses: "head",
      show: run =>
        ["query", "key", "value"].map((role, n) =>
          features("QKV"[n], role, english(run), ofHead(inEncoder(run, `W_${"qkv"[n]}`), run), {
            isBare: n > 0,
            side: true,
          }),
        ),
      cell: (run, [n, i, j]) =>
        linearCell(
          "qkv"[n],
          `${attention("encoder", run)}.W_${"qkv"[n]}`,
          run.rows[`${block("encoder", run)}.norm_1`][i],
          run.head * size + j,
          ["query", "key", "value"][n],
          "x",
        ),
    },
    {
      name: "scores",
      chooses: "head",
      show: run => [pairs("Q Kᵀ", english(run), english(run), perHead(inEncoder(run, "scores"), run))],
      cell: (run, [, i, j]) =>
        scoreCell(ofHead(inEncoder(run, "W_q"), run)[i], ofHead(inEncoder(run, "W_k"), run)[j]),
    },
    {
      name: "scaling",
      chooses: "head",
      show: run => {
        const scores = perHead(inEncoder(run, "scores"), run);
        return [
          pairs(
            `Q Kᵀ / √${size}`,
            english(run),
            english(run),
            scores.map(row => row.map(score => score / root)),
            { scale: courseLive.matrix.largest(scores) },
          ),
        ];
      },
      cell: (run, [, i, j]) => scaledCell(inEncoder(run, "scores")[i][run.head][j]),
    },
    {
      name: "softmax",
      chooses: "head",
      show: run => [
        pairs("A", english(run), english(run), perHead(inEncoder(run, "weights"), run), {
          scale: 1,
          isShare: true,
        }),
      ],
      cell: (run, [, i, j]) => softmaxCell(inEncoder(run, "scores")[i][run.head], english(run), j),
    },
    {
      name: "mixture",
      chooses: "head",
      show: run => [
        features("V", "value", english(run), ofHead(inEncoder(run, "W_v"), run), { side: true }),
        features("A V", "output", english(run), ofHead(inEncoder(run, "W_o.input"), run), {
          side: true,
          isBare: true,
        }),
      ],
      first: 1,
      cell: (run, [n, i, j]) => {
        if (n === 0)
          return linearCell(
            "v",
            `${attention("encoder", run)}.W_v`,
            run.rows[`${block("encoder", run)}.norm_1`][i],
            run.head * size + j,
            "value",
            "x",
          );
        const weights = inEncoder(run, "weights")[i][run.head];
        return mixtureCell(weights, ofHead(inEncoder(run, "W_v"), run), english(run), j);
      },
    },
    {
      name: "heads",
      chooses: "layer",
      show: run => [
        { kind: "maps", maps: inEncoder(run, "weights"), heads: network.numHeads },
        features("H", "output", english(run), inEncoder(run, "W_o.input"), { parts: network.numHeads }),
      ],
      first: 1,
      cell: (run, [, i, j]) => {
        const [head, feature] = [Math.floor(j / size), j % size];
        const weights = inEncoder(run, "weights")[i][head];
        const mixed = mixtureCell(weights, ofHead(inEncoder(run, "W_v"), { head }), english(run), feature);
        const name = courseLive.fill(words.of_head, { head, feature });
        return { ...mixed, equation: [name, " ", mixed.equation] };
      },
    },
    {
      name: "residual",
      chooses: "layer",
      show: run => [
        features("H Wₒ", "output", english(run), inEncoder(run, "W_o")),
        stream("X + H Wₒ", english(run), streamBefore("encoder", run, 2)),
      ],
      first: 1,
      cell: (run, [n, i, j]) => {
        const name = `${attention("encoder", run)}.W_o`;
        if (n === 0) return linearCell("o", name, run.rows[`${name}.input`][i], j, "output", "h");
        return sumCell(
          "o",
          [streamBefore("encoder", run, 1), run.rows[name], streamBefore("encoder", run, 2)],
          i,
          j,
        );
      },
    },
    {
      name: "hidden",
      chooses: "layer",
      show: run => [features("ReLU", "stream", english(run), run.rows[`${block("encoder", run)}.ffn.1`])],
      cell: (run, [, i, j]) => {
        const name = `${block("encoder", run)}.ffn.0`;
        const cell = linearCell("h", name, run.rows[`${block("encoder", run)}.norm_2`][i], j, "stream", "x");
        return {
          ...cell,
          equation: [
            ...cell.equation,
            element("br"),
            `max(0, ${number(run.rows[name][i][j])}) = `,
            element("b", {}, number(Math.max(0, run.rows[name][i][j]))),
          ],
        };
      },
    },
    {
      name: "block",
      chooses: "layer",
      show: run => [stream("Z", english(run), run.rows[block("encoder", run)])],
      cell: (run, [, i, j]) =>
        sumCell(
          "FFN",
          [
            streamBefore("encoder", run, 2),
            run.rows[`${block("encoder", run)}.ffn.2`],
            run.rows[block("encoder", run)],
          ],
          i,
          j,
        ),
    },
    {
      name: "memory",
      show: run => [features("M", "key", english(run), run.rows["encoder.norm"])],
      cell: (run, [, i, j]) => normCell("encoder.norm", run.rows, i, j),
    },
    {
      name: "written",
      part: words.decoder,
      show: run => [
        {
          kind: "cards",
          ...french(run),
          values: run.readIds.slice(0, run.word + 1).map(id => [id]),
          shape: `(${run.word + 1},)`,
          symbol: words.tokens,
        },
        stream("E + P", french(run), rowsOf(run, "decoder.positions")),
      ],
      first: 1,
      cell: (run, [, i, j]) => positionCell(run, "decoder", i, j),
    },
    {
      name: "mask",
      chooses: "head",
      show: run => {
        const scores = perHead(rowsOf(run, `${attention("decoder", run)}.scores`), run);
        return [
          pairs(
            `Q Kᵀ / √${size}`,
            french(run),
            french(run),
            filledUp(scores, run.word + 1, -Infinity).map(row => row.map(score => score / root)),
            { isMasked: isFuture },
          ),
        ];
      },
      cell: (run, [, i, j]) =>
        isFuture(i, j)
          ? { equation: ["−∞"], note: words.future }
          : scaledCell(run.rows[`${attention("decoder", run)}.scores`][i][run.head][j]),
    },
    {
      name: "causal",
      chooses: "head",
      show: run => [
        pairs(
          "A",
          french(run),
          french(run),
          filledUp(perHead(rowsOf(run, `${attention("decoder", run)}.weights`), run), run.word + 1, 0),
          { scale: 1, isShare: true, isMasked: isFuture },
        ),
      ],
      cell: (run, [, i, j]) =>
        isFuture(i, j)
          ? { equation: ["exp(−∞) = 0"], note: words.future }
          : softmaxCell(run.rows[`${attention("decoder", run)}.scores`][i][run.head], french(run), j),
    },
    {
      name: "known",
      chooses: "layer",
      show: run => [stream("X + H Wₒ", french(run), streamBefore("decoder", run, 2).slice(0, run.word + 1))],
      cell: (run, [, i, j]) =>
        sumCell(
          "o",
          [
            streamBefore("decoder", run, 1),
            run.rows[`${attention("decoder", run)}.W_o`],
            streamBefore("decoder", run, 2),
          ],
          i,
          j,
        ),
    },
    {
      name: "cross",
      chooses: "head",
      show: run => [
        features("Q", "query", french(run), ofHead(inCross(run, "W_q"), run)),
        ...["key", "value"].map((role, n) =>
          features("KV"[n], role, english(run), ofHead(inCross(run, `W_${"kv"[n]}`), run), {
            isBare: n > 0,
            side: true,
          }),
        ),
      ],
      cell: (run, [n, i, j]) => {
        const input = n === 0 ? run.rows[`${block("decoder", run)}.norm_2`][i] : run.rows["encoder.norm"][i];
        return linearCell(
          "qkv"[n],
          `${cross(run)}.W_${"qkv"[n]}`,
          input,
          run.head * size + j,
          ["query", "key", "value"][n],
          n === 0 ? "x" : "m",
        );
      },
    },
    {
      name: "alignment",
      chooses: "head",
      show: run => [
        pairs(
          "A",
          { tokens: run.next.slice(0, run.word + 1), lang: run.lang },
          english(run),
          perHead(inCross(run, "weights"), run),
          { scale: 1, isShare: true, gold: run.gold },
        ),
      ],
      cell: (run, [, i, j]) => {
        const [query, key] = [ofHead(inCross(run, "W_q"), run)[i], ofHead(inCross(run, "W_k"), run)[j]];
        const cell = softmaxCell(inCross(run, "scores")[i][run.head], english(run), j);
        return { ...cell, strips: scoreCell(query, key).strips };
      },
    },
    {
      name: "context",
      chooses: "head",
      show: run => [features("A V", "output", french(run), ofHead(inCross(run, "W_o.input"), run))],
      cell: (run, [, i, j]) =>
        mixtureCell(inCross(run, "weights")[i][run.head], ofHead(inCross(run, "W_v"), run), english(run), j),
    },
    {
      name: "output",
      chooses: "layer",
      show: run => [
        features("H Wₒ", "output", french(run), inCross(run, "W_o")),
        stream("Z", french(run), rowsOf(run, block("decoder", run))),
      ],
      first: 1,
      cell: (run, [n, i, j]) => {
        if (n === 0)
          return linearCell("o", `${cross(run)}.W_o`, inCross(run, "W_o.input")[i], j, "output", "h");
        return sumCell(
          "FFN",
          [
            streamBefore("decoder", run, 3),
            run.rows[`${block("decoder", run)}.ffn.2`],
            run.rows[block("decoder", run)],
          ],
          i,
          j,
        );
      },
    },
    {
      name: "logits",
      part: words.next_word,
      show: run => [
        { kind: "ranking", logits: run.rows["decoder.dense"][run.word], shape: shape(1, run.vocabulary) },
      ],
      cell: (run, [, id]) =>
        linearCell("z", "decoder.dense", run.rows["decoder.norm"][run.word], id, "stream", "x"),
    },
    {
      name: "sentence",
      title: words.sentence_step,
      show: run => [
        { kind: "sentence" },
        pairs(
          "A",
          { tokens: run.next, lang: run.lang },
          english(run),
          perHead(run.rows[`${cross(run)}.weights`], run),
          { scale: 1, isShare: true, gold: run.gold },
        ),
      ],
      chooses: "head",
      first: 1,
      cell: (run, [, i, j]) => softmaxCell(run.rows[`${cross(run)}.scores`][i][run.head], english(run), j),
    },
  ].map(step => ({ title: words[step.name], told: words[`${step.name}_told`], ...step }));
};
