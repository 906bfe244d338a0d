// Messages that wait for the answer in progress, oldest first; each can be taken back. After a stop or a
// failure they wait until the person sends them.

import { clone } from "./live.js";

export class Waiting {
  #list;

  // `withdraw(client, text, files)` is called for a message that the person takes back, with the number of
  // its files; `send` for one to send now.
  constructor(list, { withdraw, send }) {
    this.#list = list;
    list.addEventListener("click", ({ target }) => {
      const entry = target.closest("li");
      const act = target.closest("[data-withdraw]") ? withdraw : target.closest("[data-send-now]") && send;
      if (act) act(entry.dataset.client, entry.querySelector(".text").textContent, Number(entry.dataset.files));
    });
  }

  show(messages) {
    const entries = messages.map(({ client_id: client, text, files = 0 }) => {
      const entry = clone("live-waiting");
      entry.dataset.client = client;
      entry.querySelector(".text").textContent = text;
      entry.dataset.files = files;
      const badge = entry.querySelector(".files");
      badge.hidden = !files;
      badge.textContent = files === 1 ? "1 file" : `${files} files`;
      return entry;
    });
    this.#list.replaceChildren(...entries);
  }

  drop(client) {
    this.#list.querySelector(`[data-client="${CSS.escape(client)}"]`)?.remove();
  }
}
