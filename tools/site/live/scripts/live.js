// Starts a page's components. Each waits behind its button; nothing is loaded before that is pressed. Files are
// loaded as scripts, not fetched, so that pages opened from disk work too.
(() => {
  const own = document.currentScript.src;
  const NEEDS = {
    walk: ["network.js", "heat.js", "matrix.js", "cells.js", "plan.js", "player.js", "steps.js", "walk.js"],
    gpt: ["network.js", "heat.js", "matrix.js", "cells.js", "plan.js", "player.js", "gpt.js"],
    translator: ["network.js", "heat.js", "translator.js"],
    heads: ["network.js", "heat.js", "transformer.js", "heads.js"],
    pruning: ["network.js", "heat.js", "transformer.js", "pruning.js"],
    pooling: ["network.js", "heat.js", "pooling.js"],
    split: ["split.js"],
    cache: ["cache.js"],
    width: ["network.js", "heat.js", "width.js"],
    writer: ["network.js", "heat.js", "writer.js"],
    window: ["window.js"],
    mask: ["network.js", "heat.js", "mask.js"],
    guess: ["heat.js", "guess.js"],
    birth: ["heat.js", "birth.js"],
    linear: ["heat.js", "linear.js"],
  };
  const loading = {};

  // An element: `on…` attributes are listeners, `style` holds custom properties, the rest are attributes.
  function element(tag, attributes = {}, ...children) {
    const name = tag.split(":");
    const node = name[1]
      ? document.createElementNS("http://www.w3.org/2000/svg", name[1])
      : document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (key === "style")
        Object.entries(value).forEach(([property, to]) => node.style.setProperty(property, to));
      else if (value !== false && value !== undefined) node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.flat(Infinity));
    return node;
  }

  const svg = (tag, attributes, ...children) => element(`svg:${tag}`, attributes, ...children);

  const button = (label, onclick, more = {}) =>
    element("button", { type: "button", class: "button", onclick, ...more }, label);

  // A table of what is over its columns ("": an empty corner) and of lines, each with its heading first. What is a
  // cell already stays as it is.
  function table(name, heads, lines) {
    const cell = (tag, scope) => content =>
      content instanceof HTMLTableCellElement ? content : element(tag, { scope }, content);
    return element(
      "table",
      { class: name },
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          heads.map(text => (text === "" ? element("td") : cell("th", "col")(text))),
        ),
      ),
      element(
        "tbody",
        {},
        lines.map(([head, ...rest]) => element("tr", {}, cell("th", "row")(head), rest.map(cell("td")))),
      ),
    );
  }

  // A slider below its label and its value (`display`), above what its ends mean; `range` are its attributes.
  function slider(label, range, ends) {
    const display = element("output", {});
    const input = element("input", { type: "range", ...range });
    const meanings = element(
      "span",
      { class: "live-ends" },
      ends.map(end => element("span", {}, end)),
    );
    const field = element(
      "label",
      { class: "live-beta" },
      element("span", {}, label, " ", display),
      input,
      meanings,
    );
    return { field, input, display };
  }

  globalThis.courseLive = {
    language: JSON.parse(document.querySelector(".live[data-language]").dataset.language), // of the edition
    stored: {},
    components: {},
    element,
    svg,
    button,
    table,
    slider,
    store(name, content) {
      this.stored[name] = content;
    },

    // Resolves when the file has run.
    load(name) {
      loading[name] ??= new Promise((done, failed) => {
        const script = element("script", {
          src: own.replace("live.js", name),
          onload: done,
          onerror: failed,
        });
        script.async = false; // they run in the order in which they were asked for
        document.head.append(script);
      });
      loading[name].catch(() => {
        delete loading[name];
      });
      return loading[name];
    },

    // A network, or another stored file, by its name.
    async content(name) {
      await this.load(`${name}.js`);
      return this.stored[name];
    },

    // "Step {t} of {n}" with its numbers.
    fill: (text, values) => text.replace(/\{(\w+)\}/g, (_, key) => values[key]),

    // A text with words in it: {token} becomes the element, or the elements, that `values` has for it.
    filled: (text, values) =>
      text
        .split(/\{(\w+)\}/)
        .flatMap((part, i) => (i % 2 ? (values[part].cloneNode?.(true) ?? values[part]) : part)),

    // A token as a label of its own: a full stop alone would be taken for dirt.
    legible: (token, words) =>
      /^[.。]$/.test(token) ? courseLive.fill(words.quoted, { word: token }) : token,

    // 12,800 as the edition writes it.
    whole: value => String(value).replace(/\B(?=(\d{3})+$)/g, courseLive.language.thousands),

    // A button that copies the page's address, once `remember` has put into it what the reader sees.
    copyLink(words, remember) {
      const status = element("span", { role: "status", class: "live-small" });
      async function copy() {
        remember();
        try {
          await navigator.clipboard.writeText(location.href);
          status.textContent = words.copied;
        } catch {
          status.textContent = location.href; // a browser that does not allow it: the reader copies by hand
        }
      }
      const button = element("button", { type: "button", class: "live-link", onclick: copy }, words.copy);
      return element("span", { class: "live-copy" }, status, button);
    },

    // Buttons of which one is chosen; `options` are [value, label].
    choice: ({ legend, name, options, chosen, onchange }) =>
      element(
        "fieldset",
        {},
        element("legend", {}, legend),
        options.map(([value, label]) =>
          element(
            "label",
            {},
            element("input", {
              type: "radio",
              name,
              value,
              checked: value === chosen,
              onchange: () => onchange(value),
            }),
            element("span", {}, label),
          ),
        ),
      ),

    // Normal numbers, by the method of Box and Muller.
    normals: count =>
      Float64Array.from(
        { length: count },
        () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random()),
      ),

    still: () => matchMedia("(prefers-reduced-motion: reduce)").matches,

    // What the page's address says about a component: "#play-heads?off=C1.0" is {off: "C1.0"}.
    readState(name) {
      const [place, state] = location.hash.split("?");
      return place === `#play-${name}` ? Object.fromEntries(new URLSearchParams(state)) : {};
    },

    // Puts a component's state into the page's address, so that it can be linked. What is empty is left out.
    // Opening a component leaves the address as it is.
    writeState(name, state) {
      if (!document.querySelector(`#play-${name}.started`)) return;
      const entries = Object.entries(state).filter(([, value]) => value !== undefined && value !== "");
      history.replaceState(
        history.state,
        "",
        `#play-${name}?${new URLSearchParams(entries)}`.replace(/\?$/, ""),
      );
    },
  };

  // An address such as #play-heads starts a component; #play-heads?off=C1.0 starts it in a state.
  function startFromAddress() {
    const place = document.getElementById(location.hash.slice(1).split("?")[0]);
    if (!place?.matches(".live[data-live]")) return;
    if (new URLSearchParams(location.search).has("embed")) {
      // in a frame, or on a slide: nothing but the component
      document.documentElement.classList.add("embedded");
      const page = element("div", { hidden: true }, ...document.body.childNodes); // which other scripts still need
      document.body.append(place, page);
    }
    start(place);
  }
  addEventListener("hashchange", startFromAddress);
  document.addEventListener("click", event => {
    const hash = event.target.closest("a[href^='#play-']")?.hash;
    if (hash && hash === location.hash) startFromAddress(); // the address does not change
  });

  async function start(place) {
    const opener = place.querySelector(":scope > button");
    if (opener.disabled) return; // it is being started
    const words = JSON.parse(place.dataset.words);
    const name = place.dataset.live;
    opener.disabled = true;
    place.setAttribute("aria-busy", "true");
    try {
      await Promise.all(NEEDS[name].map(file => courseLive.load(file)));
      const box = element("div", {
        class: `live-box live-${name}`,
        role: "group",
        "aria-label": words.open,
        tabindex: "-1",
      });
      await courseLive.components[name]({ box, words, targets: JSON.parse(place.dataset.targets ?? "[]") });
      if (place.querySelector(":scope > .hero")) box.prepend(closing(place, words.close));
      place.querySelectorAll(":scope > :is(.live-box, [role=alert])").forEach(node => node.remove());
      place.append(box);
      place.classList.add("started");
      opener.hidden = true;
      box.focus({ preventScroll: true });
      box.scrollIntoView({ block: "nearest" }); // what is higher than the screen begins at its top
    } catch {
      if (!place.querySelector("[role=alert]")) place.append(element("p", { role: "alert" }, words.failed));
    }
    opener.disabled = false;
    place.removeAttribute("aria-busy");
  }

  // What was opened below the short walk can be closed again.
  function closing(place, label) {
    const close = () => {
      const opener = place.querySelector(":scope > button");
      place.querySelector(":scope > .live-box").remove();
      place.classList.remove("started");
      opener.hidden = false;
      opener.focus();
    };
    return button(label, close, { class: "button live-close" });
  }

  for (const place of document.querySelectorAll(".live[data-live]")) {
    place.querySelector(":scope > button").addEventListener("click", () => start(place));
  }
  startFromAddress(); // a shared link
})();
