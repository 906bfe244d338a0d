// The files that stay open for the model: listed above the message until they are closed.

import { attempt } from "./failures.js";
import { remove } from "./fragments.js";

const fresh = new Map(); // By path: copies of the chips that came since the last message.

// On home there is no list of these: the chip stays where it is, and the page of the chat follows.
export function keepOpen(chip) {
  const list = document.querySelector("#open-files ul");
  if (list) fresh.set(chip.querySelector("[data-closes-file]").dataset.closesFile, copyOf(chip));
  list?.append(chip);
  tellChanged();
}

// For the message that is being sent.
export function giveOpened() {
  const chips = [...fresh.values()];
  fresh.clear();
  return chips;
}

// `button` is in the chip of the file.
export async function closeFile(button) {
  const path = button.dataset.closesFile;
  await attempt(`close ${path}`, async () => {
    await remove(button.dataset.url, { path });
    fresh.delete(path);
    button.closest("li").remove();
  });
  tellChanged();
}

function copyOf(chip) {
  const copy = chip.cloneNode(true);
  copy.querySelector("button").remove();
  copy.removeAttribute("data-reference");
  copy.dataset.opened = "";
  return copy;
}

function tellChanged() {
  document.body.dispatchEvent(new CustomEvent("session-changed"));
}
