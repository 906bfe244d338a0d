// The chat page: what the person does becomes commands; what comes back goes to the listener.

import { Announcer } from "./announcer.js";
import { Composer } from "./composer.js";
import { Frame } from "./frame.js";
import { takeOver } from "./handover.js";
import { Listener } from "./listener.js";
import { Outbox } from "./outbox.js";
import { Follower } from "./scroll.js";
import { Socket } from "./socket.js";
import { Transcript } from "./transcript.js";
import { Waiting } from "./waiting.js";

const CARRY_ON = "Please go on from where you stopped.";

export class Chat {
  #parts;
  #listener;

  constructor(root) {
    const { session, runUrl } = root.dataset;
    const list = root.querySelector(".transcript");
    const frame = new Frame(root);
    this.#parts = {
      frame,
      outbox: new Outbox(),
      announcer: new Announcer(root.querySelector(".announcer")),
      follower: new Follower(root.querySelector(".scroller"), list, root.querySelector(".pill")),
      transcript: new Transcript(list, (run) => runUrl.replace(/[^/]+\/$/, `${run}/`)),
      waiting: new Waiting(root.querySelector(".waiting"), {
        withdraw: (client, text) => this.#withdraw(client, text),
        send: (client, text) => this.#dispatch({ type: "send", client_id: client, text }),
      }),
      composer: new Composer(root.querySelector("form.composer"), session, {
        send: (text) => this.#send(text),
        stop: () => this.#stop(),
      }),
      socket: new Socket(`/ws/s/${session}/`, {
        event: (event) => this.#listener.receive(event),
        link: (state) => frame.warn(state),
      }),
    };
    this.#listener = new Listener(this.#parts);
    frame.listen({
      retry: (run) => this.#retry(run),
      carryOn: () => this.#send(CARRY_ON),
      stop: () => this.#stop(),
    });
    this.#begin(takeOver());
  }

  #begin(first) {
    this.#parts.socket.connect();
    this.#parts.composer.focusGently();
    if (first) this.#send(first);
  }

  #send(text) {
    const { outbox, transcript, composer, socket, frame } = this.#parts;
    const command = outbox.put({ type: "send", text });
    frame.forgetRefusals();
    if (composer.state === "idle") {
      transcript.propose(command.client_id, text);
      this.#dispatch(command);
    } else socket.send(command); // It waits on the server and comes back in a queue event.
  }

  #retry(run) {
    const { outbox, composer, frame } = this.#parts;
    if (composer.state !== "idle") return;
    frame.forgetRefusals();
    this.#dispatch(outbox.put({ type: "retry", run }));
  }

  #dispatch(command) {
    this.#parts.composer.setState("busy");
    this.#parts.follower.follow();
    this.#parts.socket.send(command);
  }

  #stop() {
    if (this.#parts.composer.state !== "busy") return;
    this.#parts.composer.setState("stopping");
    this.#listener.stop();
  }

  #withdraw(client, text) {
    this.#parts.socket.send({ type: "withdraw", client_id: client });
    this.#parts.waiting.drop(client);
    this.#parts.composer.give(text);
  }
}
