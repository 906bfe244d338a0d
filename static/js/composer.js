// The place where a message is written: keys, growth, drafts, Send and Stop in one button.

import { keepDraft, readDraft } from "./drafts.js";

const SAVE_AFTER = 250;
const TALLEST = 0.4; // Of the window's height.

export class Composer {
  #form;
  #box;
  #button;
  #later;
  #key;
  #actions;
  #saving = 0;
  #unconfirmed = "";

  // `actions` has send(text) and stop(), and `files` of the message; `key` names the draft in this browser.
  constructor(form, key, actions) {
    this.#form = form;
    this.#box = form.querySelector("textarea");
    this.#button = form.querySelector(".send");
    this.#later = form.querySelector(".later");
    this.#key = key;
    this.#actions = actions;
    this.#box.value ||= readDraft(this.#key);
    form.addEventListener("submit", (event) => this.#submit(event));
    this.#box.addEventListener("keydown", (event) => this.#press(event));
    this.#box.addEventListener("input", () => this.#changed());
    this.#later?.addEventListener("click", () => this.#send());
    addEventListener("pagehide", () => this.#save());
    this.setState("idle");
    this.#grow();
  }

  // "idle", "busy" or "stopping".
  setState(state) {
    this.#form.dataset.state = state;
    const isComing = this.#actions.files?.isUploading ?? false;
    const idle = isComing ? "Files are being uploaded…" : "Send (Enter)";
    const words = { idle, busy: "Stop (Esc)", stopping: "Stopping…" }[state];
    this.#button.title = words;
    this.#button.setAttribute("aria-label", words);
    const isEmpty = isComing || (!this.text.trim() && !this.#actions.files?.ids.length);
    this.#button.disabled = state === "stopping" || (state === "idle" && isEmpty);
    if (this.#later) this.#later.hidden = state === "idle" || isEmpty;
  }

  // The draft has gone elsewhere.
  clear() {
    this.#box.value = "";
    this.#save();
  }

  // What there is to send has changed.
  refresh() {
    this.setState(this.state);
  }

  get state() {
    return this.#form.dataset.state;
  }

  get text() {
    return this.#box.value;
  }

  // Gives text back to the person, before what was typed in the meantime.
  give(text) {
    this.#unconfirmed = "";
    this.#box.value = join(text, this.text);
    this.#changed();
    this.#box.focus();
  }

  // Not on a touch screen, where the keyboard would cover half of the page.
  focusGently() {
    if (matchMedia("(pointer: fine)").matches) this.#box.focus();
  }

  // The message has arrived: the copy that was kept for a failure is not needed any more.
  confirm() {
    this.#unconfirmed = "";
    this.#save();
  }

  #submit(event) {
    event.preventDefault();
    if (this.state === "busy") this.#actions.stop();
    else this.#send();
  }

  #send() {
    const text = this.text.trim();
    const { files } = this.#actions;
    if (files?.isUploading || (!text && !files?.ids.length)) return;
    clearTimeout(this.#saving);
    this.#unconfirmed = join(this.#unconfirmed, text);
    this.#box.value = "";
    this.#grow();
    this.#save();
    this.#actions.send(text);
    this.setState(this.state);
  }

  #press(event) {
    if (event.key === "ArrowUp" && !this.text && !event.isComposing) {
      event.preventDefault();
      this.#actions.recall?.();
      return;
    }
    // While a word is being composed, Enter belongs to the input method (229: Safari).
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    const always = event.ctrlKey || event.metaKey;
    const isTouch = matchMedia("(pointer: coarse)").matches;
    if (!always && (event.shiftKey || event.altKey || isTouch)) return;
    event.preventDefault();
    this.#send();
  }

  #changed() {
    this.#grow();
    this.setState(this.state);
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => this.#save(), SAVE_AFTER);
  }

  #save() {
    keepDraft(this.#key, join(this.#unconfirmed, this.text));
  }

  #grow() {
    this.#box.style.height = "auto";
    this.#box.style.height = `${Math.min(this.#box.scrollHeight + 2, innerHeight * TALLEST)}px`;
  }
}

const join = (first, second) => [first, second].filter(Boolean).join("\n\n");
