// The list of models: a choice goes to the chat at once, or with the first message to a chat that begins.

import { post } from "./fragments.js";

const LIST = "form.models";

let sending = Promise.resolve();
let newest = 0;

export function mountModels(root) {
  root.addEventListener("change", ({ target }) => {
    const list = target.closest(LIST);
    if (list?.elements.model) choose(list, target);
  });
  root.addEventListener("submit", (event) => {
    if (event.target.matches(LIST)) event.preventDefault();
  });
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches(`${LIST} input`)) return;
    event.preventDefault();
    event.target.closest("dialog").close();
  });
}

// Sets the choice of a chat that begins, and what the button says.
export function showModel(label, fields, { model, thinking_level: level }) {
  document.querySelector("[data-model-label]").replaceChildren(...label);
  fields.model.value = model;
  fields.thinking_level.value = level;
}

function choose(list, input) {
  const item = list.querySelector("[name=model]:checked").closest(".model");
  if (input.name === "model") takeLevel(list, item);
  const level = item.querySelector("[name=thinking_level]:checked");
  const chosen = { model: item.querySelector("[name=model]").value, thinking_level: level?.value ?? "" };
  const label = [item.querySelector(".title").cloneNode(true)];
  if (level?.value) label.push(" ", Object.assign(document.createElement("span"), { className: "level", textContent: level.nextElementSibling.textContent }));
  if (list.dataset.url) keep(list, label, chosen);
  else showModel(label, document.querySelector("form.composer").elements, chosen);
}

// The level stays where the other model has it too.
function takeLevel(list, item) {
  const before = list.querySelector("[name=thinking_level]:checked");
  const levels = [...item.querySelectorAll("[name=thinking_level]")];
  const same = levels.find(({ value }) => value === before?.value) ?? levels[0];
  if (same) same.checked = true;
  else if (before) before.checked = false;
}

// Choices go one after the other; of those that wait only the last is sent.
function keep(list, label, chosen) {
  const number = ++newest;
  sending = sending.then(async () => {
    if (number !== newest) return;
    const said = list.querySelector(".said");
    try {
      const page = await post(list.dataset.url, chosen);
      said.textContent = page.querySelector(".said").textContent;
      document.querySelector("[data-model-label]").replaceChildren(...label);
      document.body.dispatchEvent(new CustomEvent("session-changed"));
    } catch (refusal) {
      said.textContent = refusal.text ?? "That did not work. Try again.";
    }
  });
}
