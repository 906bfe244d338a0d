// Menus that a page has many of have their items once, in a template, and get them when they are first opened.
// In the addresses of a template a placeholder stands for what the menu is about.

const PLACEHOLDERS = {
  draft: "00000000-0000-0000-0000-000000000000",
  run: "00000000-0000-0000-0000-000000000001",
  turn: "00000000-0000-0000-0000-000000000002",
  last: "00000000-0000-0000-0000-000000000003",
  answer: "00000000-0000-0000-0000-000000000004",
};

export function mountMenuItems(root) {
  // Before the menu opens, since it is placed by its size.
  root.addEventListener("click", ({ target }) => {
    const menu = target.closest("[data-items] > summary")?.parentElement;
    if (menu && !menu.querySelector(".items")) fill(menu);
  });
}

// `data-has` of the menu names the parts with `data-only` that it has.
export function dropOthers(parts, has = "") {
  for (const part of parts.querySelectorAll("[data-only]")) {
    if (!has.split(" ").includes(part.dataset.only)) part.remove();
  }
}

function fill(menu) {
  const items = document.createElement("div");
  items.className = "items";
  items.innerHTML = addressed(document.getElementById(menu.dataset.items).innerHTML, menu);
  dropOthers(items, menu.dataset.has);
  const label = items.querySelector("[data-label]");
  if (label) label.textContent = menu.dataset.label;
  menu.append(items);
  htmx.process(items);
}

function addressed(html, menu) {
  const about = { ...menu.closest(".run, [data-draft]").dataset, ...menu.dataset };
  return Object.entries(PLACEHOLDERS).reduce((text, [name, placeholder]) => text.replaceAll(placeholder, about[name] ?? ""), html);
}
