// Back closes a dialog that is marked with data-back-closes, and stays on the page.

const MARKED = "dialog[data-back-closes]";

let isLeaving = false; // The entry of a dialog that was closed otherwise is being left.

export function mountBack(root) {
  // A page that was loaded anew with the entry of a dialog shows none.
  if (history.state?.dialog && !root.querySelector(`${MARKED}[open]`)) leave();
  root.addEventListener("close", ({ target }) => {
    if (target.matches(MARKED) && history.state?.dialog && !root.querySelector(`${MARKED}[open]`)) leave();
  }, true);
  addEventListener("popstate", (event) => {
    const open = root.querySelector(`${MARKED}[open]`);
    if (!isLeaving && !open) return;
    event.stopImmediatePropagation(); // It means no drawer.
    if (!isLeaving) open.close();
    isLeaving = false;
  });
}

// Called when a dialog has been opened.
export function enter(dialog) {
  if (dialog.matches(MARKED) && !history.state?.dialog) history.pushState({ dialog: dialog.id }, "");
}

function leave() {
  isLeaving = true;
  history.back();
}
