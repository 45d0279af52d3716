// Before the page is drawn: the chosen colours, that scripts run, and how much is laid out.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    root.dataset.theme = localStorage.getItem("course-theme") || "auto";
  } catch {
    /* no storage for pages opened from disk */
  }

  // A phone lays out what is far below when the reader comes near. Where a link leads, all heights above have to be true.
  if (location.hash || performance.getEntriesByType("navigation")[0]?.type !== "navigate") return;
  root.classList.add("from-top");
  addEventListener("click", event => {
    if (event.target.closest("a[href*='#']")) root.classList.remove("from-top");
  });
})();
