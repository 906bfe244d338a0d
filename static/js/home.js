// The first page: the first message makes the session and goes with the person to its page.

import { Attachments } from "./attachments.js";
import { mountChoosing } from "./choosing.js";
import { Composer } from "./composer.js";
import { keepDraft, markDrafts } from "./drafts.js";
import { handOver } from "./handover.js";

export class Home {
  #form;
  #session = "";
  #making = null;

  constructor(root) {
    this.#form = root.querySelector("form.composer");
    const files = new Attachments(this.#form, root.querySelector(".start"), {
      changed: () => {
        composer.refresh();
        if (files.ids.length && !files.isUploading && !files.isRefused) this.#follow(composer);
      },
      elsewhere: (chosen) => this.#begin(files, chosen),
    });
    const composer = new Composer(this.#form, "home", {
      files,
      send: (text) => {
        composer.confirm();
        this.#leave(text);
      },
      stop: () => {},
    });
    composer.focusGently();
    mountChoosing(root);
    markDrafts(root);
    root.addEventListener("htmx:afterSettle", () => markDrafts(root));
    root.addEventListener("click", (event) => {
      const sample = event.target.closest("[data-sample]");
      if (sample) this.#leave(sample.dataset.text, sample.dataset.sample);
    });
  }

  // Files belong to a session: the first ones make it.
  async #begin(files, chosen) {
    this.#making ??= this.#make();
    try {
      this.#session = await this.#making;
    } catch {
      this.#making = null; // The next choice tries again.
      return files.refuse(chosen, "No session could be made for it. Attach it again.");
    }
    files.url = `${this.#session}attachments/`;
    files.add(chosen);
  }

  async #make() {
    const response = await fetch(this.#form.action, { method: "POST", body: new FormData(this.#form) });
    if (!response.ok || !response.redirected) throw new Error(`${response.status}`);
    return new URL(response.url).pathname;
  }

  // What was typed goes along as the draft of the new session.
  #follow(composer) {
    keepDraft(this.#session.split("/")[2], composer.text);
    composer.clear();
    location.assign(this.#session);
  }

  #leave(text, sample = "") {
    handOver(text);
    this.#form.elements.sample.value = sample;
    this.#form.submit();
  }
}
