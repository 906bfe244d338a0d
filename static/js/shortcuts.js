// Global keyboard shortcuts and their list.

import { mountDialogs } from "./dialogs.js";
import { isSingleKey, singleKeysAreOn, switchSingleKeys } from "./keys.js";
import { mountPalette } from "./palette.js";
import { mountViews, switchView } from "./view.js";

const palette = mountPalette();
const list = document.getElementById("shortcuts");

const click = (selector) => document.querySelector(selector)?.click();
const WITH_CONTROL = { k: () => palette?.open(), "/": () => showList() };
const WITH_SHIFT = {
  e: switchView,
  o: () => click("#act-new"),
  s: toggleSide,
  c: () => [...document.querySelectorAll("[data-copy-answer]")].at(-1)?.click(),
};
const ALONE = { "?": () => showList(), "/": write };

mountDialogs(document);
mountViews();
list?.addEventListener("htmx:afterSwap", showSwitch);
list?.addEventListener("change", ({ target }) => switchSingleKeys(target.checked));
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || !palette) return;
  const act = meant(event);
  if (!act) return;
  event.preventDefault();
  act();
});
for (const [name, act] of Object.entries({ shortcuts: showList, view: switchView })) {
  for (const control of document.querySelectorAll(`[data-does=${name}]`)) control.addEventListener("click", act);
}
for (const opener of document.querySelectorAll("[data-opens-palette]")) {
  opener.addEventListener("click", () => palette?.open());
}

function meant(event) {
  const key = event.key.toLowerCase();
  const control = event.ctrlKey || event.metaKey;
  if (event.key === "Escape" && event.shiftKey) return write;
  if (control && !event.altKey) return (event.shiftKey ? WITH_SHIFT : WITH_CONTROL)[key];
  // The inspector's pages have keys of their own.
  const isOurs = isSingleKey(event) && !document.querySelector("[data-keys]");
  return isOurs ? ALONE[key] : undefined;
}

// What the dialog says is loaded when it is first opened.
function showList() {
  htmx.trigger(list.lastElementChild, "shown");
  showSwitch();
  if (!list.open) list.showModal();
}

function showSwitch() {
  const control = list.querySelector("[data-single-keys]");
  if (control) control.checked = singleKeysAreOn();
}

function write() {
  document.getElementById("message")?.focus();
}

// The sidebar collapses in a wide window and is a drawer in a narrow one.
function toggleSide() {
  const drawer = document.querySelector("[data-opens=side]");
  if (drawer?.offsetParent) drawer.click();
  else document.querySelector(".frame").classList.toggle("no-side");
}
