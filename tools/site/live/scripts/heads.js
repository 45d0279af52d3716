// The Transformer's heads: all maps of one sentence, a switch for each, and the source words in any order.
courseLive.components.heads = async ({ box, words }) => {
  const {
    element,
    button,
    fill,
    legible,
    readState,
    writeState,
    heat: { table, drawing, number },
  } = courseLive;
  // The adjective moves to the other noun, in English and in the translation.
  const FIRST = { sentence: "the red shirt is on the table .", order: "the shirt is on the red table ." };

  const transformer = await courseLive.transformer(words);
  const { network, rows, groups, heads, mapOf, shown, chance } = transformer;
  const options = { off: new Set(), positions: true };

  let original; // the sentence as the corpus has it
  let tokens; // in the reader's order
  let whole; // its translation with everything on, in its own order
  let wholeChance; // and how probable the network finds it
  let result; // what is shown
  let looked = heads.find(({ name }) => name === "C1.0"); // the head that is drawn large
  let stopCounting = () => {}; // ends the count or the search that is under way
  let frame; // the drawing that waits for the next frame

  // --- the parts of the picture -----------------------------------------------------------------------

  const chips = element("ol", { class: "live-chips", "aria-label": words.order });
  const moved = element("p", { class: "live-small" }, words.moved);
  const before = element("p", { class: "live-line" });
  const now = element("p", { class: "live-line live-stays", role: "status" });
  const unchanged = element("p", { class: "live-stepper live-small live-same", role: "status" });
  const maps = element("div", { class: "live-maps" });
  const large = element("div", { class: "live-large" });
  const counted = element("p", { class: "live-line", role: "status" });
  const trial = button(words.count, () => (trial.textContent === words.stop ? stop() : count()));
  const positions = element("input", {
    type: "checkbox",
    checked: true,
    onchange: () => {
      options.positions = positions.checked;
      translate();
    },
  });
  box.append(
    element(
      "p",
      { class: "live-small" },
      words.drag,
      element("span", { class: "live-keys" }, " ", words.keys),
    ),
    chips,
    moved,
    element(
      "div",
      { class: "live-stepper" },
      button(words.another, another),
      button(words.restore, restore),
      element("label", { class: "live-check" }, positions, " ", words.positions),
    ),
    before,
    now,
    unchanged,
    element("p", { class: "live-small" }, words.press),
    element("div", { class: "live-columns" }, maps, large),
    element("div", { class: "live-stepper" }, button(words.all_on, allOn), trial, counted),
    courseLive.copyLink(words, tellAddress),
  );

  // --- source words in another order ------------------------------------------------------------------

  function move(from, to) {
    if (to < 0 || to >= tokens.length || to === from) return;
    tokens.splice(to, 0, ...tokens.splice(from, 1));
    chips.insertBefore(chips.children[from], chips.children[to > from ? to + 1 : to]);
    nameChips();
    moved.hidden = true;
    translate();
  }

  function nameChips() {
    [...chips.children].forEach((item, i) => {
      item.firstChild.setAttribute(
        "aria-label",
        fill(words.place, { word: legible(tokens[i], words), i: i + 1, n: tokens.length }),
      );
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
    handle.addEventListener("pointerdown", event => {
      handle.setPointerCapture(event.pointerId);
      item.classList.add("live-dragged");
    });
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

  function setSentence(sentence, order = sentence) {
    original = sentence;
    tokens = [...order];
    moved.hidden = order.join(" ") !== FIRST.order;
    chips.replaceChildren(...tokens.map(chip));
    nameChips();
    const asTrained = network.translate(original);
    whole = asTrained.tokens;
    wholeChance = chance(asTrained);
    before.replaceChildren(...transformer.asTrained(original, whole));
    translate();
  }

  // --- the heads --------------------------------------------------------------------------------------

  function drawMaps() {
    maps.replaceChildren(
      ...groups.map(({ title, heads: own }) =>
        element(
          "fieldset",
          { class: "live-group" },
          element("legend", {}, title),
          own.map(head => {
            const input = element("input", {
              type: "checkbox",
              role: "switch",
              checked: true,
              onchange: () => toggle(head, input.checked),
              onfocus: () => look(head),
            });
            const map = element("span", {
              class: "live-map",
              onclick: event => {
                // only the line below it is the switch
                event.preventDefault();
                look(head);
                large.scrollIntoView({ block: "nearest" });
              },
            });
            return element(
              "label",
              { class: "live-head", onpointerenter: () => look(head), "data-head": head.name },
              input,
              map,
              element("span", {}, head.name),
            );
          }),
        ),
      ),
    );
  }

  const labelOf = ({ name }) => maps.querySelector(`[data-head="${name}"]`);

  function updateMaps() {
    for (const head of heads) {
      const { columns, weights } = mapOf(result, head);
      labelOf(head).querySelector(".live-map").replaceChildren(drawing(weights, columns.tokens.length));
      labelOf(head).querySelector("input").checked = !options.off.has(head.key);
    }
  }

  function look(head) {
    looked = head;
    large.replaceChildren(
      element(
        "p",
        {},
        element("b", {}, head.name),
        " ",
        head.title,
        button(words.up, () => maps.scrollIntoView({ block: "nearest" })),
      ),
      element("div", { class: "live-scroll" }, table({ ...mapOf(result, head), words })),
    );
    large.classList.toggle("live-off", options.off.has(head.key));
    for (const other of heads) labelOf(other).classList.toggle("live-now", other === head);
  }

  function toggle({ key }, on) {
    if (on) options.off.delete(key);
    else options.off.add(key);
    translate();
  }

  function allOn() {
    options.off.clear();
    translate();
  }

  // --- what happens -----------------------------------------------------------------------------------

  function stop() {
    stopCounting();
    trial.textContent = words.count;
    counted.textContent = "";
  }

  function translate() {
    stop();
    result = network.translate(tokens, options);
    now.replaceChildren(
      fill(words.heads_off, { n: options.off.size }),
      " ",
      transformer.compared(result.tokens, whole),
    );
    tellUnchanged();
    tellAddress();
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      updateMaps();
      look(looked);
    });
  }

  // A network can do without one head in most sentences; then a reader may look for one in which it cannot.
  function tellUnchanged() {
    const isTouched = options.off.size > 0 || !options.positions;
    const isSame =
      result.tokens.join(" ") === whole.join(" ") && (isTouched || tokens.join(" ") !== original.join(" "));
    const sure = isSame
      ? ` ${fill(words.chance, { before: shown(wholeChance), now: shown(chance(result)) })}`
      : "";
    unchanged.replaceChildren(
      ...(isSame ? [words.unchanged + sure, isTouched ? button(words.find_changed, find) : ""] : []),
    );
  }

  function tellAddress() {
    const order = tokens.join(" ");
    const sentence = original.join(" ");
    writeState("heads", {
      sentence,
      order: order === sentence ? "" : order,
      off: heads
        .filter(({ key }) => options.off.has(key))
        .map(({ name }) => name)
        .join(" "),
      positions: options.positions ? "" : "off",
    });
  }

  function find() {
    stop();
    stopCounting = transformer.findChanged(options, setSentence, unchanged);
  }

  function restore() {
    setSentence(original);
  }

  function another() {
    setSentence(transformer.anySentence());
  }

  let trained; // the share of the network as it was trained, once it has been counted

  // How many of the test sentences are translated exactly.
  function count() {
    stop();
    trial.textContent = words.stop;
    let right = 0;
    let rightTrained = 0;
    stopCounting = transformer.inSlices(
      rows.length,
      i => {
        if (transformer.isExact(rows[i], options)) right += 1;
        if (!trained && transformer.isExact(rows[i])) rightTrained += 1;
      },
      done => {
        counted.textContent = `${done} / ${rows.length}`;
        if (done < rows.length) return;
        trial.textContent = words.count;
        trained ??= number(rightTrained / rows.length);
        counted.textContent = fill(words.counted, {
          n: rows.length,
          share: number(right / rows.length),
          whole: trained,
        });
        counted.scrollIntoView({ block: "nearest" });
      },
    );
  }

  // Begin with what the address says.
  function begin({ sentence, order, off = "", positions: placed }) {
    for (const { key, name } of heads) if (off.split(" ").includes(name)) options.off.add(key);
    options.positions = placed !== "off";
    positions.checked = options.positions;
    const first = sentence
      ? { sentence, order }
      : off || !options.positions
        ? { sentence: FIRST.sentence }
        : FIRST;
    setSentence(first.sentence.split(" "), first.order?.split(" "));
  }

  drawMaps();
  begin(readState("heads"));
};
