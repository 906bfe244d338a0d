// Selection of several sessions for one action.

export function mountChoosing(root) {
  root.addEventListener("click", ({ target }) => {
    const way = target.closest("[data-chooses]")?.dataset.chooses;
    if (way) set(root, way);
  });
  root.addEventListener("change", ({ target }) => target.matches(".choose input") && count(root));
}

function set(root, way) {
  root.querySelector("#chosen").hidden = way === "none";
  for (const label of root.querySelectorAll(".choose")) {
    label.hidden = way === "none";
    const box = label.querySelector("input");
    box.checked = way === "all" || (way === "some" && box.checked);
  }
  count(root);
  if (way === "some") root.querySelector(".choose input")?.focus();
}

function count(root) {
  const chosen = root.querySelectorAll(".choose input:checked").length;
  root.querySelector("#chosen output").textContent = `${chosen} chosen`;
  for (const button of root.querySelectorAll("#chosen :is([name=act], [data-acts])")) button.disabled = chosen === 0;
}
