// A language model writes: the probabilities of the next token, with a temperature and top-p, and chance draws.
courseLive.components.writer = async ({ box, words }) => {
  const {
    element,
    button,
    still,
    legible,
    nextTokenProbabilities,
    byValue,
    BOS,
    EOS,
    MAX_STEPS,
    heat: { bar, number, share },
  } = courseLive;
  const PROMPT = "give me two";
  const SHOWN = 8; // tokens that have a row of their own
  const PAUSE = 350; // milliseconds from one token to the next

  const [stored, training, { states: grammar }] = await Promise.all(
    ["language-model", "sentences-training", "grammar"].map(name => courseLive.content(name)),
  );
  const network = new courseLive.LanguageModel(stored);
  const known = new Set(training.rows);

  let tokens = []; // written so far, by their ids, without <bos>
  let logits; // the model's scores after <bos> and after each token, (1 + tokens, vocab_size)
  let rows = []; // the tokens of the table, and the probabilities at their places
  let timer;

  const ended = () => tokens.at(-1) === EOS;
  const whole = () => ended() || tokens.length === MAX_STEPS;
  const text = ids => ids.map(id => network.words[id]).join(" ");
  const correct = () => tokens.reduce((state, id) => grammar[state]?.[id], grammar.length - 1) === 0;

  // --- the parts of the picture -----------------------------------------------------------------------

  const draw = button(words.draw, () => write(drawn()));
  const play = button(words.whole, () => {
    write(drawn());
    onward();
  });
  const back = button(words.back, () => set(tokens.slice(0, -1)));
  const restart = button("<bos>", () => set([]));
  const prompt = button(PROMPT, () => set(PROMPT.split(" ").map(word => network.ids.get(word))), {
    lang: "en",
  });
  const sentence = element("p", { class: "live-written", role: "status" });
  const hint = element("p", { class: "live-small" });
  const heading = element("th", { scope: "col" });

  function slider(label, most, ends) {
    const oninput = () => {
      tell();
      show();
    };
    const range = { min: "0", max: String(most), step: "0.05", value: "1", oninput };
    const { field, input, display } = courseLive.slider(label, range, ends);
    const tell = () => {
      display.textContent = number(Number(input.value));
      input.setAttribute("aria-valuetext", display.textContent);
    };
    tell();
    return { field, value: () => Number(input.value) };
  }
  const temperature = slider(words.temperature, 2, [words.greedy, "2"]);
  const topP = slider(words.top_p, 1, ["0", words.all]);

  // Rows stay and are filled anew, so that a button keeps the focus; the last one is for all other tokens.
  const lines = Array.from({ length: MAX_STEPS + 1 }, (_, i) => {
    const others = i === MAX_STEPS;
    const name = others
      ? element("span", {}, words.others)
      : element("button", { type: "button", lang: "en", onclick: () => write(rows[i].id) });
    const [amount, left, length] = [
      element("span", { class: "live-amount" }),
      element("span", { class: "hidden" }, `, ${words.cut}`),
      bar(0),
    ];
    return {
      name,
      amount,
      left,
      length,
      line: element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, amount, left, length)),
    };
  });

  box.append(
    element("fieldset", {}, element("legend", {}, words.restart), restart, prompt),
    sentence,
    element("div", { class: "live-stepper" }, draw, play, back),
    element("div", { class: "live-pair" }, temperature.field, topP.field),
    hint,
    element(
      "table",
      { class: "live-next" },
      element("thead", {}, element("tr", {}, heading, element("th", { scope: "col" }, words.probability))),
      element(
        "tbody",
        {},
        lines.map(({ line }) => line),
      ),
    ),
  );

  // --- drawing ----------------------------------------------------------------------------------------

  const kept = place =>
    nextTokenProbabilities(logits[place], { temperature: temperature.value(), topP: topP.value() });
  const had = place => nextTokenProbabilities(logits[place], { temperature: temperature.value() || 1 }); // greedy leaves out what softmax gave

  // A probability to draw with, or struck out what a token had before top-p or temperature 0 left it out.
  function fillLine({ amount, left, length, line }, chance, before) {
    line.hidden = false;
    line.classList.toggle("live-cut", chance === 0);
    left.hidden = chance > 0;
    amount.textContent = share(chance || before);
    length.style.setProperty("--share", chance || before);
  }

  // The likeliest next tokens; of a whole sentence, its own tokens, each as probable as it was at its place.
  function show() {
    const at = place => ({ chances: kept(place), before: had(place) });
    const next = at(tokens.length);
    const order = byValue(logits.at(-1));
    rows = whole()
      ? tokens.map((id, place) => ({ id, ...at(place) }))
      : order.slice(0, SHOWN).map(id => ({ id, ...next }));
    for (const { line, name } of lines) {
      line.hidden = true;
      name.disabled = whole();
    }
    rows.forEach(({ id, chances, before }, i) => {
      lines[i].name.textContent = legible(network.words[id], words);
      fillLine(lines[i], chances[id], before[id]);
    });
    const rest = numbers => order.slice(SHOWN).reduce((sum, id) => sum + numbers[id], 0);
    if (!whole()) fillLine(lines.at(-1), rest(next.chances), rest(next.before));
  }

  // --- what happens -----------------------------------------------------------------------------------

  function set(ids) {
    clearTimeout(timer);
    const held = document.activeElement;
    tokens = ids;
    logits = network.forward([BOS, ...tokens]);
    show();
    const judged = () =>
      known.has(text(tokens.slice(0, -1))) ? words.known : correct() ? words.fresh : words.broken;
    const verdict = ended() ? judged() : "";
    sentence.ariaBusy = "false";
    sentence.replaceChildren(
      element("span", { lang: "en" }, `<bos> ${text(tokens)}`),
      " ",
      element("span", { class: "live-small" }, verdict),
    );
    hint.textContent = whole() ? words.each : words.press;
    heading.textContent = whole() ? words.token : words.next;
    draw.disabled = play.disabled = whole();
    back.disabled = tokens.length === 0;
    if (held.disabled) restart.focus({ preventScroll: true }); // the keyboard goes on from there
  }

  const write = id => set([...tokens, id]);

  // One token by chance: a random number falls into one token's share.
  function drawn() {
    const chances = kept(tokens.length);
    let left = Math.random();
    const id = chances.findIndex(chance => {
      left -= chance;
      return left < 0;
    });
    return id < 0 ? byValue(chances)[0] : id; // shares that are rounded may end before 1
  }

  // Token by token; at once for readers who want no motion.
  function onward() {
    while (still() && !whole()) write(drawn());
    if (whole()) return;
    sentence.ariaBusy = "true"; // it is read aloud when it is whole
    timer = setTimeout(() => {
      write(drawn());
      onward();
    }, PAUSE);
  }

  set([]);
};
