// Where the reader is: the current section, chapters that were read, and the way back to the last passage.
// What was read stays on the reader's machine, under one key, and can be cleared.
(() => {
  const KEY = "course-read"; // of each chapter the passage that was reached, or true; `last`: the chapter
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const list = document.querySelector("#course-chapters");
  const stem = document.body.dataset.stem;
  const numbered = all("li[data-stem]", list).filter(item => item.querySelector(".number"));
  const isChapter = numbered.some(item => item.dataset.stem === stem);

  let read = {};
  try { read = JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { /* no storage from disk */ }
  const keep = () => { try { localStorage.setItem(KEY, JSON.stringify(read)); } catch { /* as above */ } };

  const start = document.querySelector(".start a");
  const first = start && { href: start.getAttribute("href"), text: start.textContent };
  const show = () => {
    for (const item of all("li[data-stem]")) {
      item.querySelector(".read")?.remove();
      if (read[item.dataset.stem] !== true) continue;
      const mark = document.createElement("span");
      mark.className = "read";
      mark.title = list.dataset.read;
      mark.setAttribute("role", "img");
      mark.setAttribute("aria-label", list.dataset.read);
      item.querySelector("a").append(mark);
    }
    const forget = list.querySelector(".forget");
    forget.hidden = Object.keys(read).length === 0;
    const last = numbered.find(item => item.dataset.stem === read.last)?.querySelector("a");
    if (!start) return;
    const passage = typeof read[read.last] === "string" ? `#${read[read.last]}` : "";
    start.href = last ? last.getAttribute("href") + passage : first.href;
    start.textContent = last ? `${list.dataset.continue}: ${last.querySelector(".title").textContent}` : first.text;
  };
  list.querySelector(".forget").addEventListener("click", () => { read = {}; keep(); show(); });
  show();

  // The section at the height where people read is marked in the lists of sections.
  const links = new Map();
  for (const link of all(":is(.sections, .contents) a")) {
    const id = decodeURIComponent(link.hash.slice(1));
    links.set(id, [...links.get(id) ?? [], link]);
  }
  const sections = all("article section[id]").filter(section => links.has(section.id));
  const inView = new Set();
  const mark = current => {
    for (const [id, found] of links) {
      for (const link of found) {
        if (id !== current.id) { link.removeAttribute("aria-current"); continue; }
        link.setAttribute("aria-current", "true");
        const box = link.closest(".sections");
        const above = box && link.offsetTop < box.scrollTop;
        if (above || (box && link.offsetTop + link.offsetHeight > box.scrollTop + box.clientHeight)) {
          box.scrollTop = link.offsetTop - box.clientHeight / 2;
        }
      }
    }
  };
  const note = current => {
    if (!isChapter || scrollY < 100) return;
    read.last = stem;
    if (read[stem] !== true) read[stem] = current.id === "summary" || current === sections.at(-1) ? true : current.id;
    keep();
    show();
  };
  const watcher = new IntersectionObserver(entries => {
    for (const { target, isIntersecting } of entries) inView[isIntersecting ? "add" : "delete"](target);
    const current = sections.findLast(section => inView.has(section));
    if (current) { mark(current); note(current); }
  }, { rootMargin: "-20% 0px -75%" });
  sections.forEach(section => watcher.observe(section));

  const root = document.documentElement;
  addEventListener("scroll", () => root.classList.toggle("far", scrollY > 2 * innerHeight), { passive: true });
})();
