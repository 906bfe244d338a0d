// The buttons of asks: whoever answers first decides, and the server tells every page.

const OPEN = ".ask[data-chosen]:not(.decided)";

export class Asks {
  #root;
  #send;

  constructor(root, send) {
    this.#root = root;
    this.#send = send;
    root.addEventListener("click", ({ target }) => {
      const button = target.closest(".ask [data-choice]");
      if (button) this.#choose(button.closest(".ask"), button.dataset.choice);
    });
  }

  // After a reconnect: what was chosen, where the server has not said yet what became of it.
  sendAgain() {
    for (const card of this.#root.querySelectorAll(OPEN)) this.#dispatch(card);
  }

  // Something was refused, and perhaps a choice: all of them can be made again.
  giveBack() {
    for (const card of this.#root.querySelectorAll(OPEN)) {
      delete card.dataset.chosen;
      enable(card, true);
    }
  }

  #choose(card, choice) {
    card.dataset.chosen = choice;
    card.focus({ preventScroll: true });
    enable(card, false);
    this.#dispatch(card);
  }

  #dispatch({ dataset: { run, step, index, chosen: choice } }) {
    this.#send({ type: "decide", run, step: Number(step), index: Number(index), choice });
  }
}

function enable(card, isEnabled) {
  for (const button of card.querySelectorAll(".actions button")) button.disabled = !isEnabled;
}
