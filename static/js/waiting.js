// Messages that wait for the answer in progress, oldest first; each can be taken back. After a stop or a
// failure they wait until the person sends them.

import { clone } from "./live.js";

export class Waiting {
  #list;

  // `withdraw(client, text)` is called for a message that the person takes back, `send` for one to send now.
  constructor(list, { withdraw, send }) {
    this.#list = list;
    list.addEventListener("click", ({ target }) => {
      const entry = target.closest("li");
      const act = target.closest("[data-withdraw]") ? withdraw : target.closest("[data-send-now]") && send;
      if (act) act(entry.dataset.client, entry.querySelector(".text").textContent);
    });
  }

  show(messages) {
    const entries = messages.map(({ client_id: client, text }) => {
      const entry = clone("live-waiting");
      entry.dataset.client = client;
      entry.querySelector(".text").textContent = text;
      return entry;
    });
    this.#list.replaceChildren(...entries);
  }

  drop(client) {
    this.#list.querySelector(`[data-client="${CSS.escape(client)}"]`)?.remove();
  }
}
