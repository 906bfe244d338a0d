// Says when a text is longer than the `data-limit` of its box. Nothing is cut: a long paste stays whole.

// Shows or hides `notice`; returns whether the text is too long.
export function tellExcess(box, notice) {
  const [length, limit] = [[...box.value].length, Number(box.dataset.limit)];
  const isTooLong = length > limit;
  notice.hidden = !isTooLong;
  notice.textContent = isTooLong
    ? `This has ${length.toLocaleString("en")} characters; a message may have ${limit.toLocaleString("en")}. Shorten it, or attach it as a text file.`
    : "";
  box.setAttribute("aria-invalid", isTooLong);
  return isTooLong;
}
