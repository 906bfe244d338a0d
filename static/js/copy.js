// Copy buttons: a code block, an answer as Markdown, or the target of data-copy.

const SHOWN = 1_600;

export function mountCopying(root) {
  root.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy], [data-copy-answer]");
    if (button) copy(button);
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
    return button.closest(".run").querySelector("template.source").content.textContent;
  }
  const source = button.dataset.copy
    ? document.querySelector(button.dataset.copy)
    : button.closest(".code")?.querySelector("code");
  return source?.textContent ?? null;
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
