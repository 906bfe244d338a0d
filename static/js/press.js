// While a control is pressed the page does not change by itself: a click needs the same element at both of its ends.

const CONTROLS = "a, button, label, summary, input[type=checkbox], input[type=radio]";
const kept = []; // Actions that wait for the release, in order.
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
  // What a poll brings is dropped: the next one asks for the same again.
  root.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (isPressed && !detail.requestConfig.triggeringEvent) detail.shouldSwap = false;
  });
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
  for (const action of kept.splice(0)) queueMicrotask(action); // Each with its own errors.
}
