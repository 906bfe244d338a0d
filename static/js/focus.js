// The answer of htmx may take out of the page what has the focus, which goes to its successor then, or to what stands
// nearest, and not to the top of the page. htmx finds a successor only where it is shown at once.

const STOPS = "a[href], button:enabled, input:enabled:not([type=hidden]), textarea:enabled, select:enabled, summary";

export function mountFocus(root) {
  let left = null;
  root.addEventListener("htmx:beforeSwap", ({ detail }) => {
    left = placeOf(detail.target);
  });
  root.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
    left = placeOf(detail.target) ?? left;
  });
  const restore = () => {
    if (!left || document.activeElement !== document.body) return;
    nearest(left)?.focus({ preventScroll: true });
    left = null;
  };
  for (const name of ["htmx:afterSwap", "htmx:oobAfterSwap"]) root.addEventListener(name, restore);
}

// What leads back to the control within `target` that has the focus.
function placeOf(target) {
  const focused = document.activeElement;
  if (focused === document.body || !target.contains(focused)) return null;
  return {
    ids: [focused.id, focused.closest("form.add")?.querySelector("[id]").id],
    folds: foldsOf(focused).map(({ id }) => id),
    before: stopBefore(target),
  };
}

// What has its id, else the first field of a form that adds, else the row, else what stands before all that went.
function nearest({ ids, folds, before }) {
  const named = ids.filter(Boolean).map((id) => document.getElementById(id));
  const rows = folds.map((id) => document.querySelector(`#${CSS.escape(id)} > summary`));
  return [...named, ...rows, before].find((one) => one?.matches(STOPS) && one.isConnected && one.checkVisibility());
}

function foldsOf(element) {
  const fold = element.parentElement?.closest("details[id]");
  return fold ? [fold, ...foldsOf(fold)] : [];
}

function stopBefore(target) {
  const stops = [...(target.closest("dialog") ?? document).querySelectorAll(STOPS)];
  const isBefore = (stop) => target.compareDocumentPosition(stop) === Node.DOCUMENT_POSITION_PRECEDING;
  return stops.filter((stop) => isBefore(stop) && stop.checkVisibility()).at(-1);
}
