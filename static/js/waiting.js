// Messages that wait for the answer in progress, oldest first; each can be taken back.

import { clone } from "./live.js";

export class Waiting {
  #list;

  // `withdraw(client, text)` is called for a message that the person takes back.
  constructor(list, withdraw) {
    this.#list = list;
    list.addEventListener("click", (event) => {
      const entry = event.target.closest("[data-withdraw]")?.closest("li");
      if (entry) withdraw(entry.dataset.client, entry.querySelector(".text").textContent);
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
