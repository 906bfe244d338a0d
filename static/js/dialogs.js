// Dialogs and drawers, opened and closed by data attributes.

import { isFreeEscape } from "./keys.js";

const OPENERS = "[data-opens-dialog], [data-closes-dialog], [data-opens], [data-closes]";
const COVERABLE = ":not(.shade, dialog, [popover])"; // The others lie above a drawer.

const covered = []; // What lies behind the open drawer, out of reach.

export function mountDialogs(root) {
  root.addEventListener("click", (event) => {
    if (event.target instanceof HTMLDialogElement) event.target.close(); // The backdrop.
    const control = event.target.closest(OPENERS);
    if (control) act(control);
  });
  root.addEventListener("closes-dialog", ({ target }) => target.closest("dialog")?.close());
  root.addEventListener("keydown", (event) => {
    const frame = root.querySelector("[data-open]");
    if (!isFreeEscape(event) || !frame || root.querySelector("dialog[open], details.menu[open]")) return;
    event.preventDefault();
    toggleDrawer(null);
  });
  root.querySelector(".frame").addEventListener("closes-drawer", () => toggleDrawer(null));
  addEventListener("resize", cover);
}

function act(control) {
  const { opensDialog, opens } = control.dataset;
  if (opensDialog) document.getElementById(opensDialog).showModal();
  else if ("closesDialog" in control.dataset) control.closest("dialog").close();
  else toggleDrawer(opens);
}

function toggleDrawer(name) {
  const frame = document.querySelector(".frame");
  const before = frame.dataset.open;
  const opened = before === name ? null : name;
  const isLeft = !opened && holdsFocus(before);
  if (opened) frame.dataset.open = opened;
  else delete frame.dataset.open;
  for (const control of document.querySelectorAll("[data-opens]")) {
    control.setAttribute("aria-expanded", String(control.dataset.opens === opened));
  }
  cover();
  if (opened) document.getElementById(opened).querySelector("a, button").focus({ preventScroll: true });
  else if (isLeft) document.querySelector(`[data-opens=${before}]`)?.focus({ preventScroll: true });
}

// Whether the focus would be lost with the drawer.
function holdsFocus(name) {
  return Boolean(name) && document.getElementById(name).contains(document.activeElement);
}

// A drawer that lies over the page keeps the focus: what is behind it cannot be reached.
function cover() {
  for (const one of covered.splice(0)) one.inert = false;
  const frame = document.querySelector(".frame");
  if (!frame.dataset.open || getComputedStyle(frame.querySelector(".shade")).display === "none") return;
  for (let one = document.getElementById(frame.dataset.open); one !== document.body; one = one.parentElement) {
    const others = [...one.parentElement.children].filter((other) => other !== one && other.matches(COVERABLE));
    covered.push(...others.filter((other) => !other.inert));
  }
  for (const one of covered) one.inert = true;
}
