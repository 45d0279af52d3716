// Search through every passage of an edition: the same over http and from disk, without a server.
// Words are compared by their stems, without marks; Chinese by pairs of characters.
(() => {
  const MOST = 30;
  const ENOUGH = 0.5; // of what was asked, weighed by rarity; passages with less are no answer
  const ENOUGH_OF_MANY = 0.3; // of more than three things, such as a whole question, an error message or a formula
  const NEARLY_ALL = 0.6; // where the first answer has less of what was asked, the reader is told so
  const GUESS = 0.7; // what a word in place of an unknown one counts for that
  const BESIDE_NAMES = 0.6; // what all other words count at most, of what the names of the course in a query count
  const USUAL = 2.5; // the rarity of a usual word; a single unknown word counts no more than that
  const IN_HEADING = 4, UNDER_HEADING = 1, UNDER_TITLE = 0.5, IN_ADDRESS = 0.5, IN_QUESTION = 2; // how much a word counts there; in the text: 1
  const ASIDE = new Set("api source references class function caption table solution predict exercise your-turn checks check".split(" ")); // roles of what is beside the text, or asks instead of answering
  const IN_ASIDE = 0.7; // what these count where the query does not name them
  const IN_SOURCES = 0.45; // what a source counts where the query names something of the course, and no year
  const IN_FAQ = 1.2; // what an answer to a frequent question counts where several things are asked
  const ONLY_ASKED = 0.4; // what a passage counts for a single name that is in no text of its own
  const SAME_PAGE = 0.3; // what a passage gains at most from the others of its page
  const SAME_QUESTION = 0.5; // what it gains at most where its heading asks the same with the same pairs of words
  const OTHER_MARKS = 0.3; // what a word counts where it has other marks
  const { pages, names, absent, rules } = window.courseData;
  const SNIPPET = rules.spaces ? 50 : 26; // a third of what is shown of a passage

  // The rules of the languages; `rules_for` in extension/search.py says what they are.
  const FUNCTION_WORDS = new Set(rules.function_words);
  const listed = words => words.length ? `(?:${words.join("|")})` : "(?!)";
  const PHRASES = new RegExp(listed(rules.phrases), "gu");
  const CONTRACTION = new RegExp(`(\\p{L})['’]${listed(rules.contractions)}(?![\\p{L}\\p{N}])`, "giu"); // what's, isn't
  const PARTICLES = new RegExp(listed([...rules.particles]), "u");
  const ENDINGS = rules.endings.map(({ find, replace, again }) => ({ find: new RegExp(find, "u"), replace, again }));

  // One character becomes one character, so that places in the folded text are places in the text.
  const variants = new Map(rules.variants.map(pair => [...pair]));
  const foldCharacter = character => {
    const base = character.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/\p{M}/gu, "");
    const one = rules.letters[base] ?? (base.length === character.length ? base : character);
    return variants.get(one) ?? one;
  };
  const fold = text => Array.from(text.normalize("NFC"), foldCharacter).join("");
  const withoutVariants = text => Array.from(text.normalize("NFC"), one => variants.get(one) ?? one).join("");

  const stemOf = word => {
    if (!/^[a-z]{4,}$/.test(word)) return word;
    return ENDINGS.reduce((stem, { find, replace, again }) => {
      let shorter = stem.replace(find, replace);
      while (again && shorter !== stem) { stem = shorter; shorter = stem.replace(find, replace); }
      return shorter;
    }, word);
  };

  // Tokens with their places: words, names in code whole and in parts, pairs of Chinese characters.
  const tokens = text => {
    const found = [];
    const folded = fold(text);
    for (const match of folded.matchAll(/[√∞]|\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{N}_])+/gu)) {
      const [word, at] = [match[0], match.index];
      if (/^\p{Script=Han}/u.test(word)) {
        const size = Math.min(2, word.length);
        for (let i = 0; i + size <= word.length; i += 1) found.push({ word: word.slice(i, i + size), at: at + i, length: size, raw: "" });
        if (size > 1) for (let i = 0; i < word.length; i += 1) found.push({ word: word[i], at: at + i, length: 1, raw: "", part: true });
      } else {
        const raw = text.slice(at, at + word.length);
        const short = word.replace(/^(\p{L})_(\p{L})$/u, "$1$2"); // d_k is set as one letter with an index
        found.push({ word: short, at, length: word.length, raw });
        if (short.includes("_")) for (const part of short.split("_").filter(Boolean)) found.push({ word: part, at, length: word.length, raw: "", part: true });
      }
    }
    return found.map(token => ({ ...token, stem: stemOf(token.word) }));
  };

  const stemsOf = words => words.filter(token => !token.part).map(token => token.stem).join(" ");

  const passages = pages.flatMap(([address, title, chapter, parts]) => parts.map(([anchor, text, heading, role, ...asked], place) => (
    { page: address, address: `${address}#${anchor}`, title, chapter, heading, asked, text: text.normalize("NFC"), first: place === 0, aside: ASIDE.has(role) })));
  const termOf = heading => heading.replace(/ ?[（(].*[)）]/u, ""); // without its English
  const byWord = new Map();
  const byStem = new Map();
  const byRaw = new Map();
  const byMarked = new Map(); // where marks tell words apart: bỏ, bò and bộ are three words
  const add = (map, key, place, weight) => {
    if (!map.has(key)) map.set(key, new Map());
    map.get(key).set(place, (map.get(key).get(place) ?? 0) + weight);
  };
  passages.forEach((passage, place) => {
    const own = passage.own = Boolean(passage.heading) && passage.text.startsWith(passage.heading);
    passage.section = /^api\./.test(passage.page) || !passage.heading ? passage.address : passage.page + passage.heading;
    const count = (text, weight) => {
      const found = tokens(text);
      for (const { word, stem, raw, at, part } of found) {
        const heads = own && text === passage.text && at < passage.heading.length && !(part && word.length > 1); // a part of a name in code counts as in the text
        const weighed = heads ? IN_HEADING * (passage.first ? 1.5 : 1) : weight;
        add(byWord, word, place, weighed);
        add(byStem, stem, place, weighed);
        if (raw) add(byRaw, raw, place, weighed);
        if (raw && rules.marks) add(byMarked, raw.toLowerCase(), place, weighed);
      }
      return found;
    };
    const found = count(passage.text, 1);
    if (!own) count(passage.heading, UNDER_HEADING);
    for (const phrase of passage.asked) count(phrase, IN_QUESTION);
    if (passage.first) count(passage.chapter, IN_HEADING);
    else count(passage.title, UNDER_TITLE);
    if (!/^api\./.test(passage.page)) count(passage.address.replace(/.*#|-/g, " "), IN_ADDRESS); // English words
    passage.length = found.length;
    passage.line = ` ${stemsOf(found)} `;
    passage.questions = [own ? passage.heading : "", ...passage.asked].map(line => ` ${stemsOf(tokens(line))} `).join("|");
    passage.inHead = new Set(own ? tokens(passage.heading).map(token => token.stem) : []);
    passage.place = passage.first ? stemsOf(tokens(passage.chapter)) : "";
    passage.head = own ? ` ${stemsOf(tokens(termOf(passage.heading)))} ` : "";
  });
  const usual = passages.reduce((sum, passage) => sum + passage.length, 0) / passages.length;
  // How much it says that a passage has a word; two Chinese characters that no passage has side by side may be
  // parts of two words.
  const rarity = stem => !byStem.has(stem) && /^\p{Script=Han}{2}$/u.test(stem) ? 3
    : Math.log(1 + passages.length / (1 + (byStem.get(stem)?.size ?? 0)));

  // One letter is wrong, missing or too many, or two have changed places; the first letter is seldom wrong.
  const near = (a, b) => {
    const longest = Math.max(a.length, b.length);
    let start = 0;
    let end = 0;
    while (start < longest && a[start] === b[start]) start += 1;
    while (start + end < Math.min(a.length, b.length) && a.at(-1 - end) === b.at(-1 - end)) end += 1;
    const swapped = a.length === b.length && a[start] === b[start + 1] && a[start + 1] === b[start];
    return longest - start - end <= (swapped ? 2 : 1) && (start > 0 || /^\p{Script=Han}/u.test(a));
  };
  const commonest = words => [...words].sort((a, b) => byWord.get(b).size - byWord.get(a).size);
  const asToken = word => ({ word, stem: stemOf(word), raw: "" });

  // Who types marks means this word; without them it may be any.
  const isMarked = ({ raw, word }) => rules.marks && /^\p{L}+$/u.test(raw ?? "") && raw.toLowerCase() !== word;
  const isKnown = token => byStem.has(token.stem) && (!isMarked(token) || byMarked.has(token.raw.toLowerCase()));

  // What stands for a word that no passage has: its two halves, words that it begins, a word that is near.
  const substitutes = ({ word, raw, last }) => {
    if (!/^\p{L}{3,}$/u.test(word) || isMarked({ word, raw }) || (/.\p{Lu}/u.test(raw) && word.length < 8)) return [];
    for (let i = 3; i <= word.length - 3; i += 1) {
      const halves = [word.slice(0, i), word.slice(i)].map(asToken);
      if (halves.every(half => byStem.has(half.stem)) && passages.some(passage => passage.line.includes(` ${halves[0].stem} ${halves[1].stem} `))) return [halves];
    }
    const known = [...byWord.keys()].filter(other => /^\p{L}+$/u.test(other));
    const longer = last ? commonest(known.filter(other => other.startsWith(word))).slice(0, 3) : [];
    const alike = longer.length || word.length < rules.guess_from ? longer : commonest(known.filter(other => other.length >= Math.min(word.length, 4) && near(word, other))).slice(0, 1);
    if (!alike.length && word.length > 6) { // another ending: softmaks
      const beginning = word.slice(0, Math.ceil(word.length * 0.7));
      alike.push(...commonest(known.filter(other => other.startsWith(beginning) && other.length <= word.length + 1)).slice(0, 1));
    }
    return alike.map(other => [asToken(other)]);
  };

  // A query as a list of concepts, each with the ways to say it: as typed, and by other names of the same thing.
  const inGlossary = passages.filter(({ page, heading }) => page.startsWith("glossary.") && heading).map(({ heading }) => [termOf(heading)]);
  const groups = [...names, ...inGlossary].map(group => group.map(name => tokens(name).filter(token => !token.part)));
  const isSame = (a, b) => a.stem === b.stem || a.word === b.word;
  // A word that no passage has may be a misspelt word of a name.
  const isMeant = (a, b) => isSame(a, b) || (!byStem.has(b.stem) && (isUnknownPair(b) || b.word.length > 3) && near(a.word, b.word));
  const sameWords = (a, b, same = isSame) => a.length === b.length && a.every((token, place) => same(token, b[place]));
  const nameAt = (words, at) => {
    let best = null;
    for (const group of groups) {
      for (const name of group) {
        const span = words.slice(at, at + name.length);
        const begun = !at && span.length > 1 && span.length === words.length; // the query may end within a name
        const exact = sameWords(begun ? name.slice(0, span.length) : name, span);
        const meant = !exact && span.length > 1 && name[0].word[0] === span[0].word[0] && sameWords(name, span, isMeant);
        const fit = exact ? span.length : meant ? span.length - 0.5 : 0;
        if (fit > (best?.fit ?? 0)) best = { fit, length: span.length, ways: [exact ? span : name, ...group.filter(other => other !== name)] };
      }
    }
    return best;
  };
  // Two Chinese characters that stand side by side nowhere may be the end of one word and the beginning of another:
  // what is left of them are names of one character (鍵), or nothing where one is a particle or belongs to a name.
  const inNames = new Set(groups.flat(2).map(({ word }) => word));
  const short = new Set(groups.flat().filter(name => name.length === 1 && /^\p{Script=Han}$/u.test(name[0].word)).map(name => name[0].word));
  const isUnknownPair = token => /^\p{Script=Han}{2}$/u.test(token.word) && !byStem.has(token.stem) && !inNames.has(token.word);
  const wordsOf = query => tokens(withoutVariants(query).replace(PHRASES, " ").replace(CONTRACTION, "$1")).filter(token => !token.part).flatMap(token => {
    if (!isUnknownPair(token)) return [token];
    const own = [...token.word].filter(character => short.has(character));
    return own.length || PARTICLES.test(token.word) ? own.map(word => ({ ...token, word, stem: word })) : [token];
  }).filter((token, place, all) => token.word !== all[place - 1]?.word || token.raw !== all[place - 1].raw);
  const isFunctionWord = token => FUNCTION_WORDS.has(token.word) && !/\p{Lu}/u.test(token.raw.slice(1));

  // A pair with a particle (和解 in 編碼器和解碼器) is no rarer than a usual word.
  const weightOf = ({ word, stem }) => Math.min(rarity(stem), PARTICLES.test(word) ? USUAL : Infinity);

  const concepts = query => {
    const words = wordsOf(query);
    const onlyFunctionWords = words.every(isFunctionWord);
    if (words.length) words.at(-1).last = !/\s$/.test(query);
    const found = [];
    const asked = [];
    for (let at = 0; at < words.length;) {
      let best = nameAt(words, at);
      const named = best || (byStem.has(words[at].stem) && /.[\p{Lu}_]/u.test(words[at].raw)); // of an idea, or in code
      if (!best && !onlyFunctionWords && isFunctionWord(words[at])) { at += 1; continue; }
      const joined = words[at + 1] && words[at].word + words[at + 1].word;
      if (!best && joined && byWord.has(joined)) best = { length: 2, ways: [words.slice(at, at + 2), [asToken(joined)]] };
      const guessed = !best && !isKnown(words[at]);
      if (!best) best = { length: 1, ways: guessed ? [[words[at]], ...substitutes(words[at]).flatMap(way => nameAt(way, 0)?.ways ?? [way])] : [[words[at]]] };
      found.push({ ways: best.ways, guessed, named, weight: Math.max(...best.ways[0].map(weightOf)) });
      asked.push(...words.slice(at, at + best.length));
      at += best.length;
      const end = asked.at(-1).at + asked.at(-1).length;
      if (best.ways.length > 1 && words[at]?.at < end && isUnknownPair(words[at])) at += 1;
    }
    // Words beside the names of the course say what is sought about them; they do not decide whether there is an answer.
    const weightOfAll = some => some.reduce((sum, { weight }) => sum + weight, 0);
    const others = found.filter(({ named }) => !named);
    const most = BESIDE_NAMES * weightOfAll(found.filter(({ named }) => named));
    const scale = most && most < weightOfAll(others) ? most / weightOfAll(others) : 1;
    for (const concept of others) concept.weight *= scale;
    const unknown = found.filter(({ guessed, ways }) => guessed && ways.length === 1);
    // One unknown word does not empty an answer; beside one word that is no name of the course, it does.
    if (unknown.length === 1 && (found.length > 2 || found.some(({ named }) => named))) unknown[0].weight = Math.min(unknown[0].weight, USUAL);
    return { found, line: stemsOf(asked) };
  };

  const pointsOf = (place, token) => {
    const passage = passages[place];
    const weight = byStem.get(token.stem)?.get(place);
    if (!weight || !isKnown(token)) return 0;
    const full = weight * 2.4 / (weight + 1.4 * (0.7 + 0.3 * passage.length / usual));
    const exact = isMarked(token) ? (byMarked.get(token.raw.toLowerCase()).has(place) ? 1 : OTHER_MARKS)
      : byWord.get(token.word)?.has(place) ? 1 : 0.6;
    const written = token.raw && token.raw !== token.word && byRaw.get(token.raw)?.has(place) ? (/[A-Z_]/.test(token.raw.slice(1)) ? 2.5 : 1.3) : 1;
    return rarity(token.stem) * full * exact * written;
  };
  const worthOf = way => way.reduce((sum, { stem }) => sum + rarity(stem), 0);
  const pointsOfWay = (place, way) => {
    let points = 0;
    for (const token of way) {
      const here = pointsOf(place, token);
      if (!here) return 0;
      points += here;
    }
    if (way.length === 1) return points;
    const phrase = ` ${stemsOf(way)} `;
    const { line, head } = passages[place];
    return points * (head.includes(phrase) ? 1.6 : line.includes(phrase) ? 1.2 : 0.6);
  };

  const stemsIn = text => ` ${stemsOf(tokens(withoutVariants(text)))} `;
  // Topics that are known to be absent, without those that are part of another.
  const lackingIn = query => absent.filter(name => stemsIn(query).includes(stemsIn(name)))
    .filter((name, _, all) => !all.some(other => other !== name && stemsIn(other).includes(stemsIn(name))));

  const asTyped = (query, name) => {
    const at = fold(query).indexOf(fold(name));
    return at < 0 ? name : query.slice(at, at + name.length);
  };

  const search = query => {
    const { found: asked, line } = concepts(query);
    const lacking = lackingIn(query);
    const said = new Set([line, ...(asked.length === 1 ? asked[0].ways.map(stemsOf) : [])]); // the query, and its other names
    const all = asked.reduce((sum, concept) => sum + concept.weight, 0);
    // Another name counts a little less than the one typed; where nothing else is asked, none gains by more words.
    const shareOf = (way, typed) => 0.95 * (asked.length > 1 ? 1 : worthOf(typed) / worthOf(way));
    for (const concept of asked) concept.shares = concept.ways.map((way, number) => number ? shareOf(way, concept.ways[0]) : 1);
    // Function words tell nothing by themselves, but beside others they tell one question from another.
    const typed = tokens(withoutVariants(query)).filter(token => !token.part).map(token => token.stem);
    const pairs = typed.slice(1).map((stem, place) => ` ${typed[place]} ${stem} `);
    const rated = passages.map((passage, place) => {
      let points = 0;
      let met = 0;
      for (const { ways, shares, weight, guessed } of asked) {
        const best = Math.max(...ways.map((way, number) => pointsOfWay(place, way) * shares[number]));
        if (best > 0) { points += best; met += weight * (guessed && asked.length > 1 ? GUESS : 1); }
      }
      if (passage.place === line) points *= 3;
      else if (said.has(passage.head.trim()) && (!passage.aside || query.trim() === passage.heading)) points *= passage.head === ` ${line} ` ? 3 : 2.5;
      else if (passage.head.startsWith(` ${line} `)) points *= 1.5;
      else if (passage.head.includes(` ${line} `)) points *= 1.3;
      else if (asked.length > 1 && asked.every(({ ways }) => ways.some(way => way.every(token => passage.inHead.has(token.stem))))) points *= 1.3;
      else if (asked.length > 1 && passage.line.includes(` ${line} `)) points *= 1.25;
      if (pairs.length > 1) points *= 1 + SAME_QUESTION * pairs.filter(pair => passage.questions.includes(pair)).length / pairs.length;
      if (passage.aside && !query.includes(passage.heading)) points *= IN_ASIDE;
      if (asked.length === 1 && asked[0].ways[0][0].raw && !asked[0].ways.some(way => passage.line.includes(` ${stemsOf(way)} `))) points *= ONLY_ASKED;
      if (asked.length > 2 && passage.page.startsWith("faq.")) points *= IN_FAQ;
      if (passage.page.startsWith("references.") && asked.some(({ named }) => named) && !/\d{4}/.test(query)) points *= IN_SOURCES;
      return { passage, place, points: points * (met / all) ** 2, met: met / all };
    });
    // A chapter that says much about what is asked comes before a list that has all its words.
    const onPage = new Map();
    for (const { passage: { page }, points } of rated) onPage.set(page, (onPage.get(page) ?? 0) + points);
    const top = Math.max(...onPage.values());
    if (asked.length > 1 && top) for (const result of rated) result.points *= 1 + SAME_PAGE * onPage.get(result.passage.page) / top;
    // Who asks for an absent topic alone wants no passage that has another form of its rarest word.
    const absentWords = lacking.flatMap(name => tokens(name)).filter(({ part }) => !part).sort((a, b) => rarity(b.stem) - rarity(a.stem));
    const isOnlyAbsent = lacking.length > 0 && asked.every(({ ways }) => ways[0].every(token => absentWords.some(({ stem }) => stem === token.stem)));
    const isAnswer = ({ place, met, points }) => points > 0 && met >= (asked.length > 3 ? ENOUGH_OF_MANY : ENOUGH)
      && (!isOnlyAbsent || (!isMarked(absentWords[0]) && byWord.get(absentWords[0].word)?.has(place))); // a syllable with its marks is no word
    const found = rated.filter(isAnswer);
    const wanted = asked.map(({ ways }) => ways);
    const unknown = asked.filter(({ guessed, ways }) => guessed && ways.length === 1 && /^[\p{L}\p{N}]{3,}$/u.test(ways[0][0].raw)).map(({ ways }) => ways[0][0].raw)
      .filter(word => !lacking.some(name => fold(name).includes(fold(word)))).concat(lacking.map(name => asTyped(query, name)));
    const shown = new Map(); // of a section the best passage only
    for (const result of found.sort((a, b) => b.points - a.points)) if (!shown.has(result.passage.section)) shown.set(result.passage.section, result);
    const answers = [...shown.values()].slice(0, MOST);
    const partial = answers.length > 0 && (unknown.length > 0 || answers[0].met < NEARLY_ALL);
    return { wanted, unknown, partial, found: answers, more: shown.size > MOST };
  };

  // The words of a line that were asked for.
  const finderOf = wanted => {
    const isSaid = (token, { stem, raw }) => token.stem === stem && (!isMarked(token) || token.raw.toLowerCase() === raw.toLowerCase());
    // Other names are marked only where the one that was typed does not stand; of a Chinese word no single pair.
    const has = (way, found) => way.every(token => found.some(other => isSaid(token, other)));
    return line => {
      const found = tokens(line);
      const ways = wanted.map(all => all.find(way => has(way, found)) ?? (all[0].length > 1 ? all[0] : []));
      const single = new Set(ways.filter(way => way.length === 1).flat().map(({ stem }) => stem));
      const marked = found.filter(token => ways.flat().some(other => isSaid(other, token)));
      return marked.filter(({ stem, at }) => !/^\p{Script=Han}/u.test(stem) || single.has(stem) || marked.some(other => Math.abs(other.at - at) === 1));
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

  // What a passage says about the words, without its heading, which stands above it.
  const snippet = (passage, wantedIn) => {
    const text = passage.own ? passage.text.slice(passage.heading.length).replace(/^[\s:：]+/, "") : passage.text;
    const found = wantedIn(text);
    const first = found[0]?.at ?? 0;
    const cut = Math.max(0, Math.min(first - SNIPPET, text.length - 3 * SNIPPET));
    const start = cut && cut + text.slice(cut, first).indexOf(" ") + 1; // between words
    const most = Math.min(text.length, start + 3 * SNIPPET);
    const space = text.lastIndexOf(" ", most);
    const end = most < text.length && space > most - 20 ? space : most;
    const box = document.createElement(/#(?:class|function)-/.test(passage.address) ? "code" : "span");
    if (start) box.append("… ");
    write(box, text, found, start, end);
    if (end < text.length) box.append(" …");
    return box;
  };

  window.courseFind = query => {
    const { found, partial } = search(query);
    return { answers: found.map(({ passage }) => passage.address), partial };
  };
  window.courseSearch = dialog => {
    const input = dialog.querySelector("input");
    const status = dialog.querySelector("output");
    const list = dialog.querySelector(".results");
    const examples = dialog.querySelector(".examples");
    const instead = dialog.querySelector(".instead"); // the way to the glossary
    const base = dialog.dataset.source.replace(/[^/]*$/, "");
    const show = () => {
      const { wanted, unknown, partial, found, more } = search(input.value);
      const wantedIn = finderOf(wanted);
      examples.hidden = input.value.trim() !== "";
      instead.hidden = !examples.hidden || found.length > 0;
      const { none, found: number, unknown: missing, partial: nearest } = dialog.dataset;
      const told = unknown.length ? [missing.replace("{words}", unknown.join(", "))] : [];
      if (found.length) told.push(partial ? nearest : number.replace("{n}", found.length + (more ? "+" : "")));
      else if (!told.length) told.push(none);
      status.textContent = examples.hidden ? told.join("\n") : "";
      status.classList.toggle("partial", examples.hidden && (partial || unknown.length > 0));
      list.replaceChildren(...found.map(({ passage }) => {
        const link = document.createElement("a");
        const title = document.createElement("strong");
        const said = [passage.title, passage.heading].filter((name, place, all) => name && all.indexOf(name) === place).join(" › ");
        write(title, said, wantedIn(said));
        link.href = base + passage.address;
        link.append(title, snippet(passage, wantedIn));
        link.addEventListener("click", () => dialog.close());
        const item = document.createElement("li");
        item.append(link);
        return item;
      }));
    };
    // The arrows go through the results and back to the box.
    const step = by => {
      const stops = [input, ...list.querySelectorAll("a")];
      stops[Math.max(0, Math.min(stops.length - 1, stops.indexOf(document.activeElement) + by))].focus();
    };
    if (!input.oninput) {
      input.oninput = event => { if (!event.isComposing) show(); }; // what is half written means nothing yet
      input.addEventListener("compositionend", show);
      examples.addEventListener("click", event => {
        if (!event.target.matches("button")) return;
        input.value = event.target.textContent;
        show();
        list.querySelector("a")?.focus(); // on a phone, no keyboard covers the results
      });
      dialog.dataset.ready = "";
      dialog.addEventListener("keydown", event => {
        if (event.key === "Enter" && event.target === input) { event.preventDefault(); list.querySelector("a")?.click(); }
        if (event.key === "Escape") { event.preventDefault(); dialog.close(); } // some browsers empty the box first
        if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); step(event.key === "ArrowDown" ? 1 : -1); }
      });
      dialog.addEventListener("click", event => { if (event.target === dialog) dialog.close(); }); // beside it
      show();
    }
    input.select();
  };
})();
