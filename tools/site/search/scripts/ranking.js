// Which passages answer a query, best first. MiniSearch counts words; what is special to a course stands here.
(() => {
  const WEIGHTS = {
    fields: { heading: 4, asked: 4, text: 1, around: 0.5 }, // how much a word counts in each
    otherName: 0.8, // another name of what was asked
    guess: 0.5, // a word in place of an unknown one
    apart: 0.6, // a name whose words are not side by side
    besideNames: 0.8, // all other words at most, of what the names in a query count
    named: 4, // a passage whose heading is what was asked
    nearlyNamed: 2.5, // the same but for endings, or by another name
    chapter: 2, // a chapter that bears the name, besides
    aside: 0.7, // what is beside the text, or asks instead of answering
    code: 0.4, // a class or a function, if it is not asked for as it is written in code
    enough: 0.5, // the share of what was asked that an answer has at least
    enoughOfMany: 0.3, // the same, where more than three things are asked
    twoHalves: 2.5, // at most: Chinese characters that may be the end of one word and the beginning of another
  };
  const MAX_RESULTS = 30;
  // Roles of passages.
  const ASIDE = new Set(
    "source references caption table solution predict exercise your-turn checks check".split(" "),
  );
  const CODE = new Set(["api", "class", "function"]);

  const { pages, names, absent, rules } = window.courseData;
  const { fold, isFunctionWord, isHan, lineOf, tokens, wordsOf, wordsOfQuery } = window.searchWords;
  const particles = new RegExp(rules.particles ? `[${rules.particles}]` : "(?!)", "u");

  const termOf = heading => heading.replace(/ ?[（(].*[)）]/, ""); // without its English
  const passages = pages.flatMap(([page, title, chapter, parts]) =>
    parts.map(([anchor, text, heading, role, ...asked], place) => {
      const address = `${page}#${anchor}`;
      const isReference = page.startsWith("api.");
      const opens = Boolean(heading) && text.startsWith(heading);
      return {
        page,
        title,
        heading,
        opens,
        address,
        text: text.normalize("NFC"),
        section: isReference || !heading ? address : page + heading,
        isAside: ASIDE.has(role),
        isCode: CODE.has(role),
        isReference,
        isChapter: !place,
        names: [opens ? heading : "", place ? "" : chapter].filter(Boolean),
        asked: asked.join("\n"),
        around: [
          opens ? "" : heading,
          place ? title : "",
          isReference ? "" : anchor.replaceAll("-", " "),
        ].join("\n"),
      };
    }),
  );
  passages.forEach((passage, id) => {
    passage.id = id;
  });

  const textOf = {
    heading: ({ names: own }) => own.join("\n"),
    asked: ({ asked }) => asked,
    text: ({ text, opens, heading }) => (opens ? text.slice(heading.length) : text),
    around: ({ around }) => around,
  };
  // What a passage is found by: stems, and where marks tell words apart, also words with their marks.
  const termsOf = (passage, field) => {
    const found = tokens(textOf[field](passage));
    if (field === "heading") {
      const name = wordsOf(termOf(passage.names[0] ?? ""));
      passage.nameLines = [lineOf(name)];
      if (passage.isChapter) passage.nameLines.push(lineOf(name.filter(word => !isFunctionWord(word)))); // The Transformer
    }
    if (field === "text") passage.line = lineOf(found.filter(({ isPart }) => !isPart));
    return found.flatMap(({ stem, term }) => (stem === term ? [stem] : [stem, term]));
  };
  const index = new MiniSearch({
    fields: Object.keys(textOf),
    extractField: (passage, field) => (field === "id" ? passage.id : termsOf(passage, field)),
    stringifyField: terms => terms,
    tokenize: terms => terms,
    processTerm: term => term,
    searchOptions: { boost: WEIGHTS.fields, tokenize: term => [term] },
  });

  const kept = new Map();
  const pointsOf = term => {
    if (!kept.has(term)) kept.set(term, new Map(index.search(term).map(({ id, score }) => [id, score])));
    return kept.get(term);
  };
  const isKnown = ({ term }) => pointsOf(term).size > 0;
  const rarity = ({ term, word }) => {
    const mayBeHalves = isHan(word) && (!isKnown({ term }) || particles.test(word));
    return Math.min(
      Math.log(1 + passages.length / (1 + pointsOf(term).size)),
      mayBeHalves ? WEIGHTS.twoHalves : Infinity,
    );
  };

  // The commonest word that is nearly the same as one that no passage has, or that it begins.
  const guess = (word, isLast) => {
    const isCode = /.\p{Lu}/u.test(word.typed) && word.word.length < 8;
    if (
      isKnown(word) ||
      isFunctionWord(word) ||
      word.term !== word.stem ||
      isCode ||
      !/^\p{L}{3,}$/u.test(word.word)
    )
      return word;
    const fuzzy = word.word.length < rules.guess_from ? false : word.word.length < 7 ? 1 : 2;
    const near = new Set(
      index
        .search(word.stem, { prefix: isLast, fuzzy })
        .flatMap(({ terms }) => terms)
        .filter(term => /^\p{L}+$/u.test(term) && term[0] === word.stem[0]),
    );
    const [best] = [...near].sort((a, b) => pointsOf(b).size - pointsOf(a).size);
    return best ? { ...word, word: best, stem: best, term: best, isGuess: true } : word;
  };

  // Names of the same thing, as words.
  const inGlossary = passages
    .filter(({ page, heading }) => page.startsWith("glossary.") && heading)
    .map(({ heading }) => [termOf(heading)]);
  const groups = [...names, ...inGlossary].map(group => group.map(wordsOf));
  const longestName = (words, at) => {
    let best = null;
    for (const group of groups) {
      for (const name of group) {
        const typed = words.slice(at, at + name.length);
        if (name.length > (best?.length ?? 0) && lineOf(typed) === lineOf(name))
          best = { length: name.length, ways: [typed, ...group.filter(other => other !== name)] };
      }
    }
    return best;
  };

  // A query as concepts, each with the ways to say it: as typed, and by other names of the same thing.
  const read = query => {
    const typed = wordsOfQuery(query).filter(({ term }, place, all) => term !== all[place - 1]?.term);
    const words = typed.map((word, place) => guess(word, place === typed.length - 1 && !/\s$/.test(query)));
    const hasContent = !words.every(isFunctionWord);
    const concepts = [],
      functionWords = [];
    for (let at = 0; at < words.length; ) {
      const [word, name] = [words[at], longestName(words, at)];
      const ways = name?.ways ?? [[word]];
      at += name?.length ?? 1;
      if (!name && hasContent && isFunctionWord(word)) {
        functionWords.push(word);
        continue;
      }
      concepts.push({
        ways,
        weight: Math.max(...ways[0].map(rarity)),
        isGuess: ways[0].some(({ isGuess }) => isGuess),
        isUnknown: !name && !isKnown(word),
        isName: Boolean(name) || (isKnown(word) && /.[\p{Lu}_]/u.test(word.typed)), // of an idea, or in code
      });
    }
    weigh(concepts);
    return { concepts, functionWords };
  };
  const sum = concepts => concepts.reduce((total, { weight }) => total + weight, 0);
  // Words beside the names of the course say what is sought about them; they do not decide whether there is an answer.
  const weigh = concepts => {
    const others = concepts.filter(({ isName }) => !isName);
    const most = WEIGHTS.besideNames * sum(concepts.filter(({ isName }) => isName));
    const scale = most ? Math.min(1, most / sum(others)) : 1;
    for (const concept of others) concept.weight *= scale;
  };

  // What each passage counts for a name or word: all its words have to be there, best side by side.
  const pointsOfWay = way => {
    const [first, ...others] = way.map(({ term }) => pointsOf(term));
    if (!others.length) return first;
    const line = lineOf(way);
    const points = new Map();
    for (const id of first.keys()) {
      if (!others.every(other => other.has(id))) continue;
      const isTogether = passages[id].line.includes(line) || passages[id].nameLines[0].includes(line);
      points.set(
        id,
        [first, ...others].reduce((total, one) => total + one.get(id), 0) * (isTogether ? 1 : WEIGHTS.apart),
      );
    }
    return points;
  };
  const pointsOfConcept = ({ ways }) => {
    const best = new Map();
    ways.forEach((way, place) => {
      for (const [id, points] of pointsOfWay(way))
        best.set(id, Math.max(best.get(id) ?? 0, points * (place ? WEIGHTS.otherName : 1)));
    });
    return best;
  };
  // For each passage with anything that was asked, its points and the share of what was asked that it has.
  const rate = ({ concepts, functionWords }) => {
    const rated = new Map();
    for (const concept of concepts) {
      const share =
        (concept.weight / sum(concepts)) * (concept.isGuess && concepts.length > 1 ? WEIGHTS.guess : 1);
      for (const [id, points] of pointsOfConcept(concept)) {
        const { points: before, met } = rated.get(id) ?? { points: 0, met: 0 };
        rated.set(id, { passage: passages[id], points: before + points, met: met + share });
      }
    }
    // Function words say nothing by themselves, but they tell one question from another.
    for (const { term } of functionWords)
      for (const [id, points] of pointsOf(term)) if (rated.has(id)) rated.get(id).points += points;
    return [...rated.values()];
  };
  const factorOf = ({ passage, met }, query, lines) => {
    const isNamed = passage.names.some(name => fold(termOf(name)) === fold(query).trim());
    const isNearlyNamed = passage.nameLines.some(line => lines.has(line));
    const name = isNamed ? WEIGHTS.named : isNearlyNamed ? WEIGHTS.nearlyNamed : 1;
    const chapter = passage.isChapter && (isNamed || isNearlyNamed) ? WEIGHTS.chapter : 1;
    const isInQuery = query.includes(passage.heading);
    const aside = passage.isAside && !isInQuery ? WEIGHTS.aside : 1;
    const isWritten = isInQuery && /.[\p{Lu}_]/u.test(passage.heading);
    return met ** 2 * name * chapter * aside * (passage.isCode && !isWritten ? WEIGHTS.code : 1);
  };

  // Topics that the course does not treat, without those that are part of another.
  const absentIn = query => {
    const line = lineOf(wordsOf(query));
    const found = absent.filter(name => line.includes(lineOf(wordsOf(name))));
    return found.filter(name => !found.some(other => other !== name && other.includes(name)));
  };
  const asTyped = (query, name) => {
    const at = fold(query).indexOf(fold(name));
    return at < 0 ? name : query.slice(at, at + name.length);
  };

  // What was typed and is nowhere in the course.
  const missingIn = (query, concepts, lacking) => {
    const unknown = concepts
      .filter(({ isUnknown }) => isUnknown)
      .map(({ ways: [[{ typed }]] }) => typed)
      .filter(word => word.length > 2);
    const isPartOfTopic = word => lacking.some(name => fold(name).includes(fold(word)));
    return [...unknown.filter(word => !isPartOfTopic(word)), ...lacking.map(name => asTyped(query, name))];
  };
  const bestOfSections = rated => {
    const sections = new Map();
    for (const result of rated.sort((a, b) => b.points - a.points)) {
      if (!sections.has(result.passage.section)) sections.set(result.passage.section, result);
    }
    return [...sections.values()];
  };

  const find = input => {
    const query = input.normalize("NFC");
    const { concepts, functionWords } = read(query);
    const lacking = absentIn(query);
    const isLacking = ({ stem }) => lacking.some(name => lineOf(wordsOf(name)).includes(` ${stem} `));
    const asksNothingElse = concepts.every(({ ways }) => ways[0].every(isLacking));
    const lines = new Set(
      concepts.length === 1
        ? concepts[0].ways.map(lineOf)
        : [lineOf(concepts.flatMap(({ ways }) => ways[0]))],
    );
    const enough = concepts.length > 3 ? WEIGHTS.enoughOfMany : WEIGHTS.enough;
    const rated = asksNothingElse ? [] : rate({ concepts, functionWords }).filter(({ met }) => met >= enough);
    for (const result of rated) result.points *= factorOf(result, query, lines);
    const found = bestOfSections(rated);
    const missing = missingIn(query, concepts, lacking);
    return {
      passages: found.slice(0, MAX_RESULTS).map(({ passage }) => passage),
      hasMore: found.length > MAX_RESULTS,
      isPartial: found.length > 0 && (missing.length > 0 || found[0].met < WEIGHTS.enough),
      missing,
      wanted: concepts.map(({ ways }) => ways),
    };
  };

  window.courseSearch = { ready: index.addAllAsync(passages, { chunkSize: 20 }), find };
})();
