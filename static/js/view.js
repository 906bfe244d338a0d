// The two views of a page: data-view of the root element, which CSS follows. The switch is a form
// that htmx posts, so that the server keeps the choice.

const root = document.documentElement;

export function mountViews() {
  document.addEventListener("submit", ({ target, submitter }) => {
    if (target.matches("[data-view-switch]") && submitter) show(submitter.value);
  });
  document.addEventListener("click", ({ target }) => touch(target.closest(".answer")));
}

// Clicks the other button of the switch, as a shortcut or the palette asks.
export function switchView() {
  document.querySelector("[data-view-switch] [aria-pressed=false]")?.click();
}

function show(view) {
  root.dataset.view = view;
  for (const button of document.querySelectorAll("[data-view-switch] [name=view]")) {
    button.setAttribute("aria-pressed", String(button.value === view));
  }
  // What the other view has opened must not stay open unseen.
  for (const open of document.querySelectorAll(":popover-open")) open.hidePopover();
  if (view === "simple") document.querySelector(".frame[data-open=details] #details [data-closes]")?.click();
}

// On a phone the actions of an answer are shown after a tap on it.
function touch(answer) {
  for (const other of document.querySelectorAll(".answer.touched")) other.classList.toggle("touched", other === answer);
  answer?.classList.add("touched");
}
