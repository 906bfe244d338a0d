// The dialog shares the branch that the page shows, also where another one is in view elsewhere by now.

export function mountSharing(root) {
  root.addEventListener("htmx:configRequest", ({ target, detail }) => {
    if (target.matches("[data-shares-view]")) detail.parameters.leaf = lastTurn(root);
  });
}

// Empty while an answer is being written: the server leaves that out.
function lastTurn(root) {
  const last = [...root.querySelectorAll(".scroller .run")].at(-1);
  return last && !last.matches("[aria-busy=true]") ? (last.dataset.last ?? "") : "";
}
