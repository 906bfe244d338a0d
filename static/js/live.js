// A run in progress: streaming text, closed blocks, tool cards.

import { Flow } from "./flow.js";

export class LiveRun {
  #steps = new Map();
  #flows = new Map();
  #countdown = 0;
  seq = 0;

  constructor(element = clone("live-run")) {
    this.element = element;
    // Step 0 is the last one of the run that this one resumes.
    const last = element.querySelector(".steps > .step:last-child");
    if (last) this.#steps.set(0, last);
  }

  // Takes over the article of the run that `run` resumes; its steps stay, but not a cut answer.
  static resume(article, run) {
    for (const old of article.querySelectorAll(".ending, .step[data-cut]")) old.remove();
    article.querySelector(".foot").replaceWith(clone("live-run").querySelector(".foot"));
    article.setAttribute("aria-busy", "true");
    const live = new LiveRun(article);
    live.bind(run);
    return live;
  }

  get words() {
    return this.#find(".steps").textContent.split(/\s+/).filter(Boolean).length;
  }

  say(text) {
    this.#find(".bubble").textContent = text;
    return this;
  }

  // Shows the chips of the composer until the server renders the files.
  attach(chips) {
    const list = document.createElement("ul");
    list.className = "media";
    list.append(...chips);
    this.#find(".said-files").replaceChildren(list);
    return this;
  }

  // The session continues automatically; no person wrote this message.
  markOwn() {
    this.element.classList.add("own");
    this.#find("h2").textContent = "Pipeweb";
    this.#find(".bubble").before(clone("live-own"));
  }

  // Rendered by the server; a template keeps it inert until it is inserted.
  attachHtml(html) {
    const template = document.createElement("template");
    template.innerHTML = html;
    this.#find(".said-files").replaceChildren(template.content);
  }

  bind(run) {
    this.element.dataset.run = run;
    this.element.id = `run-${run}`;
    this.describe("Waiting for the first words…");
  }

  show(event) {
    this.seq = event.seq;
    const draw = { delta: this.#write, thought: this.#endThinking, block: this.#close, call: this.#ask, result: this.#answer, status: this.#wait };
    draw[event.type]?.call(this, event);
  }

  describe(words) {
    this.release();
    const place = this.#find(".status .words");
    if (place && place.textContent !== words) place.textContent = words;
  }

  // Ends the countdown, if there is one.
  release() {
    clearInterval(this.#countdown);
  }

  #write({ step, kind, text }) {
    this.#flow(step, kind).write(text);
    this.describe(kind === "thought" ? "Thinking…" : "Answering…");
  }

  #close({ step, kind, html, chars }) {
    this.#flow(step, kind).close(html, chars);
  }

  #ask({ step, index, name, args }) {
    const card = clone("live-tool");
    card.dataset.index = index;
    card.querySelector(".name").textContent = name;
    card.querySelector(".brief").textContent = args.replace(/\s+/g, " ");
    card.querySelector(".args").textContent = args;
    this.#step(step).append(card);
    this.describe(`Running ${name}…`);
  }

  #answer({ step, index, failed, response, ms }) {
    const card = this.#step(step).querySelector(`.tool[data-index="${Number(index)}"]`);
    if (!card) return;
    card.classList.toggle("failed", failed);
    card.querySelector(".response").textContent = response;
    card.querySelector(".state").textContent = failed ? "failed" : `done in ${Math.round(ms)} ms`;
    this.describe("Reading the results…");
  }

  #wait({ text, wait }) {
    this.describe(text);
    const end = Date.now() + wait * 1000;
    const tick = () => {
      const left = Math.ceil((end - Date.now()) / 1000);
      this.#find(".status .words").textContent = left > 0 ? `${text} (${left} s)` : text;
      if (left <= 0) this.release();
    };
    if (wait > 0) {
      this.#countdown = setInterval(tick, 1000);
      tick();
    }
  }

  #flow(step, kind) {
    const key = `${step} ${kind}`;
    if (!this.#flows.has(key)) {
      const element = clone(kind === "thought" ? "live-thoughts" : "live-text");
      this.#step(step).append(element);
      this.#flows.set(key, new Flow(element));
    }
    return this.#flows.get(key);
  }

  #endThinking({ step, words }) {
    this.#step(step).querySelector(".thoughts .label")?.replaceChildren(words);
  }

  #step(number) {
    if (!this.#steps.has(number)) {
      const element = document.createElement("div");
      element.className = "step";
      this.#find(".steps").append(element);
      this.#steps.set(number, element);
    }
    return this.#steps.get(number);
  }

  #find(selector) {
    return this.element.querySelector(selector);
  }
}

export function clone(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}
