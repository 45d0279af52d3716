// The walk: one sentence through the whole Transformer, step by step, until it is translated.
courseLive.components.walk = async ({ box, words }) => {
  const {
    element,
    filled,
    heat: { share },
  } = courseLive;
  const LANGUAGE = "fr";
  const COURSE_SENTENCE = "give me two new hats .";
  // The network translates the last one wrongly.
  const EXAMPLES = [
    COURSE_SENTENCE,
    "my mother saw two white flowers .",
    "there are three white cars here .",
  ];
  const WORD = 2; // of the course's sentence: the noun, which stands elsewhere in French
  const OFFERED = 8; // words to put in a word's place
  const [LEFT, RIGHT] = [38, 112]; // middles of the plan's two columns
  const PLAN = {
    parts: [
      [LEFT, 0, "E + P", ["tokens", "embedding", "position"]],
      [LEFT, 1, "LN", ["norm"]],
      [LEFT, 2, "MHA", ["project", "scores", "scaling", "softmax", "mixture", "heads"]],
      [LEFT, 3, "+", ["residual"]],
      [LEFT, 4, "LN FFN", ["hidden"]],
      [LEFT, 5, "+", ["block"]],
      [LEFT, 6, "LN", ["memory"]],
      [RIGHT, 0, "E + P", ["written"]],
      [RIGHT, 1, "LN MHA", ["mask", "causal"]],
      [RIGHT, 2, "+", ["known"]],
      [RIGHT, 3, "LN MHA", ["cross", "alignment", "context"]],
      [RIGHT, 4, "LN FFN +", ["output"]],
      [RIGHT, 5, "LN W", ["logits", "sentence"]],
    ],
    streams: [
      [LEFT, 6],
      [RIGHT, 5],
    ],
    sources: [[LEFT, 6, RIGHT, 3]],
  };

  const [stored, { rows: corpus }, training] = await Promise.all(
    [`transformer-${LANGUAGE}`, `sentences-${LANGUAGE}`, "sentences-training"].map(name =>
      courseLive.content(name),
    ),
  );
  const network = new courseLive.Transformer(stored);
  const size = network.parameters["encoder.norm.weight"].rows / network.numHeads;
  const cells = courseLive.walkCells({ words, network, size });
  const { word } = cells;

  // The words that stand in the corpus between the same neighbours, two before and one after: when one of them is put
  // in the place of another, the network knows the kind of sentence.
  const around = (tokens, i) => [tokens[i - 2], tokens[i - 1], tokens[i + 1]].join(" ");
  const neighbours = new Map();
  for (const source of [...corpus.map(([text]) => text), ...training.rows]) {
    source.split(" ").forEach((token, i, tokens) => {
      const place = around(tokens, i);
      if (!neighbours.has(place)) neighbours.set(place, new Set());
      neighbours.get(place).add(token);
    });
  }

  function alternatives({ sentence }, i) {
    const tokens = sentence.split(" ");
    if (!/^[a-z]/.test(tokens[i] ?? "")) return [];
    return [...(neighbours.get(around(tokens, i)) ?? [])]
      .filter(token => token !== tokens[i])
      .slice(0, OFFERED);
  }

  const readAs = token => (network.knows(token) || token === "<eos>" ? token : "<unk>");

  function trace(sentence) {
    const result = network.trace(sentence.split(" "));
    const next = result.steps.map(step => step.token);
    const read = ["<bos>", ...next.slice(0, -1)];
    const pair = corpus.find(([source]) => source === sentence);
    const isSame = pair?.[1] === result.tokens.join(" ");
    const reference = pair?.[1].split(" ");
    return {
      sentence,
      rows: result.rows,
      source: result.source.map(readAs),
      read,
      next,
      sourceIds: result.source.map(token => network.ids.get(token) ?? network.ids.get("<unk>")),
      readIds: read.map(token => network.words.target.indexOf(token)),
      lang: LANGUAGE,
      vocabulary: network.words.target.length,
      reference,
      isSame,
      // where the network leaves the reference translation for the first time
      wrong: !reference || isSame ? -1 : next.findIndex((token, t) => token !== (reference[t] ?? "<eos>")),
      gold: isSame ? pair[2].split(" ").map(places => places.split(",").map(Number)) : undefined,
    };
  }

  // In the encoder the row with the largest weight on another token.
  function clearest({ rows, layer, head }) {
    const others = rows[`encoder.blocks.${layer}.attention.weights`].map((heads, i) =>
      Math.max(...heads[head].filter((_, j) => j !== i)),
    );
    return others.indexOf(Math.max(...others));
  }

  function facts(run, row, side) {
    const isEncoder = side === "encoder";
    const name = isEncoder ? "encoder.blocks.N.attention" : "decoder.blocks.N.cross_attention";
    const weights = run.rows[`${name.replace("N", run.layer)}.weights`][row][run.head];
    const top = weights.indexOf(Math.max(...weights));
    const [best] = network.best(run.rows["decoder.dense"][run.word], 1);
    const written = run.next.filter(token => token !== "<eos>").join(" ");
    return {
      token: isEncoder ? word(run.source[row], "en") : word(run.next[row], LANGUAGE),
      other: word(run.source[top], "en"),
      weight: share(weights[top]),
      written: word(run.read.slice(0, run.word + 1).join(" "), LANGUAGE),
      word: word(best.token, LANGUAGE),
      probability: share(best.probability),
      sentence: element("b", { lang: LANGUAGE }, written.replace(/ (?=\.$)/, "")),
      n: run.vocabulary,
      layers: network.numLayers,
    };
  }

  function remark({ name }, run) {
    if (name === "tokens" && run.source.includes("<unk>")) return [words.unknown_word];
    if (name === "tokens" && run.sentence !== COURSE_SENTENCE)
      return filled(words.outcome, facts(run, 0, "encoder"));
    if (name === "alignment" && run.gold) return [words.dots];
    if (name === "sentence" && run.isSame) return [words.right];
    if (name === "sentence" && !run.reference) return [words.elsewhere];
    if (run.wrong < 0 || (name !== "sentence" && !(name === "logits" && run.wrong === run.word))) return [];
    const [own, other] = [run.next[run.wrong], run.reference[run.wrong] ?? "<eos>"].map(token =>
      word(token, LANGUAGE),
    );
    return [element("span", { class: "walk-error" }, filled(words.wrong, { own, other }))];
  }

  courseLive.playSteps({
    box,
    words,
    subject: {
      name: "walk",
      network,
      vocabulary: network.words.target,
      lang: LANGUAGE,
      steps: courseLive.transformerSteps({ words, network, cells, size }),
      plan: PLAN,
      sides: {
        encoder: { lang: "en", firstRow: clearest, followsHead: true },
        decoder: { lang: LANGUAGE, firstRow: run => run.word },
      },
      start: { word: WORD, layer: 0, head: 2, sentence: COURSE_SENTENCE },
      longest: 12, // tokens
      trace,
      limits: run => ({
        word: run.next.length - 1,
        layer: network.numLayers - 1,
        head: network.numHeads - 1,
      }),
      arrive: run => ({ word: run.wrong < 0 ? Math.min(WORD, run.next.length - 1) : run.wrong }),
      facts,
      remark,
      examples: EXAMPLES,
      another: () => corpus[Math.floor(Math.random() * corpus.length)][0],
      alternatives,
    },
  });
};
