// The chat page: user input becomes commands; events go to the listener.

import { Announcer } from "./announcer.js";
import { Asks } from "./asks.js";
import { Attachments } from "./attachments.js";
import { Branches } from "./branches.js";
import { Composer } from "./composer.js";
import { Frame } from "./frame.js";
import { takeOver } from "./handover.js";
import { Listener } from "./listener.js";
import { Outbox } from "./outbox.js";
import { giveOpened } from "./open-files.js";
import { mountOwnTools } from "./own-tools.js";
import { whenReleased } from "./press.js";
import { Follower } from "./scroll.js";
import { Socket } from "./socket.js";
import { Transcript } from "./transcript.js";
import { Waiting } from "./waiting.js";

export class Chat {
  #parts;
  #listener;
  #last = ""; // The id of the last command for an answer.

  constructor(root) {
    const { session, runUrl } = root.dataset;
    const list = root.querySelector(".transcript");
    const frame = new Frame(root);
    const form = root.querySelector("form.composer");
    const files = new Attachments(form, root, {
      changed: () => this.#parts.composer.refresh(),
      insert: (text) => this.#parts.composer.give(text),
    });
    this.#parts = {
      frame,
      files,
      outbox: new Outbox(),
      announcer: new Announcer(root.querySelector(".announcer")),
      follower: new Follower(root.querySelector(".scroller"), list, root.querySelector(".pill")),
      transcript: new Transcript(
        list,
        (run) => runUrl.replace(/[^/]+\/$/, `${run}/`),
        () => this.#parts.composer.focusGently(),
      ),
      waiting: new Waiting(root.querySelector(".waiting"), {
        withdraw: (client, text, count) => this.#withdraw(client, text, count),
        send: (client, text) => this.#dispatch({ type: "send", client_id: client, text, language: navigator.language }),
      }),
      composer: new Composer(form, session, {
        files,
        send: (text) => this.#send(text, files.ids),
        stop: () => this.#stop(),
        unsent: () => this.#parts.outbox.texts,
        recall: () => [...list.querySelectorAll("[data-edit]")].at(-1)?.click(),
      }),
      socket: new Socket(`/ws/s/${session}/`, {
        event: (event) => whenReleased(() => this.#listener.receive(event)),
        link: (state) => this.#listener.link(state),
      }),
    };
    this.#parts.asks = new Asks(list, (command) => this.#parts.socket.send(command));
    this.#listener = new Listener(this.#parts);
    frame.listen({
      retry: (run, turn, model = "") => this.#askAgain({ type: "retry", run, turn: turn || null, model }),
      resume: (run, turn, repeat) => this.#askAgain({ type: "resume", run, turn, repeat }),
      edit: (turn, text) => this.#edit(turn, text),
      carryOn: (text) => this.#send(text, [], true),
      stop: () => this.#stop(),
      rescue: (text) => this.#parts.composer.give(text),
    });
    mountOwnTools(form, {
      explain: (refusal) => frame.explain(refusal),
      forget: () => frame.forgetRefusals(),
    });
    new Branches(root, location.pathname, this.#parts, (showing) => this.#listener.hold(showing));
    this.#showTarget();
    this.#begin(takeOver(session));
    this.#add();
  }

  // A URL fragment names a turn; the page then opens there and not at its end.
  #showTarget() {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target) return;
    this.#parts.follower.release();
    target.scrollIntoView({ block: "start" });
  }

  // What was chosen on home, where no session was.
  #add() {
    const what = new URLSearchParams(location.search).get("add");
    if (!what) return;
    history.replaceState(history.state, "", location.pathname);
    const control = document.querySelector(`.plus [data-adds="${CSS.escape(what)}"]`);
    // What the dialog shows is asked for by htmx, which knows the control only then.
    addEventListener("DOMContentLoaded", () => control?.click(), { once: true });
  }

  #begin(first) {
    this.#parts.socket.connect();
    // Another page may have changed the chat meanwhile.
    document.addEventListener("visibilitychange", () => document.hidden || this.#parts.frame.announceChange());
    this.#parts.composer.focusGently();
    if (first && first === this.#parts.composer.text) this.#parts.composer.send();
  }

  #send(text, attachments = [], goesOn = false) {
    const { outbox, transcript, composer, socket, frame, files, waiting } = this.#parts;
    const command = outbox.put({ type: "send", text, language: navigator.language, attachments });
    const chips = [...(attachments.length ? files.give() : []), ...giveOpened()];
    frame.forgetRefusals();
    if (composer.state === "idle") {
      transcript.propose(command.client_id, text, { chips, goesOn });
      this.#dispatch(command);
    } else {
      waiting.propose(command);
      socket.send(command);
    }
  }

  #askAgain(command) {
    const { outbox, composer, frame } = this.#parts;
    if (composer.state !== "idle") return;
    frame.forgetRefusals();
    this.#dispatch(outbox.put(command));
  }

  // Returns whether the edit was sent.
  #edit(turn, text) {
    const { outbox, composer, frame, transcript } = this.#parts;
    frame.forgetRefusals();
    if (composer.state !== "idle") {
      frame.explain({ message: "This chat is answering.", hint: "Wait for the answer or stop it first." });
      return false;
    }
    const command = outbox.put({ type: "edit", turn, text });
    transcript.propose(command.client_id, text);
    this.#dispatch(command);
    composer.save();
    return true;
  }

  #dispatch(command) {
    this.#last = command.client_id;
    this.#parts.composer.setState("busy");
    this.#parts.follower.follow();
    this.#parts.socket.send(command);
  }

  #stop() {
    if (this.#parts.composer.state !== "busy") return;
    this.#parts.composer.setState("stopping");
    this.#listener.stop(this.#last);
  }

  #withdraw(client, text, count) {
    this.#parts.outbox.take(client);
    if (count) this.#parts.files.expectBack();
    this.#listener.withdraw(client);
    this.#parts.waiting.drop(client);
    if (text) this.#parts.composer.give(text);
  }
}
