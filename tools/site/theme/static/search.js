// Search through every passage of an edition: the same over http and from disk, without a server.
// Words are compared without accents, tones and Turkish dots; Chinese is found inside sentences.
(() => {
  const MOST = 30;
  const SNIPPET = 60;
  const CHINESE = /\p{Script=Han}/u;

  // One character becomes one character, so that places in the folded text are places in the text.
  const foldCharacter = character => {
    const base = character.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/\p{M}/gu, "");
    return { "ı": "i", "đ": "d", "-": " " }[base] ?? (base.length === character.length ? base : character);
  };
  const fold = text => Array.from(text.normalize("NFC"), foldCharacter).join("");

  const passages = window.courseData.flatMap(([address, title, parts]) => parts.map(([anchor, text, heading], place) => ({
    address: `${address}#${anchor}`, title, heading, text: text.normalize("NFC"), folded: fold(text),
    foldedTitle: fold(title), foldedHeading: text.startsWith(heading) ? fold(heading) : "", first: place === 0,
  })));

  const NOT_IN_WORD = "(?<![\\p{L}\\p{N}])";
  const escape = text => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const anywhere = text => new RegExp(escape(text), "gu");
  const whole = text => new RegExp(`${NOT_IN_WORD}${escape(text)}(?![\\p{L}\\p{N}])`, "gu");
  const beginning = text => text.length < 3 ? whole(text) : new RegExp(`${NOT_IN_WORD}${escape(text)}\\p{L}*`, "gu");
  const count = (pattern, text) => text.match(pattern)?.length ?? 0;
  const hits = pattern => passages.filter(passage => count(pattern, passage.folded)).length;

  // One letter is wrong, missing or too many, or two have changed places.
  const near = (a, b) => {
    const longest = Math.max(a.length, b.length);
    let start = 0;
    let end = 0;
    while (start < longest && a[start] === b[start]) start += 1;
    while (start + end < Math.min(a.length, b.length) && a.at(-1 - end) === b.at(-1 - end)) end += 1;
    const swapped = a.length === b.length && a[start] === b[start + 1] && a[start + 1] === b[start];
    return longest - start - end <= (swapped ? 2 : 1);
  };
  let vocabulary;
  const nearest = term => {
    vocabulary ??= new Set(passages.flatMap(passage => passage.folded.match(/\p{L}{4,}/gu) ?? []));
    const found = term.length < 4 ? [] : [...vocabulary].filter(word => near(term, word)).map(whole);
    return found.sort((a, b) => hits(b) - hits(a)).slice(0, 1);
  };

  // A word as typed, else its stem, else ever shorter beginnings (Turkish suffixes), else a word that is near.
  const ENDINGS = /(?:ations?|ions?|ings?|ers?|ed|ly|ies|(?<![su])e?s)$/;
  const patterns = (term, language) => {
    if (CHINESE.test(term)) {
      const words = [...new Intl.Segmenter("zh", { granularity: "word" }).segment(term)].map(part => anywhere(part.segment));
      return hits(anywhere(term)) ? [anywhere(term)] : words;
    }
    const stem = language === "en" ? term.replace(ENDINGS, "") : term;
    const tries = [language === "vi" ? whole(term) : beginning(stem.length < 3 ? term : stem), beginning(term)];
    if (/_.$/.test(term)) tries.push(whole(term.replace("_", "")));  // W_q is set as one sign with an index
    for (let length = term.length - 1; length >= Math.max(4, term.length * .6) && language !== "vi"; length -= 1) {
      tries.push(beginning(term.slice(0, length)));
    }
    return [tries.find(hits) ?? nearest(term)[0] ?? whole(term)];
  };

  const rated = (passage, terms, phrase, typed) => {
    let points = 0;
    let missing = 0;
    for (const { pattern, rarity } of terms) {
      const times = Math.min(count(pattern, passage.folded), 4);
      if (!times) missing += 1;
      else points += rarity * (times + 3 * (count(pattern, passage.foldedHeading) > 0)
        + 2 * (count(pattern, passage.folded.slice(0, 40)) > 0) + (passage.first ? 6 : 2) * (count(pattern, passage.foldedTitle) > 0));
    }
    if (terms.length > 1 && passage.folded.includes(phrase)) points += 8 + 12 * passage.foldedHeading.includes(phrase);
    const text = passage.text.toLowerCase();
    return { passage, missing, points: points + 2 * typed.filter(word => text.includes(word)).length };
  };

  // Passages that have every word; where none has, those that have the most.
  const search = (query, language) => {
    const split = text => text.split(/[\s,;:!?()"“”，。、；：！？（）「」]+/u).filter(Boolean);
    const typed = split(query.normalize("NFC").toLocaleLowerCase(document.documentElement.lang));
    const words = split(fold(query));
    const terms = words.flatMap(term => patterns(term, language))
      .map(pattern => ({ pattern, rarity: Math.log(1 + passages.length / (1 + hits(pattern))) }));
    const all = passages.map(passage => rated(passage, terms, words.join(" "), typed));
    const least = Math.min(...all.map(result => result.missing));
    const found = all.filter(result => result.missing === least && least < terms.length);
    return { terms, found: found.sort((a, b) => b.points - a.points).slice(0, MOST) };
  };

  const snippet = (passage, terms) => {
    const places = terms.flatMap(({ pattern }) => [...passage.folded.matchAll(pattern)].map(hit => [hit.index, hit.index + hit[0].length]));
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
        title.textContent = [passage.title, passage.heading].filter((name, place, all) => name && all.indexOf(name) === place).join(" › ");
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
