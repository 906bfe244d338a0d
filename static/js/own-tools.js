// The switches of Gemini's own tools. One whose click could not be saved goes back to what the server has.

import { reasonOf } from "./refusals.js";

const SWITCHES = "#own-tools input, #own-on button";
const UNSAVED = { message: "That could not be saved.", hint: "Nothing is lost: please try again." };

// `explain` shows why, `forget` takes that away.
export function mountOwnTools(form, { explain, forget }) {
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
