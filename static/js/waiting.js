// Messages to be sent next, oldest first: those that wait on the server, and those that it may not have yet.
// Each can be taken back. After a stop or a failure they wait until the person sends them.

import { clone } from "./live.js";

export class Waiting {
  #list;
  #queued = [];
  #unsent = new Map();

  // `withdraw(client, text, files)` is called for a withdrawn message with its number of files; `send`
  // for one to send now.
  constructor(list, { withdraw, send }) {
    this.#list = list;
    list.addEventListener("click", ({ target }) => {
      const entry = target.closest("li");
      const act = target.closest("[data-withdraw]") ? withdraw : target.closest("[data-send-now]") && send;
      if (act) act(entry.dataset.client, entry.querySelector(".text").textContent, Number(entry.dataset.files));
    });
  }

  // What the server has.
  show(messages) {
    this.#queued = messages;
    for (const { client_id: client } of messages) this.#unsent.delete(client);
    this.#draw();
  }

  // A message on its way; it stays until the server has it.
  propose({ client_id: client, text, attachments }) {
    this.#unsent.set(client, { client_id: client, text, files: attachments.length, isUnsent: true });
    this.#draw();
  }

  drop(client) {
    this.#unsent.delete(client);
    this.#queued = this.#queued.filter((message) => message.client_id !== client);
    this.#draw();
  }

  #draw() {
    this.#list.replaceChildren(...[...this.#queued, ...this.#unsent.values()].map(entryOf));
  }
}

function entryOf({ client_id: client, text, files = 0, isUnsent = false }) {
  const entry = clone("live-waiting");
  entry.dataset.client = client;
  entry.querySelector(".text").textContent = text;
  entry.dataset.files = files;
  const badge = entry.querySelector(".files");
  badge.hidden = !files;
  badge.textContent = files === 1 ? "1 file" : `${files} files`;
  if (isUnsent) {
    entry.querySelector(".state").textContent = "Sending…";
    entry.querySelector("[data-send-now]").remove();
  }
  return entry;
}
