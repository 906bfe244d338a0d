// The files that stay open for the model: listed above the message until they are closed.

import { csrfHeaders } from "./fragments.js";

// On home there is no list of these: the chip stays where it is, and the page of the chat follows.
export function keepOpen(chip) {
  document.querySelector("#open-files ul")?.append(chip);
  tellChanged();
}

// `button` is in the chip of the file.
export async function closeFile(button) {
  const body = new FormData();
  body.append("path", button.dataset.closesFile);
  const response = await fetch(button.dataset.url, { method: "POST", headers: csrfHeaders(), body });
  if (response.ok || response.status === 404) button.closest("li").remove();
  tellChanged();
}

function tellChanged() {
  document.body.dispatchEvent(new CustomEvent("session-changed"));
}
