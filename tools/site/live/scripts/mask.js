// One mask, written by the convention of one library and given to another: who gets how much weight then.
courseLive.components.mask = ({ box, words }) => {
  const {
    element,
    table,
    fill,
    choice,
    readState,
    writeState,
    softmax,
    heat: { number, share, bar },
  } = courseLive;
  const TOKENS = ["two", "new", "hats", "<pad>"];
  const SCORES = [0.4, 1, 0.6, 1.4];
  const MAY_BE_SEEN = [true, true, true, false];
  const PAD = 3;
  // How each convention writes that a token may be seen, and what each library makes of an entry and a score.
  const CONVENTIONS = new Map([
    ["allows", seen => seen],
    ["hides", seen => !seen],
    ["added", seen => (seen ? 0 : -Infinity)],
    ["ones", seen => (seen ? 1 : 0)],
  ]);
  const LIBRARIES = [
    {
      name: "SDPA",
      code: "F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)",
      masked: (entry, score) => (typeof entry === "number" ? score + entry : entry ? score : -Infinity),
    },
    {
      name: "nn.MultiheadAttention",
      code: "layer(Q, K, V, key_padding_mask=mask)",
      masked: (entry, score) => (typeof entry === "number" ? score + entry : entry ? -Infinity : score),
    },
    {
      name: "Annotated Transformer",
      code: "layer(Q, K, V, mask)",
      masked: (entry, score) => (Number(entry) === 0 ? -1e9 : score),
    },
    {
      name: "mha_course",
      code: "layer(Q, K, V, mask=mask)",
      error: "TypeError",
      masked: (entry, score) => (entry ? score : -Infinity),
    },
  ];

  const asked = readState("mask");
  let convention = CONVENTIONS.has(asked.mask) ? asked.mask : "hides";
  let library = LIBRARIES.find(({ name }) => name === asked.library) ?? LIBRARIES[0];

  const code = element("p", { class: "live-printed" });
  const weighed = element("div", { class: "live-scroll" });
  const verdict = element("p", { class: "live-line", role: "status" });
  box.append(
    element("p", { class: "live-small" }, words.hint),
    choice({
      legend: words.written,
      name: "live-convention",
      chosen: convention,
      onchange: name => {
        convention = name;
        show();
      },
      options: [...CONVENTIONS.keys()].map(name => [name, words[name]]),
    }),
    choice({
      legend: words.given,
      name: "live-library",
      chosen: library.name,
      onchange: name => {
        library = LIBRARIES.find(one => one.name === name);
        show();
      },
      options: LIBRARIES.map(({ name }) => [name, name]),
    }),
    code,
    weighed,
    verdict,
  );

  // As PyTorch prints them.
  const entries = { true: " True", false: "False", 0: "0.", 1: "1.", "-Infinity": "-inf" };

  function show() {
    writeState("mask", { mask: convention, library: library.name });
    const mask = MAY_BE_SEEN.map(CONVENTIONS.get(convention));
    const refused = library.error && typeof mask[0] === "number";
    const weights = softmax(SCORES.map((score, i) => library.masked(mask[i], score)));
    code.textContent = `mask = tensor([[${mask.map(entry => entries[entry]).join(", ")}]])\n${library.code}`;
    weighed.replaceChildren(
      table(
        "live-scores",
        [words.key, words.score, words.mask, words.weight],
        TOKENS.map((token, i) => [
          element("th", { scope: "row", lang: "en" }, token),
          number(SCORES[i]),
          element("code", {}, entries[mask[i]].trim()),
          refused ? "–" : [element("span", { class: "live-amount" }, share(weights[i])), bar(weights[i])],
        ]),
      ),
    );
    verdict.textContent = refused
      ? fill(words.refused, { error: library.error })
      : fill(weights[PAD] > 0 ? words.wrong : words.right, { share: share(weights[PAD]) });
  }

  show();
};
