// Search through every passage of an edition: the same over http and from disk, without a server.
// Words are compared without accents, tones and Turkish dots; Chinese is found inside sentences.
(() => {
  const MOST = 30;
  const SNIPPET = 60;
  const CHINESE = /\p{Script=Han}/u;

  // One character becomes one character, so that places in the folded text are places in the text.
  const foldCharacter = character => {
    const base = character.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/\p{M}/gu, "");
    return { "ı": "i", "đ": "d" }[base] ?? (base.length === character.length ? base : character);
  };
  const fold = text => Array.from(text.normalize("NFC"), foldCharacter).join("");
  const ENDINGS = { en: /(?:ings?|ers?|ed|e?s|ly|ations?|ions?)$/ };

  const passages = window.courseData.flatMap(([address, title, parts]) => parts.map(([anchor, text], position) => ({
    address: `${address}#${anchor}`, title, position, text: text.normalize("NFC"), folded: fold(text), foldedTitle: fold(title),
  })));

  const escape = text => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = term => new RegExp(CHINESE.test(term) ? escape(term) : `(?<![\\p{L}\\p{N}])${escape(term)}`, "gu");

  // The term itself, else its stem, else ever shorter beginnings (Turkish suffixes), else its Chinese words.
  const variants = (term, language) => {
    if (CHINESE.test(term)) {
      const words = [...new Intl.Segmenter("zh", { granularity: "word" }).segment(term)].map(part => part.segment);
      return [[term], words];
    }
    const shorter = [];
    const stem = term.replace(ENDINGS[language] ?? /$^/, "");
    if (stem.length >= 3 && stem !== term) shorter.push([stem]);
    const least = Math.max(4, Math.ceil(term.length * .6));
    if (language === "tr" || language === "en") {
      for (let length = term.length - 1; length >= least; length -= 1) shorter.push([term.slice(0, length)]);
    }
    return [[term], ...shorter];
  };

  const score = (passage, terms, typed) => {
    let total = 0;
    for (const term of terms) {
      const inText = passage.folded.match(pattern(term))?.length ?? 0;
      const inTitle = pattern(term).test(passage.foldedTitle) ? 1 : 0;
      const inHeading = pattern(term).test(passage.folded.slice(0, 50)) ? 1 : 0;
      if (!inText) return 0;
      total += Math.min(inText, 4) + 2 * inTitle + 3 * inHeading;
    }
    const text = passage.text.toLowerCase();
    return total + typed.filter(word => text.includes(word)).length * 2;
  };

  const search = (query, language) => {
    const words = query.normalize("NFC").split(/\s+/u).filter(Boolean);
    const typed = words.map(word => word.toLocaleLowerCase(document.documentElement.lang));
    if (!words.length) return { terms: [], found: [] };
    const hits = term => passages.some(passage => pattern(term).test(passage.folded));
    const terms = words.map(fold).flatMap(term => variants(term, language).find(words => words.every(hits)) ?? [term]);
    const found = passages.map(passage => ({ passage, points: score(passage, terms, typed) }))
      .filter(result => result.points > 0)
      .sort((a, b) => b.points - a.points || a.passage.position - b.passage.position)
      .slice(0, MOST);
    return { terms, found };
  };

  const snippet = (passage, terms) => {
    const places = terms.flatMap(term => [...passage.folded.matchAll(pattern(term))].map(hit => [hit.index, hit.index + term.length]));
    places.sort((a, b) => a[0] - b[0]);
    const start = Math.max(0, (places[0]?.[0] ?? 0) - SNIPPET);
    const end = Math.min(passage.text.length, start + 3 * SNIPPET);
    const box = document.createElement("span");
    let at = start;
    if (start) box.append("… ");
    for (const [from, to] of places) {
      if (from < at || to > end) continue;
      const mark = document.createElement("mark");
      mark.textContent = passage.text.slice(from, to);
      box.append(passage.text.slice(at, from), mark);
      at = to;
    }
    box.append(passage.text.slice(at, end), end < passage.text.length ? " …" : "");
    return box;
  };

  window.courseSearch = dialog => {
    const input = dialog.querySelector("input");
    const status = dialog.querySelector("output");
    const list = dialog.querySelector(".results");
    const base = dialog.dataset.source.replace(/[^/]*$/, "");
    const language = document.documentElement.dataset.edition;
    const show = () => {
      const { terms, found } = search(input.value, language);
      status.textContent = !input.value.trim() ? "" : found.length
        ? dialog.dataset.found.replace("{n}", found.length) : dialog.dataset.none;
      list.replaceChildren(...found.map(({ passage }) => {
        const link = document.createElement("a");
        const title = document.createElement("strong");
        title.textContent = passage.title;
        link.href = base + passage.address;
        link.append(title, snippet(passage, terms));
        link.addEventListener("click", () => dialog.close());
        const item = document.createElement("li");
        item.append(link);
        return item;
      }));
    };
    if (!input.oninput) {
      input.oninput = show;
      input.onkeydown = event => {
        if (event.key === "Enter") { event.preventDefault(); list.querySelector("a")?.click(); }
        if (event.key === "ArrowDown") { event.preventDefault(); list.querySelector("a")?.focus(); }
      };
      show();
    }
    input.select();
  };
})();
