// Folders of the sidebar: whether one is collapsed is kept, and chats are dragged into them.

import { post } from "./fragments.js";

const TYPE = "application/x-pipeweb-chat";

export function mountFolders(root) {
  root.addEventListener("click", ({ target }) => {
    const folder = target.closest("summary")?.closest("[data-collapse]");
    // The click comes before the change.
    if (folder) keep(folder.dataset.collapse, folder.open);
  });
  root.addEventListener("dragstart", ({ target, dataTransfer }) => {
    const row = target.closest?.(".side-list [data-draft]");
    if (!row) return;
    dataTransfer.setData(TYPE, row.dataset.draft);
    dataTransfer.effectAllowed = "move";
  });
  root.addEventListener("dragover", (event) => {
    const place = placeOf(event);
    mark(place);
    if (place) event.preventDefault();
  });
  root.addEventListener("drop", (event) => {
    const place = placeOf(event);
    if (!place) return;
    event.preventDefault();
    move(event.dataTransfer.getData(TYPE), place);
  });
  root.addEventListener("dragend", () => mark(null));
}

// Without the line the folder is shown as before after a reload.
function keep(url, isCollapsed) {
  post(url, isCollapsed ? { on: "on" } : {}).catch(() => {});
}

// Where a chat may be dropped: a folder, or the list of those that are in none.
function placeOf({ target, dataTransfer }) {
  return dataTransfer?.types.includes(TYPE) ? target.closest?.(".side-list [data-folder]") : null;
}

function mark(place) {
  for (const other of document.querySelectorAll(".drop-here")) other.classList.toggle("drop-here", other === place);
  place?.classList.add("drop-here");
}

function move(session, place) {
  const { move: url, at } = place.closest(".side-list").dataset;
  const values = { session, folder: place.dataset.folder, at };
  htmx.ajax("POST", url, { target: "#side-list", swap: "outerHTML", values });
}
