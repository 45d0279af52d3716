// The home page begins with a short form of the walk: a sentence goes through the Transformer, picture by picture, and
// is translated word by word. It is a stored run, and no network is loaded.
(async () => {
  const PAUSE = 4500; // milliseconds of a picture while it plays
  const WORD = 2000; // and of each word after the first
  const SEEN = 0.25; // a weight that the text mentions
  const CLEAR = 0.4; // the largest weight of a row that looks at something

  const { element, button, fill, filled, legible, load, still } = courseLive;
  const hero = document.querySelector(".hero[data-run]");
  const [run, words] = [hero.dataset.run, hero.dataset.words].map(JSON.parse);

  await Promise.all([load("heat.js"), load("matrix.js")]);
  const { bar, share } = courseLive.heat;

  const picture = (symbol, role, values, more = {}) =>
    courseLive.matrix.picture(
      {
        symbol,
        role,
        tokens: run.source,
        lang: "en",
        values,
        shape: `(${values.length}, ${values[0].length})`,
        ...more,
      },
      words,
    );
  const weights = (values, more) =>
    picture("A", "weight", values, {
      columns: run.source,
      columnsLang: "en",
      scale: 1,
      isShare: true,
      ...more,
    });
  const italic = (text, lang) => element(/\p{L}/u.test(text) ? "i" : "span", { lang }, text);
  const written = token =>
    /\p{Script=Han}/u.test(token)
      ? fill(words.quoted, { word: token })
      : italic(legible(token, words), run.lang);

  const listed = (places, type) =>
    new Intl.ListFormat(courseLive.language.locale, { type })
      .formatToParts(places.map(i => legible(run.source[i], words)))
      .map(part => (part.type === "element" ? italic(part.value, "en") : part.value));

  // What a picture's text says while a word is written: where the network looks, and where a person would.
  function textOf(text, t) {
    const row = run.looks[t];
    const most = Math.max(...row);
    const least = Math.min(SEEN, most);
    const values = {
      token: written(run.target[t]),
      words: listed(
        run.source.flatMap((_, i) => (row[i] >= least ? [i] : [])),
        "conjunction",
      ),
      gold: listed(run.gold[t], "disjunction"),
    };
    const isPlace = [words.looks, words.next].includes(text);
    const isElsewhere = isPlace && !run.gold[t].includes(row.indexOf(most));
    return [
      ...filled(text === words.next && most < CLEAR ? words.spread : text, values),
      ...(isElsewhere ? [courseLive.language.spaces ? " " : "", ...filled(words.elsewhere, values)] : []),
    ];
  }

  const tokens = () =>
    element(
      "ol",
      { class: "walk-cards" },
      run.source.map((text, i) =>
        element(
          "li",
          { class: "walk-card", style: { "--row": i } },
          element("b", { lang: "en" }, legible(text, words)),
          element("span", {}, run.ids[i]),
        ),
      ),
    );

  const projections = () =>
    element(
      "div",
      { class: "walk-beside" },
      ["query", "key", "value"].map(
        (role, n) => picture("QKV"[n], role, run["qkv"[n]], { isBare: n > 0 }).node,
      ),
    );

  // A row for each word; those that are not written yet keep their room.
  function looks(t) {
    const note = fill(words.all_heads, { n: run.heads });
    const { node, area, lines } = weights(run.looks, { tokens: run.target, lang: run.lang, note });
    area.classList.add("hero-kept");
    lines[t].classList.add("hero-now");
    lines.slice(t + 1).forEach(line => line.classList.add("hero-later"));
    return node;
  }

  const ranking = () =>
    element(
      "table",
      { class: "walk-ranking" },
      run.first.map((text, i) =>
        element(
          "tr",
          {},
          element("th", { scope: "row", lang: run.lang }, legible(text, words)),
          element("td", {}, share(run.best[i])),
          element("td", {}, bar(run.best[i])),
        ),
      ),
    );

  const pictures = [
    { told: words.tokens, draw: tokens },
    { told: words.positions, draw: () => picture("E + P", "stream", run.positions).node },
    { told: words.projections, draw: projections },
    { told: words.weights, draw: () => weights(run.weights, { note: words.one_head }).node },
    { told: words.joined, draw: () => picture("H", "output", run.joined, { parts: run.heads }).node },
    { told: words.memory, draw: () => picture("M", "key", run.memory).node },
    { told: words.looks, draw: () => looks(0), word: 0 },
    { told: words.ranking, draw: ranking, word: 0 },
    ...run.target.slice(1).map((_, i) => ({ told: words.next, draw: () => looks(i + 1), word: i + 1 })),
  ];

  const last = pictures.length - 1;
  let shown = last;
  let timer;

  const step = onward => () => {
    pause();
    told.setAttribute("aria-live", "polite"); // while it plays by itself, it is not read out
    show(shown + onward);
  };
  const back = button(words.back, step(-1));
  const forward = button(words.forward, step(1));
  const playing = button(words.play, () => (timer ? pause() : play()));
  const stage = element("div", { class: "walk-stage hero-stage", "aria-hidden": "true" });
  const told = element("p", { class: "hero-told" });
  hero.append(
    stage,
    told,
    element("div", { class: "hero-controls" }, back, playing, forward),
    element("p", { class: "hero-more" }, element("a", { href: "transformer.html#play-walk" }, words.more)),
  );

  function show(place) {
    shown = place;
    const focused = document.activeElement;
    const { draw, word = 0, told: text } = pictures[place];
    stage.replaceChildren(draw());
    told.replaceChildren(...textOf(text, word));
    back.disabled = place === 0;
    forward.disabled = place === last;
    if (hero.contains(focused) && focused.disabled) playing.focus();
  }

  function pause() {
    clearTimeout(timer);
    timer = undefined;
    playing.textContent = words.play;
  }

  function waitAndGoOn() {
    timer = setTimeout(
      () => {
        show(shown + 1);
        if (shown < last) waitAndGoOn();
        else pause();
      },
      pictures[shown].word > 0 ? WORD : PAUSE,
    );
  }

  function play() {
    playing.textContent = words.pause;
    told.setAttribute("aria-live", "off");
    if (shown === last) show(0);
    waitAndGoOn();
  }

  if (still()) show(last);
  else play();
})();
