// The words of a text as the search compares them: stems without marks, and pairs of Chinese characters.
(() => {
  const { rules } = window.courseData; // `rules_for` in ../__init__.py says what they are
  const phrases = new RegExp(rules.phrases.join("|") || "(?!)", "gu");
  const ending = new RegExp(rules.ending || "(?!)", "u");
  const functionWords = new Set(rules.function_words);
  const variants = new Map(rules.variants.map(pair => [...pair]));

  // One character becomes one character, so that a place in the folded text is a place in the text.
  const foldCharacter = character => {
    const base = character.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/\p{M}/gu, "");
    const one = rules.letters[base] ?? (base.length === character.length ? base : character);
    return variants.get(one) ?? one;
  };
  const folded = new Map();
  const fold = text =>
    Array.from(text, character => {
      if (!folded.has(character)) folded.set(character, foldCharacter(character));
      return folded.get(character);
    }).join("");

  const isHan = word => /^\p{Script=Han}/u.test(word);
  const stemOf = word => (/^[a-z]+$/.test(word) ? word.replace(ending, "").slice(0, rules.stem) : word);

  // A word with its place. Where marks tell words apart, a word typed with marks is looked up with them.
  const tokenOf = (word, at, length, typed = "", isPart = false) => {
    const stem = stemOf(word);
    const marked = typed.toLowerCase();
    const isMarked = rules.marks && marked !== word && /^\p{L}+$/u.test(marked);
    return { word, stem, term: isMarked ? marked : stem, typed, at, length, isPart };
  };
  const part = (word, at, length) => tokenOf(word, at, length, "", true);
  const tokensOfHan = (word, at) => {
    if (word.length === 1) return [tokenOf(word, at, 1)];
    const pairs = Array.from({ length: word.length - 1 }, (_, i) => tokenOf(word.slice(i, i + 2), at + i, 2));
    return [...pairs, ...Array.from(word, (character, i) => part(character, at + i, 1))];
  };
  const tokensOfName = (word, at, typed) => {
    const whole = tokenOf(word.replace(/^(\p{L})_(\p{L})$/u, "$1$2"), at, word.length, typed); // d_k is set as one letter with an index
    if (!whole.word.includes("_")) return [whole];
    return [
      whole,
      ...word
        .split("_")
        .filter(Boolean)
        .map(one => part(one, at, word.length)),
    ];
  };
  const tokens = (text, plain = fold(text)) => {
    const found = [];
    for (const { 0: word, index: at } of plain.matchAll(
      /[√∞]|\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{N}_])+/gu,
    )) {
      found.push(
        ...(isHan(word) ? tokensOfHan(word, at) : tokensOfName(word, at, text.slice(at, at + word.length))),
      );
    }
    return found;
  };

  const isWhole = token => !token.isPart;
  const wordsOf = text => tokens(text).filter(isWhole);
  const wordsOfQuery = query =>
    tokens(
      query,
      fold(query).replace(phrases, phrase => " ".repeat(phrase.length)),
    ).filter(isWhole);
  const lineOf = words => ` ${words.map(({ stem }) => stem).join(" ")} `; // so that words side by side are a part of it
  const isFunctionWord = ({ word, typed }) => functionWords.has(word) && !/\p{Lu}/u.test(typed.slice(1));

  window.searchWords = { fold, isFunctionWord, isHan, lineOf, tokens, wordsOf, wordsOfQuery };
})();
