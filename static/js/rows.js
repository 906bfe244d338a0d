// Rows of chats, in the sidebar and in the list: what acts on one is made here, from templates that a page has once.
// Without scripts a row is a link to its chat, whose own menu has the same actions.

import { dropOthers } from "./menu-items.js";

const LINKS = ".side-list ul:not(.found-list) > li > a, .session-list > li > a";

export function mountRows(root) {
  const complete = () => {
    for (const link of root.querySelectorAll(LINKS)) {
      if (!link.parentElement.dataset.draft) completeRow(link.parentElement, link);
    }
  };
  complete();
  root.addEventListener("htmx:afterSettle", complete);
  root.addEventListener("click", ({ target }) => {
    const act = target.closest("[form=row-acts]");
    if (act) name(act.form, act.closest("[data-draft]"));
  });
}

// The parts of a row that show before its menu is opened.
function completeRow(row, link) {
  const title = link.firstElementChild.firstChild.textContent.trim();
  const isListed = row.matches(".session-list > li");
  row.dataset.draft = link.pathname.split("/")[2];
  (isListed ? link.querySelector("b") : link).append(copyOf("row-draft"));
  const parts = copyOf(isListed ? "list-row" : "side-row");
  const pin = row.closest("[data-pinned]") ? "unpin" : "pin";
  dropOthers(parts, pin);
  if (!isListed) parts.querySelector("[data-items]").dataset.has += ` ${pin}`; // Others have a button of their own.
  for (const control of parts.querySelectorAll("[title]")) {
    const verb = control.title === "More" ? "More for" : control.title;
    control.setAttribute("aria-label", `${verb} “${title}”`);
  }
  const choose = parts.querySelector(".choose");
  if (choose) {
    choose.querySelector("span").textContent = `Choose “${title}”`;
    choose.querySelector("input").value = row.dataset.draft;
    row.prepend(choose);
  }
  row.append(parts);
}

// The one form of all rows acts on this one, and leads back to the page.
function name(form, row) {
  form.elements.session.value = row.dataset.draft;
  form.elements.next.value = location.pathname + location.search;
}

const copyOf = (id) => document.getElementById(id).content.cloneNode(true);
