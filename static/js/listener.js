// Applies the events of the server to the page.

import { Refusal } from "./fragments.js";

const ACKNOWLEDGE_EVERY = 64; // Events; the server pauses when it is a few hundred ahead.

export class Listener {
  #parts;
  #run = null;
  #stopping = null; // The run that was asked to stop.
  #unwanted = new Set(); // Messages whose runs are stopped when they begin.
  #withdrawn = new Set();
  #isBack = false;
  #isFull = false;
  #hello = null; // Of the newest connection.
  #fetching = null; // What `hold` waits for.
  #later = []; // Events that came meanwhile.

  constructor(parts) {
    this.#parts = parts;
  }

  receive(event) {
    if (event.type === "hello") this.#begin();
    this.#later.push(event);
    this.#takeLater();
  }

  // Events that come while the transcript is fetched are newer than it: they are taken when it is shown.
  async hold(fetching) {
    this.#fetching = fetching;
    try {
      return await fetching;
    } finally {
      if (this.#fetching === fetching) {
        this.#fetching = null;
        this.#takeLater();
      }
    }
  }

  // A new connection. What is left of the one before is sent again, as if it had been lost on the line.
  #begin() {
    this.#fetching = null;
    this.#later = [];
  }

  #takeLater() {
    while (this.#fetching === null && this.#later.length) this.#take(this.#later.shift());
  }

  #take(event) {
    const { transcript } = this.#parts;
    if (event.type === "hello") this.hold(this.#resume(event));
    else if (event.type === "moved") this.hold(this.#moved(event));
    else if (event.type === "titled") this.#titled(event);
    else if (event.type === "refused") this.#refused(event);
    else if (event.type === "known") this.#known(event.client_id);
    else if (event.type === "queue") this.#queued(event.messages);
    else if (event.type === "started") this.#started(event);
    else if (event.type === "finished") this.#finished(event);
    else if (transcript.show(event)) this.#shown(event);
    else this.#join(event.run);
  }

  // The state of the connection (`Socket`). A page that is signed out takes back what it could not send.
  link(state) {
    const { frame, outbox, announcer } = this.#parts;
    frame.warn(state);
    if (state !== "up") announcer.pause();
    if (state === "up" && this.#isFull) frame.forgetRefusals();
    this.#isFull = state === "full";
    if (state === "out") for (const { client_id: client } of outbox) this.#takeBack(client);
  }

  // Stops the run in view; without one, the runs of the commands sent so far. `client` is the last of them.
  stop(client) {
    if (this.#run !== null) return this.#halt(this.#run);
    this.#unwanted.add(client);
    for (const { client_id: sent } of this.#parts.outbox) this.#unwanted.add(sent);
  }

  // Takes a queued message back, again whenever the server still names it.
  withdraw(client) {
    this.#withdrawn.add(client);
    this.#unwanted.add(client);
    this.#parts.socket.send({ type: "withdraw", client_id: client });
  }

  #halt(run) {
    this.#stopping = run;
    this.#parts.transcript.live(run)?.describe("Stopping…");
    this.#parts.socket.send({ type: "stop", run });
  }

  async #resume({ active_run: active, last_run: last = null, head_version: headVersion = 0 }) {
    const { transcript, waiting, outbox, socket, frame, asks, announcer } = this.#parts;
    const hello = (this.#hello = {});
    if (active && active === this.#stopping) this.#halt(active);
    waiting.show([]);
    await this.#moved({ head_version: headVersion });
    const newest = active ?? last;
    const isBehind = (newest && !transcript.knows(newest)) || (!active && transcript.isWriting);
    const isCaughtUp = !(isBehind || this.#isBack) || (await this.#catchUp());
    if (hello !== this.#hello) return; // The next connection has begun.
    if (!isCaughtUp) return socket.renew();
    if (isBehind) frame.announceChange();
    this.#isBack = true;
    if (active) {
      this.#follow(active, transcript.clientOf(active));
      announcer.waits(transcript.live(active)?.questions ?? []);
      this.#join(active);
    } else {
      if (this.#run !== null) announcer.ended();
      this.#run = null;
      this.#rest();
    }
    for (const command of outbox) socket.send(command);
    asks.sendAgain();
  }

  // Whether the page has what was said in the meantime.
  async #catchUp() {
    try {
      const { clients, title } = await this.#parts.transcript.catchUp();
      for (const client of clients) this.#confirm(client);
      this.#parts.frame.entitle(title);
      return true;
    } catch (refusal) {
      if (refusal instanceof Refusal) return false;
      throw refusal;
    }
  }

  #join(run) {
    this.#parts.socket.send({ type: "join", run, after: this.#parts.transcript.live(run)?.seq ?? 0 });
  }

  #shown({ type, kind, run, seq }) {
    const { announcer, follower, transcript } = this.#parts;
    const live = transcript.live(run);
    if (kind === "text" || type === "ask") follower.expectNew();
    if (live && (type === "ask" || type === "decided")) announcer.waits(live.questions);
    if (type === "result") this.#parts.frame.announceResult();
    if (seq % ACKNOWLEDGE_EVERY === 0) this.#parts.socket.send({ type: "ack", run, seq });
  }

  // The page already shows this branch or a newer one.
  async #moved({ head_version: headVersion }) {
    const { transcript, frame } = this.#parts;
    if (headVersion <= transcript.headVersion) return;
    const hello = this.#hello;
    try {
      await transcript.refetch();
      frame.announceChange();
    } catch (refusal) {
      if (hello === this.#hello) frame.warn(warningOf(refusal));
    }
  }

  #queued(messages) {
    const isBack = ({ client_id: client }) => this.#withdrawn.has(client);
    for (const { client_id: client } of messages) this.#confirm(client);
    for (const message of messages) {
      if (isBack(message)) this.withdraw(message.client_id);
      else this.#unwanted.delete(message.client_id);
    }
    this.#parts.waiting.show(messages.filter((message) => !isBack(message)));
    if (!messages.some(isBack)) this.#parts.files.cameBack();
    this.#parts.files.dropSent();
  }

  #started(event) {
    this.#confirm(event.client_id);
    this.#parts.waiting.drop(event.client_id);
    this.#parts.transcript.start(event);
    this.#parts.files.dropSent();
    this.#parts.follower.expectNew();
    this.#parts.frame.entitle(event.title);
    this.#follow(event.run, event.client_id);
  }

  // A title is asked for after the answer, and has a cost of its own.
  #titled({ title }) {
    this.#parts.frame.entitle(title);
    this.#parts.frame.announceChange();
  }

  // The server has the message: it needs neither a resend nor a restore.
  #confirm(client) {
    if (this.#parts.outbox.take(client)) this.#parts.composer.save();
  }

  #follow(run, client) {
    if (this.#run === run) return;
    this.#run = run;
    this.#parts.announcer.started();
    const isUnwanted = this.#unwanted.has(client);
    this.#parts.composer.setState(isUnwanted ? "stopping" : "busy");
    if (isUnwanted) this.#halt(run);
  }

  async #finished({ run, status, words }) {
    const { transcript, announcer, frame } = this.#parts;
    if (this.#run === run) this.#run = null;
    // The page may have been fetched after its end.
    if (!transcript.live(run)) return this.#rest();
    announcer.finished(status, words || transcript.live(run).words);
    try {
      frame.entitle(await transcript.finish(run));
      frame.announceChange();
    } catch (refusal) {
      transcript.live(run)?.end();
      frame.warn(warningOf(refusal));
    }
    this.#rest();
  }

  #rest() {
    const { outbox, composer } = this.#parts;
    if (this.#run === null && outbox.isEmpty) composer.setState("idle");
  }

  // What the page has said again; where its run is in view, the transcript has it.
  #known(client) {
    this.#confirm(client);
    this.#parts.transcript.withdraw(client);
    this.#parts.waiting.drop(client);
    this.#rest();
  }

  #refused(event) {
    const { frame, asks } = this.#parts;
    if (!event.client_id) {
      frame.forgetRefusals();
      asks.giveBack();
    }
    frame.explain(event);
    this.#takeBack(event.client_id);
  }

  // What the message says is in the composer again.
  #takeBack(client) {
    const command = this.#parts.outbox.take(client);
    this.#parts.transcript.withdraw(client);
    this.#parts.waiting.drop(client);
    this.#rest();
    if (command?.text) this.#parts.composer.give(command.text);
    if (command?.attachments?.length) this.#parts.files.fetchBack();
  }
}

// A chat that was deleted meanwhile is not there to be reloaded.
const warningOf = ({ status }) => (status === 404 ? "gone" : "unfetched");
