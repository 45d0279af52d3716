// The live translator: a sentence, its translation token by token, and where the network looks at each step.
courseLive.components.translator = async ({ box, words, targets }) => {
  const {
    element,
    svg,
    button,
    fill,
    filled,
    still,
    legible,
    readState,
    writeState,
    EOS,
    heat: { table, bar, number, share },
  } = courseLive;
  const COURSE_SENTENCE = "give me two new hats .";
  // All four networks translate these exactly, though none was trained on them.
  const EXAMPLES = [
    "she doesn't like your red cup .",
    "the old bag is under the chair .",
    "does the teacher have a small horse ?",
  ];
  const PAUSE = 600; // milliseconds from one token to the next
  const LONGEST = 80; // letters of a sentence
  const OFFERS = 6; // words that begin like the one that is being typed
  const NEXT = 21; // words that may come next: after the first, the grammar has no more
  const DOUBTFUL = 0.5; // a probability
  const BESTS = 3; // candidates shown for the next token
  const SHORT = 5; // letters; shorter words have too many neighbours of another meaning
  const REPLACED = 1.5; // letters; "write" is further from "white" than "freind" from "friend"

  const edition = courseLive.language;
  const asked = readState("translator");
  let language = [asked.into, edition.code].find(code => targets.includes(code)) ?? targets[0];
  let writing; // how it is written: its tag, what parts words, marks that follow a word without a space
  let network; // of this language
  let rows; // the corpus's sentences in this language, by their source
  let grammar; // of the corpus, as states: which token leads to which
  let result; // the translation that is shown
  let current = 0; // the step that is looked at
  let shown = 0; // steps that have been written
  let timer;

  // --- what the reader typed ------------------------------------------------------------------------

  // As the corpus writes sentences: lower case (a Turkish keyboard writes İ for I), a full stop or another such mark apart at the end, no commas.
  function tokensIn(text) {
    const apart = text
      .normalize("NFC")
      .replace(/[İı]/g, "i")
      .toLowerCase()
      .replace(/[’‘]/g, "'")
      .replace(/[,;:"“”]/g, " ")
      .replace(/\bi am\b/g, "i'm")
      .replace(/([.!?])/g, " $1 ");
    return apart.split(/\s+/).filter(Boolean);
  }

  function tokensOf(text) {
    const tokens = tokensIn(text);
    return tokens.length && !/^[.!?]$/.test(tokens.at(-1)) ? [...tokens, "."] : tokens;
  }

  // How many letters have to be replaced, added, left out or swapped with the next.
  function distance(one, other) {
    const rows = [[...Array(other.length + 1).keys()]];
    for (let i = 1; i <= one.length; i += 1) {
      const row = [i];
      for (let j = 1; j <= other.length; j += 1) {
        const same = one[i - 1] === other[j - 1];
        const swapped = i > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
        row.push(
          Math.min(
            rows[i - 1][j] + 1,
            row[j - 1] + 1,
            rows[i - 1][j - 1] + (same ? 0 : REPLACED),
            swapped ? rows[i - 2][j - 2] + 1 : Infinity,
          ),
        );
      }
      rows.push(row);
    }
    return rows.at(-1).at(-1);
  }

  // The state of the grammar after these tokens; 0 after a whole sentence, none where it has no such sentence.
  const stateAfter = tokens =>
    tokens.reduce((state, token) => grammar[state]?.[network.ids.get(token)], grammar.length - 1);
  const isSentence = tokens => grammar[stateAfter(tokens)]?.[EOS] === 0;
  const nextWords = tokens =>
    Object.keys(grammar[stateAfter(tokens)] ?? {})
      .map(Number)
      .filter(id => id !== EOS)
      .map(id => network.words.source[id]); // the frequent ones first

  const knownWords = () => network.words.source.filter(token => /^[a-z]/.test(token)); // no special tokens, no marks

  // A known word that may have been meant: it begins alike, and one letter in four may be wrong.
  function nearest(word) {
    if (word.length < SHORT || /[^a-z']/.test(word)) return null;
    const alike = knownWords().filter(other => other[0] === word[0]);
    const far = alike.map(other => distance(word, other));
    const least = Math.min(...far);
    return least <= word.length / 4 ? alike[far.indexOf(least)] : null;
  }

  const strangersIn = tokens => tokens.filter(token => !network.knows(token));

  // Letters that English has not, and more words that are unknown than known.
  const foreign = tokens =>
    /(?![a-z])\p{L}/u.test(tokens.join("")) &&
    2 * strangersIn(tokens).length > tokens.filter(token => /\p{L}/u.test(token)).length;

  // As the language writes a sentence: suffixes and marks at their word.
  const written = tokens =>
    tokens
      .join(writing.space)
      .replace(/ \+|(?<=') /g, "")
      .replace(new RegExp(` (?=[${writing.close}])`, "g"), "");

  // --- the parts of the picture -----------------------------------------------------------------------

  const input = element("input", {
    type: "text",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    maxlength: LONGEST,
    oninput: offer,
    lang: "en",
    value: (asked.sentence ?? COURSE_SENTENCE).slice(0, LONGEST),
  });
  const choices = targets.map(code =>
    element(
      "label",
      {},
      element("input", {
        type: "radio",
        name: "live-language",
        value: code,
        checked: code === language,
        onchange: () => choose(code).catch(() => unknown.replaceChildren(words.failed)),
      }),
      element("span", {}, words[code]),
    ),
  );
  const completions = element("p", { class: "live-stepper live-completions" });
  const unknown = element("div", { class: "live-unknown", role: "status" });
  const sentence = element("p", { class: "live-written", "aria-hidden": "true" }); // grows by a token a step
  const announcement = element("p", { class: "hidden", role: "status" }); // the whole translation, for screen readers
  const sure = element("p", { class: "live-small" });
  const compared = element("p", { class: "live-small" });
  const press = element("p", { class: "live-small" }, words.press);
  const suffix = element("p", { class: "live-small" }, words.suffix);
  const known = element("p", { class: "live-known", lang: "en" });
  const list = element("details", {}, element("summary", {}, words.known), known);
  const heat = element("div", {
    class: "live-scroll",
    onclick: event => {
      // a row, or the button in it
      const line = event.target.closest("tbody tr");
      if (!line) return;
      show(line.sectionRowIndex, result.steps.length); // who asks for a step has the whole sentence
      // On a phone the step may be below the screen: scroll to it as far as the map stays in sight.
      if (detail.getBoundingClientRect().bottom > innerHeight)
        heat.scrollIntoView({ block: "start", behavior: still() ? "auto" : "smooth" });
    },
  });
  const detail = element("div", { class: "live-detail" });
  const back = button(words.back, () => show(current - 1));
  const forward = button(words.forward, () => show(current + 1));
  const again = button(words.play, play);
  const place = element("output", { class: "live-place" });
  const form = element(
    "form",
    { class: "live-form", onsubmit: submit },
    element("fieldset", {}, element("legend", {}, words.into), choices),
    element("label", { class: "live-sentence" }, element("span", {}, words.sentence), input),
    completions,
    element("button", { type: "submit", class: "button live-main" }, words.translate),
    button(words.another, another),
    element(
      "p",
      { class: "live-examples" },
      words.examples,
      EXAMPLES.map(text =>
        element(
          "button",
          { type: "button", class: "live-link", lang: "en", onclick: () => translate(text) },
          text.replace(/ (?=[.?]$)/, ""),
        ),
      ),
    ),
  );
  const outcome = element(
    "div",
    {},
    sentence,
    announcement,
    sure,
    element(
      "div",
      { class: "live-columns" },
      element("div", {}, heat, press, compared, suffix),
      element("div", {}, element("div", { class: "live-stepper" }, back, place, forward, again), detail),
    ),
    courseLive.copyLink(words, tellAddress),
  );
  // Below the short walk it is another network: which one, and the chapter that trains it.
  function whichNetwork() {
    const chapter = document.querySelector('.card[data-stem="bahdanau-attention"] a').cloneNode(true);
    chapter.querySelector(".number").remove();
    chapter.textContent = chapter.textContent.trim();
    return element("p", { class: "live-small" }, filled(words.network, { chapter }));
  }
  if (document.querySelector(".hero")) box.append(whichNetwork());
  box.append(form, list, unknown, outcome);

  // --- drawing ----------------------------------------------------------------------------------------

  const read = token => (network.knows(token) || token === "<eos>" ? token : "<unk>");

  function drawHeat(gold) {
    const label = token => element("button", { type: "button" }, token);
    heat.replaceChildren(
      table({
        rows: { tokens: result.steps.map(step => step.token), lang: writing.lang },
        columns: { tokens: result.source.map(read), lang: "en" },
        weights: result.steps.map(step => step.weights),
        gold,
        words,
        label,
      }),
    );
  }

  // The 64 numbers of the context as small bars, upwards where they are positive.
  function contextStrip(context) {
    const bars = [...context].map((value, i) =>
      svg("rect", { x: i, width: 0.8, y: Math.min(0, -value), height: Math.abs(value) }),
    );
    return svg(
      "svg",
      { viewBox: "0 -1 64 2", preserveAspectRatio: "none", class: "live-context", "aria-hidden": "true" },
      bars,
    );
  }

  function drawDetail() {
    const step = result.steps[current];
    const t = current + 1;
    const sub = text => element("sub", {}, text);
    const amount = value => element("span", { class: "live-amount" }, share(value)); // of one width: the bars begin together
    const lines = result.source.map((token, i) => [
      element("th", { scope: "row", lang: "en" }, legible(read(token), words)),
      number(step.scores[i]),
      [amount(step.weights[i]), bar(step.weights[i])],
    ]);
    const next = network
      .best(step.logits, BESTS)
      .map(({ token, probability }) => [
        element("th", { scope: "row", lang: writing.lang }, legible(token, words)),
        [amount(probability), bar(probability)],
      ]);
    detail.replaceChildren(
      courseLive.table("live-scores", [words.read, words.score, words.weight], lines),
      element(
        "p",
        { class: "live-small" },
        element("i", {}, "c"),
        sub(t),
        " = Σ ",
        element("i", {}, "α"),
        sub(`${t},i`),
        " ",
        element("i", {}, "h"),
        sub("i"),
        " ",
        words.context,
      ),
      contextStrip(step.context),
      courseLive.table("live-next", [words.next, words.probability], next),
    );
  }

  function update() {
    const lines = heat.querySelectorAll("tbody tr");
    lines.forEach((line, t) => {
      line.classList.toggle("live-later", t >= shown);
      line.classList.toggle("live-now", t === current);
      const label = line.querySelector("button");
      if (t === current) label.setAttribute("aria-current", "step");
      else label.removeAttribute("aria-current");
    });
    sentence.textContent = written(result.tokens.slice(0, shown));
    place.textContent = fill(words.step, { t: current + 1, n: result.steps.length });
    const isWritten = shown === result.steps.length; // what is said of the whole sentence
    sure.style.visibility = isWritten ? "" : "hidden";
    compared.style.visibility = isWritten ? "" : "hidden";
    back.disabled = current === 0;
    forward.disabled = current === result.steps.length - 1;
    drawDetail();
  }

  // --- what happens -----------------------------------------------------------------------------------

  function show(t, steps = t + 1) {
    clearTimeout(timer);
    current = t;
    shown = Math.max(shown, steps);
    update();
  }

  // Token by token; at once for readers who want no motion.
  function play() {
    clearTimeout(timer);
    shown = still() ? result.steps.length : 1;
    current = 0;
    const onward = () => {
      if (shown === result.steps.length) return;
      current = shown;
      shown += 1;
      update();
      timer = setTimeout(onward, PAUSE);
    };
    update();
    timer = setTimeout(onward, PAUSE);
  }

  // Words that the network does not know: words of its own to take instead, and the list of them all.
  function tellUnknown(tokens) {
    const strangers = [...new Set(strangersIn(tokens))];
    const quoted = strangers.map(word => fill(words.quoted, { word }));
    const joined = new Intl.ListFormat(edition.locale).format(quoted);
    const offered = strangers
      .map(word => [word, nearest(word)])
      .filter(([, near]) => near)
      .map(([word, near]) => {
        const take = () => translate(tokens.map(token => (token === word ? near : token)).join(" "));
        return button(fill(words.take, { old: word, word: near }), take);
      });
    const all = element("button", { type: "button", class: "live-link", onclick: openList }, words.see);
    unknown.replaceChildren(
      ...(strangers.length ? [element("p", {}, fill(words.unknown, { words: joined }), " ", all)] : []),
      ...(offered.length ? [element("p", { class: "live-stepper" }, offered)] : []),
    );
  }

  // A word goes to the end of the sentence, in place of what has been typed of it; after a whole sentence it begins one.
  function add(word) {
    const before = /[.?!]\s*$/.test(input.value) ? "" : input.value.replace(/[a-z'’]*$/i, "");
    input.value = `${before}${word} `;
    if (/^[.?!]$/.test(word)) {
      translate();
      return;
    }
    offer();
    if (!matchMedia("(pointer: coarse)").matches) input.focus(); // its keyboard would cover the words
  }

  const chips = tokens => tokens.map(word => button(legible(word, words), () => add(word), { lang: "en" }));

  // While a sentence is typed: the words that the grammar lets come next, or that go on as what is typed does.
  function offer() {
    unknown.replaceChildren(
      ...(input.value.length < LONGEST ? [] : [element("p", {}, fill(words.longest, { n: LONGEST }))]),
    );
    const typed = input.value.toLowerCase().match(/[a-z']*$/)[0];
    const next = nextWords(tokensIn(input.value.slice(0, input.value.length - typed.length)));
    const fitting = [...new Set([...next, ...knownWords()])].filter(
      word => word.startsWith(typed) && word !== typed,
    );
    completions.replaceChildren(...chips(typed ? fitting.slice(0, OFFERS) : next.slice(0, NEXT)));
    if (!typed && next.length) completions.prepend(element("span", { lang: edition.locale }, words.go_on));
  }

  // Begin a sentence whose words are taken one after another.
  function compose() {
    input.value = "";
    outcome.hidden = true; // it is of another sentence
    offer();
    completions.querySelector("button").focus();
  }

  function openList() {
    list.open = true;
    list.firstChild.focus();
    list.scrollIntoView({ block: "nearest" });
  }

  function tellForeign() {
    unknown.replaceChildren(
      element("p", {}, words.english),
      element(
        "p",
        { class: "live-stepper" },
        button(COURSE_SENTENCE, () => translate(COURSE_SENTENCE)),
      ),
    );
  }

  function compare(source) {
    const row = rows.get(source);
    const same = row && row.target.join(" ") === result.tokens.join(" ");
    const heard = row && !same ? element("span", { lang: writing.lang }, written(row.target)) : "";
    compared.replaceChildren(!row ? words.elsewhere : same ? words.same : `${words.other} `, heard);
    return same ? row.gold : null;
  }

  // A sentence is as good as its weakest token, more or less.
  function tellSure() {
    const least = result.steps
      .map(step => network.best(step.logits, 1)[0])
      .reduce((a, b) => (b.probability < a.probability ? b : a));
    const token = element("b", { lang: writing.lang }, legible(least.token, words));
    const amount = least.probability < 0.995 ? share(least.probability) : `>${number(0.99)}`;
    const [start, end] = fill(words.sure, { share: amount, token: "\n" }).split("\n");
    const doubt =
      least.probability < DOUBTFUL
        ? fill(words.doubt, { half: number(DOUBTFUL) })
        : isSentence(tokensIn(input.value))
          ? ""
          : words.unlike;
    sure.replaceChildren(start, token, end, edition.spaces ? " " : "", doubt);
  }

  function tellAddress() {
    writeState("translator", { sentence: input.value, into: language });
  }

  function translate(text = input.value) {
    clearTimeout(timer);
    const tokens = tokensOf(text);
    input.value = tokens.join(" ");
    completions.replaceChildren(button(words.compose, compose));
    outcome.hidden = !/\p{L}/u.test(text) || foreign(tokens);
    if (outcome.hidden) {
      tellForeign();
      return;
    }
    tellUnknown(tokens);
    tellAddress();
    result = network.translate(tokens);
    suffix.hidden = !result.tokens.some(token => token.startsWith("+"));
    announcement.replaceChildren(element("span", { lang: writing.lang }, written(result.tokens)));
    sentence.lang = writing.lang;
    keepRoom();
    tellSure();
    drawHeat(compare(tokens.join(" ")));
    play();
  }

  // For all of the sentence, so that what is below stays there while it is written.
  function keepRoom() {
    sentence.style.minHeight = "";
    sentence.textContent = written(result.tokens);
    sentence.style.minHeight = `${sentence.offsetHeight}px`;
  }

  function submit(event) {
    event.preventDefault();
    if (matchMedia("(pointer: coarse)").matches) input.blur(); // or its keyboard would cover the translation
    translate();
  }

  function another() {
    const sources = [...rows.keys()];
    translate(sources[Math.floor(Math.random() * sources.length)]);
  }

  async function choose(code) {
    language = code;
    const [stored, sentences, { states }] = await Promise.all(
      [`bahdanau-${code}`, `sentences-${code}`, "grammar"].map(name => courseLive.content(name)),
    );
    if (language !== code) return; // another was chosen meanwhile
    network = new courseLive.Bahdanau(stored);
    writing = sentences.writing;
    grammar = states;
    known.replaceChildren(
      ...knownWords()
        .sort()
        .map(word => element("button", { type: "button", onclick: () => add(word) }, word)),
    );
    rows = new Map(
      sentences.rows.map(([source, target, gold]) => [
        source,
        {
          target: target.split(" "),
          gold: gold.split(" ").map(places => places.split(",").map(Number)),
        },
      ]),
    );
    translate();
  }

  await choose(language);
};
