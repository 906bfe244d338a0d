// On a narrow screen the bar goes away while the page is read downwards.

const STEP = 24; // Pixels of a scroll that count as one.

export function mountBar() {
  const bar = document.querySelector(".topbar");
  const reader = document.querySelector(".scroller") ?? document.scrollingElement;
  let last = reader.scrollTop;
  const scrolled = () => {
    if (Math.abs(reader.scrollTop - last) < STEP) return;
    const isEnd = reader.scrollHeight - reader.clientHeight - reader.scrollTop < STEP;
    // Following an answer to its end is no reading, also where it has grown again by now.
    const isReading = !isEnd && !reader.hasAttribute("data-following");
    bar.classList.toggle("away", reader.scrollTop > last && reader.scrollTop > bar.offsetHeight && isReading);
    last = reader.scrollTop;
  };
  // The scroll event of an element does not bubble.
  document.addEventListener("scroll", scrolled, { capture: true, passive: true });
}
