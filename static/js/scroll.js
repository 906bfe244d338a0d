// Scrolls with the end of the conversation until the reader scrolls away.

import { whenReleased } from "./press.js";

const NEAR = 64;
const UPWARD = new Set(["ArrowUp", "PageUp", "Home"]);
const UNFOLDS = "details:not(.menu) > summary, [aria-expanded], [data-wrap], [data-edit]";

export class Follower {
  #box;
  #pill;
  #pinned = true; // Also told by `data-following`: what the page does then is no reading.
  #top = 0;
  #isNew = false; // Whether text came since the end was last in view.

  constructor(box, content, pill) {
    this.#box = box;
    this.#pill = pill;
    box.addEventListener("wheel", (event) => event.deltaY < 0 && this.#letGo(), { passive: true });
    box.addEventListener("touchmove", () => this.#letGo(), { passive: true });
    box.addEventListener("keydown", (event) => UPWARD.has(event.key) && this.#letGo());
    box.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    box.addEventListener("click", ({ target }) => target.closest(UNFOLDS) && this.#unfolding());
    box.addEventListener("htmx:beforeSwap", ({ target }) => target.matches(".earlier") && this.#keepPlace());
    document.addEventListener("selectionchange", () => this.#selecting() && this.#letGo());
    pill.addEventListener("click", () => this.follow());
    const watcher = new ResizeObserver(() => whenReleased(() => this.#grown()));
    watcher.observe(content);
    watcher.observe(box);
    this.follow();
  }

  follow() {
    this.#arrive();
    this.#box.scrollTop = this.#box.scrollHeight;
  }

  // Stops following the end.
  release() {
    this.#pin(false);
  }

  // Text came, which the pill names where the end is not in view.
  expectNew() {
    this.#isNew = !this.#pinned;
  }

  // Scrolls without changing whether the end is followed.
  shift(distance) {
    this.#box.scrollTop += distance;
    this.#top = this.#box.scrollTop;
  }

  // Earlier messages come above what is being read.
  #keepPlace() {
    const below = this.#box.scrollHeight - this.#box.scrollTop;
    const keep = () => this.shift(this.#box.scrollHeight - below - this.#box.scrollTop);
    this.#box.addEventListener("htmx:afterSwap", keep, { once: true });
  }

  #grown() {
    if (this.#pinned) this.follow();
    else this.#pill.hidden = !this.#isNew || this.#distance <= NEAR;
  }

  // What the reader unfolds keeps its place, unless the end is in view with it.
  #unfolding() {
    this.#pin(false);
    setTimeout(() => this.#distance <= 1 && this.#arrive());
  }

  #scrolled() {
    const wentUp = this.#box.scrollTop < this.#top;
    this.#top = this.#box.scrollTop;
    // Also scroll bar and find in page, which fire no other event.
    if (wentUp && this.#distance > NEAR) this.#letGo();
    if (!wentUp && this.#distance <= NEAR) this.#arrive();
  }

  #arrive() {
    this.#pin(true);
    this.#isNew = false;
    this.#pill.hidden = true;
  }

  #letGo() {
    if (this.#box.scrollHeight > this.#box.clientHeight) this.#pin(false);
  }

  #pin(isPinned) {
    this.#pinned = isPinned;
    this.#box.toggleAttribute("data-following", isPinned);
  }

  #selecting() {
    const selection = getSelection();
    return !selection.isCollapsed && this.#box.contains(selection.anchorNode);
  }

  get #distance() {
    return this.#box.scrollHeight - this.#box.scrollTop - this.#box.clientHeight;
  }
}
