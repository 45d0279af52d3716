// Starts a page's components. Each waits behind its button; nothing is loaded before that is pressed. Files are
// loaded as scripts, not fetched, so that pages opened from disk work too.
(() => {
  const own = document.currentScript.src;
  const NEEDS = {
    translator: ["network.js", "heat.js", "translator.js"],
    heads: ["network.js", "heat.js", "heads.js"],
    pooling: ["network.js", "heat.js", "pooling.js"],
    split: ["split.js"],
    cache: ["cache.js"],
    width: ["network.js", "heat.js", "width.js"],
    writer: ["network.js", "heat.js", "writer.js"],
  };
  const loading = {};

  // An element: `on…` attributes are listeners, `style` holds custom properties, the rest are attributes.
  function element(tag, attributes = {}, ...children) {
    const name = tag.split(":");
    const node = name[1] ? document.createElementNS("http://www.w3.org/2000/svg", name[1]) : document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (key === "style") Object.entries(value).forEach(([property, to]) => node.style.setProperty(property, to));
      else if (value !== false && value !== undefined) node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.flat(Infinity));
    return node;
  }

  globalThis.courseLive = {
    language: JSON.parse(document.querySelector(".live[data-language]").dataset.language), // of the edition
    stored: {},
    components: {},
    element,
    store(name, content) { this.stored[name] = content; },

    // Resolves when the file has run.
    load(name) {
      loading[name] ??= new Promise((done, failed) => {
        const script = element("script", { src: own.replace("live.js", name), onload: done, onerror: failed });
        document.head.append(script);
      });
      loading[name].catch(() => { delete loading[name]; });
      return loading[name];
    },

    // A network, or another stored file, by its name.
    async content(name) {
      await this.load(`${name}.js`);
      return this.stored[name];
    },

    // "Step {t} of {n}" with its numbers.
    fill: (text, values) => text.replace(/\{(\w+)\}/g, (_, key) => values[key]),

    // A token as a label of its own: a full stop alone would be taken for dirt.
    legible: (token, words) => (/^[.。]$/.test(token) ? courseLive.fill(words.quoted, { word: token }) : token),

    still: () => matchMedia("(prefers-reduced-motion: reduce)").matches,
  };

  // A link from the page's beginning leads to a component and starts it.
  document.addEventListener("click", event => {
    const address = event.target.closest("a[href^='#play-']")?.hash;
    if (address) document.querySelector(`${address} > button`)?.click();
  });

  async function start(place, button) {
    const words = JSON.parse(place.dataset.words);
    const name = place.dataset.live;
    button.disabled = true;
    place.setAttribute("aria-busy", "true");
    try {
      await Promise.all(NEEDS[name].map(file => courseLive.load(file)));
      const box = element("div", { class: `live-box live-${name}`, role: "group", "aria-label": words.open, tabindex: "-1" });
      await courseLive.components[name]({ box, words, targets: JSON.parse(place.dataset.targets ?? "[]") });
      place.replaceChildren(box);
      place.classList.add("started");
      const picture = document.getElementById("live-translator")?.closest(".cell");
      if (picture) picture.hidden = true; // on the home page
      box.focus({ preventScroll: true });
      box.scrollIntoView({ block: "nearest" }); // what is higher than the screen begins at its top
    } catch {
      button.disabled = false;
      if (!place.querySelector("[role=alert]")) place.append(element("p", { role: "alert" }, words.failed));
    }
    place.removeAttribute("aria-busy");
  }

  for (const place of document.querySelectorAll(".live[data-live]")) {
    const button = place.querySelector(":scope > button");
    button.addEventListener("click", () => start(place, button));
    if (location.hash === `#${place.id}`) button.click(); // a shared link
  }
})();
