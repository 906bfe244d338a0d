// Keys of the inspector. Every key does what a link or a button of the page does.

import { isSingleKey, singleKeysAreOn, switchSingleKeys } from "./keys.js";

const page = document.querySelector("[data-keys]");
const dialog = document.getElementById("keys");

const click = (selector) => document.querySelector(selector)?.click();

const EXCHANGE = {
  j: () => click("#head [rel=next]"),
  k: () => click("#head [rel=prev]"),
  d: () => click(".tabs [data-tab=diff]"),
  c: () => click("[data-keys-curl]"),
  "[": () => beside(-1),
  "]": () => beside(1),
  ArrowDown: (event) => stepItems(event, 1),
  ArrowUp: (event) => stepItems(event, -1),
};

const LIST = {
  j: () => step(rows(), 1),
  k: () => step(rows(), -1),
  "[": () => click(".pages [rel=prev]"),
  "]": () => click(".pages [rel=next]"),
  ArrowDown: (event) => stepRows(event, 1),
  ArrowUp: (event) => stepRows(event, -1),
};

const KEYS = page?.dataset.keys === "list" ? LIST : EXCHANGE;

if (page) document.addEventListener("keydown", (event) => {
  if (!isSingleKey(event)) return;
  if (event.key === "?") return show();
  KEYS[event.key]?.(event);
});

function beside(way) {
  const tabs = [...document.querySelectorAll(".tabs > a")];
  const here = tabs.findIndex((tab) => tab.hasAttribute("aria-current"));
  tabs[here + way]?.click();
}

const rows = () => [...document.querySelectorAll("#rows .asked > a:first-child")];
const items = () => [...document.querySelectorAll(".tab summary")].filter((one) => one.checkVisibility());

// The arrows scroll the page unless the focus is in the list already.
function stepRows(event, way) {
  if (!document.activeElement.closest("#rows")) return;
  event.preventDefault();
  step(rows(), way);
}

function stepItems(event, way) {
  if (!document.activeElement.matches(".tab summary")) return;
  event.preventDefault();
  step(items(), way);
}

function step(stops, way) {
  const here = stops.findIndex((stop) => stop === document.activeElement || stop.closest("tr")?.contains(document.activeElement));
  const next = here < 0 ? stops[0] : stops[here + way];
  next?.focus({ focusVisible: true });
  next?.scrollIntoView({ block: "nearest" });
}

function show() {
  dialog.querySelector("[data-keys-switch]").checked = singleKeysAreOn();
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-keys-open]")) show();
  if (event.target.closest("[data-keys-close]") || event.target === dialog) dialog.close();
});

dialog?.querySelector("[data-keys-switch]").addEventListener("change", (event) => switchSingleKeys(event.target.checked));
