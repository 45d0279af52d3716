// The steps of the Transformer's walk: what each shows of a traced translation.
// `run` holds the trace and where the reader looks: `rows`, `source`, `read` (the decoder's tokens), `word` (which
// target token is being written), `wrong` (which is the first wrong one), `layer`, `head`.
courseLive.transformerSteps = ({ words, network, cells, size }) => {
  const { number } = courseLive.heat;
  const { element } = courseLive;
  const {
    about,
    embeddingCell,
    features,
    filledUp,
    headCell,
    hiddenCell,
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
    sumCell,
    tokenCards,
  } = cells;

  const block = (side, run) => `${side}.blocks.${run.layer}`;
  const rowsOf = (run, name) =>
    name.startsWith("decoder") && !/cross_attention\.W_[kv]$/.test(name)
      ? run.rows[name].slice(0, run.word + 1)
      : run.rows[name];
  const english = run => ({ tokens: run.source, lang: "en" });
  const french = run => ({ tokens: run.read.slice(0, run.word + 1), lang: run.lang });

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
      show: run => [tokenCards(english(run), run.sourceIds, 0)],
    },
    {
      name: "embedding",
      show: run => [stream("E", english(run), run.rows["encoder.embedding"])],
      cell: (run, [, i, j]) => embeddingCell(run.sourceIds, run.rows["encoder.embedding"], i, j),
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
        { kind: "maps", maps: inEncoder(run, "weights") },
        features("H", "output", english(run), inEncoder(run, "W_o.input"), { parts: network.numHeads }),
      ],
      first: 1,
      cell: (run, [, i, j]) => headCell(inEncoder(run, "weights")[i], inEncoder(run, "W_v"), english(run), j),
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
      cell: (run, [, i, j]) =>
        hiddenCell(
          `${block("encoder", run)}.ffn.0`,
          run.rows,
          run.rows[`${block("encoder", run)}.norm_2`][i],
          i,
          j,
        ),
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
        tokenCards(french(run), run.readIds.slice(0, run.word + 1)),
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
        {
          kind: "chips",
          note: words.follow,
          lang: run.lang,
          chips: run.next.map((text, t) => ({
            text,
            leads: { step: "written", word: t },
            isHere: t === run.word,
            isWrong: t === run.wrong,
          })),
        },
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
  ].map((step, place, all) => ({
    side: place < all.findIndex(({ name }) => name === "written") ? "encoder" : "decoder",
    title: words[step.name],
    told: words[`${step.name}_told`],
    ...step,
  }));
};
