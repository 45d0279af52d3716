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
  function pairs(symbol, role, queries, keys, values, more = {}) {
    return {
      symbol,
      role,
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
        ` = ${number(total)} ${signed(biasOf(name, j))} = `,
        element("b", {}, number(total + biasOf(name, j))),
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
        `(${number(x[j])} − ${around(mean)}) / ${number(deviation)} · ${number(scale)} ${signed(shift)} = `,
        element("b", {}, number(rows[name][i][j])),
      ],
      strips: [
        ["x", x, "stream"],
        ["LN(x)", rows[name][i], "stream"],
      ],
      mark: j,
      note: words.learned,
    };
  }

  // A sum on the residual stream.
  function sumCell(before, added, after, j, symbol) {
    return {
      equation: [`${number(before[j])} ${signed(added[j])} = `, element("b", {}, number(after[j]))],
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
    equation: [
      `${number(score)} / √${size} = ${number(score)} / ${root} = `,
      element("b", {}, number(score / root)),
    ],
  });

  function softmaxCell(scores, who, j) {
    const powers = Array.from(scores, score => Math.exp(score / root));
    const total = sum(powers);
    return {
      equation: [
        `exp(${number(scores[j] / root)}) / Σ exp = ${number(powers[j])} / ${number(total)} = `,
        element("b", {}, number(powers[j] / total)),
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
        ` = ${number(embedded[j])} ${signed(pattern[j])} = `,
        element("b", {}, number(encoded[j])),
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
  const positions = (run, side) =>
    run.rows[`${side}.positions`].map((row, i) =>
      row.map((value, j) => value - run.rows[`${side}.embedding`][i][j]),
    );

  // The two sums of a block are on the stream between its norms; what comes in is the input of the first.
  const streamBefore = (side, run, norm) => run.rows[`${block(side, run)}.norm_${norm}.input`];

  return [
    {
      name: "tokens",
      title: words.tokens,
      told: words.tokens_told,
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
      title: words.embedding,
      told: words.embedding_told,
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
      title: words.position,
      told: words.position_told,
      show: run => [
        features("P", "position", english(run), positions(run, "encoder"), { scale: 1 }),
        stream("E + P", english(run), run.rows["encoder.positions"]),
      ],
      first: 1,
      cell: (run, [, i, j]) => positionCell(run, "encoder", i, j),
    },
    {
      name: "norm",
      title: words.norm,
      told: words.norm_told,
      chooses: "layer",
      show: run => [stream("LN(X)", english(run), run.rows[`${block("encoder", run)}.norm_1`])],
      cell: (run, [, i, j]) => normCell(`${block("encoder", run)}.norm_1`, run.rows, i, j),
    },
    {
      name: "project",
      title: words.project,
      told: words.project_told,
      chooses: "head",
      show: run =>
        ["query", "key", "value"].map((role, n) =>
          features(
            "QKV"[n],
            role,
            english(run),
            ofHead(run.rows[`${attention("encoder", run)}.W_${"qkv"[n]}`], run),
            { isBare: n > 0, side: true },
          ),
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
      title: words.scores,
      told: words.scores_told,
      chooses: "head",
      show: run => [
        pairs(
          "Q Kᵀ",
          "weight",
          english(run),
          english(run),
          perHead(run.rows[`${attention("encoder", run)}.scores`], run),
        ),
      ],
      cell: (run, [, i, j]) =>
        scoreCell(
          ...["q", "k"].map(
            (letter, n) => ofHead(run.rows[`${attention("encoder", run)}.W_${letter}`], run)[[i, j][n]],
          ),
        ),
    },
    {
      name: "scaling",
      title: words.scaling,
      told: words.scaling_told,
      chooses: "head",
      show: run => {
        const scores = perHead(run.rows[`${attention("encoder", run)}.scores`], run);
        return [
          pairs(
            `Q Kᵀ / √${size}`,
            "weight",
            english(run),
            english(run),
            scores.map(row => row.map(score => score / root)),
            { scale: courseLive.matrix.largest(scores) },
          ),
        ];
      },
      cell: (run, [, i, j]) => scaledCell(run.rows[`${attention("encoder", run)}.scores`][i][run.head][j]),
    },
    {
      name: "softmax",
      title: words.softmax,
      told: words.softmax_told,
      chooses: "head",
      show: run => [
        pairs(
          "A",
          "weight",
          english(run),
          english(run),
          perHead(run.rows[`${attention("encoder", run)}.weights`], run),
          { scale: 1, isShare: true },
        ),
      ],
      cell: (run, [, i, j]) =>
        softmaxCell(run.rows[`${attention("encoder", run)}.scores`][i][run.head], english(run), j),
    },
    {
      name: "mixture",
      title: words.mixture,
      told: words.mixture_told,
      chooses: "head",
      show: run => [
        features("V", "value", english(run), ofHead(run.rows[`${attention("encoder", run)}.W_v`], run), {
          side: true,
        }),
        features(
          "A V",
          "output",
          english(run),
          ofHead(run.rows[`${attention("encoder", run)}.W_o.input`], run),
          { side: true, isBare: true },
        ),
      ],
      first: 1,
      cell: (run, [n, i, j]) => {
        const name = attention("encoder", run);
        if (n === 0)
          return linearCell(
            "v",
            `${name}.W_v`,
            run.rows[`${block("encoder", run)}.norm_1`][i],
            run.head * size + j,
            "value",
            "x",
          );
        return mixtureCell(
          run.rows[`${name}.weights`][i][run.head],
          ofHead(run.rows[`${name}.W_v`], run),
          english(run),
          j,
        );
      },
    },
    {
      name: "heads",
      title: words.heads,
      told: words.heads_told,
      chooses: "layer",
      show: run => [
        { kind: "maps", maps: run.rows[`${attention("encoder", run)}.weights`], heads: network.numHeads },
        features("H", "output", english(run), run.rows[`${attention("encoder", run)}.W_o.input`], {
          parts: network.numHeads,
        }),
      ],
      first: 1,
      cell: (run, [, i, j]) => {
        const name = attention("encoder", run);
        const own = { ...run, head: Math.floor(j / size) };
        const mixed = mixtureCell(
          run.rows[`${name}.weights`][i][own.head],
          ofHead(run.rows[`${name}.W_v`], own),
          english(run),
          j % size,
        );
        return {
          ...mixed,
          equation: [
            courseLive.fill(words.of_head, { head: own.head, feature: j % size }),
            " ",
            mixed.equation,
          ],
        };
      },
    },
    {
      name: "residual",
      title: words.residual,
      told: words.residual_told,
      chooses: "layer",
      show: run => [
        features("H Wₒ", "output", english(run), run.rows[`${attention("encoder", run)}.W_o`]),
        stream("X + H Wₒ", english(run), streamBefore("encoder", run, 2)),
      ],
      first: 1,
      cell: (run, [n, i, j]) => {
        const name = `${attention("encoder", run)}.W_o`;
        if (n === 0) return linearCell("o", name, run.rows[`${name}.input`][i], j, "output", "h");
        return sumCell(
          streamBefore("encoder", run, 1)[i],
          run.rows[name][i],
          streamBefore("encoder", run, 2)[i],
          j,
          "o",
        );
      },
    },
    {
      name: "hidden",
      title: words.hidden,
      told: words.hidden_told,
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
      title: words.block,
      told: words.block_told,
      chooses: "layer",
      show: run => [stream("Z", english(run), run.rows[block("encoder", run)])],
      cell: (run, [, i, j]) =>
        sumCell(
          streamBefore("encoder", run, 2)[i],
          run.rows[`${block("encoder", run)}.ffn.2`][i],
          run.rows[block("encoder", run)][i],
          j,
          "FFN",
        ),
    },
    {
      name: "memory",
      title: words.memory,
      told: words.memory_told,
      show: run => [features("M", "key", english(run), run.rows["encoder.norm"])],
      cell: (run, [, i, j]) => normCell("encoder.norm", run.rows, i, j),
    },
    {
      name: "written",
      title: words.written,
      told: words.written_told,
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
      title: words.mask,
      told: words.mask_told,
      chooses: "head",
      show: run => {
        const scores = perHead(rowsOf(run, `${attention("decoder", run)}.scores`), run);
        return [
          pairs(
            `Q Kᵀ / √${size}`,
            "weight",
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
      title: words.causal,
      told: words.causal_told,
      chooses: "head",
      show: run => [
        pairs(
          "A",
          "weight",
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
      title: words.known,
      told: words.known_told,
      chooses: "layer",
      show: run => [stream("X + H Wₒ", french(run), streamBefore("decoder", run, 2).slice(0, run.word + 1))],
      cell: (run, [, i, j]) =>
        sumCell(
          streamBefore("decoder", run, 1)[i],
          run.rows[`${attention("decoder", run)}.W_o`][i],
          streamBefore("decoder", run, 2)[i],
          j,
          "o",
        ),
    },
    {
      name: "cross",
      title: words.cross,
      told: words.cross_told,
      chooses: "head",
      show: run => [
        features("Q", "query", french(run), ofHead(rowsOf(run, `${cross(run)}.W_q`), run)),
        ...["key", "value"].map((role, n) =>
          features("KV"[n], role, english(run), ofHead(rowsOf(run, `${cross(run)}.W_${"kv"[n]}`), run), {
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
      title: words.alignment,
      told: words.alignment_told,
      chooses: "head",
      show: run => [
        pairs(
          "A",
          "weight",
          { tokens: run.next.slice(0, run.word + 1), lang: run.lang },
          english(run),
          perHead(rowsOf(run, `${cross(run)}.weights`), run),
          { scale: 1, isShare: true, gold: run.gold },
        ),
      ],
      cell: (run, [, i, j]) => {
        const scores = run.rows[`${cross(run)}.scores`][i][run.head];
        const score = scoreCell(
          ...[
            ["W_q", i],
            ["W_k", j],
          ].map(([matrix, row]) => ofHead(run.rows[`${cross(run)}.${matrix}`], run)[row]),
        );
        return { ...softmaxCell(scores, english(run), j), strips: score.strips };
      },
    },
    {
      name: "context",
      title: words.context,
      told: words.context_told,
      chooses: "head",
      show: run => [
        features("A V", "output", french(run), ofHead(rowsOf(run, `${cross(run)}.W_o.input`), run)),
      ],
      cell: (run, [, i, j]) =>
        mixtureCell(
          run.rows[`${cross(run)}.weights`][i][run.head],
          ofHead(run.rows[`${cross(run)}.W_v`], run),
          english(run),
          j,
        ),
    },
    {
      name: "output",
      title: words.output,
      told: words.output_told,
      chooses: "layer",
      show: run => [
        features("H Wₒ", "output", french(run), rowsOf(run, `${cross(run)}.W_o`)),
        stream("Z", french(run), rowsOf(run, block("decoder", run))),
      ],
      first: 1,
      cell: (run, [n, i, j]) => {
        if (n === 0)
          return linearCell(
            "o",
            `${cross(run)}.W_o`,
            run.rows[`${cross(run)}.W_o.input`][i],
            j,
            "output",
            "h",
          );
        return sumCell(
          streamBefore("decoder", run, 3)[i],
          run.rows[`${block("decoder", run)}.ffn.2`][i],
          run.rows[block("decoder", run)][i],
          j,
          "FFN",
        );
      },
    },
    {
      name: "logits",
      title: words.logits,
      told: words.logits_told,
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
      told: words.sentence_told,
      show: run => [
        { kind: "sentence" },
        pairs(
          "A",
          "weight",
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
  ];
};
