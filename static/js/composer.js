// The message input: keys, auto-size, drafts, and one button for Send and Stop.

import { keepDraft, readDraft } from "./drafts.js";
import { tellExcess } from "./excess.js";

const SAVE_AFTER = 250;
const TALLEST = 0.4; // Of the window's height.

export class Composer {
  #form;
  #box;
  #button;
  #later;
  #excess;
  #isTooLong = false;
  #key;
  #actions;
  #saving = 0;

  // `actions` has send(text), stop() and unsent(), the texts that were sent and are not acknowledged, and
  // `files` of the message; `key` names the draft in this browser.
  constructor(form, key, actions) {
    this.#form = form;
    this.#box = form.querySelector("textarea");
    this.#button = form.querySelector(".send");
    this.#later = form.querySelector(".later");
    this.#excess = form.parentElement.querySelector(".too-long");
    this.#key = key;
    this.#actions = actions;
    this.#box.value ||= readDraft(this.#key);
    form.addEventListener("submit", (event) => this.#submit(event));
    this.#box.addEventListener("keydown", (event) => this.#press(event));
    this.#box.addEventListener("input", () => this.#changed());
    this.#later?.addEventListener("click", () => this.send());
    addEventListener("pagehide", () => this.save());
    this.#grow();
    this.setState("idle");
  }

  // "idle", "busy" or "stopping".
  setState(state) {
    this.#form.dataset.state = state;
    const isComing = this.#actions.files?.isUploading ?? false;
    const idle = isComing ? "Files are being uploaded…" : "Send (Enter)";
    const words = { idle, busy: "Stop (Esc)", stopping: "Stopping…" }[state];
    this.#button.title = words;
    this.#button.setAttribute("aria-label", words);
    const canSend = !isComing && this.#canSend;
    const hadFocus = document.activeElement === this.#button;
    this.#button.disabled = state === "stopping" || (state === "idle" && !canSend);
    if (hadFocus && this.#button.disabled) this.focusGently();
    if (this.#later) this.#later.hidden = state === "idle" || !canSend;
  }

  // Clears the draft, which was taken over by another page.
  clear() {
    this.#box.value = "";
    this.save();
  }

  // Updates the button when text or files change.
  refresh() {
    this.setState(this.state);
  }

  get state() {
    return this.#form.dataset.state;
  }

  get text() {
    return this.#box.value;
  }

  get #canSend() {
    return !this.#isTooLong && Boolean(this.text.trim() || this.#actions.files?.ids.length);
  }

  // Inserts text before what was typed in the meantime.
  give(text) {
    this.#box.value = join([text, this.text]);
    this.#changed();
    this.#box.focus();
  }

  // Not on touch screens, where the keyboard would cover half of the page.
  focusGently() {
    if (!isTouch()) this.#box.focus();
  }

  // The draft is what was sent without an acknowledgement, and what is typed.
  save() {
    keepDraft(this.#key, join([...this.#actions.unsent(), this.text]));
  }

  #submit(event) {
    event.preventDefault();
    if (this.state === "busy") this.#actions.stop();
    else this.send();
  }

  send() {
    const text = this.text.trim();
    const { files } = this.#actions;
    if (files?.isUploading || !this.#canSend) return;
    clearTimeout(this.#saving);
    this.#box.value = "";
    this.#grow();
    this.#actions.send(text);
    this.save();
    this.setState(this.state);
  }

  #press(event) {
    if (event.key === "ArrowUp" && !this.text && !event.isComposing) {
      event.preventDefault();
      this.#actions.recall?.();
      return;
    }
    // During IME composition, Enter belongs to the input method (229: Safari).
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    const always = event.ctrlKey || event.metaKey;
    if (!always && (event.shiftKey || event.altKey || isTouch())) return;
    event.preventDefault();
    this.send();
  }

  #changed() {
    this.#grow();
    this.setState(this.state);
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => this.save(), SAVE_AFTER);
  }

  #grow() {
    this.#box.style.height = "auto";
    this.#box.style.height = `${Math.min(this.#box.scrollHeight + 2, innerHeight * TALLEST)}px`;
    this.#isTooLong = tellExcess(this.#box, this.#excess);
  }
}

const isTouch = () => matchMedia("(pointer: coarse)").matches;

const join = (texts) => texts.filter(Boolean).join("\n\n");
