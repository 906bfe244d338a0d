// Branches of the conversation: switching between siblings, correcting an answer.

import { fetchText, post } from "./fragments.js";
import { rewordInPlace } from "./rewording.js";

export class Branches {
  #root;
  #parts;
  #url;
  #hold;

  // `url` is the address of the session; `parts` has transcript, follower, announcer, frame and composer;
  // `hold(showing)` keeps the events of the server back until another branch is shown.
  constructor(root, url, parts, hold) {
    this.#root = root;
    this.#url = url;
    this.#parts = parts;
    this.#hold = hold;
    root.addEventListener("click", ({ target }) => {
      const arrow = target.closest("[data-switch]");
      if (arrow?.dataset.switch) this.#hold(this.#switch(arrow));
      const correction = target.closest("[data-correct]");
      if (correction) this.#correct(correction);
    });
  }

  async #switch(arrow) {
    const { switch: turn, way } = arrow.dataset;
    const page = await this.#ask(`${this.#url}turns/${turn}/switch/`);
    if (!page) return;
    this.#show(page, arrow.closest(".choice-of"), () => document.getElementById(`t-${turn}`));
    const place = document.getElementById(`t-${turn}`)?.closest(".run");
    const choice = choiceOf(place, turn);
    const next = choice?.querySelector(`[data-way="${way}"]:enabled`) ?? choice?.querySelector("button:enabled");
    next?.focus({ preventScroll: true });
    this.#parts.announcer.say(`Branch ${choice?.textContent.trim().replace("/", " of ") ?? ""}.`);
  }

  async #correct(item) {
    const url = item.dataset.correct;
    const text = await this.#attempt(() => fetchText(url));
    if (text === null) return;
    this.#parts.follower.release();
    item.closest("details").open = false;
    const step = item.closest(".run").querySelector(".steps > .step:last-child");
    rewordInPlace(step.querySelector(".text") ?? step, {
      text,
      verb: "Save as a branch",
      note: "The model's own answer stays on its branch.",
      save: (text) => this.#hold(this.#save(url, text, item)),
      rescue: (text) => this.#parts.composer.give(text),
    });
  }

  // Returns whether it was saved.
  async #save(url, text, item) {
    const page = await this.#ask(url, { text });
    if (page) this.#show(page, item, () => null);
    return page !== null;
  }

  // Replaces the transcript; the clicked element keeps its position on the screen.
  #show(page, clicked, find) {
    const { follower, frame, transcript } = this.#parts;
    const article = clicked.closest(".run");
    const before = article.getBoundingClientRect().top;
    const index = [...article.parentElement.children].indexOf(article);
    follower.release();
    transcript.reload(page);
    frame.announceChange();
    const after = find()?.closest(".run") ?? this.#root.querySelector(".transcript").children[index];
    if (after) follower.shift(after.getBoundingClientRect().top - before);
  }

  // What `asking` resolves to, or null: then the reason stands in the chat.
  async #attempt(asking) {
    this.#parts.frame.forgetRefusals();
    try {
      return await asking();
    } catch (refusal) {
      this.#parts.frame.explain(refusal);
      return null;
    }
  }

  async #ask(url, fields) {
    const { composer, frame } = this.#parts;
    frame.forgetRefusals();
    if (composer.state !== "idle") {
      frame.explain({ message: "This chat is answering.", hint: "Wait for the answer or stop it first." });
      return null;
    }
    return this.#attempt(() => post(url, fields));
  }
}

// The arrows that belong to a turn: below the message, or at the end of the step.
function choiceOf(article, turn) {
  const place = article?.querySelector(`#t-${CSS.escape(turn)}`);
  return place?.querySelector(".choice-of") ?? article?.querySelector(".said-tools .choice-of");
}
