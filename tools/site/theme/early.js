// Before the page is drawn: the chosen colours, and that scripts run.
document.documentElement.classList.add("js");
try {
  document.documentElement.dataset.theme = localStorage.getItem("course-theme") || "auto";
} catch {
  /* no storage for pages opened from disk */
}
