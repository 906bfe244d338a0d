// Texts that are not sent yet, kept in this browser. Where storage is refused they last for the page.

export function readDraft(key) {
  try {
    return localStorage.getItem(`draft:${key}`) ?? "";
  } catch {
    return "";
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
