// The list of runs: optimistic bubbles, live articles, then final fragments.

import { Refusal, fetchPage, fetchRun } from "./fragments.js";
import { LiveRun } from "./live.js";
import { released } from "./press.js";

export class Transcript {
  #root;
  #runUrl;
  #refocus;
  #lives = new Map();
  #pending = new Map();
  #fetch = new AbortController();

  // `runUrl` maps the id of a run to the address of its fragment; `refocus` gives the focus to something that
  // stays, where what had it is gone.
  constructor(root, runUrl, refocus) {
    this.#root = root;
    this.#runUrl = runUrl;
    this.#refocus = refocus;
  }

  // Shows a message before the server confirms it.
  propose(client, text, { chips = [], goesOn = false } = {}) {
    const live = new LiveRun().say(text).attach(chips);
    if (goesOn) live.goOn();
    this.#pending.set(client, live);
    this.#append(live.element);
  }

  // Removes an unconfirmed message.
  withdraw(client) {
    this.#pending.get(client)?.element.remove();
    this.#pending.delete(client);
  }

  start(event) {
    if (!this.#lives.has(event.run)) this.#keepFocus(() => this.#begin(event));
  }

  #begin({ run, client_id: client, text, files, goes_on: goesOn, retry_of: earlier, replaces, resumes }) {
    const resumed = resumes && (this.#article(run) ?? this.#article(resumes));
    if (resumed) {
      this.#cutAfter(resumed);
      this.#lives.set(run, LiveRun.resume(resumed, run));
      return;
    }
    // The text of the server, with commands of the library expanded.
    const live = (this.#pending.get(client) ?? new LiveRun()).say(text);
    this.#pending.delete(client);
    this.#article(run)?.remove();
    if (earlier) this.#cutFrom(this.#article(earlier));
    if (replaces) this.#cutFrom(this.#root.querySelector(`.run[data-turn="${CSS.escape(replaces)}"]`));
    if (!live.element.isConnected) this.#append(live.element);
    if (files) live.attachHtml(files);
    if (goesOn) live.goOn();
    live.bind(run);
    this.#lives.set(run, live);
  }

  // The article of a run in progress, or undefined.
  live(run) {
    const article = this.#lives.has(run) ? null : this.#article(run);
    if (article?.hasAttribute("aria-busy")) this.#lives.set(run, new LiveRun(article));
    return this.#lives.get(run);
  }

  // Returns false if events are missing; the caller joins again.
  show(event) {
    const live = this.live(event.run);
    if (!live || event.seq <= live.seq) return true;
    if (event.seq > live.seq + 1) return false;
    live.show(event);
    return true;
  }

  knows(run) {
    return this.#article(run) !== null;
  }

  // The id of the message that the run answers.
  clientOf(run) {
    return this.#article(run)?.dataset.client;
  }

  get isWriting() {
    return this.#root.querySelector(".run[data-run][aria-busy]") !== null;
  }

  // Replaces the live article by the final one. Returns the current title of the session.
  async finish(run) {
    const article = await fetchRun(this.#runUrl(run));
    await released();
    this.#replace(run, article);
    return article.dataset.title;
  }

  // Adds missing runs of the server. Returns the client ids found, and the title of the session.
  async catchUp() {
    const page = await this.#fetchPage();
    const articles = [...page.querySelectorAll(".run[data-run]")];
    for (const article of articles) this.#take(article);
    return { clients: articles.map((article) => article.dataset.client), title: articles.at(-1)?.dataset.title };
  }

  // The version of the head when this branch was fetched.
  get headVersion() {
    return Number(this.#root.dataset.headVersion);
  }

  // Replaces the articles by those of another branch; a run in progress and unconfirmed messages are kept.
  reload(page) {
    this.#keepFocus(() => this.#reload(page));
  }

  #reload(page) {
    const fresh = page.querySelector(".transcript");
    for (const article of fresh.querySelectorAll(".run[aria-busy]")) {
      const live = this.#lives.get(article.dataset.run);
      if (live) article.replaceWith(live.element);
    }
    this.#root.dataset.headVersion = fresh.dataset.headVersion;
    for (const article of fresh.querySelectorAll(".run[data-client]")) this.withdraw(article.dataset.client);
    this.#root.replaceChildren(...fresh.childNodes, ...[...this.#pending.values()].map((live) => live.element));
    htmx.process(this.#root);
  }

  async refetch() {
    this.reload(await this.#fetchPage());
  }

  // One at a time: of two pages the one asked for later is newer.
  async #fetchPage() {
    this.#fetch.abort();
    const { signal } = (this.#fetch = new AbortController());
    const page = await fetchPage(location.pathname, { signal });
    await released();
    if (signal.aborted) throw new Refusal({ message: "The page was asked for again.", hint: "" });
    return page;
  }

  #take(article) {
    const present = this.#article(article.dataset.run);
    this.withdraw(article.dataset.client);
    const stale = present ? null : this.#answerOf(article.dataset.turn);
    if (stale) this.#keepFocus(() => stale.replaceWith(article));
    else if (!present) this.#append(article);
    else if (present.hasAttribute("aria-busy") && !article.hasAttribute("aria-busy")) {
      this.#replace(article.dataset.run, article);
    }
  }

  // Opened details stay open, wrapped code stays wrapped, and a fold keeps the focus.
  #replace(run, article) {
    const old = this.#article(run);
    const open = [...(old?.querySelectorAll("details") ?? [])].map((fold) => fold.open);
    for (const [index, fold] of article.querySelectorAll("details").entries()) fold.open = open[index] ?? false;
    const wrapped = [...(old?.querySelectorAll(".code") ?? [])].map((code) => code.matches(".wrapped"));
    for (const [index, code] of article.querySelectorAll(".code").entries()) {
      code.classList.toggle("wrapped", wrapped[index] ?? false);
      code.querySelector("[data-wrap]").setAttribute("aria-pressed", wrapped[index] ?? false);
    }
    this.#lives.get(run)?.release();
    this.#lives.delete(run);
    const place = [...(old?.querySelectorAll("summary") ?? [])].indexOf(document.activeElement);
    this.#keepFocus(() => {
      old?.replaceWith(article);
      article.querySelectorAll("summary")[place]?.focus({ preventScroll: true });
    });
    htmx.process(article);
  }

  #keepFocus(change) {
    const isHere = () => this.#root.contains(document.activeElement);
    const wasHere = isHere();
    change();
    if (wasHere && !isHere()) this.#refocus();
  }

  #cutFrom(article) {
    this.#cutAfter(article);
    article?.remove();
  }

  #cutAfter(article) {
    while (article?.nextElementSibling) article.nextElementSibling.remove();
  }

  #article(run) {
    return this.#root.querySelector(`.run[data-run="${CSS.escape(run)}"]`);
  }

  // The article of an earlier run for the same message.
  #answerOf(turn) {
    return turn ? this.#root.querySelector(`.run[data-turn="${CSS.escape(turn)}"]`) : null;
  }

  #append(element) {
    this.#root.querySelector(".empty")?.setAttribute("hidden", "");
    this.#root.append(element);
  }
}
