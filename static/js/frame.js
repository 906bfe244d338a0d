// The frame of the chat: banner, titles, global keys.

import { isFreeEscape } from "./keys.js";
import { clone } from "./live.js";
import { leaveRewording, rewordInPlace } from "./rewording.js";
import { entitle } from "./titles.js";

const WARNINGS = {
  down: "Reconnecting… What you send now goes out as soon as the line is back.",
  full: "Not connected: no more of your chat pages may be open.",
  gone: "This chat no longer exists. It was deleted, or another account is signed in here.",
  unfetched: "The newest state of this chat could not be fetched. Reload the page.",
};

export class Frame {
  #root;

  constructor(root) {
    this.#root = root;
  }

  // `actions` has retry(run, turn, model), resume(run, turn, repeat), edit(turn, text), carryOn(text), stop() and
  // rescue(text), for a wording whose message is gone.
  listen({ retry, resume, edit, carryOn, stop, rescue }) {
    this.#root.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-retry]");
      if (button) retry(button.dataset.retry, button.closest(".run").dataset.turn);
      const again = target.closest("[data-resume]");
      if (again) resume(again.dataset.resume, again.dataset.from, "repeats" in again.dataset);
      const pencil = target.closest("[data-edit]");
      if (pencil) this.#reword(pencil, edit, rescue);
      const rest = target.closest("[data-continue]");
      if (rest) carryOn(rest.dataset.continue);
    });
    document.addEventListener("click", ({ target }) => {
      const other = target.closest("[data-again]");
      if (other) this.#askOther(other, retry);
    });
    document.addEventListener("keydown", (event) => {
      if (isFreeEscape(event) && !document.querySelector("dialog[open], :popover-open") && !leaveRewording()) stop();
    });
  }

  #askOther(button, retry) {
    const { again: run, model } = button.dataset;
    button.closest("dialog").close();
    retry(run, this.#root.querySelector(`.run[data-run="${run}"]`)?.dataset.turn, model);
  }

  #reword(pencil, edit, rescue) {
    const { edit: turn, branch } = pencil.dataset;
    const article = pencil.closest(".run");
    const bubble = article.querySelector(".bubble");
    const later = [...article.parentElement.querySelectorAll(".run")].reverse().indexOf(article);
    const stays = later ? ` and ${later} later message${later > 1 ? "s" : ""} stay` : " stays";
    rewordInPlace(bubble, {
      text: bubble.textContent,
      verb: "Send",
      note: `The old wording${stays} on branch ${branch}.`,
      save: (text) => edit(turn, text),
      rescue,
    });
  }

  // The state of the connection: a key of WARNINGS, "out" (signed out) or "up".
  warn(state) {
    const banner = this.#root.querySelector("p.banner");
    if (state === "out") banner.replaceChildren(...clone("live-signed-out").childNodes);
    else banner.textContent = WARNINGS[state] ?? "";
    banner.classList.toggle("final", state === "out" || state === "gone");
    banner.hidden = state !== "out" && !(state in WARNINGS);
  }

  // Shows why a command was refused, until the next command.
  explain({ message, hint }) {
    const card = clone("live-refusal");
    card.querySelector(".title").textContent = message;
    card.querySelector(".hint").textContent = hint;
    this.#root.querySelector(".transcript").append(card);
    card.scrollIntoView({ block: "nearest" });
  }

  forgetRefusals() {
    for (const card of this.#root.querySelectorAll(".transcript > .ending")) card.remove();
  }

  entitle(title) {
    if (title) entitle(title);
  }

  // Reloads panels, gauge and forecast after an answer or a branch switch.
  announceChange() {
    document.body.dispatchEvent(new CustomEvent("session-changed"));
  }

  announceResult() {
    document.body.dispatchEvent(new CustomEvent("tool-answered"));
  }
}
