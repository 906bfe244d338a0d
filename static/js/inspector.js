// Copies the value of `data-copy-text`, or what lies at `data-copy-url`, and says so; the page works without it.

import { fetchText } from "./fragments.js";

const status = document.createElement("p");
status.className = "unseen";
status.setAttribute("role", "status");
document.body.append(status);

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy-text], button[data-copy-url]");
  if (!button) return;
  say(button, (await copy(button)) ? "Copied" : "Failed");
});

// A promise, not a text: some browsers allow the clipboard only in the very moment of the click.
async function copy({ dataset }) {
  const text = dataset.copyText === undefined ? fetchText(dataset.copyUrl) : Promise.resolve(dataset.copyText);
  const blob = text.then((found) => new Blob([found], { type: "text/plain" }));
  try {
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
    return true;
  } catch {
    return false;
  }
}

function say(button, word) {
  const before = button.dataset.word ?? button.textContent;
  button.dataset.word = before;
  button.textContent = word;
  status.textContent = word;
  setTimeout(() => {
    button.textContent = before;
    status.textContent = "";
  }, 1500);
}

// A link to #item-3 or #chunk-5 opens what it points at, and what that is folded into.
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  if (target.matches(".older li")) target.querySelector("a").click();
  bringIntoView(target);
}

// Items near the target are laid out only after a scroll (content-visibility), which moves the target again.
function bringIntoView(target, frames = 6) {
  target.scrollIntoView();
  if (frames) requestAnimationFrame(() => bringIntoView(target, frames - 1));
}

// An empty filter has no place in the address.
document.addEventListener("formdata", ({ target, formData }) => {
  if (!target.matches("[data-lean]")) return;
  for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
});

// On a narrow screen the row of tabs scrolls; the current one is always in view.
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

addEventListener("hashchange", openTarget);
addEventListener("load", openTarget); // Not before: htmx is ready then, and may be asked for an old item.
