// Dialogs and drawers, opened and closed by data attributes.

import { enter, mountBack } from "./back.js";

const OPENERS = "[data-opens-dialog], [data-closes-dialog], [data-opens], [data-closes]";

export function mountDialogs(root) {
  mountBack(root);
  root.addEventListener("click", (event) => {
    if (event.target instanceof HTMLDialogElement) event.target.close(); // The backdrop.
    const control = event.target.closest(OPENERS);
    if (control) act(control);
  });
  root.addEventListener("closes-dialog", ({ target }) => target.closest("dialog")?.close());
  root.addEventListener("keydown", (event) => {
    const frame = root.querySelector("[data-open]");
    if (event.key !== "Escape" || !frame || root.querySelector("dialog[open]")) return;
    event.preventDefault();
    toggleDrawer(null);
  });
  addEventListener("popstate", () => setDrawer(root.querySelector(".frame"), null));
}

function act(control) {
  const { opensDialog, opens } = control.dataset;
  if (opensDialog) open(document.getElementById(opensDialog));
  else if ("closesDialog" in control.dataset) control.closest("dialog").close();
  else toggleDrawer(opens);
}

function open(dialog) {
  dialog.showModal();
  enter(dialog);
}

function toggleDrawer(name) {
  const frame = document.querySelector(".frame");
  const isOpen = frame.dataset.open === name;
  // Back closes a sheet, so closing one is going back.
  if (isOpen || !name) return history.state?.sheet ? history.back() : setDrawer(frame, null);
  if (isSheet()) history.pushState({ sheet: name }, "");
  setDrawer(frame, name);
}

// Where the button that opens it shows, the sidebar is a sheet.
const isSheet = () => document.querySelector("[data-opens=side]")?.offsetParent !== null;

function setDrawer(frame, name) {
  if (name) frame.dataset.open = name;
  else delete frame.dataset.open;
  for (const control of document.querySelectorAll("[data-opens]")) {
    control.setAttribute("aria-expanded", String(control.dataset.opens === name));
  }
  if (name) document.getElementById(name).querySelector("a, button").focus({ preventScroll: true });
}
