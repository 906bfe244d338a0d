// Buttons of code, tables and messages: copy, wrap, download.

const SHOWN = 1_600;

export function mountCopying(root) {
  root.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy], [data-copy-answer], [data-copy-table]");
    if (button) copy(button);
    const wrap = event.target.closest("[data-wrap]");
    if (wrap) toggleWrap(wrap);
    const save = event.target.closest("[data-save]");
    if (save) download(codeOf(save), save.dataset.save);
    const fold = event.target.closest("[data-unfold]");
    if (fold) toggleFold(fold);
    const link = event.target.closest("[data-copy-link]");
    if (link) {
      event.preventDefault();
      copy(link);
    }
  });
}

async function copy(button) {
  const text = textFor(button);
  if (text === null) return;
  try {
    await navigator.clipboard.writeText(text);
    report(button, "Copied");
  } catch {
    report(button, copyTheOldWay(text) ? "Copied" : "Not allowed");
  }
}

function textFor(button) {
  if ("copyLink" in button.dataset) return button.href;
  if ("copyAnswer" in button.dataset) {
    return wholeAnswer(button.closest(".run"));
  }
  if ("copyTable" in button.dataset) return separated(button.closest(".table").querySelector("table"));
  if (button.dataset.copy) return document.querySelector(button.dataset.copy)?.textContent ?? null;
  return codeOf(button);
}

function codeOf(button) {
  return button.closest(".code")?.querySelector("code").textContent ?? null;
}

// A table as spreadsheets take it: a row a line, tabs between cells.
function separated(table) {
  const words = (cell) => cell.textContent.trim().replace(/\s+/g, " ");
  return [...table.rows].map((row) => [...row.cells].map(words).join("\t")).join("\n");
}

function toggleFold(button) {
  const isFolded = document.querySelector(button.dataset.unfold).classList.toggle("folded");
  button.setAttribute("aria-expanded", !isFolded);
  button.textContent = isFolded ? "Show all" : "Show less";
}

function toggleWrap(button) {
  const isWrapped = button.closest(".code").classList.toggle("wrapped");
  button.setAttribute("aria-pressed", isWrapped);
}

function download(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

// The answer as Markdown, from its beginning in the runs above that it goes on with.
function wholeAnswer(run) {
  const text = run.querySelector("template.source")?.content.textContent ?? "";
  const before = run.matches(".goes-on") && run.previousElementSibling;
  return before ? [wholeAnswer(before), text].filter(Boolean).join("\n\n") : text;
}

// The clipboard API needs https or localhost; fall back for http in a local network.
function copyTheOldWay(text) {
  const box = document.createElement("textarea");
  box.value = text;
  box.className = "unseen";
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  return done;
}

function report(button, words) {
  const region = document.querySelector(".announcer");
  if (region) region.textContent = words;
  if ("copyLink" in button.dataset) return; // Its menu has closed already.
  button.classList.add("told");
  const isIcon = button.querySelector("svg") !== null;
  const before = isIcon ? button.title : button.textContent;
  const put = (value) => {
    if (isIcon) button.title = value;
    else button.textContent = value;
  };
  put(words);
  setTimeout(() => {
    put(before);
    button.classList.remove("told");
  }, SHOWN);
}
