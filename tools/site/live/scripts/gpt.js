// The walk through the decoder-only model: one beginning, until the model names the next token. Here positions are not
// added but turn queries and keys, a causal mask is all that hides anything, and what has been computed can be kept.
courseLive.components.gpt = async ({ box, words }) => {
  const {
    element,
    svg,
    filled,
    byValue,
    softmax,
    BOS,
    EOS,
    UNK,
    heat: { number, share },
  } = courseLive;
  const EXAMPLES = ["give me two new", "my sister wants a", "does the teacher"];
  const OFFERED = 8; // tokens to put in a token's place
  // Names of queries and keys in the trace, before and after they are turned.
  const TURNED = [
    ["W_q", "queries"],
    ["W_k", "keys"],
  ];
  const PLAN = {
    parts: [
      [75, 0, "E", ["tokens", "embedding"]],
      [75, 1, "LN", ["project"]],
      [75, 2, "MHA", ["rotary", "scores", "mask", "softmax", "heads"]],
      [75, 3, "+", ["residual"]],
      [75, 4, "LN FFN +", ["hidden"]],
      [75, 5, "LN W", ["logits", "append"]],
    ],
    streams: [[75, 5]],
  };

  const network = new courseLive.LanguageModel(await courseLive.content("language-model"));
  const size = network.parameters["norm.weight"].rows / network.numHeads;
  const half = size / 2;
  const cells = courseLive.walkCells({ words, network, size });
  const { about, dot, features, filledUp, isFuture, ofHead, pairs, perHead, root } = cells;
  const { shape, signed, stream, sub, word } = cells;

  const block = run => `blocks.${run.layer}`;
  const attention = (run, name) => run.rows[`${block(run)}.attention.${name}`];
  const tokensOf = run => ({ tokens: run.tokens, lang: "en" });
  const appended = (run, name) => ofHead(run.longer[`${block(run)}.attention.${name}`], run);

  // A feature of a query or a key after it has turned: it and its partner are the two coordinates of a clock's hand.
  function turnedCell(symbol, before, after, i, j, role) {
    const first = j % half;
    const angle = i / 10000 ** (first / half);
    const [own, partner] = [before[j], before[j < half ? j + half : j - half]];
    const minus = j < half ? -partner : partner;
    return {
      equation: [
        "θ = ",
        `${i} / 10000`,
        element("sup", {}, `${first}/${half}`),
        ...about(angle),
        element("br"),
        `${number(own)} · cos θ ${signed(minus)} · sin θ`,
        ...about(after[j]),
      ],
      note: filled(words.hand, { one: first, other: first + half }),
      figure: clock([before[first], before[first + half]], [after[first], after[first + half]], role),
      strips: [
        [symbol, before, "soft"],
        [`${symbol}′`, after, role],
      ],
      mark: j,
    };
  }

  // The hand before and after it has turned.
  function clock(before, after, role) {
    const length = Math.hypot(...before);
    const [from, to] = [before, after].map(hand => hand.map(value => ((value / length) * 40).toFixed(1)));
    const hand = ([x, y], name) => svg("line", { x2: x, y2: -y, class: `walk-${name}` });
    return svg(
      "svg",
      { viewBox: "-48 -48 96 96", class: "walk-clock", "aria-hidden": "true" },
      svg("circle", { r: 40 }),
      hand(from, "soft"),
      hand(to, role),
    );
  }

  // A feature of a key or a value, from the cache or of the token that has just been appended.
  const keptCell = (run, symbol, rows, i, j) => ({
    equation: [element("i", {}, symbol), sub(j), " = ", element("b", {}, number(rows[i][j]))],
    note: filled(i < run.tokens.length ? words.kept : words.fresh, { word: word(run.word, "en") }),
  });

  const steps = [
    {
      name: "tokens",
      part: words.input,
      show: run => [cells.tokenCards(tokensOf(run), run.ids, 1)],
    },
    {
      name: "embedding",
      show: run => [stream("E", tokensOf(run), run.rows.embedding)],
      cell: (run, [, i, j]) => cells.embeddingCell(run.ids, run.rows.embedding, i, j),
    },
    {
      name: "project",
      part: words.one_block,
      chooses: "head",
      show: run =>
        ["query", "key", "value"].map((role, n) =>
          features("QKV"[n], role, tokensOf(run), ofHead(attention(run, `W_${"qkv"[n]}`), run), {
            isBare: n > 0,
            side: true,
          }),
        ),
      cell: (run, [n, i, j]) =>
        cells.linearCell(
          "qkv"[n],
          `${block(run)}.attention.W_${"qkv"[n]}`,
          run.rows[`${block(run)}.norm_1`][i],
          run.head * size + j,
          ["query", "key", "value"][n],
          "x",
        ),
    },
    {
      name: "rotary",
      chooses: "head",
      show: run =>
        ["query", "key"].map((role, n) =>
          features(["Q′", "K′"][n], role, tokensOf(run), ofHead(attention(run, TURNED[n][1]), run), {
            isBare: n > 0,
            side: true,
          }),
        ),
      column: 1, // which turns, and not so fast that the hand goes round more than once
      cell: (run, [n, i, j]) => {
        const [before, after] = TURNED[n].map(name => ofHead(attention(run, name), run)[i]);
        return turnedCell("qk"[n], before, after, i, j, ["query", "key"][n]);
      },
    },
    {
      name: "scores",
      chooses: "head",
      show: run => [
        pairs(
          "Q′ K′ᵀ",
          tokensOf(run),
          tokensOf(run),
          ofHead(attention(run, "queries"), run).map(query =>
            ofHead(attention(run, "keys"), run).map(key => dot(query, key)),
          ),
        ),
      ],
      cell: (run, [, i, j]) =>
        cells.scoreCell(ofHead(attention(run, "queries"), run)[i], ofHead(attention(run, "keys"), run)[j]),
    },
    {
      name: "mask",
      chooses: "head",
      show: run => [
        pairs(
          `Q′ K′ᵀ / √${size}`,
          tokensOf(run),
          tokensOf(run),
          filledUp(perHead(attention(run, "scores"), run), run.tokens.length, -Infinity).map(row =>
            row.map(score => score / root),
          ),
          { isMasked: isFuture },
        ),
      ],
      cell: (run, [, i, j]) =>
        isFuture(i, j)
          ? { equation: ["−∞"], note: words.future }
          : cells.scaledCell(attention(run, "scores")[i][run.head][j]),
    },
    {
      name: "softmax",
      chooses: "head",
      show: run => [
        pairs(
          "A",
          tokensOf(run),
          tokensOf(run),
          filledUp(perHead(attention(run, "weights"), run), run.tokens.length, 0),
          { scale: 1, isShare: true, isMasked: isFuture },
        ),
      ],
      cell: (run, [, i, j]) =>
        isFuture(i, j)
          ? { equation: ["exp(−∞) = 0"], note: words.future }
          : cells.softmaxCell(attention(run, "scores")[i][run.head], tokensOf(run), j),
    },
    {
      name: "heads",
      chooses: "layer",
      show: run => [
        { kind: "maps", maps: attention(run, "weights") },
        features("H", "output", tokensOf(run), attention(run, "W_o.input"), { parts: network.numHeads }),
      ],
      first: 1,
      cell: (run, [, i, j]) =>
        cells.headCell(attention(run, "weights")[i], attention(run, "W_v"), tokensOf(run), j),
    },
    {
      name: "residual",
      chooses: "layer",
      show: run => [
        features("H Wₒ", "output", tokensOf(run), attention(run, "W_o")),
        stream("X + H Wₒ", tokensOf(run), run.rows[`${block(run)}.norm_2.input`]),
      ],
      first: 1,
      cell: (run, [n, i, j]) => {
        const name = `${block(run)}.attention.W_o`;
        if (n === 0) return cells.linearCell("o", name, run.rows[`${name}.input`][i], j, "output", "h");
        const sums = ["norm_1.input", "attention.W_o", "norm_2.input"];
        return cells.sumCell(
          "o",
          sums.map(part => run.rows[`${block(run)}.${part}`]),
          i,
          j,
        );
      },
    },
    {
      name: "hidden",
      chooses: "layer",
      show: run => [
        features("ReLU", "stream", tokensOf(run), run.rows[`${block(run)}.ffn.1`]),
        stream("Z", tokensOf(run), run.rows[block(run)]),
      ],
      first: 1,
      cell: (run, [n, i, j]) => {
        if (n === 0)
          return cells.hiddenCell(`${block(run)}.ffn.0`, run.rows, run.rows[`${block(run)}.norm_2`][i], i, j);
        const sums = [`${block(run)}.norm_2.input`, `${block(run)}.ffn.2`, block(run)];
        return cells.sumCell(
          "FFN",
          sums.map(name => run.rows[name]),
          i,
          j,
        );
      },
    },
    {
      name: "logits",
      part: words.next_word,
      show: run => [{ kind: "ranking", logits: run.logits.at(-1), shape: shape(1, network.words.length) }],
      cell: (run, [, id]) => cells.linearCell("z", "dense", run.rows.norm.at(-1), id, "stream", "x"),
    },
    {
      name: "append",
      side: "longer",
      chooses: "head",
      show: run => [
        {
          kind: "chips",
          note: run.isEnd ? words.ended : words.press,
          lang: "en",
          chips: [
            ...run.tokens.map(text => ({ text })),
            run.isEnd
              ? { text: run.word }
              : { text: `+ ${run.word}`, leads: { step: "tokens", sentence: `${run.sentence} ${run.word}` } },
          ],
        },
        ...["key", "value"].map((role, n) =>
          features(
            ["K′", "V"][n],
            role,
            { tokens: run.isEnd ? run.tokens : [...run.tokens, run.word], lang: "en" },
            appended(run, ["keys", "W_v"][n]),
            { isBare: n > 0, side: true, kept: run.tokens.length },
          ),
        ),
      ],
      first: 1,
      cell: (run, [n, i, j]) => keptCell(run, "kv"[n - 1], appended(run, ["keys", "W_v"][n - 1]), i, j),
    },
  ].map(step => ({ side: "read", title: words[step.name], told: words[`${step.name}_told`], ...step }));

  function trace(sentence) {
    const given = [BOS, ...sentence.split(" ").map(token => network.ids.get(token) ?? UNK)];
    const { rows, logits } = network.trace(given);
    const [best] = byValue(logits.at(-1));
    const isEnd = best === EOS;
    return {
      sentence,
      ids: given,
      tokens: given.map(id => network.words[id]),
      rows,
      logits,
      word: network.words[best],
      isEnd,
      longer: isEnd ? rows : network.trace([...given, best]).rows, // once the likeliest token is appended
    };
  }

  function facts(run, row) {
    const asks = Math.min(row, run.tokens.length - 1);
    const weights = attention(run, "weights")[asks][run.head];
    const [top] = byValue(weights);
    return {
      token: word(run.tokens[asks], "en"),
      other: word(run.tokens[top], "en"),
      weight: share(weights[top]),
      word: word(run.word, "en"),
      probability: share(Math.max(...softmax(run.logits.at(-1)))),
      n: network.words.length,
      layers: network.numLayers,
    };
  }

  // What the model itself could have read in place of a token of the beginning, the most probable first.
  const alternatives = (run, i) =>
    run.logits[i] && run.tokens[i + 1]
      ? byValue(run.logits[i])
          .filter(id => id > UNK && id !== run.ids[i + 1])
          .slice(0, OFFERED)
          .map(id => network.words[id])
      : [];

  courseLive.playSteps({
    box,
    words,
    subject: {
      name: "gpt",
      network,
      vocabulary: network.words,
      lang: "en",
      steps,
      plan: PLAN,
      sides: {
        read: { lang: "en", firstRow: run => run.tokens.length - 1 },
        longer: { lang: "en", firstRow: run => run.tokens.length },
      },
      start: { layer: 0, head: 1, sentence: EXAMPLES[0] },
      longest: courseLive.MAX_STEPS,
      trace,
      limits: () => ({ layer: network.numLayers - 1, head: network.numHeads - 1 }),
      facts,
      remark: ({ name }, run) => (name === "tokens" && run.ids.includes(UNK) ? [words.unknown_word] : []),
      examples: EXAMPLES,
      alternatives,
    },
  });
};
