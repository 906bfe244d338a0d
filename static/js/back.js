// On a phone, Back closes what lies over the page: dialogs, menus, cards and drawers. The state of an entry
// of the history says how many lay over the page (`over`).

const OPEN = "dialog[open], details.menu[open], .frame[data-open], :popover-open";

const layers = []; // From the lowest to the topmost.
let isLeaving = false;
let isReturning = false;
let isPlanned = false;

export function mountBack(root) {
  new MutationObserver(plan).observe(root, { subtree: true, attributeFilter: ["open", "data-open"] });
  root.addEventListener("toggle", plan, true); // Popovers have no attribute.
  addEventListener("click", (event) => note(event, event.target.closest("a[href]:not([download], [target])")));
  addEventListener("submit", (event) => note(event, event.target.closest("form:not([method=dialog])")));
  addEventListener("popstate", (event) => went(event));
  addEventListener("pageshow", plan);
}

// A navigation has begun: going back now would cancel it.
function note(event, away) {
  isLeaving = Boolean(away) && !event.defaultPrevented;
}

// After all listeners of an event, since one may close a menu and the next open a dialog.
function plan() {
  if (isPlanned) return;
  isPlanned = true;
  setTimeout(follow);
}

function follow() {
  isPlanned = false;
  const open = [...document.querySelectorAll(OPEN)];
  layers.splice(0, layers.length, ...layers.filter((one) => open.includes(one)), ...open.filter((one) => !layers.includes(one)));
  const depth = history.state?.over ?? 0;
  if (isReturning) return;
  if (layers.length < depth && !isLeaving) {
    isReturning = true;
    history.go(layers.length - depth);
  }
  if (!isPhone()) return;
  for (let over = depth + 1; over <= layers.length; over += 1) history.pushState({ over }, "");
}

function went(event) {
  const depth = event.state?.over ?? 0;
  isReturning = false;
  plan();
  if (layers.length <= depth) return;
  // htmx would fetch the page anew.
  event.stopImmediatePropagation();
  while (layers.length > depth) close(layers.pop());
}

function close(layer) {
  if (layer instanceof HTMLDialogElement) layer.close();
  else if (layer.matches("details")) layer.open = false;
  else if (layer.matches(".frame")) layer.dispatchEvent(new Event("closes-drawer"));
  else layer.hidePopover();
}

// Where the button that opens it shows, the sidebar is a sheet.
const isPhone = () => Boolean(document.querySelector("[data-opens=side]")?.offsetParent);
