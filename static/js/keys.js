// Single keys act only while nobody types, and only as long as the person wants them (WCAG 2.1.4). The
// choice is one for the chat and the inspector, kept in this browser.

const SWITCH = "pipeweb.keys";
const TYPED_IN = "input, textarea, select, [contenteditable], dialog[open]";

// Whether the event is a key without a modifier that may act.
export function isSingleKey(event) {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return false;
  return singleKeysAreOn() && !event.target.closest?.(TYPED_IN);
}

export function singleKeysAreOn() {
  try {
    return localStorage.getItem(SWITCH) !== "off";
  } catch {
    return true;
  }
}

export function switchSingleKeys(on) {
  try {
    if (on) localStorage.removeItem(SWITCH);
    else localStorage.setItem(SWITCH, "off");
  } catch {
    return; // Where nothing can be kept, the keys stay on.
  }
}
