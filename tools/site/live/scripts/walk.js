// The walk: one sentence through the whole Transformer, step by step. The state is in the address, so that a link
// leads to a sentence, a step, a word, a layer and a head: #play-walk?step=scores&layer=0&head=2.
courseLive.components.walk = async ({ box, words }) => {
  const {
    element,
    button,
    fill,
    filled,
    legible,
    still,
    matrix,
    heat: { number, share, bar, drawing },
  } = courseLive;
  const LANGUAGE = "fr";
  const COURSE_SENTENCE = "give me two new hats .";
  const EXAMPLES = [
    COURSE_SENTENCE,
    "my mother saw two white flowers .",
    "there are three white cars here .",
  ]; // in the last one the network errs
  const LONGEST = 12; // tokens
  const PAUSE = 4000; // milliseconds of each step while it is played
  const READING = 4500; // and more for its text, on average: about three and a half minutes in all
  const WORD = 2; // of the course's sentence: the noun, which stands elsewhere in French
  const RANKED = 6; // tokens that could come next
  const SWIPE = 50; // pixels
  const OFFERED = 8; // words to put in a word's place

  const [stored, { rows: corpus }, training] = await Promise.all(
    [`transformer-${LANGUAGE}`, `sentences-${LANGUAGE}`, "sentences-training"].map(name =>
      courseLive.content(name),
    ),
  );
  const network = new courseLive.Transformer(stored);
  const steps = courseLive.walkSteps({ words, network });

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

  const averageLength = steps.reduce((sum, { told }) => sum + told.length, 0) / steps.length; // of a text

  const state = { step: 0, word: WORD, layer: 0, head: 2, sentence: COURSE_SENTENCE };
  let run; // the traced translation, and where the reader looks
  let opened; // the open cell: [matrix, row, column]
  let rows = {}; // the row that was looked at last, of the encoder and of the decoder
  let column; // the key that the reader asked about last, of the encoder
  let pictures = []; // of the step
  let exchanged; // the token of the sentence for which other words are offered
  let timer;

  // --- the parts of the picture -----------------------------------------------------------------------

  const path = element("ol", { class: "walk-path", "aria-label": words.steps });
  const title = element("p", { class: "walk-title" });
  const told = element("p", { class: "walk-told" });
  const choice = element("div", { class: "walk-choice" });
  const stage = element("div", { class: "walk-stage" });
  const detail = element("div", { class: "walk-detail" });
  const numbers = element("div", { class: "live-scroll" });
  const asTable = element(
    "details",
    { ontoggle: drawNumbers },
    element("summary", {}, words.numbers),
    numbers,
  );
  const back = button(words.back, () => {
    pause();
    go(state.step - 1);
  });
  const forward = button(words.forward, () => {
    pause();
    go(state.step + 1);
  });
  const playing = button(words.play, () => (timer ? pause() : play()), { class: "button live-main" });
  const reading = element("span", { class: "walk-reading" });
  const links = steps.map((step, place) =>
    element(
      "button",
      {
        type: "button",
        onclick: () => {
          pause();
          go(place);
        },
      },
      step.title,
    ),
  );
  path.append(
    ...steps.flatMap((step, place) => [
      ...(step.part ? [element("li", { class: "walk-part" }, step.part)] : []),
      element("li", {}, links[place]),
    ]),
  );

  box.addEventListener("keydown", event => {
    const onward = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!onward || event.altKey || event.ctrlKey || event.metaKey || event.target.matches("input")) return;
    event.preventDefault();
    pause();
    go(state.step + onward);
    if (path.contains(event.target)) links[state.step].focus();
  });

  const plan = courseLive.walkPlan(name => {
    pause();
    go(steps.findIndex(step => step.name === name));
  });
  const text = element(
    "div",
    { class: "walk-text" },
    element("div", { role: "status" }, title, told),
    plan.node,
  );

  let touched; // where a finger came down on the text: a swipe turns to another step
  text.addEventListener(
    "touchstart",
    event => {
      touched = event.touches[0].clientX;
    },
    { passive: true },
  );
  text.addEventListener("touchend", event => {
    const far = event.changedTouches[0].clientX - touched;
    if (Math.abs(far) < SWIPE) return;
    pause();
    go(state.step - Math.sign(far));
  });
  box.append(
    path,
    text,
    choice,
    element("div", { class: "walk-body" }, stage, detail),
    element("div", { class: "walk-more" }, asTable, reading, courseLive.copyLink(words, remember)),
    element("div", { class: "walk-controls" }, back, playing, forward),
  );

  // --- the network -------------------------------------------------------------------------------------

  const readAs = token => (network.knows(token) || token === "<eos>" ? token : "<unk>");

  function translate() {
    const tokens = state.sentence.split(" ");
    const result = network.trace(tokens);
    const next = result.steps.map(step => step.token);
    const reference = corpus.find(([source]) => source === state.sentence);
    const isSame = reference?.[1] === result.tokens.join(" ");
    run = {
      rows: result.rows,
      source: result.source.map(readAs),
      read: ["<bos>", ...next.slice(0, -1)],
      next,
      sourceIds: result.source.map(token => network.ids.get(token) ?? network.ids.get("<unk>")),
      lang: LANGUAGE,
      vocabulary: network.words.target.length,
      reference: reference?.[1].split(" "),
      isSame,
      gold: isSame ? reference[2].split(" ").map(places => places.split(",").map(Number)) : undefined,
    };
    run.readIds = run.read.map(token => network.words.target.indexOf(token));
    state.word = Math.min(state.word, next.length - 1);
    rows = {};
    column = undefined;
  }

  // Of the encoder the row with the largest weight on another token, of the decoder the token that is being written.
  function firstRow(side) {
    if (side === "decoder") return state.word;
    const others = run.rows[`encoder.blocks.${state.layer}.attention.weights`].map((heads, i) =>
      Math.max(...heads[state.head].filter((_, j) => j !== i)),
    );
    return others.indexOf(Math.max(...others));
  }

  // --- drawing -----------------------------------------------------------------------------------------

  const sideOf = step =>
    steps.indexOf(step) < steps.findIndex(({ name }) => name === "written") ? "encoder" : "decoder";
  const highestIn = row => row.reduce((best, value, i) => (value > row[best] ? i : best), 0);
  const largestIn = row =>
    row.reduce(
      (best, value, i) => (Math.abs(value) > Math.abs(row[best]) && Number.isFinite(value) ? i : best),
      0,
    );
  const word = (token, lang) => element("i", { lang }, legible(token, words));

  function facts() {
    const [layer, head] = [`blocks.${state.layer}`, state.head];
    const side = sideOf(steps[state.step]);
    const i = rows[side];
    const weights =
      run.rows[
        side === "encoder" ? `encoder.${layer}.attention.weights` : `decoder.${layer}.cross_attention.weights`
      ][i][head];
    const top = largestIn(weights);
    const [best] = network.best(run.rows["decoder.dense"][state.word], 1);
    return {
      token: word(side === "encoder" ? run.source[i] : run.next[i], side === "encoder" ? "en" : LANGUAGE),
      other: word(run.source[top], "en"),
      weight: share(weights[top]),
      written: word(run.read.slice(0, state.word + 1).join(" "), LANGUAGE),
      word: word(best.token, LANGUAGE),
      probability: share(best.probability),
      sentence: element(
        "b",
        { lang: LANGUAGE },
        run.next
          .filter(token => token !== "<eos>")
          .join(" ")
          .replace(/ (?=\.$)/, ""),
      ),
      n: run.vocabulary,
      layers: network.numLayers,
    };
  }

  function draw() {
    const step = steps[state.step];
    Object.assign(run, { word: state.word, layer: state.layer, head: state.head });
    const side = sideOf(step);
    const last =
      step.name === "sentence"
        ? run.next.length - 1
        : { encoder: run.source.length - 1, decoder: state.word }[side];
    rows[side] = Math.min(rows[side] ?? firstRow(side), last);
    const shown = step.show(run);
    pictures = shown.map((picture, place) => ({
      ...PICTURES[picture.kind ?? "matrix"](picture, place),
      picture,
    }));
    const sides = pictures.filter(({ picture }) => picture.side).map(({ node }) => node);
    const beside = element("div", { class: "walk-beside" });
    stage.replaceChildren(
      ...pictures.filter(({ picture }) => !picture.side).map(({ node }) => node),
      ...(sides.length ? [beside] : []),
    );
    beside.append(...sides);
    reading.replaceChildren(...readOn(step));
    title.replaceChildren(
      element("span", { class: "walk-count" }, fill(words.step, { t: state.step + 1, n: steps.length })),
      " ",
      element("b", {}, step.title),
    );
    told.replaceChildren(...filled(step.told, facts()), ...remark(step));
    drawChoice(step);
    openFirst(step, shown);
    drawPath();
    afterFrame(() => {
      showInPath();
      drawDetail(step);
      drawNumbers();
    });
  }

  // What is around a step's picture is drawn in the next frame: on a slow phone all at once would be a long task.
  let waiting; // for the frame
  function afterFrame(work) {
    clearTimeout(waiting);
    requestAnimationFrame(() => {
      clearTimeout(waiting);
      waiting = setTimeout(work);
    });
  }

  // A link back to the section that leads to a step.
  function readOn({ name }) {
    const section = document.querySelector(`.live-step a[href$="?step=${name}"]`)?.closest("section[id]");
    if (!section || section.closest("[hidden]")) return [];
    const heading = section.querySelector("h2, h3").cloneNode(true);
    heading.querySelector(".headerlink")?.remove();
    return [element("a", { href: `#${section.id}` }, heading.textContent.trim())];
  }

  function openFirst(step, shown) {
    const place = step.first ?? 0;
    const row = Math.min(rows[sideOf(step)], (shown[place].values?.length ?? 1) - 1);
    const values = shown[place].logits ?? shown[place].values[row];
    const isSigned = !(shown[place].logits || shown[place].columns);
    const start = step.name === "heads" ? (state.head * values.length) / network.numHeads : 0; // of the head's own features
    const own =
      step.name === "heads" ? values.subarray(start, start + values.length / network.numHeads) : values;
    const isKept = column !== undefined && shown[place].columns && sideOf(step) === "encoder";
    open(
      place,
      shown[place].logits ? 0 : row,
      isKept ? column : start + (isSigned ? largestIn : highestIn)(own),
      false,
    );
  }

  function open(place, i, j, byReader = true) {
    if (byReader) pause();
    opened = [place, i, j];
    const step = steps[state.step];
    const { lang, columns } = pictures[place].picture;
    if (byReader && columns && sideOf(step) === "encoder") column = j;
    if (byReader && lang === (sideOf(step) === "encoder" ? "en" : LANGUAGE)) {
      rows[sideOf(step)] = i;
      told.replaceChildren(...filled(step.told, facts()), ...remark(step));
    }
    pictures.forEach(({ mark, picture }, other) =>
      mark?.(picture.lang === lang ? i : -1, other === place ? j : -1),
    );
    detail.setAttribute("aria-live", byReader ? "polite" : "off"); // with a step, its text alone is read out
    if (byReader) drawDetail(step);
  }

  // What the cell is, the strips of which it was made, and its terms.
  function drawDetail(step) {
    const [place, i, j] = opened;
    const { picture } = pictures[place];
    const cell =
      step.cell && !["cards", "maps", "sentence"].includes(picture.kind)
        ? step.cell(run, picture.logits ? [place, j] : opened)
        : null;
    detail.hidden = !cell;
    if (!cell) {
      detail.replaceChildren();
      return;
    }
    const where = picture.logits
      ? [word(network.words.target[j], LANGUAGE)]
      : [
          word(picture.tokens[i], picture.lang),
          picture.columns
            ? [" → ", word(picture.columns[j], picture.columnsLang)]
            : ` · ${fill(words.feature_n, { n: j })}`,
        ];
    const strips = (cell.strips ?? []).map(([symbol, values, role]) => {
      const svg = matrix.strip(values, { role });
      if (cell.mark !== undefined) svg.querySelector(".walk-mark").setAttribute("x", cell.mark);
      return [element("span", { class: `walk-${role}` }, symbol), svg];
    });
    detail.replaceChildren(
      element("p", { class: "walk-where" }, where),
      element("p", { class: "walk-equation" }, cell.equation),
      ...(cell.note ? [element("p", { class: "live-small" }, cell.note)] : []),
      ...(strips.length ? [element("div", { class: "walk-strips", "aria-hidden": "true" }, strips)] : []),
      ...(cell.terms ? [termsOf(cell.terms)] : []),
    );
  }

  let termsOpen = false; // as the reader left them
  function termsOf(terms) {
    if (terms.lang) return termsTable(terms); // a line for each token is short
    const table = element("div", { class: "walk-terms", tabindex: "0" });
    const show = () => table.replaceChildren(...(termsOpen ? [termsTable(terms)] : []));
    show();
    return element(
      "details",
      {
        open: termsOpen,
        ontoggle: event => {
          termsOpen = event.target.open;
          show();
        },
      },
      element("summary", {}, fill(words.terms, { n: terms.rows.length })),
      table,
    );
  }

  function termsTable({ heads, rows: lines, lang, mark }) {
    const table = courseLive.table(
      undefined,
      heads,
      lines.map(([label, ...values]) => [
        element("th", { scope: "row", lang }, lang ? legible(label, words) : label),
        ...values.map(number),
      ]),
    );
    table.tBodies[0].rows[mark]?.classList.add("walk-opened");
    return table;
  }

  const PICTURES = {
    matrix: (picture, place) =>
      matrix.draw(picture, {
        words,
        label: `${picture.symbol} ${picture.shape}. ${words.keys}`,
        onopen: (i, j) => open(place, i, j),
      }),

    // Each token with its number; a word of the English sentence can be exchanged.
    cards: picture => {
      const isChosen = steps[state.step].name === "tokens";
      const card = (token, i) => [
        element("b", { lang: picture.lang }, legible(token, words)),
        element("span", {}, picture.values[i][0]),
      ];
      return {
        node: element(
          "div",
          { class: "walk-matrix" },
          element(
            "p",
            { class: "walk-name" },
            element("b", {}, picture.symbol),
            " ",
            element("code", {}, picture.shape),
          ),
          element(
            "ol",
            { class: "walk-cards" },
            picture.tokens.map((token, i) =>
              element(
                "li",
                { style: { "--row": i } },
                isChosen && alternatives(i).length
                  ? element(
                      "button",
                      { type: "button", "aria-pressed": String(i === exchanged), onclick: () => exchange(i) },
                      card(token, i),
                    )
                  : element("span", { class: "walk-card" }, card(token, i)),
              ),
            ),
          ),
          isChosen ? chooser() : "",
        ),
      };
    },

    maps: ({ maps, heads }) => ({
      node: element(
        "div",
        { class: "walk-maps" },
        Array.from({ length: heads }, (_, head) =>
          element(
            "button",
            {
              type: "button",
              "aria-pressed": String(head === state.head),
              onclick: () => {
                pause();
                choose("head", head);
              },
            },
            drawing(
              maps.map(row => row[head]),
              maps[0][head].length,
            ),
            fill(words.head_n, { n: head }),
          ),
        ),
      ),
    }),

    ranking: ({ logits, shape }) => {
      const best = network.best(logits, RANKED);
      const ids = best.map(({ token }) => network.words.target.indexOf(token));
      const press = (token, i) =>
        element(
          "button",
          { type: "button", lang: LANGUAGE, onclick: () => open(0, 0, ids[i]) },
          legible(token, words),
        );
      const table = courseLive.table(
        "walk-ranking",
        [words.next, "logit", words.probability],
        best.map(({ token, probability }, i) => [
          press(token, i),
          number(logits[ids[i]]),
          [element("span", { class: "live-amount" }, share(probability)), bar(probability)],
        ]),
      );
      const lines = [...table.tBodies[0].rows];
      return {
        node: element(
          "div",
          { class: "walk-matrix" },
          element("p", { class: "walk-name" }, element("b", {}, "z"), " ", element("code", {}, shape)),
          table,
        ),
        mark: (_, id) => lines.forEach((line, i) => line.classList.toggle("walk-opened", ids[i] === id)),
      };
    },

    sentence: () => ({
      node: element(
        "div",
        { class: "walk-matrix" },
        element("p", { class: "live-small" }, words.follow),
        element(
          "p",
          { class: "walk-chips" },
          run.next.map((token, t) =>
            element(
              "button",
              {
                type: "button",
                lang: LANGUAGE,
                class: errs(t) ? "walk-wrong" : false,
                "aria-pressed": String(t === state.word),
                onclick: () => follow(t),
              },
              legible(token, words),
            ),
          ),
        ),
      ),
    }),
  };

  // Whether the network leaves the reference translation here for the first time.
  const errs = t =>
    run.reference &&
    !run.isSame &&
    t === run.next.findIndex((token, place) => token !== (run.reference[place] ?? "<eos>"));

  // What is added to a step's text for this sentence.
  function remark(step) {
    const space = courseLive.language.spaces ? " " : "";
    if (step.name === "tokens" && run.source.includes("<unk>")) return [space, words.unknown_word];
    if (step.name === "tokens" && state.sentence !== COURSE_SENTENCE)
      return [space, ...filled(words.outcome, facts())];
    if (step.name === "alignment" && run.gold) return [space, words.dots];
    if (step.name === "sentence" && run.isSame) return [space, words.right];
    if (step.name === "sentence" && !run.reference) return [space, words.elsewhere];
    const wrong = run.next.findIndex((_, t) => errs(t));
    if (wrong < 0 || (step.name !== "sentence" && !(step.name === "logits" && wrong === state.word)))
      return [];
    const [own, other] = [run.next[wrong], run.reference[wrong] ?? "<eos>"].map(token =>
      word(token, LANGUAGE),
    );
    return [space, element("span", { class: "walk-error" }, filled(words.wrong, { own, other }))];
  }

  function alternatives(i) {
    const tokens = state.sentence.split(" ");
    if (!/^[a-z]/.test(tokens[i] ?? "")) return [];
    return [...(neighbours.get(around(tokens, i)) ?? [])]
      .filter(token => token !== tokens[i])
      .slice(0, OFFERED);
  }

  function exchange(i) {
    pause();
    exchanged = exchanged === i ? undefined : i;
    draw();
    stage.querySelector(`.walk-cards li:nth-child(${i + 1}) button`).focus();
    stage
      .querySelector(".walk-chips")
      .scrollIntoView({ block: "nearest", behavior: still() ? "auto" : "smooth" });
  }

  // Another word in place of the one that was pressed, or another sentence.
  function chooser() {
    const tokens = state.sentence.split(" ");
    const chip = (text, onclick, more = {}) =>
      element("button", { type: "button", lang: "en", onclick, ...more }, text);
    const instead = alternatives(exchanged).map(token =>
      chip(token, () => restart(tokens.with(exchanged, token).join(" "))),
    );
    const another = () => restart(corpus[Math.floor(Math.random() * corpus.length)][0]);
    return [
      element(
        "p",
        { class: instead.length ? "walk-chips" : "live-small" },
        ...(instead.length
          ? [
              element(
                "span",
                { class: "live-small" },
                filled(words.instead, { token: word(tokens[exchanged], "en") }),
              ),
              ...instead,
            ]
          : [words.change]),
      ),
      element(
        "p",
        { class: "walk-chips" },
        element("span", { class: "live-small" }, words.examples),
        EXAMPLES.map(text =>
          chip(text.replace(/ (?=[.?]$)/, ""), () => restart(text), {
            "aria-pressed": String(text === state.sentence),
          }),
        ),
        element("button", { type: "button", onclick: another }, words.another),
      ),
    ];
  }

  let offered; // what can be chosen now
  function drawChoice({ chooses }) {
    const wanted = [chooses, state.layer, state.head].join();
    if (offered === wanted) return;
    offered = wanted;
    const radios = (name, count) =>
      courseLive.choice({
        legend: words[name],
        name: `walk-${name}`,
        options: Array.from({ length: count }, (_, value) => [value, value]),
        chosen: state[name],
        onchange: value => {
          pause();
          choose(name, value);
        },
      });
    const focused = choice.contains(document.activeElement) && document.activeElement.name;
    choice.replaceChildren(
      ...(chooses ? [radios("layer", network.numLayers)] : []),
      ...(chooses === "head" ? [radios("head", network.numHeads)] : []),
    );
    if (focused) choice.querySelector(`[name="${focused}"]:checked`)?.focus();
  }

  // All numbers of the step as text, once a reader asks for them.
  function drawNumbers() {
    const all = pictures.filter(({ picture }) => picture.values && picture.kind !== "cards");
    asTable.hidden = all.length === 0;
    numbers.replaceChildren(...(asTable.open ? all.map(({ picture }) => matrix.table(picture, words)) : []));
  }

  function drawPath() {
    links.forEach((link, place) => {
      link.tabIndex = place === state.step ? 0 : -1;
      if (place === state.step) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    });
    plan.mark(steps[state.step].name);
    back.disabled = state.step === 0;
    forward.disabled = state.step === steps.length - 1;
  }

  function showInPath() {
    const current = links[state.step];
    path.scrollTo({
      left: current.offsetLeft - (path.clientWidth - current.offsetWidth) / 2,
      behavior: still() ? "auto" : "smooth",
    });
  }

  // --- what happens -----------------------------------------------------------------------------------

  function go(step) {
    if (step < 0 || step >= steps.length) return;
    const hadFocus = box.contains(document.activeElement);
    state.step = step;
    draw();
    remember();
    if (hadFocus && (!box.contains(document.activeElement) || document.activeElement.disabled))
      box.focus({ preventScroll: true });
  }

  function choose(name, value) {
    const wasMap = stage.contains(document.activeElement);
    state[name] = value;
    rows.encoder = undefined;
    draw();
    remember();
    if (wasMap) stage.querySelector(".walk-maps [aria-pressed=true]")?.focus();
  }

  function follow(t) {
    state.word = t;
    rows.decoder = undefined;
    go(steps.findIndex(({ name }) => name === "written"));
  }

  function restart(sentence) {
    pause();
    state.sentence = sentence;
    exchanged = undefined;
    translate();
    const wrong = run.next.findIndex((_, t) => errs(t));
    state.word = wrong < 0 ? Math.min(WORD, run.next.length - 1) : wrong;
    go(0);
  }

  function pause() {
    clearTimeout(timer);
    timer = undefined;
    playing.textContent = words.play;
    box.classList.remove("walk-playing");
  }

  function play() {
    if (state.step === steps.length - 1) go(0);
    playing.textContent = words.pause;
    box.classList.add("walk-playing");
    const onward = () => {
      if (!box.isConnected) return; // another address has started it anew
      go(state.step + 1);
      if (state.step === steps.length - 1) pause();
      else wait();
    };
    const wait = () => {
      const milliseconds = PAUSE + (READING * steps[state.step].told.length) / averageLength;
      box.style.setProperty("--wait", `${milliseconds}ms`);
      timer = setTimeout(onward, milliseconds);
    };
    wait();
  }

  // --- the address ------------------------------------------------------------------------------------

  function remember() {
    const { sentence, word: written, layer, head } = state;
    courseLive.writeState("walk", { step: steps[state.step].name, word: written, layer, head, sentence });
  }

  // Takes from the address what it has; what is missing stays as it is.
  function recall() {
    const asked = courseLive.readState("walk");
    const step = steps.findIndex(({ name }) => name === asked.step);
    const tokens = (asked.sentence ?? "").split(" ").filter(Boolean);
    if (tokens.length && tokens.length <= LONGEST) state.sentence = tokens.join(" ");
    if (step >= 0) state.step = step;
    for (const [name, count] of [
      ["layer", network.numLayers],
      ["head", network.numHeads],
      ["word", courseLive.MAX_STEPS],
    ]) {
      if (/^\d+$/.test(asked[name] ?? "") && Number(asked[name]) < count) state[name] = Number(asked[name]);
    }
  }

  recall();
  translate();
  draw();
};
