// An inline form that replaces a text: Ctrl/Cmd+Enter saves, Esc cancels. One at a time.

import { tellExcess } from "./excess.js";
import { clone } from "./live.js";

let leave = () => {};

// `save(text)` returns whether the form may close; `note` explains what happens to the old text. `rescue(text)` is
// given what was written where the form goes with its message: another page shows another branch, or asks again.
export function rewordInPlace(place, { text, verb, note, save, rescue }) {
  leave();
  const form = clone("live-edit");
  const box = form.querySelector("textarea");
  const notice = form.querySelector(".too-long");
  box.value = text;
  form.querySelector(".stays").textContent = note;
  form.querySelector(".primary").textContent = verb;
  const opener = document.activeElement;
  const transcript = place.closest(".transcript");
  const removals = new MutationObserver(() => guard());
  const guard = () => {
    removals.disconnect();
    if (form.isConnected) return removals.observe(transcript, { childList: true, subtree: true });
    leave = () => {};
    if (box.value.trim() !== text.trim()) rescue(box.value.trim());
  };
  const close = () => {
    removals.disconnect();
    form.remove();
    place.hidden = false;
    leave = () => {};
    if (opener?.isConnected) opener.focus({ preventScroll: true });
  };
  leave = close;
  const submit = async () => {
    const wording = box.value.trim();
    if (tellExcess(box, notice)) return;
    if (!wording || wording === text.trim()) return close();
    removals.disconnect();
    if (await save(wording)) close();
    else guard();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  box.addEventListener("input", () => {
    grow(box);
    tellExcess(box, notice);
  });
  form.querySelector("[data-cancels]").addEventListener("click", close);
  place.hidden = true;
  place.after(form);
  guard();
  grow(box);
  box.focus();
  box.setSelectionRange(box.value.length, box.value.length);
}

// Closes the form; returns whether there was one, so that Esc does nothing else.
export function leaveRewording() {
  const wasOpen = document.querySelector(".rewording") !== null;
  leave();
  return wasOpen;
}

function grow(box) {
  box.style.height = "auto";
  box.style.height = `${Math.min(box.scrollHeight + 2, innerHeight * 0.5)}px`;
}
