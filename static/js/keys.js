// Single-key shortcuts, inactive while typing, can be switched off (WCAG 2.1.4). One setting in
// localStorage for chat and inspector.

const SWITCH = "pipeweb.keys";
const TYPED_IN = "input, textarea, select, [contenteditable], dialog[open]";

// Whether the event is an allowed key without a modifier.
export function isSingleKey(event) {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return false;
  return singleKeysAreOn() && !event.target.closest?.(TYPED_IN);
}

// Whether Escape has no use yet where it was pressed: in a search it takes the words away.
export function isFreeEscape({ key, defaultPrevented, isComposing, target }) {
  if (key !== "Escape" || defaultPrevented || isComposing) return false;
  return !(target.matches?.("input[type=search]") && target.value);
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
