// Texts that are not sent yet, kept in this browser. Where storage is refused they last for the page.

export function readDraft(key) {
  try {
    return localStorage.getItem(`draft:${key}`) ?? "";
  } catch {
    return "";
  }
}

// Says in a list which sessions have a text that is not sent.
export function markDrafts(root) {
  for (const entry of root.querySelectorAll("[data-draft]")) {
    const badge = entry.querySelector(".draft");
    if (badge) badge.hidden = !readDraft(entry.dataset.draft).trim();
  }
}

export function keepDraft(key, text) {
  try {
    if (text) localStorage.setItem(`draft:${key}`, text);
    else localStorage.removeItem(`draft:${key}`);
  } catch {
    return;
  }
}
