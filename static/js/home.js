// The first page: the first message makes the session and goes with the person to its page.

import { Composer } from "./composer.js";
import { handOver } from "./handover.js";

export class Home {
  #form;

  constructor(root) {
    this.#form = root.querySelector("form.composer");
    const composer = new Composer(this.#form, "home", {
      send: (text) => {
        composer.confirm();
        this.#leave(text);
      },
      stop: () => {},
    });
    composer.focusGently();
    root.addEventListener("click", (event) => {
      const sample = event.target.closest("[data-sample]");
      if (sample) this.#leave(sample.dataset.text, sample.dataset.sample);
    });
  }

  #leave(text, sample = "") {
    handOver(text);
    this.#form.elements.sample.value = sample;
    this.#form.submit();
  }
}
