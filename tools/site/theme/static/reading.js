// Where the reader is: the current section, what was read, answered and solved, and the way back to the last passage.
// This stays on the reader's machine, under one key, and can be cleared.
(() => {
  const KEY = "course-read"; // of each chapter the passage that was reached, or true; `last`: the chapter; `done`: below
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const list = document.querySelector("#course-chapters");
  const stem = document.body.dataset.stem;
  const numbered = all("li[data-stem]", list).filter(item => item.querySelector(".number"));
  const isChapter = numbered.some(item => item.dataset.stem === stem);

  let read = {}; // where nothing can be stored (a private window, some pages from disk), for as long as the page is open
  const recall = () => {
    try {
      read = JSON.parse(localStorage.getItem(KEY)) ?? {};
    } catch {
      /* nothing stored */
    }
  };
  const keep = () => {
    try {
      localStorage.setItem(KEY, JSON.stringify(read));
    } catch {
      /* nowhere to store */
    }
  };
  const change = edit => {
    recall(); // another window may have stored something
    edit();
    keep();
    show();
  };
  const checkMark = name => {
    const mark = document.createElement("span");
    mark.className = "read";
    mark.title = name;
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", name);
    return mark;
  };

  // What can be done on a page: questions are answered when the right answer is opened; exercises are ticked off by
  // the reader. `done` has, of each chapter, the ids of both and how many there are.
  const questions = new Map();
  const tasks = new Map();
  const markDone = () => {
    const { quiz = [], tasks: solved = [] } = read.done?.[stem] ?? {};
    for (const [id, question] of questions) {
      question.querySelector(".read")?.remove();
      if (quiz.includes(id)) question.append(checkMark(list.dataset.answered));
    }
    for (const [id, box] of tasks) box.checked = solved.includes(id);
  };
  const setDone = (kind, id, isDone) =>
    change(() => {
      const of = ((read.done ??= {})[stem] ??= { quiz: [], tasks: [] });
      of[kind] = of[kind].filter(other => other !== id).concat(isDone ? id : []);
      of.count = { quiz: questions.size, tasks: tasks.size };
      if (!of.quiz.length && !of.tasks.length) delete read.done[stem];
      if (!Object.keys(read.done).length) delete read.done;
    });
  const progress = of => {
    const line = document.createElement("p");
    line.className = "done";
    line.textContent = ["quiz", "tasks"]
      .filter(kind => of[kind].length)
      .map(kind => list.dataset[kind].replace("{n}", of[kind].length).replace("{of}", of.count[kind]))
      .join(" · ");
    return line;
  };

  let whole; // the box of the chapter
  const start = document.querySelector(".start a");
  const first = start && { href: start.getAttribute("href"), text: start.textContent };
  const show = () => {
    for (const item of all("li[data-stem]")) {
      all(".read, .done", item).forEach(mark => mark.remove());
      if (read[item.dataset.stem] === true) item.querySelector("a").append(checkMark(list.dataset.read));
      if (read.done?.[item.dataset.stem])
        item.insertBefore(progress(read.done[item.dataset.stem]), item.querySelector(":scope > ul"));
    }
    markDone();
    if (whole) whole.checked = read[stem] === true;
    for (const button of all(".forget, .save")) button.hidden = Object.keys(read).length === 0;
    if (!start) return;
    const last = numbered.findIndex(item => item.dataset.stem === read.last);
    const unread = [...numbered.slice(last), ...numbered].find(item => read[item.dataset.stem] !== true);
    const next = last < 0 ? null : (unread ?? numbered[last]).querySelector("a"); // the last one, or what follows if that is read
    const passage = unread && read[unread.dataset.stem] ? `#${read[unread.dataset.stem]}` : "";
    start.href = next ? next.getAttribute("href") + passage : first.href;
    const word = unread?.dataset.stem in read ? list.dataset.continue : list.dataset.next;
    start.textContent = next ? word + next.querySelector(".title").textContent : first.text;
  };
  for (const button of all(".forget"))
    button.addEventListener("click", () => {
      if (!window.confirm(`${button.textContent}?`)) return; // it cannot be undone
      read = {};
      keep();
      show();
    });

  // A table for a teacher: of each chapter whether it was read, and how many questions and exercises of it are done.
  const record = () =>
    numbered.map(item => {
      const { quiz = [], tasks: solved = [], count = {} } = read.done?.[item.dataset.stem] ?? {};
      const isRead = read[item.dataset.stem] === true;
      return [
        item.querySelector(".title").textContent,
        isRead ? 1 : 0,
        quiz.length,
        count.quiz ?? "",
        solved.length,
        count.tasks ?? "",
      ];
    });
  const quoted = value => `"${String(value).replaceAll('"', '""')}"`;
  for (const button of all(".save"))
    button.addEventListener("click", () => {
      recall();
      const rows = [list.dataset.columns.split("|"), ...record()];
      const table = rows.map(row => `${row.map(quoted).join(",")}\r\n`).join("");
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob(["\ufeff", table], { type: "text/csv" })); // spreadsheets know UTF-8 by the mark
      link.download = "attention-course.csv";
      link.click();
      URL.revokeObjectURL(link.href);
    });

  for (const right of isChapter ? all("details.answer:has(> .right)") : []) {
    let question = right;
    while (question.matches(".answer")) question = question.previousElementSibling;
    const id = question.id || question.parentElement.id;
    questions.set(id, question);
    right.querySelector("summary").addEventListener("click", () => setDone("quiz", id, true));
    const answers = [];
    for (let next = question.nextElementSibling; next?.matches(".answer"); next = next.nextElementSibling)
      answers.push(next);
    for (const answer of answers)
      answer.querySelector("summary").addEventListener("click", () => {
        // one is chosen
        for (const other of answers) if (other !== answer) other.open = false;
      });
  }
  const checkbox = (name, onChange) => {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    label.className = "tick";
    label.append(box, name);
    box.addEventListener("change", () => onChange(box.checked));
    return label;
  };
  for (const exercise of isChapter ? all("section.exercise") : []) {
    const label = checkbox(list.dataset.done, isDone => setDone("tasks", exercise.id, isDone));
    exercise.append(label);
    tasks.set(exercise.id, label.firstChild);
  }
  let chosen = false; // by the reader, on this page: then scrolling changes it no more
  if (isChapter) {
    const label = checkbox(list.dataset.readChapter, isRead => {
      chosen = true;
      change(() => {
        read.last = stem;
        read[stem] = isRead || "";
      });
    });
    document.querySelector("article").append(label); // last: before something, it would style all of the page anew
    whole = label.firstChild;
  }
  recall();
  show();

  // The section at the height where people read is marked in the lists of sections.
  const links = new Map();
  for (const link of all(":is(.sections, .contents, .chapters ul) a")) {
    const id = decodeURIComponent(link.hash.slice(1));
    links.set(id, [...(links.get(id) ?? []), link]);
  }
  const sections = all("article section[id]").filter(section => links.has(section.id));
  const inView = new Set();
  const seen = new Set(sections.slice(0, 1 + sections.findIndex(section => section.id === read[stem])));
  const mark = current => {
    for (const [id, found] of links) {
      for (const link of found) {
        if (id !== current.id) {
          link.removeAttribute("aria-current");
          continue;
        }
        link.setAttribute("aria-current", "true");
        const box = link.closest(".sections");
        const above = box && link.offsetTop < box.scrollTop;
        if (above || (box && link.offsetTop + link.offsetHeight > box.scrollTop + box.clientHeight)) {
          box.scrollTop = link.offsetTop - box.clientHeight / 2;
        }
      }
    }
  };
  const note = current => {
    if (!isChapter || scrollY < 100 || (seen.size < 2 && !(stem in read))) return; // to peek is not to read
    change(() => {
      read.last = stem;
      const isRead = current.matches(".role-summary") && seen.size > sections.length / 2 && !chosen; // not who jumps to the end
      if (read[stem] !== true) read[stem] = isRead || current.id;
    });
  };
  const watcher = new IntersectionObserver(
    entries => {
      for (const { target, isIntersecting } of entries) {
        inView[isIntersecting ? "add" : "delete"](target);
        if (isIntersecting)
          setTimeout(() => {
            if (inView.has(target)) {
              seen.add(target);
              note(target);
            }
          }, 1000); // not who flicks past
      }
      const current = sections.findLast(section => inView.has(section));
      if (current) {
        mark(current);
        note(current);
      } else if (scrollY < innerHeight / 2) mark({}); // above the first one
    },
    { rootMargin: "-20% 0px -75%" },
  );
  sections.forEach(section => watcher.observe(section));

  const root = document.documentElement;
  let [before, turned] = [scrollY, scrollY];
  let rest;
  const title = document.querySelector("h1");
  // A phone's bar names the chapter that is read, and leads to its beginning; from there it leads home.
  const brand = document.querySelector(".brand.of-chapter");
  new IntersectionObserver(
    changes => {
      const { isIntersecting, boundingClientRect } = changes.at(-1);
      const within = root.classList.toggle("within", !isIntersecting && boundingClientRect.top < 0);
      if (within && brand && matchMedia("(max-width: 52rem)").matches)
        brand.title = document.querySelector(".up").title;
      else brand?.removeAttribute("title");
    },
    { rootMargin: "-56px 0px 0px" },
  ).observe(title);
  brand?.addEventListener("click", event => {
    if (!brand.title || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    scrollTo({ top: 0 });
  });
  addEventListener(
    "scroll",
    () => {
      // the way back to the top is offered to those who go up by half a window, for a while
      if (scrollY >= before) turned = scrollY;
      root.classList.toggle("far", scrollY > 2 * innerHeight && turned - scrollY > innerHeight / 2);
      clearTimeout(rest);
      rest = setTimeout(
        () => root.classList.toggle("far", document.querySelector(".up:is(:hover, :focus)") !== null),
        1500,
      );
      before = scrollY;
    },
    { passive: true },
  );
})();
