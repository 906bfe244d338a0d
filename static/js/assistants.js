// The list of assistants on home: the chosen one brings its starters and its model.

import { showModel } from "./models.js";

const LIST = "form.assistant-choices";

export function mountAssistants(root) {
  const start = root.getElementById("start");
  const starters = root.querySelector(".starters");
  root.addEventListener("change", ({ target }) => {
    if (target.matches(`${LIST} [name=assistant]`)) choose(start.elements, starters, target.closest(".model"));
  });
}

function choose(fields, starters, item) {
  fields.assistant.value = item.querySelector("[name=assistant]").value;
  document.querySelector("[data-assistant-label]").replaceChildren(...item.querySelector(".title").cloneNode(true).childNodes);
  const { model, level } = item.dataset;
  const label = item.querySelector(".model-label")?.content.cloneNode(true);
  if (model) showModel(label.childNodes, fields, { model, thinking_level: level });
  const offered = item.querySelector(".starters-of") ?? item.closest("form").querySelector(".usual-starters");
  for (const one of starters.querySelectorAll("li:not(.tour)")) one.remove();
  starters.prepend(offered.content.cloneNode(true));
}
