// A run in progress: streaming text, closed blocks, tool cards.

import { Flow } from "./flow.js";

export class LiveRun {
  #steps = new Map();
  #deeds = new Map(); // What is done in each step.
  #flows = new Map();
  #thinking = "";
  #countdown = 0;
  seq = 0;

  constructor(element = clone("live-run")) {
    this.element = element;
    // Step 0 is the last one of the run that this one resumes.
    const last = element.querySelector(".activity .doing:last-child");
    if (last) this.#deeds.set(0, last);
  }

  // Takes over the article of the run that `run` resumes; its steps stay, but not a cut answer.
  static resume(article, run) {
    for (const old of article.querySelectorAll(".ending, [data-cut]")) old.remove();
    article.querySelector(".foot").replaceWith(clone("live-run").querySelector(".foot"));
    article.setAttribute("aria-busy", "true");
    const live = new LiveRun(article);
    live.bind(run);
    return live;
  }

  get words() {
    return this.#find(".steps").textContent.split(/\s+/).filter(Boolean).length;
  }

  // What the person is asked and has not answered.
  get questions() {
    const open = this.element.querySelectorAll(".ask:not(.decided)");
    return [...open].map((card) => card.getAttribute("aria-label"));
  }

  say(text) {
    this.#find(".bubble").textContent = text;
    this.#find(".bubble").classList.toggle("folded", isLong(text));
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

  // This is the rest of the answer above; its message is not shown.
  goOn() {
    this.element.classList.add("goes-on");
    this.#find("h2").textContent = "The answer goes on";
    this.#find(".bubble").replaceChildren();
  }

  // Rendered by the server; a template keeps it inert until it is inserted.
  attachHtml(html) {
    const template = document.createElement("template");
    template.innerHTML = html;
    const opened = this.element.querySelectorAll(".said-files [data-opened]");
    if (opened.length) template.content.firstElementChild.append(...opened);
    this.#find(".said-files").replaceChildren(template.content);
  }

  bind(run) {
    this.element.dataset.run = run;
    this.element.id = `run-${run}`;
    this.describe("Waiting for the first words…");
  }

  show(event) {
    this.seq = event.seq;
    const draw = { delta: this.#write, thought: this.#endThinking, block: this.#close, open: this.#preview, call: this.#ask, result: this.#answer, status: this.#wait, ask: this.#request, decided: this.#decide };
    draw[event.type]?.call(this, event);
  }

  describe(words) {
    this.release();
    const place = this.#find(".status .words");
    if (place && place.textContent !== words) place.textContent = words;
  }

  // The run has ended, and its final form could not be fetched.
  end() {
    this.release();
    this.#find(".status")?.remove();
  }

  // Ends the countdown, if there is one.
  release() {
    clearInterval(this.#countdown);
  }

  #write({ step, kind, text }) {
    this.#flow(step, kind).write(text);
    if (kind === "thought") this.#tell("Thinking…");
    else this.describe("Answering…");
  }

  #close({ step, kind, html, chars }) {
    this.#flow(step, kind).close(html, chars);
  }

  #preview({ step, kind, html, chars, is_settled: isSettled }) {
    this.#flow(step, kind).preview(html, chars, isSettled);
  }

  #ask({ step, index, name, args, title, brief }) {
    const card = clone("live-tool");
    card.dataset.index = index;
    card.querySelector(".name").textContent = title || name;
    card.querySelector(".function").textContent = name;
    card.querySelector(".brief").textContent = brief;
    card.querySelector(".args").textContent = args;
    this.#deed(step).append(card);
    this.#tell(`${title || name}…`);
  }

  #answer({ step, index, failed, response, ms }) {
    const card = this.#deed(step).querySelector(`.tool[data-index="${Number(index)}"]`);
    if (!card) return;
    card.classList.toggle("failed", failed);
    card.querySelector(".response").textContent = response;
    card.querySelector(".state").textContent = failed ? "failed" : `done in ${Math.round(ms)} ms`;
    this.#tell(this.#summary());
  }

  // A person is asked before a call; the buttons are read by the page (asks.js).
  #request({ run, step, index, title, server, args, expires_at: end }) {
    const card = clone("live-ask");
    card.dataset.run = run;
    card.dataset.step = step;
    card.dataset.index = index;
    card.querySelector(".title").textContent = title;
    card.querySelector(".server").textContent = server;
    card.setAttribute("aria-label", card.querySelector("h4").textContent);
    card.querySelector(".args").textContent = args;
    const time = new Date(end).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    card.querySelector(".ends").textContent = `Refused at ${time} if nobody answers.`;
    this.#find(".steps").append(card);
  }

  #decide({ step, index, words }) {
    const card = this.element.querySelector(`.ask[data-step="${Number(step)}"][data-index="${Number(index)}"]`);
    if (!card) return;
    card.querySelector(".actions").remove();
    card.querySelector(".verdict").textContent = words;
    card.classList.add("decided");
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
      const isThought = kind === "thought";
      const element = clone(isThought ? "live-thoughts" : "live-text");
      (isThought ? this.#deed(step) : this.#step(step)).append(element);
      this.#flows.set(key, new Flow(element));
    }
    return this.#flows.get(key);
  }

  #endThinking({ step, words }) {
    this.#deed(step).querySelector(".thoughts .label")?.replaceChildren(words);
    this.#thinking = words;
    this.#tell(this.#summary());
  }

  // What the model does, or has done so far, on the line above the answer.
  #tell(words) {
    this.describe("Working…");
    this.#find(".activity .words").textContent = words;
  }

  #summary() {
    const cards = [...this.element.querySelectorAll(".activity .tool")];
    const failed = cards.filter((card) => card.classList.contains("failed")).length;
    const tools = cards.length && `used ${cards.length} tool${cards.length > 1 ? "s" : ""}`;
    const line = [this.#thinking, tools, failed && `${failed} failed`].filter(Boolean).join(" · ");
    return line.charAt(0).toUpperCase() + line.slice(1);
  }

  #deed(number) {
    if (!this.#deeds.has(number)) {
      if (!this.#find(".activity")) this.#find(".steps").before(clone("live-activity"));
      const element = document.createElement("div");
      element.className = "doing";
      this.#find(".activity .done").append(element);
      this.#deeds.set(number, element);
    }
    return this.#deeds.get(number);
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

// As `RunView.is_long` has it; the server brings the button that unfolds it.
function isLong(text) {
  const lines = text.split("\n").map((line) => Math.max(1, Math.ceil(line.length / 72)));
  return lines.reduce((sum, count) => sum + count, 0) > 12;
}

export function clone(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}
