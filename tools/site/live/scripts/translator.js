// The live translator: a sentence, its translation token by token, and where the network looks at each step.
courseLive.components.translator = async ({ box, words, edition }) => {
  const { element, fill, still, heat: { table, bar, number, languageTag } } = courseLive;
  const TARGETS = ["fr", "tr", "vi", "zh"];
  const COURSE_SENTENCE = "give me two new hats .";
  const PAUSE = 600; // milliseconds from one token to the next
  const BESTS = 3; // candidates shown for the next token

  let language = TARGETS.includes(edition) ? edition : "fr";
  let network; // of this language
  let rows; // the corpus's sentences in this language, by their source
  let result; // the translation that is shown
  let current = 0; // the step that is looked at
  let shown = 0; // steps that have been written
  let timer;

  // --- what the reader typed ------------------------------------------------------------------------

  // As the corpus writes sentences: lower case, a full stop or another such mark apart at the end, no commas.
  function tokensOf(text) {
    const apart = text.normalize("NFC").toLowerCase().replace(/[’‘]/g, "'").replace(/[,;:"]/g, " ").replace(/([.!?])/g, " $1 ");
    const tokens = apart.split(/\s+/).filter(Boolean);
    return tokens.length && !/^[.!?]$/.test(tokens.at(-1)) ? [...tokens, "."] : tokens;
  }

  // How many letters have to be changed, added or left out.
  function distance(one, other) {
    let row = [...Array(other.length + 1).keys()];
    for (let i = 1; i <= one.length; i += 1) {
      const next = [i];
      for (let j = 1; j <= other.length; j += 1) {
        next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1)));
      }
      row = next;
    }
    return row.at(-1);
  }

  const knownWords = () => network.words.source.slice(4); // after the special tokens

  // A known word that may have been meant: one letter in four may be wrong.
  function nearest(word) {
    const far = knownWords().map(other => distance(word, other));
    const least = Math.min(...far);
    return least <= Math.max(1, word.length / 4) ? knownWords()[far.indexOf(least)] : null;
  }

  // As the language writes a sentence: suffixes and marks at their word, Chinese without spaces.
  const written = tokens => tokens.join(language === "zh" ? "" : " ").replace(/ \+|(?<=') /g, "").replace(language === "fr" ? / (?=\.)/g : / (?=[.?!])/g, "");

  // --- the parts of the picture -----------------------------------------------------------------------

  const input = element("input", { type: "text", autocomplete: "off", autocapitalize: "none", spellcheck: "false", maxlength: "80", lang: "en", value: COURSE_SENTENCE });
  const choices = TARGETS.map(code => element("label", {}, element("input", {
    type: "radio", name: "live-language", value: code, checked: code === language, onchange: () => choose(code).catch(() => unknown.replaceChildren(words.failed)),
  }), element("span", {}, words[code])));
  const unknown = element("div", { class: "live-unknown", role: "status" });
  const sentence = element("p", { class: "live-written", lang: languageTag(language), "aria-hidden": "true" }); // grows by a token a step
  const told = element("p", { class: "hidden", role: "status" }); // the same, said once
  const compared = element("p", { class: "live-small" });
  const known = element("p", { class: "live-small", lang: "en" });
  const heat = element("div", { class: "live-scroll", onclick: event => { // a row, or the button in it
    const line = event.target.closest("tbody tr");
    if (line) show(line.sectionRowIndex);
  } });
  const detail = element("div", { class: "live-detail" });
  const back = element("button", { type: "button", class: "button", onclick: () => show(current - 1) }, words.back);
  const forward = element("button", { type: "button", class: "button", onclick: () => show(current + 1) }, words.forward);
  const again = element("button", { type: "button", class: "button", onclick: play }, words.play);
  const place = element("output", { class: "live-place" });
  const form = element("form", { class: "live-form", onsubmit: event => { event.preventDefault(); translate(); } },
    element("fieldset", {}, element("legend", {}, words.into), choices),
    element("label", { class: "live-sentence" }, element("span", {}, words.sentence), input),
    element("button", { type: "submit", class: "button live-main" }, words.translate),
    element("button", { type: "button", class: "button", onclick: another }, words.another));
  box.append(form, unknown, sentence, told,
    element("div", { class: "live-columns" },
      element("div", {}, heat, element("p", { class: "live-small" }, words.press), compared),
      element("div", {}, element("div", { class: "live-stepper" }, back, place, forward, again), detail)),
    element("details", {}, element("summary", {}, words.known), known));

  // --- drawing ----------------------------------------------------------------------------------------

  function drawHeat(gold) {
    const label = token => element("button", { type: "button" }, token);
    heat.replaceChildren(table({
      rows: { tokens: result.steps.map(step => step.token), language },
      columns: { tokens: result.source, language: "en" },
      weights: result.steps.map(step => step.weights),
      gold, words, label,
    }));
  }

  // The 64 numbers of the context as small bars, upwards where they are positive.
  function contextStrip(context) {
    const bars = [...context].map((value, i) => element("svg:rect", {
      x: i, width: 0.8, y: Math.min(0, -value), height: Math.abs(value),
    }));
    return element("svg:svg", { viewBox: "0 -1 64 2", preserveAspectRatio: "none", class: "live-context", "aria-hidden": "true" }, bars);
  }

  function drawDetail() {
    const step = result.steps[current];
    const t = current + 1;
    const sub = text => element("sub", {}, text);
    const lines = result.source.map((token, i) => element("tr", {},
      element("th", { scope: "row", lang: "en" }, token),
      element("td", {}, number(step.scores[i])),
      element("td", {}, number(step.weights[i]), bar(step.weights[i]))));
    const next = network.best(step.logits, BESTS).map(({ token, probability }) => element("tr", {},
      element("th", { scope: "row", lang: languageTag(language) }, token),
      element("td", {}, number(probability), bar(probability))));
    const column = text => element("th", { scope: "col" }, text);
    detail.replaceChildren(
      element("table", { class: "live-scores" },
        element("thead", {}, element("tr", {}, column(words.read), column(words.score), column(words.weight))),
        element("tbody", {}, lines)),
      element("p", { class: "live-small" }, element("i", {}, "c"), sub(t), " = Σ ", element("i", {}, "α"), sub(`${t},i`), " ", element("i", {}, "h"), sub("i"), " ", words.context),
      contextStrip(step.context),
      element("table", { class: "live-next" },
        element("thead", {}, element("tr", {}, column(words.next), column(words.probability))),
        element("tbody", {}, next)));
  }

  function update() {
    const lines = heat.querySelectorAll("tbody tr");
    lines.forEach((line, t) => {
      line.classList.toggle("live-later", t >= shown);
      line.classList.toggle("live-now", t === current);
      const button = line.querySelector("button");
      if (t === current) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    sentence.textContent = written(result.tokens.slice(0, shown));
    place.textContent = fill(words.step, { t: current + 1, n: result.steps.length });
    back.disabled = current === 0;
    forward.disabled = current === result.steps.length - 1;
    drawDetail();
  }

  // --- what happens -----------------------------------------------------------------------------------

  function show(t) {
    clearTimeout(timer);
    current = t;
    shown = Math.max(shown, t + 1);
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

  function tellUnknown(tokens) {
    const strangers = [...new Set(tokens.filter(token => !network.knows(token)))];
    unknown.replaceChildren(...strangers.map(word => {
      const near = nearest(word);
      const take = () => { input.value = tokens.map(token => (token === word ? near : token)).join(" "); translate(); };
      return element("p", {}, fill(words.unknown, { word }), " ",
        near ? element("button", { type: "button", class: "button", onclick: take }, fill(words.take, { word: near })) : "");
    }));
  }

  function compare(source) {
    const row = rows.get(source);
    const same = row && row.target.join(" ") === result.tokens.join(" ");
    const heard = row && !same ? element("span", { lang: languageTag(language) }, written(row.target)) : "";
    compared.replaceChildren(!row ? words.elsewhere : same ? words.same : `${words.other} `, heard);
    return same ? row.gold : null;
  }

  function translate() {
    const tokens = tokensOf(input.value);
    if (!tokens.length) return;
    input.value = tokens.join(" ");
    tellUnknown(tokens);
    result = network.translate(tokens);
    told.replaceChildren(element("span", { lang: languageTag(language) }, written(result.tokens)));
    sentence.lang = languageTag(language);
    drawHeat(compare(tokens.join(" ")));
    play();
  }

  function another() {
    const sources = [...rows.keys()];
    input.value = sources[Math.floor(Math.random() * sources.length)];
    translate();
  }

  async function choose(code) {
    language = code;
    const [stored, sentences] = await Promise.all([courseLive.content(`bahdanau-${code}`), courseLive.content(`sentences-${code}`)]);
    if (language !== code) return; // another was chosen meanwhile
    network = new courseLive.Bahdanau(stored);
    known.textContent = knownWords().sort().join(" ");
    rows = new Map(sentences.rows.map(([source, target, gold]) => [source, {
      target: target.split(" "),
      gold: gold.split(" ").map(places => places.split(",").map(Number)),
    }]));
    translate();
  }

  await choose(language);
};
