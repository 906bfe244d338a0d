// The drawer beside the talk: it follows a run, and nothing that is being typed gets lost.

import { reasonOf } from "./refusals.js";

const LATER = 700; // Milliseconds: what a tool asked for is written down after its answer was shown.
const TYPED = "input[type=text], textarea, select";
const SWAP = { swapDelay: 0, settleDelay: 0 };
const FAILURES = ["htmx:responseError", "htmx:sendError", "htmx:timeout"];

export class Panels {
  #root;
  #timer = 0;
  #isStale = false;
  #held = null;
  #wanted = new Map();

  constructor(root) {
    this.#root = root;
    new IntersectionObserver(() => this.#isStale && this.#refresh()).observe(root);
    document.body.addEventListener("session-changed", () => this.#expect(0));
    document.body.addEventListener("tool-answered", () => this.#expect(LATER));
    root.addEventListener("htmx:beforeRequest", ({ detail }) => this.#await(detail));
    root.addEventListener("htmx:afterSwap", () => this.#restore());
    root.addEventListener("change", ({ target }) => this.#want(target));
    root.addEventListener("htmx:afterSettle", () => this.#repeat());
    root.addEventListener("focusout", () => this.#isStale && this.#expect(0));
  }

  // htmx tells the target of an answer, and the asking element of a failure: another answer may have taken both out
  // of the page meanwhile, where the panels would not hear of it.
  #await({ elt, target }) {
    target.addEventListener("htmx:beforeSwap", this.#arrived);
    for (const name of FAILURES) elt.addEventListener(name, this.#failed);
  }

  #arrived = ({ detail, target, currentTarget }) => {
    if (!detail.shouldSwap || target !== currentTarget) return;
    this.#hold(detail);
    this.#place(detail);
  };

  #failed = ({ detail }) => this.#explain(detail);

  #expect(delay) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#refresh(), delay);
  }

  // The lines of all panels, and the inside of those that are open; a closed drawer waits until it opens.
  #refresh() {
    const isShown = this.#root.checkVisibility();
    const isBusy = document.activeElement?.matches(TYPED) && this.#root.contains(document.activeElement);
    this.#isStale = !isShown || isBusy;
    if (!isShown || !this.#root.querySelector(".panels")) return;
    htmx.ajax("GET", this.#root.dataset.heads, { source: this.#root, swap: "none" });
    if (isBusy) return;
    for (const inside of this.#root.querySelectorAll("details[open] > .inside")) htmx.trigger(inside, "panel-stale");
  }

  // htmx looks for all places of an answer beside the element that asked. Where another answer has replaced that
  // element meanwhile they are looked for in the page; the lines of all panels need the panels.
  #place(detail) {
    const { target, serverResponse, swapOverride, requestConfig: { elt } } = detail;
    const isLate = elt === this.#root && !this.#root.querySelector(".panels");
    if (elt.isConnected && !isLate) return;
    detail.shouldSwap = false;
    if (isLate) return;
    const swapStyle = target.isConnected ? (swapOverride ?? styleOf(elt)) : "none";
    htmx.swap(target.isConnected ? target : this.#root, serverResponse, { ...SWAP, swapStyle });
    if (!target.isConnected) this.#expect(0);
  }

  // What was typed elsewhere in a panel, and which of its rows are open, outlive the panel's new content.
  #hold({ target, requestConfig: { elt } }) {
    const sent = elt.closest("form");
    const isTyped = (field) => (!sent || field.form !== sent) && isChanged(field);
    const isDone = (fold) => fold.matches(".edit") && fold.contains(elt);
    this.#held = {
      typed: [...target.querySelectorAll(TYPED)].filter(isTyped).map(({ id, value }) => ({ id, value })),
      open: [...target.querySelectorAll("details[id][open]")].filter((fold) => !isDone(fold)).map(({ id }) => id),
    };
  }

  #restore() {
    const { typed, open } = this.#held ?? { typed: [], open: [] };
    this.#held = null;
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    for (const { id, value } of typed) {
      const field = document.getElementById(id);
      if (field) field.value = value;
    }
  }

  // A box that is clicked while its last click is on the way would be lost with the box that the answer replaces:
  // the change is made again in the new one, if it says otherwise. Not by a click: that closes menus.
  #want(box) {
    if (box.matches("input[type=checkbox].htmx-request")) this.#wanted.set(box.id, box.checked);
  }

  #repeat() {
    for (const [id, isChecked] of this.#wanted) {
      const box = document.getElementById(id);
      if (box?.matches(".htmx-request")) continue;
      this.#wanted.delete(id);
      if (!box || box.checked === isChecked) continue;
      box.checked = isChecked;
      box.dispatchEvent(new Event("change", { bubbles: true }));
    }
  }

  // The page goes back to what the server has; texts stay where they were typed.
  #explain({ elt: element, xhr }) {
    this.#wanted.delete(element.id);
    if (element.type === "checkbox") element.checked = element.defaultChecked;
    for (const option of element.matches("select") ? element.options : []) option.selected = option.defaultSelected;
    const words = element.matches("[hx-post]") ? "That could not be saved." : "This could not be read.";
    const reason = reasonOf(xhr);
    this.#root.querySelector("#panels-said").textContent =
      reason ? `${reason.message} ${reason.hint}` : `${words} Nothing is lost: please try again.`;
  }
}

function styleOf(element) {
  return element.closest("[hx-swap]")?.getAttribute("hx-swap").split(" ")[0] ?? "innerHTML";
}

function isChanged(field) {
  if (!field.id) return false;
  if (field.matches("select")) return [...field.options].some((option) => option.selected !== option.defaultSelected);
  return field.value !== field.defaultValue;
}
