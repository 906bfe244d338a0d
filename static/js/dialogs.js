// Dialogs and drawers, opened and closed by data attributes.

const OPENERS = "[data-opens-dialog], [data-closes-dialog], [data-opens], [data-closes]";

export function mountDialogs(root) {
  root.addEventListener("click", (event) => {
    if (event.target instanceof HTMLDialogElement) event.target.close(); // The backdrop.
    const control = event.target.closest(OPENERS);
    if (control) act(control);
  });
  root.addEventListener("closes-dialog", ({ target }) => target.closest("dialog")?.close());
  root.addEventListener("keydown", (event) => {
    const frame = root.querySelector("[data-open]");
    if (event.key !== "Escape" || !frame || root.querySelector("dialog[open], details.menu[open]")) return;
    event.preventDefault();
    toggleDrawer(null);
  });
  root.querySelector(".frame").addEventListener("closes-drawer", () => toggleDrawer(null));
}

function act(control) {
  const { opensDialog, opens } = control.dataset;
  if (opensDialog) document.getElementById(opensDialog).showModal();
  else if ("closesDialog" in control.dataset) control.closest("dialog").close();
  else toggleDrawer(opens);
}

function toggleDrawer(name) {
  const frame = document.querySelector(".frame");
  const opened = frame.dataset.open === name ? null : name;
  if (opened) frame.dataset.open = opened;
  else delete frame.dataset.open;
  for (const control of document.querySelectorAll("[data-opens]")) {
    control.setAttribute("aria-expanded", String(control.dataset.opens === opened));
  }
  if (opened) document.getElementById(opened).querySelector("a, button").focus({ preventScroll: true });
}
