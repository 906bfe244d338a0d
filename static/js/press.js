// While a control is pressed the page does not change by itself: a click needs the same element at both of its ends.

const CONTROLS = "a, button, label, summary, input[type=checkbox], input[type=radio]";
const kept = []; // Actions that wait for the release, in order.
const unread = new Map(); // By the element that asked: how to ask again for an answer that came meanwhile.
let isPressed = false;

export function mountPress(root) {
  root.addEventListener("pointerdown", ({ button, target }) => {
    if (button === 0 && target.closest(CONTROLS)) isPressed = true;
  }, true);
  // A click follows its pointerup at once; pointercancel also stands for a drag and for a scroll by touch.
  for (const end of ["pointerup", "pointercancel"]) root.addEventListener(end, () => setTimeout(release), true);
  // Where a menu of the system, or another window, took the release.
  root.addEventListener("pointermove", ({ buttons }) => isPressed && buttons === 0 && release());
  addEventListener("blur", release);
  // Before the listeners of single pages, which look whether there is something to show.
  root.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (isPressed && detail.shouldSwap && isByPage(detail)) askLater(detail);
  }, true);
}

// Whether the page asked by itself: a poll, a part that was scrolled to, what has to follow a change elsewhere.
function isByPage({ requestConfig: { verb, triggeringEvent } }) {
  return verb === "get" && !triggeringEvent?.isTrusted;
}

function askLater(detail) {
  const { target, swapOverride: swap, requestConfig: { elt, path } } = detail;
  detail.shouldSwap = false;
  unread.set(elt, () => elt.isConnected && htmx.ajax("GET", path, { source: elt, target, swap }));
}

// Calls the action now, or when the control is released.
export function whenReleased(action) {
  if (isPressed) kept.push(action);
  else action();
}

export function released() {
  return new Promise(whenReleased);
}

function release() {
  isPressed = false;
  for (const action of [...kept.splice(0), ...unread.values()]) queueMicrotask(action); // Each with its own errors.
  unread.clear();
}
