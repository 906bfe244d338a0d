// The text of an admin form as the model would read it, fetched while it is being typed.

const QUIET = 300;

class Preview {
  #form;
  #url;
  #body;
  #timer = 0;
  #asked = 0;

  constructor(element) {
    this.#form = element.closest("form");
    this.#url = element.dataset.preview;
    this.#body = element.querySelector(".preview-body");
    this.#form.addEventListener("input", () => this.#soon());
    this.#form.addEventListener("change", () => this.#soon());
    this.#ask();
  }

  #soon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), QUIET);
  }

  async #ask() {
    const number = ++this.#asked;
    try {
      const response = await fetch(this.#url, { method: "POST", body: new FormData(this.#form) });
      if (!response.ok) throw new Error(String(response.status));
      const html = await response.text();
      // A slow answer must not take the place of a newer one. The server escapes what was typed.
      if (number === this.#asked) this.#body.innerHTML = html;
    } catch {
      if (number === this.#asked) this.#body.textContent = "The preview is not available now.";
    }
  }
}

for (const element of document.querySelectorAll("[data-preview]")) new Preview(element);
