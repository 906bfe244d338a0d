// Counts down to the time at which a provider accepts requests again.

export function mountCountdowns(root) {
  setInterval(() => {
    for (const time of root.querySelectorAll("[data-ready-at]")) {
      const left = Math.ceil((new Date(time.dataset.readyAt) - Date.now()) / 1000);
      time.textContent = left > 0 ? `in ${inWords(left)}` : "now";
    }
  }, 1000);
}

function inWords(seconds) {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}
