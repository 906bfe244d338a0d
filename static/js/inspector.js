// Copies the value of `data-copy`, or what lies at `data-copy-url`, and says so; the page works without it.

const status = document.createElement("p");
status.className = "unseen";
status.setAttribute("role", "status");
document.body.append(status);

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy], button[data-copy-url]");
  if (!button) return;
  const text = button.dataset.copy ?? (await textAt(button.dataset.copyUrl));
  if (text === null) return say(button, "Failed");
  await navigator.clipboard.writeText(text);
  say(button, "Copied");
});

async function textAt(url) {
  const response = await fetch(url).catch(() => null);
  return response?.ok ? response.text() : null;
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

// A link to #item-3 or #chunk-5 opens what it points at.
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
  }
}

// On a narrow screen the row of tabs scrolls; the current one is always in view.
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

addEventListener("hashchange", openTarget);
openTarget();
