// Before the page is drawn: the chosen colours, that scripts run, and what is laid out first.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    root.dataset.theme = localStorage.getItem("course-theme") || "auto";
  } catch {
    /* no storage for pages opened from disk */
  }

  // A phone lays out the first two sections alone, until the fonts are there; then the others, one in each frame.
  if (location.hash || performance.getEntriesByType("navigation")[0]?.type !== "navigate") return;
  root.classList.add("first-paint");
  addEventListener("load", async () => {
    await document.fonts.ready;
    const sections = [...document.querySelectorAll("article > section > section")];
    const showNext = () => {
      const section = sections.shift();
      if (!section) return root.classList.remove("first-paint");
      section.classList.add("shown");
      requestAnimationFrame(showNext);
    };
    showNext();
  });
})();
