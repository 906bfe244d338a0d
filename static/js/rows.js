// Rows of chats, in the sidebar and in the list: what acts on one is made here, from templates that a page has once.
// Without scripts a row is a link to its chat, whose own menu has the same actions.

const LINKS = ".side-list ul:not(.found-list) > li > a, .session-row > a";
const ANY_CHAT = "00000000-0000-0000-0000-000000000000"; // Where the templates mean the chat of the row.

export function mountRows(root) {
  const complete = () => {
    for (const link of root.querySelectorAll(LINKS)) {
      if (!link.parentElement.dataset.draft) completeRow(link.parentElement, link);
    }
  };
  complete();
  root.addEventListener("htmx:afterSettle", complete);
  root.addEventListener("click", ({ target }) => {
    const menu = target.closest("[data-items] > summary")?.parentElement;
    if (menu && !menu.querySelector(".items")) fill(menu, menu.closest("[data-draft]"));
    const act = target.closest("[form=row-acts]");
    if (act) name(act.form, act.closest("[data-draft]"));
  });
}

// The parts of a row that show before its menu is opened.
function completeRow(row, link) {
  const chat = link.pathname.split("/")[2];
  const title = link.querySelector(".entry, b").firstChild.textContent.trim();
  const isListed = row.matches(".session-row");
  row.dataset.draft = chat;
  (isListed ? link.querySelector("b") : link).append(copyOf("row-draft"));
  const parts = copyOf(isListed ? "list-row" : "side-row");
  dropOther(parts, row);
  for (const control of parts.querySelectorAll("[title]")) {
    const verb = control.title === "More" ? "More for" : control.title;
    control.setAttribute("aria-label", `${verb} “${title}”`);
  }
  const choose = parts.querySelector(".choose");
  if (choose) {
    choose.querySelector("span").textContent = `Choose “${title}”`;
    choose.querySelector("input").value = chat;
    row.prepend(choose);
  }
  row.append(parts);
}

// Before the menu opens, since it is placed by its size.
function fill(menu, row) {
  const items = document.createElement("div");
  items.className = "items";
  items.innerHTML = document.getElementById(menu.dataset.items).innerHTML.replaceAll(ANY_CHAT, row.dataset.draft);
  dropOther(items, row);
  menu.append(items);
  htmx.process(items);
}

// What is pinned can be unpinned, and the other way round.
function dropOther(parts, row) {
  const other = row.closest("[data-pinned]") ? "pin" : "unpin";
  parts.querySelector(`[name=act][value=${other}]`)?.remove();
}

// The one form of all rows acts on this one, and leads back to the page.
function name(form, row) {
  form.elements.session.value = row.dataset.draft;
  form.elements.next.value = location.pathname + location.search;
}

const copyOf = (id) => document.getElementById(id).content.cloneNode(true);
