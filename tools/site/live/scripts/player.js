// Plays a network's way through one sentence, step by step: it draws each step, opens cells, and keeps the state in the
// page's address, so that a link leads to a sentence, a step, a layer and a head: #play-walk?step=scores&layer=0&head=2.
// What is specific to a network is its `subject`:
// - `name` of the component; `network`; `steps` (cells.js says what a step is); `plan` (as in plan.js);
// - `start`, the state to begin with; `longest`, how many tokens an address may bring;
// - `trace(sentence)`, the run that the steps show; `limits(run)`, the largest number of each part of the state;
//   `arrive(run)`, changes of the state when a reader has chosen the sentence;
// - `sides`: the sequences in which a row stays open from step to step, each with its language and first row;
// - `facts(run, row, side)`, what stands in the braces of a step's text; `remark(step, run)`, what is added to it;
// - `examples` to begin with, perhaps `another()`; `alternatives(run, i)` to the token i;
// - `vocabulary` of the tokens that it writes, and their language `lang`.
courseLive.playSteps = ({ box, words, subject }) => {
  const {
    element,
    button,
    fill,
    filled,
    legible,
    still,
    softmax,
    byValue,
    matrix,
    heat: { number, share, bar, drawing },
  } = courseLive;
  const PAUSE = 4000; // milliseconds of each step while it is played
  const READING = 4500; // and more for its text, on average: for 24 steps about three and a half minutes in all
  const RANKED = 6; // tokens that could come next
  const SWIPE = 50; // pixels

  const { network, steps, sides } = subject;
  const averageLength = steps.reduce((sum, { told }) => sum + told.length, 0) / steps.length; // of a text

  const state = { step: 0, ...subject.start };
  let run; // what the steps show, and where the reader looks
  let opened; // the open cell: [matrix, row, column]
  let rows = {}; // the row that was looked at last, of each side
  let keys = {}; // the key that the reader asked about last, where tokens attend to their own sequence, of each side
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

  box.classList.add("live-walk"); // the looks of every walk
  box.addEventListener("keydown", event => {
    const onward = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!onward || event.altKey || event.ctrlKey || event.metaKey || event.target.matches("input")) return;
    event.preventDefault();
    pause();
    go(state.step + onward);
    if (path.contains(event.target)) links[state.step].focus();
  });

  const plan = courseLive.walkPlan(subject.plan, name => {
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

  function retrace() {
    run = subject.trace(state.sentence);
    for (const [name, most] of Object.entries(subject.limits(run))) state[name] = Math.min(state[name], most);
    rows = {};
    keys = {};
  }

  // --- drawing -----------------------------------------------------------------------------------------

  const highestIn = row => row.reduce((best, value, i) => (value > row[best] ? i : best), 0);
  const largestIn = row =>
    row.reduce(
      (best, value, i) => (Math.abs(value) > Math.abs(row[best]) && Number.isFinite(value) ? i : best),
      0,
    );
  const word = (token, lang) => element("i", { lang }, legible(token, words));
  const isOwn = ({ lang, columns, columnsLang }) => columns && columnsLang === lang; // tokens attend to each other

  const textOf = step => [
    ...filled(step.told, subject.facts(run, rows[step.side], step.side)),
    ...spaced(subject.remark(step, run)),
  ];
  const spaced = parts => (parts.length && courseLive.language.spaces ? [" ", ...parts] : parts);

  function draw() {
    const step = steps[state.step];
    const { step: _, ...where } = state;
    Object.assign(run, where);
    const shown = step.show(run);
    const last = (shown[step.first ?? 0].values?.length ?? Infinity) - 1;
    rows[step.side] = Math.min(rows[step.side] ?? sides[step.side].firstRow(run), last);
    pictures = shown.map((picture, place) => ({
      ...PICTURES[picture.kind ?? "matrix"](picture, place),
      picture,
    }));
    const narrow = pictures.filter(({ picture }) => picture.side).map(({ node }) => node);
    const beside = element("div", { class: "walk-beside" });
    stage.replaceChildren(
      ...pictures.filter(({ picture }) => !picture.side).map(({ node }) => node),
      ...(narrow.length ? [beside] : []),
    );
    beside.append(...narrow);
    reading.replaceChildren(...readOn(step));
    title.replaceChildren(
      element("span", { class: "walk-count" }, fill(words.step, { t: state.step + 1, n: steps.length })),
      " ",
      element("b", {}, step.title),
    );
    told.replaceChildren(...textOf(step));
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
    const row = rows[step.side];
    const values = shown[place].logits ?? shown[place].values[row];
    const isSigned = !(shown[place].logits || shown[place].columns);
    const start = step.name === "heads" ? (state.head * values.length) / network.numHeads : 0; // of the head's own features
    const own =
      step.name === "heads" ? values.subarray(start, start + values.length / network.numHeads) : values;
    const kept = isOwn(shown[place]) ? keys[step.side] : undefined;
    open(
      place,
      shown[place].logits ? 0 : row,
      kept ?? step.column ?? start + (isSigned ? largestIn : highestIn)(own),
      false,
    );
  }

  function open(place, i, j, byReader = true) {
    if (byReader) pause();
    opened = [place, i, j];
    const step = steps[state.step];
    const { picture } = pictures[place];
    const { lang } = picture;
    if (byReader && isOwn(picture)) keys[step.side] = j;
    if (byReader && lang === sides[step.side].lang) {
      rows[step.side] = i;
      told.replaceChildren(...textOf(step));
    }
    pictures.forEach((one, other) =>
      one.mark?.(one.picture.lang === lang ? i : -1, other === place ? j : -1),
    );
    detail.setAttribute("aria-live", byReader ? "polite" : "off"); // with a step, its text alone is read out
    if (byReader) drawDetail(step);
  }

  // What the cell is, the strips of which it was made, and its terms.
  function drawDetail(step) {
    const [place, i, j] = opened;
    const { picture, mark } = pictures[place];
    const cell = mark ? step.cell?.(run, picture.logits ? [place, j] : opened) : null;
    detail.hidden = !cell;
    if (!cell) {
      detail.replaceChildren();
      return;
    }
    const where = picture.logits
      ? [word(subject.vocabulary[j], subject.lang)]
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
      ...(cell.figure ? [cell.figure] : []),
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

    // Each token with its number. Where the reader's sentence is shown, `from` is the card of its first token, and its
    // words can be exchanged.
    cards: picture => {
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
                picture.from !== undefined && subject.alternatives(run, i - picture.from).length
                  ? element(
                      "button",
                      {
                        type: "button",
                        "aria-pressed": String(i - picture.from === exchanged),
                        onclick: () => exchange(i - picture.from),
                      },
                      card(token, i),
                    )
                  : element("span", { class: "walk-card" }, card(token, i)),
              ),
            ),
          ),
          picture.from === undefined ? "" : chooser(),
        ),
      };
    },

    maps: ({ maps }) => ({
      node: element(
        "div",
        { class: "walk-maps" },
        Array.from({ length: network.numHeads }, (_, head) =>
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
              maps.at(-1)[head].length,
            ),
            fill(words.head_n, { n: head }),
          ),
        ),
      ),
    }),

    ranking: ({ logits, shape }) => {
      const ids = byValue(logits).slice(0, RANKED);
      const probabilities = softmax(logits);
      const press = id =>
        element(
          "button",
          { type: "button", lang: subject.lang, onclick: () => open(0, 0, id) },
          legible(subject.vocabulary[id], words),
        );
      const table = courseLive.table(
        "walk-ranking",
        [words.next, "logit", words.probability],
        ids.map(id => [
          press(id),
          number(logits[id]),
          [element("span", { class: "live-amount" }, share(probabilities[id])), bar(probabilities[id])],
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

    // Tokens; one that `leads` somewhere is a button.
    chips: ({ note, chips, lang }) => ({
      node: element(
        "div",
        { class: "walk-matrix" },
        element("p", { class: "live-small" }, note),
        element(
          "p",
          { class: "walk-chips" },
          chips.map(({ text, leads, isHere, isWrong }) =>
            leads
              ? element(
                  "button",
                  {
                    type: "button",
                    lang,
                    class: isWrong ? "walk-wrong" : false,
                    "aria-pressed": isHere === undefined ? false : String(isHere),
                    onclick: () => visit(leads),
                  },
                  legible(text, words),
                )
              : element("span", { lang }, legible(text, words)),
          ),
        ),
      ),
    }),
  };

  function exchange(i) {
    pause();
    exchanged = exchanged === i ? undefined : i;
    draw();
    stage.querySelectorAll(".walk-cards li")[i + pictures[0].picture.from].querySelector("button").focus();
    stage
      .querySelector(".walk-chips")
      .scrollIntoView({ block: "nearest", behavior: still() ? "auto" : "smooth" });
  }

  // Another word in place of the one that was pressed, or another sentence.
  function chooser() {
    const tokens = state.sentence.split(" ");
    const chip = (text, onclick, more = {}) =>
      element("button", { type: "button", lang: "en", onclick, ...more }, text);
    const restart = sentence => () => visit({ step: steps[0].name, sentence });
    const instead =
      exchanged === undefined
        ? []
        : subject
            .alternatives(run, exchanged)
            .map(token => chip(token, restart(tokens.with(exchanged, token).join(" "))));
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
        subject.examples.map(text =>
          chip(text.replace(/ (?=[.?]$)/, ""), restart(text), {
            "aria-pressed": String(text === state.sentence),
          }),
        ),
        ...(subject.another
          ? [
              element(
                "button",
                { type: "button", onclick: () => restart(subject.another())() },
                words.another,
              ),
            ]
          : []),
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
    for (const side of Object.keys(rows)) if (sides[side].followsHead) delete rows[side];
    draw();
    remember();
    if (wasMap) stage.querySelector(".walk-maps [aria-pressed=true]")?.focus();
  }

  // Changes the state, and goes to a step by its name.
  function visit({ step: name, ...changes }) {
    pause();
    Object.assign(state, changes);
    exchanged = undefined;
    if (changes.sentence) {
      retrace();
      Object.assign(state, subject.arrive?.(run));
    }
    const step = steps.findIndex(one => one.name === name);
    delete rows[steps[step].side];
    go(step);
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
    courseLive.writeState(subject.name, { ...state, step: steps[state.step].name });
  }

  // Takes from the address what it has; what is missing stays as it is.
  function recall() {
    const { step: name, sentence = "", ...numbers } = courseLive.readState(subject.name);
    const step = steps.findIndex(one => one.name === name);
    const tokens = sentence.split(" ").filter(Boolean);
    if (tokens.length && tokens.length <= subject.longest) state.sentence = tokens.join(" ");
    if (step >= 0) state.step = step;
    for (const [part, text] of Object.entries(numbers))
      if (typeof state[part] === "number" && /^\d+$/.test(text)) state[part] = Number(text);
  }

  recall();
  retrace();
  draw();
};
