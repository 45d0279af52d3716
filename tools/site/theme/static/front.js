// The site's front door leads on to the edition that was chosen before, or that the browser's languages wish for.
(() => {
  const codes = document.currentScript.dataset.codes.split(" ");
  let chosen = null;
  try {
    chosen = localStorage.getItem("course-language");
  } catch {
    /* no storage from disk */
  }
  const wished = [chosen, ...navigator.languages.map(language => language.toLowerCase().split("-")[0])];
  const code = wished.find(language => codes.includes(language)) ?? codes[0];
  if (!location.hash) location.replace(`${code}/index.html`);
})();
