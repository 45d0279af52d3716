// The Transformer's heads: all maps of one sentence, a switch for each, and the source words in any order.
courseLive.components.heads = async ({ box, words }) => {
  const { element, fill, legible, heat: { table, drawing, number } } = courseLive;
  const COURSE_SENTENCE = "give me two new hats .";
  const LANGUAGE = "fr";
  const SLICE = 10; // milliseconds of counting before the page may do something else

  const [stored, { rows }] = await Promise.all([courseLive.content(`transformer-${LANGUAGE}`), courseLive.content(`sentences-${LANGUAGE}`)]);
  const network = new courseLive.Transformer(stored);
  const { encoder, self, cross } = network.modules;
  const HEADS = [...Array(network.numHeads).keys()];
  const GROUPS = [["E", words.encoder, encoder], ["D", words.decoder, self], ["C", words.cross, cross]];
  const options = { off: new Set(), positions: true };

  let original = COURSE_SENTENCE.split(" "); // the sentence as the corpus has it
  let tokens = [...original]; // in the reader's order
  let whole; // its translation with everything on, in its own order
  let wholeChance; // and how probable the network finds it
  let result; // what is shown
  let looked = `${cross.at(-1)} 0`; // the head that is drawn large
  let counting; // the count or the search that is under way
  let frame; // the drawing that waits for the next frame

  // --- the parts of the picture -----------------------------------------------------------------------

  const chips = element("ol", { class: "live-chips", "aria-label": words.order });
  const before = element("p", { class: "live-line" });
  const now = element("p", { class: "live-line live-stays", role: "status" });
  const unchanged = element("p", { class: "live-stepper live-small live-same", role: "status" });
  const maps = element("div", { class: "live-maps" });
  const large = element("div", { class: "live-large" });
  const counted = element("p", { class: "live-line", role: "status" });
  const button = (label, onclick) => element("button", { type: "button", class: "button", onclick }, label);
  const trial = button(words.count, () => (trial.textContent === words.stop ? stop() : count()));
  const positions = element("input", { type: "checkbox", checked: true, onchange: () => { options.positions = positions.checked; translate(); } });
  box.append(
    element("p", { class: "live-small" }, words.drag, element("span", { class: "live-keys" }, " ", words.keys)), chips,
    element("div", { class: "live-stepper" }, button(words.another, another), button(words.restore, restore),
      element("label", { class: "live-check" }, positions, " ", words.positions)),
    before, now, unchanged, element("p", { class: "live-small" }, words.press),
    element("div", { class: "live-columns live-wide-left" }, maps, large),
    element("div", { class: "live-stepper" }, button(words.all_on, allOn), trial, counted));

  // --- source words in another order ------------------------------------------------------------------

  function move(from, to) {
    if (to < 0 || to >= tokens.length || to === from) return;
    tokens.splice(to, 0, ...tokens.splice(from, 1));
    chips.insertBefore(chips.children[from], chips.children[to > from ? to + 1 : to]);
    nameChips();
    translate();
  }

  function nameChips() {
    [...chips.children].forEach((item, i) => {
      item.firstChild.setAttribute("aria-label", fill(words.place, { word: legible(tokens[i], words), i: i + 1, n: tokens.length }));
    });
  }

  // The chip whose middle is nearest to the pointer gives its place.
  function placeUnder({ clientX, clientY }) {
    const far = [...chips.children].map(item => {
      const { left, right, top, bottom } = item.getBoundingClientRect();
      return Math.abs(clientX - (left + right) / 2) + 4 * Math.abs(clientY - (top + bottom) / 2); // lines count more
    });
    return far.indexOf(Math.min(...far));
  }

  function chip(word) {
    const handle = element("button", { type: "button", lang: "en" }, legible(word, words));
    const item = element("li", {}, handle);
    const place = () => [...chips.children].indexOf(item);
    handle.addEventListener("keydown", event => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      move(place(), place() + step);
      handle.focus(); // an element that is moved loses it
    });
    handle.addEventListener("pointerdown", event => { handle.setPointerCapture(event.pointerId); item.classList.add("live-dragged"); });
    handle.addEventListener("pointermove", event => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const from = place();
      move(from, placeUnder(event));
      if (place() !== from) handle.setPointerCapture(event.pointerId);
    });
    const drop = () => item.classList.remove("live-dragged");
    handle.addEventListener("pointerup", drop);
    handle.addEventListener("pointercancel", drop);
    return item;
  }

  function setSentence(sentence) {
    original = sentence;
    tokens = [...sentence];
    chips.replaceChildren(...tokens.map(chip));
    nameChips();
    const asTrained = network.translate(original);
    whole = asTrained.tokens;
    wholeChance = chance(asTrained);
    before.replaceChildren(words.whole, " ", element("span", { lang: LANGUAGE }, whole.join(" ")));
    translate();
  }

  // --- the heads --------------------------------------------------------------------------------------

  // Gold positions are known where the words stand as in the corpus and are translated like there.
  function goldHere() {
    const row = rows.find(([source]) => source === tokens.join(" "));
    return row && row[1] === result.tokens.join(" ") ? row[2].split(" ").map(places => places.split(",").map(Number)) : null;
  }

  // Rows, columns and weights of one head, as `table` takes them.
  function mapOf(module, head) {
    const source = { tokens: result.source, lang: "en" };
    if (encoder.includes(module)) {
      return { rows: source, columns: source, weights: result.steps[0].maps[module].map(query => query[head]) };
    }
    const written = result.steps.map(step => step.token);
    const read = { tokens: ["<bos>", ...written.slice(0, -1)], lang: LANGUAGE };
    const weights = result.steps.map(step => step.weights[module][head]);
    if (self.includes(module)) return { rows: read, columns: read, weights };
    return { rows: { tokens: written, lang: LANGUAGE }, columns: source, weights, gold: goldHere() };
  }

  const nameOf = (letter, layer, head) => `${letter}${layer}.${head}`;

  function drawMaps() {
    maps.replaceChildren(...GROUPS.map(([letter, title, modules]) => element("fieldset", { class: "live-group" },
      element("legend", {}, title),
      modules.map((module, layer) => HEADS.map(head => {
        const key = `${module} ${head}`;
        const input = element("input", { type: "checkbox", role: "switch", checked: true, onchange: () => toggle(key, input.checked), onfocus: () => look(key) });
        const name = nameOf(letter, layer, head);
        const map = element("span", { class: "live-map", onclick: event => { // only the line below it is the switch
          event.preventDefault();
          look(key);
          large.scrollIntoView({ block: "nearest" });
        } });
        return element("label", { class: "live-head", onpointerenter: () => look(key), "data-head": key }, input, map, element("span", {}, name));
      })))));
  }

  function updateMaps() {
    for (const label of maps.querySelectorAll(".live-head")) {
      const [module, head] = label.dataset.head.split(" ");
      const { columns, weights } = mapOf(module, Number(head));
      label.querySelector(".live-map").replaceChildren(drawing(weights, columns.tokens.length));
      label.querySelector("input").checked = !options.off.has(label.dataset.head);
      label.classList.toggle("live-now", label.dataset.head === looked);
    }
  }

  function look(key) {
    looked = key;
    const [module, head] = key.split(" ");
    const [letter, title, modules] = GROUPS.find(group => group[2].includes(module));
    const map = mapOf(module, Number(head));
    large.replaceChildren(
      element("p", {}, element("b", {}, nameOf(letter, modules.indexOf(module), head)), " ", title,
        button(words.up, () => maps.scrollIntoView({ block: "nearest" }))),
      element("div", { class: "live-scroll" }, table({ ...map, words })));
    large.classList.toggle("live-off", options.off.has(key));
    for (const label of maps.querySelectorAll(".live-head")) label.classList.toggle("live-now", label.dataset.head === key);
  }

  function toggle(key, on) {
    if (on) options.off.delete(key);
    else options.off.add(key);
    translate();
  }

  function allOn() {
    options.off.clear();
    translate();
  }

  // --- what happens -----------------------------------------------------------------------------------

  // The probability of all tokens together.
  const chance = ({ steps }) => steps.reduce((product, { logits }) => product * network.best(logits, 1)[0].probability, 1);
  const shown = probability => (probability < 0.995 ? number(probability) : `>${number(0.99)}`);

  function stop() {
    clearTimeout(counting);
    trial.textContent = words.count;
    counted.textContent = "";
  }

  function translate() {
    stop();
    result = network.translate(tokens, options);
    const target = result.tokens.map((token, i) => (token === whole[i] ? `${token} ` : [element("mark", {}, token), " "]));
    now.replaceChildren(fill(words.now, { n: options.off.size }), " ", element("span", { lang: LANGUAGE }, ...target.flat()));
    tellUnchanged();
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => { updateMaps(); look(looked); });
  }

  // A network can do without one head in most sentences; then a reader may look for one in which it cannot.
  function tellUnchanged() {
    const isTouched = options.off.size > 0 || !options.positions;
    const isSame = result.tokens.join(" ") === whole.join(" ") && (isTouched || tokens.join(" ") !== original.join(" "));
    const sure = isSame ? ` ${fill(words.sure, { before: shown(wholeChance), now: shown(chance(result)) })}` : "";
    unchanged.replaceChildren(...(isSame ? [words.same + sure, isTouched ? button(words.find, findChanged) : ""] : []));
  }

  function findChanged() {
    stop();
    const translated = (source, how) => network.translate(source.split(" "), how).tokens.join(" ");
    const first = Math.floor(Math.random() * rows.length); // another one each time
    let done = 0;
    const onward = () => {
      const start = performance.now();
      for (; done < rows.length && performance.now() - start < SLICE; done += 1) {
        const [source] = rows[(first + done) % rows.length];
        if (translated(source, options) !== translated(source)) { setSentence(source.split(" ")); return; }
      }
      unchanged.textContent = done < rows.length ? `${done} / ${rows.length}` : fill(words.none, { n: rows.length });
      if (done < rows.length) counting = setTimeout(onward);
    };
    onward();
  }

  function restore() {
    setSentence(original);
  }

  function another() {
    setSentence(rows[Math.floor(Math.random() * rows.length)][0].split(" "));
  }

  const isExact = (source, target, how) => network.translate(source.split(" "), how).tokens.join(" ") === target;
  let trained; // the share of the network as it was trained, once it has been counted

  // How many of the test sentences are translated exactly; a slice at a time, so that the page stays awake.
  function count() {
    stop();
    trial.textContent = words.stop;
    let right = 0;
    let rightTrained = 0;
    let done = 0;
    const onward = () => {
      const start = performance.now();
      while (done < rows.length && performance.now() - start < SLICE) {
        const [source, target] = rows[done];
        if (isExact(source, target, options)) right += 1;
        if (!trained && isExact(source, target)) rightTrained += 1;
        done += 1;
      }
      counted.textContent = `${done} / ${rows.length}`;
      if (done < rows.length) { counting = setTimeout(onward); return; }
      trial.textContent = words.count;
      trained ??= number(rightTrained / rows.length);
      counted.textContent = fill(words.counted, { n: rows.length, share: number(right / rows.length), whole: trained });
      counted.scrollIntoView({ block: "nearest" });
    };
    onward();
  }

  drawMaps();
  setSentence(original);
};
