// What the components with the Transformer's heads share: the network, its test sentences, the heads by their
// names, and what a translation without some of them is compared with.
courseLive.transformer = async words => {
  const {
    element,
    fill,
    heat: { number },
  } = courseLive;
  const LANGUAGE = "fr";
  const SLICE = 10; // milliseconds of counting before the page may do something else

  const [stored, { rows }] = await Promise.all([
    courseLive.content(`transformer-${LANGUAGE}`),
    courseLive.content(`sentences-${LANGUAGE}`),
  ]);
  const network = new courseLive.Transformer(stored);
  const { encoder, self, cross } = network.modules;

  // Head 2 of layer 1 of the encoder is E1.2; `key` is what `options.off` of the network calls it.
  const GROUPS = [
    ["E", words.encoder, encoder],
    ["D", words.decoder, self],
    ["C", words.cross, cross],
  ];
  const groups = GROUPS.map(([letter, title, modules]) => ({
    title,
    heads: modules.flatMap((module, layer) =>
      Array.from({ length: network.numHeads }, (_, i) => ({
        module,
        number: i,
        key: `${module} ${i}`,
        name: `${letter}${layer}.${i}`,
        title,
      })),
    ),
  }));
  const heads = groups.flatMap(group => group.heads);

  // Gold positions are known where the words stand as in the corpus and are translated like there.
  function goldOf(result) {
    const row = rows.find(([source]) => source === result.source.slice(0, -1).join(" "));
    return row && row[1] === result.tokens.join(" ")
      ? row[2].split(" ").map(places => places.split(",").map(Number))
      : null;
  }

  // Rows, columns and weights of one head, as the heat-map's `table` takes them.
  function mapOf(result, { module, number: head }) {
    const source = { tokens: result.source, lang: "en" };
    if (encoder.includes(module)) {
      return {
        rows: source,
        columns: source,
        weights: result.steps[0].maps[module].map(query => query[head]),
      };
    }
    const written = result.steps.map(step => step.token);
    const read = { tokens: ["<bos>", ...written.slice(0, -1)], lang: LANGUAGE };
    const weights = result.steps.map(step => step.weights[module][head]);
    if (self.includes(module)) return { rows: read, columns: read, weights };
    return { rows: { tokens: written, lang: LANGUAGE }, columns: source, weights, gold: goldOf(result) };
  }

  // A translation; tokens that the whole network did not write at their place are marked.
  const compared = (tokens, whole) =>
    element(
      "span",
      { lang: LANGUAGE },
      tokens.map((token, i) => (token === whole[i] ? `${token} ` : [element("mark", {}, token), " "])),
    );

  // A sentence and its translation by the whole network.
  const asTrained = (tokens, whole) => [
    words.as_trained,
    " ",
    element("i", { lang: "en" }, tokens.join(" ")),
    " → ",
    element("span", { lang: LANGUAGE }, whole.join(" ")),
  ];

  // The probability of all tokens together.
  const chance = ({ steps }) =>
    steps.reduce((product, { logits }) => product * network.best(logits, 1)[0].probability, 1);
  const shown = probability => (probability < 0.995 ? number(probability) : `>${number(0.99)}`);

  // Does `work` for the numbers up to `count`, until it returns true; a slice at a time, so that the page stays
  // awake. After each slice `tell` hears how far it is. Returns what stops it.
  function inSlices(count, work, tell) {
    let done = 0;
    let timer;
    const onward = () => {
      const start = performance.now();
      for (; done < count && performance.now() - start < SLICE; done += 1) if (work(done)) return;
      tell(done);
      if (done < count) timer = setTimeout(onward);
    };
    onward();
    return () => clearTimeout(timer);
  }

  const isExact = ([source, target], options) =>
    network.translate(source.split(" "), options).tokens.join(" ") === target;

  // Looks for a test sentence that is translated in another way with these options, a different one each time, and
  // writes into `status` how far it is.
  function findChanged(options, found, status) {
    const first = Math.floor(Math.random() * rows.length);
    const written = (tokens, how) => network.translate(tokens, how).tokens.join(" ");
    return inSlices(
      rows.length,
      i => {
        const tokens = rows[(first + i) % rows.length][0].split(" ");
        if (written(tokens, options) === written(tokens)) return false;
        found(tokens);
        return true;
      },
      done => {
        status.textContent =
          done < rows.length ? `${done} / ${rows.length}` : fill(words.none_changed, { n: rows.length });
      },
    );
  }

  const anySentence = () => rows[Math.floor(Math.random() * rows.length)][0].split(" ");

  return {
    network,
    rows,
    groups,
    heads,
    mapOf,
    asTrained,
    compared,
    chance,
    shown,
    inSlices,
    isExact,
    findChanged,
    anySentence,
  };
};
