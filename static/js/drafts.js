// Unsent texts in localStorage, or in memory if storage is not available.

const CHANGED = "draft-changed";

export function readDraft(key) {
  try {
    return localStorage.getItem(`draft:${key}`) ?? "";
  } catch {
    return "";
  }
}

// Returns whether the storage has it.
export function keepDraft(key, text) {
  try {
    if (text) localStorage.setItem(`draft:${key}`, text);
    else localStorage.removeItem(`draft:${key}`);
  } catch {
    return false;
  }
  document.dispatchEvent(new Event(CHANGED));
  return true;
}

// Marks the sessions of a list that have a draft, now and when a draft or the list changes.
export function markDrafts(root) {
  const mark = () => {
    for (const entry of root.querySelectorAll("[data-draft]")) {
      const badge = entry.querySelector(".draft");
      if (badge) badge.hidden = !readDraft(entry.dataset.draft).trim();
    }
  };
  mark();
  document.addEventListener(CHANGED, mark);
  addEventListener("storage", mark); // Another tab.
  root.addEventListener("htmx:afterSettle", mark);
}
