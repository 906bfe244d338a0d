// What the updates of an open page cannot do by themselves: stop when there is nothing to follow any more, and
// leave open what the reader has opened.

const body = document.body;

// Gone (404), or signed out: then the answer is another page than the one that was asked for.
body.addEventListener("htmx:beforeOnLoad", (event) => {
  const { elt, xhr, pathInfo } = event.detail;
  if (elt.id !== "live") return;
  const asked = new URL(pathInfo.finalRequestPath, location.href).pathname;
  const isElsewhere = xhr.responseURL !== "" && new URL(xhr.responseURL).pathname !== asked;
  if (!isElsewhere && ![401, 403, 404].includes(xhr.status)) return;
  event.preventDefault();
  event.stopPropagation(); // In DEBUG, django-htmx would put the error in the place of the page.
  const note = document.createElement("p");
  note.id = "live";
  note.className = "notice warning";
  note.setAttribute("role", "status");
  note.textContent = elt.dataset.gone;
  elt.replaceWith(note);
});

let isOpen = false;

body.addEventListener("htmx:oobBeforeSwap", ({ target }) => {
  if (target.id === "head") isOpen = document.getElementById("head-fold").open;
});

body.addEventListener("htmx:oobAfterSwap", () => {
  const fold = document.getElementById("head-fold");
  if (fold && isOpen) fold.open = true;
});
