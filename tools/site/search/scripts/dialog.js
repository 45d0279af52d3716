// The search box: what was found, with the words that were asked for marked.
(() => {
  const { isHan, tokens } = window.searchWords;
  const { ready, find } = window.courseSearch;
  const THIRD = window.courseData.rules.spaces ? 50 : 26; // characters: a third of a snippet

  // Finds the words of a query in a text: as typed if the text has that, else by another name of the same thing.
  const finderOf = wanted => {
    const isSame = (token, word) =>
      word.term === word.stem ? token.stem === word.stem : token.term === word.term;
    const has = (way, line) => way.every(word => line.some(token => isSame(token, word)));
    return text => {
      const line = tokens(text);
      const ways = wanted.map(all => all.find(way => has(way, line)) ?? (all[0].length > 1 ? all[0] : []));
      const single = new Set(
        ways
          .filter(way => way.length === 1)
          .flat()
          .map(({ stem }) => stem),
      );
      const asked = line.filter(token => ways.flat().some(word => isSame(token, word)));
      const isBeside = ({ at }) => asked.some(other => Math.abs(other.at - at) === 1); // of a Chinese word no single pair
      return asked.filter(token => !isHan(token.word) || single.has(token.stem) || isBeside(token));
    };
  };

  // Text from one place to another, with these tokens marked.
  const write = (box, text, found, start = 0, end = text.length) => {
    let at = start;
    for (const token of found) {
      const [from, to] = [Math.max(token.at, at), token.at + token.length];
      if (to <= at || to > end) continue;
      const mark = document.createElement("mark");
      mark.textContent = text.slice(from, to);
      box.append(text.slice(at, from), mark);
      at = to;
    }
    box.append(text.slice(at, end));
  };

  // What a passage says about the words, without its heading, which is above it.
  const snippet = (passage, finder) => {
    const text = passage.opens
      ? passage.text.slice(passage.heading.length).replace(/^[\s:：]+/, "")
      : passage.text;
    const found = finder(text);
    const first = found[0]?.at ?? 0;
    const cut = Math.max(0, Math.min(first - THIRD, text.length - 3 * THIRD));
    const start = cut && cut + text.slice(cut, first).indexOf(" ") + 1; // between words
    const most = Math.min(text.length, start + 3 * THIRD);
    const space = text.lastIndexOf(" ", most);
    const end = most < text.length && space > most - 20 ? space : most;
    const isSource = passage.isCode && !passage.isReference;
    const box = document.createElement(isSource ? "code" : "span");
    if (start) box.append("… ");
    write(box, text, found, start, end);
    if (end < text.length) box.append(" …");
    return box;
  };

  const itemOf = (passage, finder, base) => {
    const [item, link, title] = ["li", "a", "strong"].map(name => document.createElement(name));
    const names = [...new Set([passage.title, passage.heading].filter(Boolean))].join(" › ");
    write(title, names, finder(names));
    link.href = base + passage.address;
    link.append(title, snippet(passage, finder));
    item.append(link);
    return item;
  };

  const statusOf = ({ passages, isPartial, hasMore, missing }, words) => {
    const messages = missing.length ? [words.unknown.replace("{words}", missing.join(", "))] : [];
    if (!passages.length) return messages.length ? messages : [words.none];
    return [
      ...messages,
      isPartial ? words.partial : words.found.replace("{n}", passages.length + (hasMore ? "+" : "")),
    ];
  };

  const start = async dialog => {
    const [input, status, list] = ["input", "output", ".results"].map(name => dialog.querySelector(name));
    const examples = dialog.querySelector(".examples");
    const instead = dialog.querySelector(".instead"); // the way to the glossary
    const base = dialog.dataset.source.replace(/[^/]*$/, "");
    const isAsking = () => input.value.trim() !== "";
    const show = async () => {
      examples.hidden = isAsking();
      if (!("ready" in dialog.dataset)) status.textContent = isAsking() ? dialog.dataset.searching : "";
      await ready; // meanwhile a reader types
      const result = find(input.value);
      const isAsked = isAsking();
      examples.hidden = isAsked;
      instead.hidden = !isAsked || result.passages.length > 0;
      status.textContent = isAsked ? statusOf(result, dialog.dataset).join("\n") : "";
      status.classList.toggle("partial", isAsked && (result.isPartial || result.missing.length > 0));
      const finder = finderOf(result.wanted);
      list.replaceChildren(...result.passages.map(passage => itemOf(passage, finder, base)));
    };
    // The arrows go through the results and back to the box.
    const step = by => {
      const stops = [input, ...list.querySelectorAll("a")];
      stops[Math.max(0, Math.min(stops.length - 1, stops.indexOf(document.activeElement) + by))].focus();
    };
    input.addEventListener("input", event => {
      if (!event.isComposing) show(); // a half-written character means nothing yet
    });
    input.addEventListener("compositionend", show);
    examples.addEventListener("click", async event => {
      if (!event.target.matches("button")) return;
      input.value = event.target.textContent;
      await show();
      list.querySelector("a")?.focus(); // on a phone, no keyboard covers the results
    });
    dialog.addEventListener("keydown", event => {
      if (event.key === "Enter" && event.target === input) {
        event.preventDefault();
        list.querySelector("a")?.click();
      }
      if (event.key === "Escape") {
        event.preventDefault(); // some browsers would only empty the box
        dialog.close();
      }
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        step(event.key === "ArrowDown" ? 1 : -1);
      }
    });
    dialog.addEventListener("click", event => {
      if (event.target === dialog || event.target.closest(".results a")) dialog.close();
    });
    await show();
    dialog.dataset.ready = "";
  };
  window.courseSearch.start = start;
})();
