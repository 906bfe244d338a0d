// What the server says, and what it changes on the page.

const ACKNOWLEDGE_EVERY = 64; // Events; the server pauses when it is a few hundred ahead.

export class Listener {
  #parts;
  #run = null;
  #wantsStop = false;
  #isBack = false;

  constructor(parts) {
    this.#parts = parts;
  }

  receive(event) {
    const { transcript } = this.#parts;
    if (event.type === "hello") this.#resume(event);
    else if (event.type === "moved") this.#moved(event);
    else if (event.type === "titled") this.#parts.frame.entitle(event.title);
    else if (event.type === "refused") this.#refused(event);
    else if (event.type === "queue") this.#queued(event.messages);
    else if (event.type === "started") this.#started(event);
    else if (event.type === "finished") this.#finished(event);
    else if (transcript.show(event)) this.#shown(event);
    else this.#join(event.run);
  }

  // Ends the run in view; one that has no name yet as soon as it has one.
  stop() {
    this.#wantsStop = this.#run === null;
    if (this.#run === null) return;
    this.#parts.transcript.live(this.#run)?.describe("Stopping…");
    this.#parts.socket.send({ type: "stop", run: this.#run });
  }

  async #resume({ active_run: active, moves = 0 }) {
    const { transcript, waiting, outbox, socket } = this.#parts;
    waiting.show([]);
    await this.#moved({ moves });
    const isBehind = active ? !transcript.knows(active) : transcript.isWriting;
    if (isBehind || this.#isBack) (await transcript.catchUp()).forEach((client) => this.#confirm(client));
    this.#isBack = true;
    if (active) {
      this.#follow(active);
      this.#join(active);
    } else {
      this.#run = null;
      this.#rest();
    }
    for (const command of outbox) socket.send(command);
  }

  #join(run) {
    this.#parts.socket.send({ type: "join", run, after: this.#parts.transcript.live(run)?.seq ?? 0 });
  }

  #shown({ type, run, seq }) {
    if (type === "result") this.#parts.frame.announceResult();
    if (seq % ACKNOWLEDGE_EVERY === 0) this.#parts.socket.send({ type: "ack", run, seq });
  }

  // A page that shows the branch already, or a newer one, has moved by itself.
  async #moved({ moves }) {
    const { transcript, frame } = this.#parts;
    if (moves <= transcript.moves) return;
    try {
      await transcript.refetch();
      frame.announceChange();
    } catch {
      frame.warn("unfetched");
    }
  }

  #queued(messages) {
    for (const { client_id: client } of messages) this.#confirm(client);
    this.#parts.waiting.show(messages);
    this.#parts.files.cameBack();
  }

  #started(event) {
    this.#confirm(event.client_id);
    this.#parts.waiting.drop(event.client_id);
    this.#parts.transcript.start(event);
    this.#parts.frame.entitle(event.title);
    this.#follow(event.run);
  }

  // The server has it: nothing has to be said again or given back.
  #confirm(client) {
    if (this.#parts.outbox.take(client)) this.#parts.composer.confirm();
  }

  #follow(run) {
    if (this.#run === run) return;
    this.#run = run;
    this.#parts.announcer.started();
    this.#parts.composer.setState(this.#wantsStop ? "stopping" : "busy");
    if (this.#wantsStop) this.stop();
  }

  async #finished({ run, status, words }) {
    const { transcript, announcer, frame } = this.#parts;
    if (!transcript.live(run)) return;
    announcer.finished(status, words || transcript.live(run).words);
    if (this.#run === run) this.#run = null;
    try {
      frame.entitle(await transcript.finish(run));
      frame.announceChange();
    } catch {
      frame.warn("unfetched");
    }
    this.#rest();
  }

  #rest() {
    const { outbox, composer } = this.#parts;
    this.#wantsStop &&= !outbox.isEmpty;
    if (this.#run === null && outbox.isEmpty) composer.setState("idle");
  }

  #refused(event) {
    const command = this.#parts.outbox.take(event.client_id);
    this.#parts.transcript.withdraw(event.client_id);
    this.#parts.frame.explain(event);
    this.#rest();
    if (command?.text) this.#parts.composer.give(command.text);
    if (command?.attachments?.length) this.#parts.files.fetchBack();
  }
}
