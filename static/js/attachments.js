// Files for the message that is being written: chosen, dropped or pasted; each is uploaded at once and
// waits on the server, so that it is still there after a reload.

import { clone } from "./live.js";

const DROP_WORDS = "Drop files here to attach them";

export class Attachments {
  #list;
  #changed;
  #coming = new Set();
  #isExpected = false;

  // `place` is where files may be dropped; `changed()` is called when there is more or less to send.
  // `elsewhere(files)`, where there is no session yet, takes the files instead.
  constructor(form, place, { changed, elsewhere }) {
    this.#list = form.querySelector(".chips");
    this.#changed = changed;
    const take = (files) => (elsewhere ? elsewhere(files) : this.add(files));
    const chooser = form.querySelector("input[type=file]");
    chooser.addEventListener("change", () => {
      take([...chooser.files]);
      chooser.value = "";
    });
    form.addEventListener("paste", (event) => {
      const files = [...event.clipboardData.files];
      if (!files.length) return;
      event.preventDefault();
      take(files);
    });
    this.#list.addEventListener("click", ({ target }) => this.#press(target));
    mountDropping(place, take);
  }

  // Where the files go from now on.
  set url(url) {
    this.#list.dataset.url = url;
  }

  add(files) {
    for (const file of files) this.#upload(file);
  }

  // Says of each file why it is not attached.
  refuse(files, words) {
    for (const file of files) showRefusal(this.#show(file), words);
    this.#changed();
  }

  // The ids of what goes with the message now.
  get ids() {
    return [...this.#list.querySelectorAll("[data-attachment]")].map((chip) => chip.dataset.attachment);
  }

  get isRefused() {
    return this.#list.querySelector(".refused") !== null;
  }

  get isUploading() {
    return this.#coming.size > 0;
  }

  // Their message is on its way: answers what stands in its bubble meanwhile.
  give() {
    const chips = [...this.#list.querySelectorAll("[data-attachment], [data-reference]")];
    const shown = chips.filter((chip) => chip.dataset.attachment).map(withoutButtons);
    for (const chip of chips) chip.remove();
    this.#changed();
    return shown;
  }

  // A message that waits is being taken back, and has files.
  expectBack() {
    this.#isExpected = true;
  }

  cameBack() {
    if (!this.#isExpected) return;
    this.#isExpected = false;
    this.fetchBack();
  }

  // What the server still holds for this message: after a refusal, or when it was taken back.
  async fetchBack() {
    const response = await fetch(`${this.#list.dataset.url}waiting/`);
    if (!response.ok) return;
    const kept = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const chip of this.#list.querySelectorAll("[data-attachment]")) chip.remove();
    this.#list.prepend(...kept.querySelectorAll("li"));
    this.#changed();
  }

  #show(file) {
    const chip = clone("live-chip");
    chip.querySelector(".name").textContent = file.name;
    this.#list.append(chip);
    return chip;
  }

  #upload(file) {
    const chip = this.#show(file);
    this.#coming.add(chip);
    this.#changed();
    const request = new XMLHttpRequest();
    chip.addEventListener("dismissed", () => request.abort());
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      chip.querySelector("progress").value = (100 * loaded) / total;
    });
    request.addEventListener("loadend", () => {
      this.#coming.delete(chip);
      this.#arrived(chip, request);
      this.#changed();
    });
    request.open("POST", this.#list.dataset.url);
    for (const [name, value] of Object.entries(JSON.parse(document.body.getAttribute("hx-headers")))) {
      request.setRequestHeader(name, value);
    }
    const body = new FormData();
    body.append("file", file);
    request.send(body);
  }

  #arrived(chip, request) {
    if (request.status === 200) {
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      chip.replaceWith(...page.querySelectorAll("li"));
      if (page.querySelector("[data-reference]")) document.body.dispatchEvent(new CustomEvent("session-changed"));
      return;
    }
    showRefusal(chip, wordsOf(request));
  }

  async #press(target) {
    const chip = target.closest("li");
    if (target.closest("[data-dismiss]")) {
      chip.dispatchEvent(new CustomEvent("dismissed"));
      chip.remove();
      this.#changed();
    }
    const button = target.closest("[data-detach]");
    if (!button) return;
    const headers = JSON.parse(document.body.getAttribute("hx-headers"));
    const response = await fetch(button.dataset.detach, { method: "POST", headers });
    if (response.ok || response.status === 404) chip.remove();
    this.#changed();
  }
}

function mountDropping(place, take) {
  let depth = 0;
  place.dataset.dropWords = DROP_WORDS;
  const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");
  const mark = (by) => {
    depth = Math.max(0, depth + by);
    place.classList.toggle("dropping", depth > 0);
  };
  place.addEventListener("dragenter", (event) => holdsFiles(event) && mark(1));
  place.addEventListener("dragleave", (event) => holdsFiles(event) && mark(-1));
  place.addEventListener("dragover", (event) => holdsFiles(event) && event.preventDefault());
  place.addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    depth = 0;
    mark(0);
    take([...event.dataTransfer.files]);
  });
}

function showRefusal(chip, words) {
  chip.removeAttribute("aria-busy");
  chip.classList.add("refused");
  chip.querySelector("progress").remove();
  const problem = chip.querySelector(".problem");
  problem.hidden = false;
  problem.textContent = words;
}

function withoutButtons(chip) {
  const copy = chip.cloneNode(true);
  copy.querySelector("button")?.remove();
  copy.removeAttribute("data-attachment");
  return copy;
}

function wordsOf(request) {
  if (request.status === 409) {
    const { message, hint } = JSON.parse(request.responseText);
    return `${message} ${hint}`;
  }
  return request.status === 413 ? "The file is too large for this server." : "It did not arrive. Attach it again.";
}
