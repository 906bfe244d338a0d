// Counts down to the moment at which a provider takes requests again, wherever a card names one.

export function mountCountdowns(root) {
  setInterval(() => {
    for (const time of root.querySelectorAll("[data-ready-at]")) {
      const left = Math.ceil((new Date(time.dataset.readyAt) - Date.now()) / 1000);
      time.textContent = left > 0 ? `in ${left} s` : "now";
    }
  }, 1000);
}
