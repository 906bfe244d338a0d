// The command palette: search results of the server, actions of the page.

import { fetchText } from "./fragments.js";

const AFTER = 120; // Milliseconds without a key before the server is asked.

class Palette {
  #dialog;
  #box;
  #list;
  #problem;
  #asking = 0;
  #newest = 0;

  constructor(dialog) {
    this.#dialog = dialog;
    this.#box = dialog.querySelector("input");
    this.#list = dialog.querySelector("[role=listbox]");
    this.#problem = dialog.querySelector(".problem");
    this.#box.addEventListener("input", () => this.#typed());
    this.#box.addEventListener("keydown", (event) => this.#press(event));
    this.#list.addEventListener("pointermove", ({ target }) => this.#choose(target.closest("[role=option]")));
    this.#list.addEventListener("click", (event) => this.#clicked(event));
  }

  open() {
    if (this.#dialog.open) return;
    this.#box.value = "";
    this.#dialog.showModal();
    this.#typed();
  }

  #typed() {
    const words = this.#box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const option of this.#list.querySelectorAll("[data-words]")) {
      const { words: about, clicks } = option.dataset;
      const isHere = !clicks || document.querySelector(clicks) !== null;
      option.hidden = !isHere || !words.every((word) => about.includes(word));
    }
    this.#settle();
    clearTimeout(this.#asking);
    this.#asking = setTimeout(() => this.#ask(), words.length ? AFTER : 0);
  }

  async #ask() {
    const turn = (this.#newest += 1);
    const url = `${this.#box.dataset.search}?q=${encodeURIComponent(this.#box.value.trim())}`;
    const html = await fetchText(url).catch((refusal) => this.#fail(turn, refusal));
    // Ignore outdated responses.
    if (html === undefined || turn !== this.#newest) return;
    this.#problem.hidden = true;
    const template = document.createElement("template");
    template.innerHTML = html;
    const chosen = this.#list.querySelector("[aria-selected=true]")?.id;
    for (const old of this.#list.querySelectorAll("[data-found]")) old.remove();
    this.#list.append(template.content);
    this.#settle(chosen);
  }

  // What was found for other words is no answer.
  #fail(turn, { text }) {
    if (turn !== this.#newest) return;
    for (const old of this.#list.querySelectorAll("[data-found]")) old.remove();
    this.#settle();
    this.#dialog.querySelector(".nothing").hidden = true;
    this.#problem.textContent = text;
    this.#problem.hidden = false;
  }

  // `chosen` is the id of the selected option before the list was replaced.
  #settle(chosen) {
    const options = this.#options;
    this.#dialog.querySelector(".nothing").hidden = options.length > 0;
    this.#dialog.querySelector("[role=status]").textContent = `${options.length} found`;
    this.#choose(options.find((option) => option.id === chosen || option.ariaSelected === "true") ?? options[0] ?? null);
  }

  #press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      const options = this.#options;
      const place = options.findIndex((option) => option.ariaSelected === "true");
      this.#choose(options.at((place + step) % options.length), true);
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      this.#list.querySelector("[aria-selected=true]")?.click();
    }
  }

  #choose(option, scrolls = false) {
    for (const other of this.#list.querySelectorAll("[role=option]")) other.ariaSelected = String(other === option);
    if (option) this.#box.setAttribute("aria-activedescendant", option.id);
    else this.#box.removeAttribute("aria-activedescendant");
    if (scrolls) option?.scrollIntoView({ block: "nearest" });
  }

  #clicked(event) {
    const option = event.target.closest("[role=option]");
    if (!option) return;
    const { href, clicks } = option.dataset;
    this.#dialog.close();
    if (href && (event.ctrlKey || event.metaKey)) open(href, "_blank", "noopener");
    else if (href) location.assign(href);
    else if (clicks) document.querySelector(clicks)?.click();
  }

  get #options() {
    return [...this.#list.querySelectorAll("[role=option]:not([hidden])")];
  }
}

export function mountPalette() {
  const dialog = document.getElementById("palette");
  return dialog ? new Palette(dialog) : null;
}
