// Tabs: arrows, Home and End move between them. A field that the browser refuses opens its tab.

const STEPS = { ArrowRight: 1, ArrowLeft: -1 };

export function mountTabs(root) {
  root.addEventListener("click", ({ target }) => {
    const tab = target.closest("[role=tab]");
    if (tab) open(tab);
  });
  root.addEventListener("keydown", (event) => {
    const tab = event.target.closest("[role=tab]");
    const next = tab && neighbour(tab, event.key);
    if (!next) return;
    event.preventDefault();
    open(next);
    next.focus();
  });
  // Before the browser, or htmx, would show the field: hidden, it could not be.
  root.addEventListener("invalid", ({ target }) => {
    const panel = target.closest("[role=tabpanel][hidden]");
    const isFirst = target.form?.querySelector(":invalid:not(fieldset)") === target;
    if (!panel || !isFirst) return;
    open(document.getElementById(panel.getAttribute("aria-labelledby")));
    setTimeout(() => target.reportValidity());
  }, true);
}

function neighbour(tab, key) {
  const tabs = [...tab.parentElement.children];
  if (key === "Home") return tabs[0];
  if (key === "End") return tabs.at(-1);
  const step = STEPS[key];
  return step && tabs.at((tabs.indexOf(tab) + step) % tabs.length);
}

function open(chosen) {
  for (const tab of chosen.parentElement.children) {
    const isChosen = tab === chosen;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
    document.getElementById(tab.getAttribute("aria-controls")).hidden = !isChosen;
  }
}
