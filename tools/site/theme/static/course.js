// What a page does beyond text: colours, the language that stays chosen, the menu, copy buttons, search.
// Every page works without this script; it only adds.
(() => {
  const root = document.documentElement;
  const find = (selector, within = document) => within.querySelector(selector);
  const remember = (key, value) => {
    try {
      localStorage.setItem(key, value);
    } catch {
      /* no storage from disk */
    }
  };

  const themes = matchMedia("(prefers-color-scheme: dark)").matches
    ? ["auto", "light", "dark"]
    : ["auto", "dark", "light"]; // a press changes what is seen
  const themeButton = find(".theme-button");
  const showTheme = theme => {
    root.dataset.theme = theme;
    const label = themeButton.dataset.label + themeButton.dataset[theme];
    themeButton.setAttribute("aria-label", label);
    themeButton.title = label;
  };
  themeButton.hidden = false;
  showTheme(themes.includes(root.dataset.theme) ? root.dataset.theme : "auto");
  const hush = () => themeButton.classList.remove("told");
  themeButton.addEventListener("click", () => {
    const next = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
    showTheme(next);
    remember("course-theme", next);
    themeButton.classList.add("told");
    setTimeout(hush, 1500);
  });
  document.addEventListener("pointerdown", hush);

  // The other language opens at the passage that is at the top of the window.
  const passageInView = () => {
    if (scrollY < 100) return "";
    const asked = document
      .getElementById(decodeURIComponent(location.hash.slice(1).split("?")[0]))
      ?.getBoundingClientRect();
    if (asked && asked.top > 0 && asked.top < innerHeight / 2) return location.hash;
    // Nothing folded, and no part of a drawing.
    const passages = [...document.querySelectorAll("article [id]")].filter(
      node =>
        !node.closest("svg") &&
        node.getClientRects().length &&
        node.checkVisibility() &&
        !node.matches(".cell:has(> details:not([open]))"),
    );
    const seen = passages.filter(node => node.getBoundingClientRect().top < innerHeight / 4);
    return seen.length ? `#${seen.at(-1).id}` : location.hash;
  };
  const languages = find(".languages");
  languages?.addEventListener("click", event => {
    const link = event.target.closest("a[data-edition]");
    if (!link) return;
    remember("course-language", link.dataset.edition);
    link.hash = passageInView() || location.hash;
  });
  document.addEventListener("click", event => {
    if (languages?.open && !languages.contains(event.target)) languages.open = false;
  });
  document.addEventListener("keydown", event => {
    if (event.key === "Escape" && languages?.open) {
      languages.open = false;
      find("summary", languages).focus();
    }
  });

  const menu = find(".menu-button");
  const chapters = find("#course-chapters");
  menu.setAttribute("role", "button");
  menu.setAttribute("aria-controls", "course-chapters");
  const showMenu = open => {
    chapters.classList.toggle("open", open);
    root.classList.toggle("reading-menu", open);
    menu.setAttribute("aria-expanded", open);
  };
  showMenu(false);
  menu.addEventListener("click", event => {
    event.preventDefault();
    showMenu(!chapters.classList.contains("open"));
  });
  menu.addEventListener("keydown", event => {
    if (event.key === " ") {
      event.preventDefault();
      menu.click();
    }
  });
  chapters.addEventListener("click", event => {
    if (event.target.closest("ul a")) showMenu(false); // a section of this page
  });
  document.addEventListener("keydown", event => {
    if (event.key === "Escape" && chapters.classList.contains("open")) {
      showMenu(false);
      menu.focus();
    }
  });

  for (const block of document.querySelectorAll("div[class*='highlight-']:not(.output)")) {
    block.append(find("#copy-button").content.cloneNode(true));
    const button = block.lastElementChild;
    const status = find("span", button);
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(find("pre", block).textContent);
      status.textContent = status.dataset.done;
      setTimeout(() => {
        status.textContent = "";
      }, 2000);
    });
  }

  // Chinese has no spaces: what is set large is broken between words only.
  const HAN = /\p{sc=Han}{2}/u;
  const keepWordsWhole = (segmenter, text) => {
    const parts = [...segmenter.segment(text.data)].map(({ segment }) => {
      if (!/^\p{sc=Han}{2,}$/u.test(segment)) return segment;
      const word = document.createElement("span");
      word.className = "whole";
      word.textContent = segment;
      return word;
    });
    text.replaceWith(...parts);
  };
  if (Intl.Segmenter) {
    const segmenter = new Intl.Segmenter(root.lang, { granularity: "word" });
    for (const large of document.querySelectorAll("article :is(h1, h2, h3, .lead)")) {
      const walker = document.createTreeWalker(large, NodeFilter.SHOW_TEXT);
      const texts = [];
      while (walker.nextNode()) if (HAN.test(walker.currentNode.data)) texts.push(walker.currentNode);
      for (const text of texts) keepWordsWhole(segmenter, text);
    }
  }

  // What scrolls inside itself can be reached by keyboard; what fits is no stop on the way. What is folded, or far below
  // on a phone, would be laid out by itself to be measured.
  const boxes = document.querySelectorAll("article :is(pre, .wide, div.math)");
  let isDue = false;
  const makeReachable = () => {
    isDue = false;
    const scrolling = [...boxes].map(
      box => box.checkVisibility({ contentVisibilityAuto: true }) && box.scrollWidth > box.clientWidth,
    );
    boxes.forEach((box, index) => {
      if (scrolling[index]) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    });
  };
  const whenIdle = () => {
    // once for all that changed together, such as what is open when the page comes
    if (!isDue) (window.requestIdleCallback ?? setTimeout)(makeReachable, { timeout: 300 });
    isDue = true;
  };
  addEventListener("resize", whenIdle);
  document.addEventListener("toggle", whenIdle, true); // what was folded has its width now
  document.addEventListener("contentvisibilityautostatechange", whenIdle);
  addEventListener("hashchange", whenIdle); // a link led to a place: nothing is far any more
  document.fonts.ready.then(whenIdle);

  // A link may lead into what is folded.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.matches(".cell, .role-checks")) find("details", target)?.setAttribute("open", "");
    for (let box = target?.closest("details"); box; box = box.parentElement.closest("details"))
      box.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();

  // On paper, answers and solutions are open; where a teacher prints `page.html?handout`, they are left out.
  root.classList.toggle("handout", new URLSearchParams(location.search).has("handout"));
  const folded = [...document.querySelectorAll("article details:not(.aside)")];
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = folded.filter(box => !box.open);
    opened.forEach(box => {
      box.open = true;
    });
  });
  addEventListener("afterprint", () => {
    opened.forEach(box => {
      box.open = false;
    });
  });

  // A picture opens over the page, whole. Another tap brings the place that was tapped near, or shows the whole again.
  // Without this script the link leads to its file.
  const shareOf = (event, picture) => {
    const box = picture.getBoundingClientRect();
    const [width, height] = ["width", "height"].map(side => Number(picture.getAttribute(side)));
    const scale = Math.min(box.width / width, box.height / height);
    const place = (at, start, room, side) => (at - start - (room - scale * side) / 2) / (scale * side);
    return [
      place(event.clientX, box.left, box.width, width),
      place(event.clientY, box.top, box.height, height),
    ];
  };
  const zoom = (picture, [x, y]) => {
    const stage = picture.parentNode;
    const width = () => picture.getBoundingClientRect().width;
    const before = width();
    stage.classList.toggle("near");
    stage.scrollTo(
      x * stage.scrollWidth - stage.clientWidth / 2,
      y * stage.scrollHeight - stage.clientHeight / 2,
    );
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    picture.style.transformOrigin = `${100 * x}% ${100 * y}%`;
    picture.animate([{ transform: `scale(${before / width()})` }, { transform: "none" }], {
      duration: 450,
      easing: "ease-in-out",
    });
  };
  const large = document.body.appendChild(document.createElement("dialog"));
  large.className = "large";
  large.addEventListener("click", event => {
    const picture = event.target.closest("div > img, .drawing");
    if (picture) zoom(picture, shareOf(event, picture));
    else large.close();
  });
  find("article").addEventListener("click", event => {
    const link = event.target.closest(".enlarge");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const stage = document.createElement("div");
    const picture = find("img, svg", link).cloneNode(true);
    picture.loading = "eager";
    stage.append(picture);
    large.setAttribute("aria-label", link.title);
    large.replaceChildren(find("dialog.search form button").cloneNode(true), stage);
    const said = link.closest("figure")?.querySelector("figcaption strong");
    if (said) large.append(said.cloneNode(true));
    const hint = document.createElement("p");
    hint.textContent = find("article").dataset.near;
    large.append(hint);
    large.showModal();
  });

  const dialog = find("dialog.search");
  const load = address =>
    new Promise((done, failed) => {
      const script = document.createElement("script");
      Object.assign(script, { src: address, async: false, onload: done, onerror: failed });
      document.head.append(script);
    });
  let isStarted = false;
  const openSearch = () => {
    dialog.showModal();
    find("input", dialog).select();
    if (isStarted) return;
    isStarted = true;
    Promise.all([dialog.dataset.source, ...dialog.dataset.scripts.split(" ")].map(load)).then(() =>
      window.courseSearch.start(dialog),
    );
  };
  const searchButton = find(".search-button");
  searchButton.hidden = false;
  searchButton.addEventListener("click", openSearch);
  document.addEventListener("keydown", event => {
    const typing = /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName);
    if ((event.key === "/" && !typing) || (event.key === "k" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      if (!dialog.open) openSearch();
    }
  });
})();
