// Streaming text of one step: closed blocks as HTML, the open one in pieces, then its rest as plain text.

const JOINED = new Set(["UL", "OL", "P", "BLOCKQUOTE"]);
const ENTERED = "ul, ol, li, p, blockquote, h3, h4, h5, h6, .note, .note-text, .code, .received, pre, code";

export class Flow {
  #end; // Contains the rest; it stands where the open block ends.
  #rest;
  #open = newBlock();
  #newest = []; // The nodes of the newest piece.
  #text = ""; // The text of the open block.

  // `element` contains a .tail, before which blocks are inserted.
  constructor(element) {
    this.#end = element.querySelector(".tail");
    this.#rest = this.#end.appendChild(document.createTextNode(""));
    this.#end.before(this.#open);
  }

  write(text) {
    this.#text += text;
    this.#rest.appendData(text);
  }

  close(html, characters) {
    this.#text = withoutFirst(this.#text, characters);
    this.#leave();
    const content = contentOf(html);
    if (!this.#keepCode(content)) this.#open.replaceChildren();
    this.#newest = [];
    this.#open.before(content);
    this.#rest.data = this.#text;
  }

  // A block of code that closes stays where it is, with what the person did to it, and takes its colours.
  #keepCode(content) {
    const [shown, closed] = [this.#open.firstElementChild, content.firstElementChild];
    if (!shown?.matches(".code") || !closed?.matches(".code")) return false;
    shown.querySelector("code").replaceWith(closed.querySelector("code"));
    closed.remove();
    const kept = this.#open;
    kept.className = "closed";
    this.#open = newBlock();
    kept.after(this.#open);
    return true;
  }

  // The newest piece of the open block, which is then shown up to so many characters.
  preview(html, characters, isSettled) {
    this.#leave();
    for (const node of this.#newest) node.remove();
    this.#newest = this.#add(contentOf(html));
    if (isSettled) this.#newest = [];
    this.#rest.data = withoutFirst(this.#text, characters);
    this.#enter();
  }

  #add(content) {
    const [last, first] = [bodyOf(this.#open.lastElementChild), content.firstElementChild];
    const isSame = last && first && kindOf(this.#open.lastElementChild) === kindOf(first);
    const joined = isSame ? [...bodyOf(first).childNodes] : [];
    if (isSame) {
      if (first.tagName === "P") joined.unshift(document.createTextNode(" "));
      last.append(...joined);
      first.remove();
    }
    const added = [...content.childNodes];
    this.#open.append(content);
    return [...joined, ...added];
  }

  // The rest goes on where the text of the open block ends; the row of a table is shown when it is complete.
  #enter() {
    let place = this.#open;
    while (place.lastElementChild?.matches(ENTERED)) place = place.lastElementChild;
    this.#end.hidden = place.lastElementChild?.matches(".table") ?? false;
    if (place !== this.#open && !this.#end.hidden) place.append(this.#end);
  }

  #leave() {
    this.#end.hidden = false;
    this.#open.after(this.#end);
  }
}

function newBlock() {
  const element = document.createElement("div");
  element.className = "open";
  return element;
}

// HTML from the sanitiser of the server; a template keeps it inert until it is inserted.
function contentOf(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

// Two pieces of the same kind are one block.
function kindOf(block) {
  if (block.matches(".table")) return "TABLE";
  return JOINED.has(block.tagName) ? block.tagName : null;
}

function bodyOf(block) {
  if (!block || !kindOf(block)) return null;
  return block.matches(".table") ? (block.querySelector("tbody") ?? block.querySelector("table")) : block;
}

// The server counts characters, JavaScript counts UTF-16 units.
function withoutFirst(text, characters) {
  let units = 0;
  for (let left = characters; left > 0 && units < text.length; left -= 1) {
    units += text.codePointAt(units) > 0xffff ? 2 : 1;
  }
  return text.slice(units);
}
