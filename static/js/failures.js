// What a person asked for and did not get, because the line broke or the server refused: it is said where they look,
// in the dialog that was to show it, else over the page until it is closed or the same works. While a dialog loads it
// shows nothing older, since the buttons would act on what it was opened for before.

import { Refusal } from "./fragments.js";
import { isFreeEscape } from "./keys.js";
import { failureOf, isSignIn, reasonOf } from "./refusals.js";

const ABOVE = "dialog[open], details.menu[open], :popover-open"; // What Escape closes first.
const OWN = "[data-module=panels], #own-tools"; // They say it themselves.

const newest = new WeakMap(); // The request whose answer a place in a dialog waits for.

export function mountFailures(root) {
  root.addEventListener("htmx:beforeRequest", ({ detail }) => follow(detail));
  root.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const { target, xhr, requestConfig: { elt } } = detail;
    if (isSignIn(xhr.responseURL) || (isOpener(elt) && newest.get(target) !== xhr)) detail.shouldSwap = false;
    end(target, xhr); // Not after the swap: what is hidden cannot take the focus.
  });
  root.addEventListener("close", ({ target }) => target.querySelector(".failure")?.remove(), true);
  root.addEventListener("keydown", (event) => {
    const over = root.querySelector(":scope > .failure");
    if (!over || !isFreeEscape(event) || root.querySelector(ABOVE)) return;
    event.preventDefault();
    over.remove();
  }, true);
}

// What a press asks for without htmx. `asked` names it; returns whether it was done.
export async function attempt(asked, action) {
  try {
    await action();
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    showOver(refusal.text, asked);
    return false;
  }
  takeAway(asked);
  return true;
}

function follow({ elt, target, xhr, requestConfig: { verb, path, triggeringEvent } }) {
  if (isOpener(elt)) wait(target, xhr);
  // Not what the page asks for by itself: it asks again.
  if (elt.closest(OWN) || (verb === "get" && !triggeringEvent?.isTrusted)) return;
  const asked = `${verb} ${path}`;
  const fail = () => explain(elt, target, xhr, verb, asked);
  for (const failure of ["error", "timeout"]) xhr.addEventListener(failure, fail);
  xhr.addEventListener("load", () => (xhr.status >= 400 || isSignIn(xhr.responseURL) ? fail() : takeAway(asked)));
}

function takeAway(asked) {
  const over = document.querySelector(".failure");
  if (over?.dataset.asked === asked) over.remove();
}

function wait(target, xhr) {
  newest.set(target, xhr);
  target.ariaBusy = "true";
  xhr.addEventListener("loadend", () => end(target, xhr));
}

function end(target, xhr) {
  if (newest.get(target) === xhr) target.ariaBusy = null;
}

function explain(elt, target, xhr, verb, asked) {
  const reason = reasonOf(xhr);
  if (reason && target.role === "alert") return;
  const words = reason ? `${reason.message} ${reason.hint}` : sentence(xhr, verb);
  if (!isOpener(elt)) return showOver(words, asked);
  if (newest.get(target) !== xhr) return;
  target.replaceChildren(notice(words));
  if (!target.matches("dialog")) return;
  target.append(closing());
  end(target, xhr); // What is hidden cannot take the focus.
  target.querySelector("button").focus();
}

function sentence({ status, responseURL }, verb) {
  const { message, hint } = failureOf({ status, url: responseURL }, verb);
  return `${message} ${hint}`;
}

function showOver(words, asked) {
  document.querySelector(".failure")?.remove();
  const before = document.activeElement;
  const over = notice(words);
  const close = closeButton();
  close.addEventListener("click", () => {
    over.remove();
    before.focus({ preventScroll: true });
  });
  over.classList.add("failure");
  over.dataset.asked = asked;
  over.append(close);
  ([...document.querySelectorAll("dialog:modal")].at(-1) ?? document.body).append(over);
}

function notice(words) {
  return Object.assign(document.createElement("p"), { className: "notice error", role: "alert", textContent: words });
}

function closing() {
  const actions = Object.assign(document.createElement("div"), { className: "actions" });
  const close = closeButton();
  close.dataset.closesDialog = "";
  actions.append(close);
  return actions;
}

function closeButton() {
  return Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: "Close" });
}

const isOpener = (element) => "opensDialog" in element.dataset;
