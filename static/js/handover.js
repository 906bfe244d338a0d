// Carries the first message from the start page to the page of its new session, which has it as its draft.

import { keepDraft } from "./drafts.js";

const keyOf = (session) => `handover:${session}`;

// Throws if the storage has no room for it.
export function handOver(session, text) {
  if (!keepDraft(session, text)) throw new Error("No draft can be kept.");
  sessionStorage.setItem(keyOf(session), text);
}

// The message to be sent, once. It is in the draft, which may have been changed since.
export function takeOver(session) {
  const text = sessionStorage.getItem(keyOf(session)) ?? "";
  sessionStorage.removeItem(keyOf(session));
  return text;
}
