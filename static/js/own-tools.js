// The switches of Gemini's own tools. One whose click could not be saved goes back to what the server has. What is on
// has a button beside them, which clicks the switch: the answer to a click replaces the buttons, never a switch.

import { reasonOf } from "./refusals.js";

const SWITCHES = "#own-tools input";
const UNSAVED = { message: "That could not be saved.", hint: "Nothing is lost: please try again." };

// `explain` shows why, `forget` takes that away.
export function mountOwnTools(form, { explain, forget }) {
  form.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-switches-off]");
    if (button) switchOff(form, button.dataset.switchesOff);
  });
  form.addEventListener("htmx:afterRequest", ({ detail: { elt, successful, requestConfig, xhr } }) => {
    if (!elt.matches(SWITCHES)) return;
    forget();
    if (successful) elt.defaultChecked = requestConfig.formData.getAll("on").includes(elt.value);
    else {
      elt.checked = elt.defaultChecked;
      explain(reasonOf(xhr) ?? UNSAVED);
    }
  });
}

function switchOff(form, name) {
  form.querySelector(`${SWITCHES}[value="${CSS.escape(name)}"]:checked`)?.click();
}
