// What a term means and what a source is, beside the link to it: on hover, on focus, and at the first tap.
(() => {
  const texts = new Map(
    [...document.querySelector("#hints").content.children].map(node => [node.dataset.for, node]),
  );
  const box = document.createElement("div");
  box.id = "hint";
  box.setAttribute("role", "tooltip");
  box.hidden = true;
  document.querySelector("main").append(box);
  const wide = matchMedia("(min-width: 100rem)");
  let shown = null;
  let waiting;

  const beside = new Map(); // a link, and its explanation in the margin
  const placeBeside = link => {
    const paragraph = link.closest("section > p");
    const text = texts.get(link.getAttribute("href")).textContent;
    if (!paragraph || [...beside.values()].some(node => node.textContent === text)) return;
    const margin = paragraph.querySelector(".beside") ?? document.createElement("small");
    margin.className = "beside";
    paragraph.append(margin);
    const node = document.createElement("span");
    node.textContent = text;
    margin.append(node);
    beside.set(link, node);
    if (margin.offsetHeight <= paragraph.offsetHeight) return;
    beside.delete(link); // it would cover what follows
    node.remove();
    if (!margin.children.length) margin.remove();
  };

  const hide = () => {
    shown?.removeAttribute("aria-describedby");
    shown = null;
    box.hidden = true;
  };
  const show = link => {
    clearTimeout(waiting);
    if (shown === link) return;
    hide();
    if (beside.get(link)?.offsetHeight) return;
    shown = link;
    box.textContent = texts.get(link.getAttribute("href")).textContent;
    box.hidden = false;
    link.setAttribute("aria-describedby", "hint");
    const at = link.getClientRects()[0];
    const frame = box.offsetParent.getBoundingClientRect();
    const [above, below] = [at.top - box.offsetHeight - 8, at.bottom + 8]; // the lines above are being read
    box.style.left = `${Math.max(8 - frame.left, Math.min(at.left - frame.left, innerWidth - frame.left - box.offsetWidth - 24))}px`;
    box.style.top = `${(above > 70 && below + box.offsetHeight > innerHeight ? above : below) - frame.top}px`;
  };
  const leave = () => {
    waiting = setTimeout(hide, 250);
  };

  let touched = false; // a finger's first tap shows, its second follows
  addEventListener(
    "pointerdown",
    event => {
      touched = event.pointerType === "touch";
    },
    { capture: true },
  );
  const links = [...document.querySelectorAll("article a[href]")].filter(link =>
    texts.has(link.getAttribute("href")),
  );
  const fillMargin = () => {
    if (wide.matches && !beside.size) links.forEach(placeBeside);
  };
  wide.addEventListener("change", fillMargin);
  fillMargin();
  for (const link of links) {
    link.addEventListener("pointerenter", event => {
      if (event.pointerType === "mouse") show(link);
    });
    link.addEventListener("pointerleave", event => {
      if (event.pointerType === "mouse") leave();
    });
    link.addEventListener("focus", () => {
      if (!touched) show(link);
    });
    link.addEventListener("blur", leave);
    link.addEventListener("click", event => {
      if (touched && shown !== link) {
        event.preventDefault();
        show(link);
      }
    });
  }
  box.addEventListener("pointerenter", () => clearTimeout(waiting));
  box.addEventListener("pointerleave", leave);
  addEventListener("click", event => {
    if (shown && !shown.contains(event.target) && !box.contains(event.target)) hide();
  });
  addEventListener("keydown", event => {
    if (event.key === "Escape") hide();
  });
})();
