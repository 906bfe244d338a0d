// Files for the message being written: chosen, dropped or pasted. They do not wait for the message, so what has
// arrived survives a reload; they go one after another, so they are stored in the order in which they were chosen.
// What has not arrived would be lost with the page, so the browser asks before it leaves.

import { countLimit, refusalOf, tooLarge, tooMany } from "./limits.js";
import { attempt } from "./failures.js";
import { csrfHeaders, fetchPage, fetchText, remove } from "./fragments.js";
import { clone } from "./live.js";
import { closeFile, keepOpen } from "./open-files.js";

const PASTE_LIMIT = 4_000; // Characters; a longer text that is pasted becomes a file.

const DROP_WORDS = "Drop files here to attach them";

export class Attachments {
  #list;
  #changed;
  #coming = new Set();
  #last = Promise.resolve(); // Settles when no file is on its way.
  #isExpected = false;
  #insert;

  // `place` is the drop target; `changed()` is called when files are added or removed.
  // `insert(text)` puts a pasted text into the message after all.
  // `elsewhere(files)` takes the files while there is no session yet.
  constructor(form, place, { changed, insert, elsewhere }) {
    this.#insert = insert;
    this.#list = form.querySelector(".chips");
    this.#changed = () => {
      if (this.isUploading) addEventListener("beforeunload", askToStay);
      else removeEventListener("beforeunload", askToStay);
      changed();
    };
    const take = (files) => {
      const accepted = this.#accept(files);
      if (accepted.length) (elsewhere ?? ((found) => this.add(found)))(accepted);
    };
    const chooser = form.querySelector("input[type=file]");
    chooser.addEventListener("change", () => {
      take([...chooser.files]);
      chooser.value = "";
    });
    form.querySelector("[data-attaches]").addEventListener("click", () => chooser.click());
    form.addEventListener("paste", (event) => {
      const files = filesOf(event.clipboardData);
      if (!files.length) return;
      event.preventDefault();
      take(files);
    });
    form.addEventListener("click", ({ target }) => target.closest("li.chip") && this.#press(target));
    mountDropping(place, take);
  }

  // Sets the upload URL.
  set url(url) {
    this.#list.dataset.url = url;
  }

  add(files) {
    for (const file of files) this.#upload(file);
  }

  // Shows once why the files are not attached.
  refuse([file], words) {
    const shown = [...this.#list.querySelectorAll(".refused .problem")];
    if (!shown.some((problem) => problem.textContent === words)) showRefusal(this.#show(file), words);
    this.#changed();
  }

  // The ids of the attachments of the message.
  get ids() {
    return [...this.#list.querySelectorAll("[data-attachment]")].map((chip) => chip.dataset.attachment);
  }

  // Whether a file has been stored, for the message or among the open files.
  get hasAny() {
    return this.#list.querySelector("[data-attachment], [data-reference]") !== null;
  }

  get isRefused() {
    return this.#list.querySelector(".refused") !== null;
  }

  get isUploading() {
    return this.#coming.size > 0;
  }

  // Clears the chips when the message is sent; returns their copies for its bubble.
  give() {
    const chips = [...this.#list.querySelectorAll("[data-attachment]")];
    const shown = chips.map(withoutButtons);
    for (const chip of chips) chip.remove();
    this.#changed();
    return shown;
  }

  // A queued message with files is being withdrawn.
  expectBack() {
    this.#isExpected = true;
  }

  cameBack() {
    if (!this.#isExpected) return;
    this.#isExpected = false;
    this.fetchBack();
  }

  // Reloads the stored chips after a refusal or a withdrawal.
  async fetchBack() {
    const kept = await this.#fetchKept();
    if (!kept) return;
    for (const chip of this.#list.querySelectorAll("[data-attachment]")) chip.remove();
    this.#list.prepend(...kept.querySelectorAll("li"));
    this.#changed();
  }

  // Another page of the chat may have sent the files of its composer, or removed some.
  async dropSent() {
    const shown = [...this.#list.querySelectorAll("[data-attachment]")];
    const kept = shown.length && (await this.#fetchKept());
    if (!kept) return;
    const ids = new Set([...kept.querySelectorAll("[data-attachment]")].map((chip) => chip.dataset.attachment));
    for (const chip of shown) if (!ids.has(chip.dataset.attachment)) chip.remove();
    this.#changed();
  }

  // What is stored for the message; null without an answer.
  #fetchKept() {
    return fetchPage(`${this.#list.dataset.url}waiting/`).catch(() => null);
  }

  // The files within the limits; the others are shown with the reason.
  #accept(files) {
    const fitting = [];
    for (const file of files) {
      const words = refusalOf(file, "attach");
      if (words) this.refuse([file], words);
      else fitting.push(file);
    }
    const room = Math.max(0, countLimit() - this.ids.length - this.#coming.size);
    const extra = fitting.splice(room);
    if (extra.length) this.refuse(extra, tooMany());
    return fitting;
  }

  #show(file) {
    const chip = clone("live-chip");
    chip.querySelector(".name").textContent = file.name;
    // Refusals stay last, where the list is in view.
    this.#list.insertBefore(chip, this.#list.querySelector(".refused"));
    this.#list.scrollTop = this.#list.scrollHeight;
    return chip;
  }

  #upload(file) {
    const chip = this.#show(file);
    this.#coming.add(chip);
    this.#changed();
    this.#last = this.#last.then(() => this.#coming.has(chip) && this.#send(chip, file));
  }

  // Resolves when the file has arrived, is refused or was dismissed.
  #send(chip, file) {
    const request = new XMLHttpRequest();
    let isSent = false; // Then only the answer says whether the file is stored. Firefox fires `load` with the answer.
    chip.addEventListener("dismissed", () => isSent || request.abort());
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      isSent = loaded === total;
      chip.querySelector("progress").value = (100 * loaded) / total;
    });
    request.open("POST", this.#list.dataset.url);
    for (const [name, value] of Object.entries(csrfHeaders())) {
      request.setRequestHeader(name, value);
    }
    const body = new FormData();
    body.append("file", file);
    if (file.isPasted) body.append("pasted", "1");
    return new Promise((resolve) => {
      request.addEventListener("loadend", () => {
        resolve();
        if (this.#coming.delete(chip)) this.#arrived(chip, request, file);
        else takeBack(storedIn(request));
        this.#changed();
      });
      request.send(body);
    });
  }

  #arrived(chip, request, file) {
    const stored = storedIn(request);
    if (!stored) return showRefusal(chip, wordsOf(request, file));
    chip.replaceWith(stored);
    if ("reference" in stored.dataset) keepOpen(stored);
  }

  #press(target) {
    const chip = target.closest("li");
    if (target.closest("[data-dismiss]")) {
      this.#coming.delete(chip);
      chip.dispatchEvent(new CustomEvent("dismissed"));
      chip.remove();
      this.#changed();
    }
    const closing = target.closest("[data-closes-file]");
    if (closing) return closeFile(closing);
    const back = target.closest("[data-insert]");
    const button = back ? chip.querySelector("[data-detach]") : target.closest("[data-detach]");
    if (button) attempt(button.dataset.detach, () => this.#detach(chip, button.dataset.detach, back?.dataset.insert));
  }

  // `source` is the address of a text that goes back into the message.
  async #detach(chip, url, source) {
    const text = source && (await fetchText(source));
    await remove(url);
    chip.remove();
    if (text) this.#insert(text);
    this.#changed();
  }
}

// A long text that is pasted into the message comes as a file.
function filesOf(clipboard) {
  const text = clipboard.getData("text/plain");
  if (clipboard.files.length || text.length <= PASTE_LIMIT) return [...clipboard.files];
  const file = new File([text], "Pasted text.txt", { type: "text/plain" });
  return [Object.assign(file, { isPasted: true })];
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
    take(dropped(event.dataTransfer));
  });
}

// A folder comes as a file that cannot be read.
function dropped({ items, files }) {
  const folders = [...items].filter(({ kind }) => kind === "file").map((item) => item.webkitGetAsEntry()?.isDirectory);
  return [...files].map((file, place) => Object.assign(file, { isFolder: folders[place] ?? false }));
}

function askToStay(event) {
  event.preventDefault();
}

function showRefusal(chip, words) {
  chip.removeAttribute("aria-busy");
  chip.classList.add("refused");
  chip.querySelector("progress").remove();
  const problem = chip.querySelector(".problem");
  problem.hidden = false;
  problem.textContent = words;
  chip.scrollIntoView({ block: "nearest" });
}

function withoutButtons(chip) {
  const copy = chip.cloneNode(true);
  for (const button of copy.querySelectorAll("button")) button.remove();
  copy.removeAttribute("data-attachment");
  return copy;
}

// The chip of the file, or null. A page of something else, such as a proxy, has none.
function storedIn(request) {
  if (request.status !== 200) return null;
  return new DOMParser().parseFromString(request.responseText, "text/html").querySelector("li.chip");
}

// The chip of a file that was dismissed and stored all the same.
function takeBack(chip) {
  const closing = chip?.querySelector("[data-closes-file]");
  if (closing) closeFile(closing);
  const button = chip?.querySelector("[data-detach]");
  if (button) attempt(button.dataset.detach, () => remove(button.dataset.detach));
}

function wordsOf(request, file) {
  if (request.status === 413) return tooLarge(file, "attach");
  const type = request.getResponseHeader("Content-Type") ?? "";
  if (type.startsWith("application/json")) {
    const { message, hint } = JSON.parse(request.responseText);
    return `${message} ${hint}`;
  }
  return type.startsWith("text/plain") ? request.responseText : `“${file.name}” did not arrive. Attach it again.`;
}
