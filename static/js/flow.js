// Streaming text of one step: closed blocks as HTML, followed by the open rest as plain text.

export class Flow {
  #tail;

  // `element` contains a .tail, before which blocks are inserted.
  constructor(element) {
    this.#tail = element.querySelector(".tail").appendChild(document.createTextNode(""));
  }

  write(text) {
    this.#tail.appendData(text);
  }

  // HTML from the sanitiser of the server; a template keeps it inert until it is inserted.
  close(html, characters) {
    const template = document.createElement("template");
    template.innerHTML = html;
    this.#tail.parentElement.before(template.content);
    this.#tail.data = withoutFirst(this.#tail.data, characters);
  }
}

// The server counts characters, JavaScript counts UTF-16 units.
function withoutFirst(text, characters) {
  let units = 0;
  for (let left = characters; left > 0 && units < text.length; left -= 1) {
    units += text.codePointAt(units) > 0xffff ? 2 : 1;
  }
  return text.slice(units);
}
