// The switches of Gemini's own tools. One whose click could not be saved goes back to what the server has. What is on
// has a button beside them, which clicks the switch: the answer to a click replaces the buttons, never a switch. What
// another page changed comes with the gauge, where nothing was clicked since that was asked for.

import { reasonOf } from "./refusals.js";

const SWITCHES = "#own-tools input";
const NEWS = "#own-tools, #own-on";
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
  keepClicked(form);
}

// Leaves out what the gauge brings of the switches while a click is not answered, or one came since it was asked for.
function keepClicked(form) {
  let clicks = 0;
  let unanswered = 0;
  let clicksBefore = 0;
  let isNews = false;
  form.addEventListener("change", ({ target }) => {
    if (!target.matches(SWITCHES)) return;
    clicks += 1;
    unanswered += 1;
  });
  form.addEventListener("htmx:afterRequest", ({ target }) => {
    if (target.matches(SWITCHES)) unanswered -= 1;
  });
  document.addEventListener("htmx:beforeRequest", ({ target }) => {
    if (target.id === "gauge") clicksBefore = unanswered ? -1 : clicks;
  });
  document.addEventListener("htmx:beforeSwap", ({ target }) => {
    isNews = target.id === "gauge";
  });
  document.addEventListener("htmx:oobBeforeSwap", ({ target, detail }) => {
    if (!isNews || !target.matches(NEWS)) return;
    const isLate = unanswered > 0 || clicks !== clicksBefore;
    if (isLate || target.contains(document.activeElement)) detail.shouldSwap = false;
  });
}

function switchOff(form, name) {
  form.querySelector(`${SWITCHES}[value="${CSS.escape(name)}"]:checked`)?.click();
}
