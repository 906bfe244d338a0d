// A first message written before its session exists, carried to the page of the session.

const KEY = "handover";

export function handOver(text) {
  sessionStorage.setItem(KEY, text);
}

export function takeOver() {
  const text = sessionStorage.getItem(KEY) ?? "";
  sessionStorage.removeItem(KEY);
  return text;
}
