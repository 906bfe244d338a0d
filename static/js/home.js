// The start page: the first message creates the session and is sent on its page.

import { Attachments } from "./attachments.js";
import { Composer } from "./composer.js";
import { keepDraft } from "./drafts.js";
import { Refusal } from "./fragments.js";
import { handOver } from "./handover.js";

const GONE = {
  message: "The assistant or the folder that was chosen here has been deleted meanwhile.",
  hint: "Begin with “New chat”: what you have written is there as well.",
};

export class Home {
  #form;
  #unsent;
  #unsentWords;
  #session = "";
  #making = null;
  #isLeaving = false;
  #leaving = ""; // A typed text that no session has yet.

  constructor(root) {
    this.#form = root.querySelector("form.composer");
    this.#unsent = root.querySelector(".unsent");
    this.#unsentWords = this.#unsent.textContent;
    const files = new Attachments(this.#form, root.querySelector(".start"), {
      changed: () => {
        composer.refresh();
        if (files.hasAny && !files.isUploading && !files.isRefused) this.#follow(composer);
      },
      insert: (text) => composer.give(text),
      elsewhere: (chosen) => this.#begin(files, chosen),
    });
    const composer = new Composer(this.#form, `home:${root.dataset.person}`, {
      files,
      send: (text) => this.#leave(composer, text),
      stop: () => {},
      unsent: () => [this.#leaving],
    });
    composer.focusGently();
    root.addEventListener("click", (event) => {
      const starter = event.target.closest("[data-starter]");
      if (starter) this.#leave(composer, starter.dataset.starter);
      const sample = event.target.closest("[data-sample]");
      if (sample) this.#leave(composer, sample.dataset.text, sample.dataset.sample);
      const adds = event.target.closest("[data-adds]");
      if (adds) this.#goAdd(composer, adds.dataset.adds);
    });
  }

  // Files belong to a session, so the first file creates it.
  async #begin(files, chosen) {
    this.#making ??= this.#make();
    try {
      this.#session = await this.#making;
    } catch (error) {
      this.#making = null; // The next choice tries again.
      return files.refuse(chosen, error instanceof Refusal ? error.text : "No chat could be made for it. Attach it again.");
    }
    files.url = `${this.#session}attachments/`;
    files.add(chosen);
  }

  // A web page, a file of the workspace and tools belong to a session too: its page asks which.
  async #goAdd(composer, what) {
    this.#making ??= this.#make();
    try {
      this.#session = await this.#making;
    } catch (error) {
      this.#making = null;
      return this.#explain(error);
    }
    this.#follow(composer, `?add=${what}`);
  }

  #explain(error) {
    this.#unsent.textContent = error instanceof Refusal ? error.text : this.#unsentWords;
    this.#unsent.hidden = false;
  }

  async #make() {
    const response = await fetch(this.#form.action, { method: "POST", body: new FormData(this.#form) });
    if (response.status === 429) throw new Refusal(await response.json());
    if (response.status === 404) throw new Refusal(GONE);
    const { pathname } = new URL(response.url);
    // Without a sign-in the response is the sign-in page.
    if (!response.ok || !pathname.startsWith("/s/")) throw new Error(`${response.status}`);
    return pathname;
  }

  // The typed text becomes the draft of the new session.
  #follow(composer, query = "") {
    keepDraft(idOf(this.#session), composer.text);
    composer.clear();
    location.assign(this.#session + query);
  }

  // The message is handed over only if the session exists.
  async #leave(composer, text, sample = "") {
    if (this.#isLeaving) {
      if (!sample) composer.give(text);
      return;
    }
    this.#isLeaving = true;
    this.#leaving = sample ? "" : text;
    this.#unsent.hidden = true;
    this.#form.elements.sample.value = sample;
    try {
      const session = await this.#make();
      handOver(idOf(session), text);
      this.#leaving = "";
      composer.save();
      location.assign(session);
    } catch (error) {
      this.#explain(error);
      this.#leaving = "";
      if (!sample) composer.give(text);
    }
    this.#isLeaving = false;
  }
}

const idOf = (session) => session.split("/")[2];
