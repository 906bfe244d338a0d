// The buttons of asks: whoever answers first decides, and the server tells every page.

export function answerAsks(element, send) {
  element.addEventListener("click", ({ target }) => {
    const button = target.closest(".ask [data-choice]");
    if (!button) return;
    const { run, index } = button.closest(".ask").dataset;
    const isSent = send({ type: "decide", run, index: Number(index), choice: button.dataset.choice });
    // Without a connection they stay: the ask comes again with the next one.
    for (const one of button.closest(".actions").querySelectorAll("button")) one.disabled = isSent;
  });
}
