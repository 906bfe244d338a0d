// The list of runs on the page: bubbles at once, live articles, final fragments in their place.

import { fetchPage, fetchRun } from "./fragments.js";
import { LiveRun } from "./live.js";

export class Transcript {
  #root;
  #runUrl;
  #lives = new Map();
  #pending = new Map();

  // `runUrl` maps the id of a run to the address of its fragment.
  constructor(root, runUrl) {
    this.#root = root;
    this.#runUrl = runUrl;
  }

  // Shows a message before the server knows it.
  propose(client, text, chips = []) {
    const live = new LiveRun().say(text).attach(chips);
    this.#pending.set(client, live);
    this.#append(live.element);
  }

  // Takes a proposed message back.
  withdraw(client) {
    this.#pending.get(client)?.element.remove();
    this.#pending.delete(client);
  }

  start({ run, client_id: client, text, files, continuation, retry_of: earlier, replaces }) {
    if (this.#lives.has(run)) return;
    // The server's words: a command of the library stands there in full.
    const live = (this.#pending.get(client) ?? new LiveRun()).say(text);
    this.#pending.delete(client);
    this.#article(run)?.remove();
    if (earlier) this.#cutFrom(this.#article(earlier));
    if (replaces) this.#cutFrom(this.#root.querySelector(`.run[data-turn="${CSS.escape(replaces)}"]`));
    if (!live.element.isConnected) this.#append(live.element);
    if (files) live.attachHtml(files);
    if (continuation) live.markOwn();
    live.bind(run);
    this.#lives.set(run, live);
  }

  // The article of a run that is being written; undefined when the page has none.
  live(run) {
    const article = this.#lives.has(run) ? null : this.#article(run);
    if (article?.hasAttribute("aria-busy")) this.#lives.set(run, new LiveRun(article));
    return this.#lives.get(run);
  }

  // False when events are missing in between: the caller joins again.
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

  get isWriting() {
    return this.#root.querySelector(".run[data-run][aria-busy]") !== null;
  }

  // The final rendering takes the place of the live one. Answers the title the session has now.
  async finish(run) {
    const article = await fetchRun(this.#runUrl(run));
    this.#replace(run, article);
    return article.dataset.title;
  }

  // After a break: takes over what the server has and the page has not. Answers the client ids it met.
  async catchUp() {
    const page = await fetchPage(location.pathname);
    const articles = [...page.querySelectorAll(".run[data-run]")];
    for (const article of articles) this.#take(article);
    return articles.map((article) => article.dataset.client);
  }

  // How often another branch had come into view when this one was fetched.
  get moves() {
    return Number(this.#root.dataset.moves);
  }

  // Another branch: its articles take the place of these. One that is being written here goes on.
  reload(page) {
    const fresh = page.querySelector(".transcript");
    for (const article of fresh.querySelectorAll(".run[aria-busy]")) {
      const live = this.#lives.get(article.dataset.run);
      if (live) article.replaceWith(live.element);
    }
    this.#root.dataset.moves = fresh.dataset.moves;
    this.#root.replaceChildren(...fresh.childNodes);
    htmx.process(this.#root);
  }

  async refetch() {
    this.reload(await fetchPage(location.pathname));
  }

  #take(article) {
    const present = this.#article(article.dataset.run);
    this.withdraw(article.dataset.client);
    if (!present) this.#append(article);
    else if (present.hasAttribute("aria-busy") && !article.hasAttribute("aria-busy")) {
      this.#replace(article.dataset.run, article);
    }
  }

  // What the reader has opened stays open.
  #replace(run, article) {
    const old = this.#article(run);
    const open = [...(old?.querySelectorAll("details") ?? [])].map((fold) => fold.open);
    for (const [index, fold] of article.querySelectorAll("details").entries()) fold.open = open[index] ?? false;
    this.#lives.get(run)?.release();
    this.#lives.delete(run);
    old?.replaceWith(article);
    htmx.process(article);
  }

  #cutFrom(article) {
    while (article?.nextElementSibling) article.nextElementSibling.remove();
    article?.remove();
  }

  #article(run) {
    return this.#root.querySelector(`.run[data-run="${CSS.escape(run)}"]`);
  }

  #append(element) {
    this.#root.querySelector(".empty")?.setAttribute("hidden", "");
    this.#root.append(element);
  }
}
