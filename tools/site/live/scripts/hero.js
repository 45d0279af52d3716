// The home page begins with one translation that plays by itself: lines show where the network looks while it
// writes. It is a stored run; the network itself is loaded when a reader asks for it.
(() => {
  const PAUSE = 1300; // milliseconds from one token to the next
  const WIDTH = 360; // of the drawing; one unit is a pixel on a phone
  const HEIGHT = 190;
  const SOURCE = 34; // heights of the two lines of tokens
  const TARGET = 166;
  const GAP = 15; // from a line of tokens to the ends of the lines between them
  const THICK = 9; // a line of weight 1
  const SEEN = 0.25; // a weight that the sentence below mentions

  const { element, fill, legible, still } = courseLive;

  for (const hero of document.querySelectorAll(".hero[data-run]")) {
    const place = hero.closest(".live");
    const words = JSON.parse(place.dataset.words);
    const edition = JSON.parse(place.dataset.language);
    const run = JSON.parse(hero.dataset.run);
    const last = run.target.length - 1;
    let current = -1; // the token that is being written; past the last one all stay in sight
    let timer;

    const across = (tokens, i) => (WIDTH * (i + 0.5)) / tokens.length;
    const source = run.source.map((token, i) =>
      element(
        "svg:text",
        { x: across(run.source, i), y: SOURCE + 5, lang: "en", class: "hero-source" },
        token,
      ),
    );
    const target = run.target.map((token, t) =>
      element(
        "svg:text",
        {
          x: across(run.target, t),
          y: TARGET + 5,
          lang: run.lang,
          class: "hero-target",
          onclick: () => {
            pause();
            show(t);
          },
        },
        token,
      ),
    );
    const lines = run.weights.map((row, t) =>
      element(
        "svg:g",
        {},
        row.map((weight, i) =>
          element("svg:path", {
            d: `M${across(run.target, t)} ${TARGET - GAP}C${across(run.target, t)} ${HEIGHT / 2} ${across(run.source, i)} ${HEIGHT / 2} ${across(run.source, i)} ${SOURCE + GAP}`,
            "stroke-width": (THICK * weight).toFixed(2),
          }),
        ),
      ),
    );
    const picture = element(
      "svg:svg",
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        role: "img",
        "aria-label": `${run.source.join(" ")} → ${run.target.join(" ")}. ${words.caption}`,
      },
      lines,
      source,
      target,
    );
    const looks = element("p", { class: "hero-looks", "aria-hidden": "true" });
    const control = element("button", {
      type: "button",
      class: "button",
      onclick: () => (timer ? pause() : play()),
    });
    hero.append(picture, element("p", { class: "hero-caption" }, words.caption), looks, control);

    const list = tokens =>
      new Intl.ListFormat(edition.locale).format(tokens.map(token => legible(token, words)));

    function show(t) {
      current = t;
      const row = run.weights[t];
      lines.forEach((line, step) =>
        line.setAttribute(
          "class",
          step === t || t > last ? "hero-now" : step < t ? "hero-past" : "hero-later",
        ),
      );
      target.forEach((token, step) => token.classList.toggle("hero-later", step > t));
      target.forEach((token, step) => token.classList.toggle("hero-now", step === t));
      source.forEach((token, i) => token.style.setProperty("--share", row ? row[i] : 0));
      looks.textContent = row
        ? fill(words.look, {
            token: legible(run.target[t], words),
            word: list(run.source.filter((_, i) => row[i] >= SEEN)),
          })
        : "\u00a0";
    }

    function pause() {
      clearTimeout(timer);
      timer = undefined;
      control.textContent = words.play;
    }

    function play() {
      if (current >= last) current = -1;
      control.textContent = words.pause;
      const onward = () => {
        show(current + 1);
        if (current > last) pause();
        else timer = setTimeout(onward, PAUSE);
      };
      onward();
    }

    document.getElementById("opening")?.setAttribute("hidden", ""); // the still picture, which paper keeps
    show(last + 1);
    pause();
    if (!still()) timer = setTimeout(play, PAUSE);
  }
})();
