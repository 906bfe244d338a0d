// The title of a chat, wherever the page shows it, and the forms in its place.

const NAMES = ".renaming [name=title], #folder [name=name]";

export function mountTitles(root) {
  // What is typed takes the place of the old name.
  root.addEventListener("focusin", ({ target }) => target.matches(NAMES) && target.select());
  root.addEventListener("chat-renamed", ({ detail: { session, title } }) => {
    if (document.querySelector(`.chat[data-session="${session}"]`)) entitle(title);
    else nameRows(session, title);
  });
  root.addEventListener("keydown", (event) => {
    const form = event.target.closest(".renaming");
    if (event.key !== "Escape" || event.isComposing || !form) return;
    event.preventDefault();
    form.querySelector("[data-cancels]").click();
  });
  keepFocus(root);
}

// A form that is answered goes with what had the focus: the row has it then, or the menu of the bar.
function keepFocus(root) {
  let isAnswered = false;
  root.addEventListener("htmx:beforeSwap", ({ target }) => {
    isAnswered = target.matches(".renaming");
  });
  root.addEventListener("htmx:afterSettle", ({ target }) => {
    if (!isAnswered || document.querySelector(".renaming")) return;
    isAnswered = false;
    const next = target.querySelector("a") ?? target.parentElement.querySelector(".menu > summary");
    next?.focus({ preventScroll: true });
  });
}

// Of the chat that is open. The bar may have a form in the place of the title.
export function entitle(title) {
  const heading = document.querySelector(".topbar h1");
  if (heading) heading.textContent = heading.title = title;
  document.title = `${title} · Pipeweb`;
  nameRows(document.querySelector(".chat").dataset.session, title);
}

function nameRows(session, title) {
  for (const row of document.querySelectorAll(`.side [data-draft="${session}"]`)) {
    row.querySelector("a > span").textContent = title;
    row.querySelector(".menu summary").setAttribute("aria-label", `More for “${title}”`);
  }
}
