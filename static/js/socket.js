// A reconnecting WebSocket. The caller resends what is needed after a reconnect.

const FIRST_WAIT = 500;
const LONGEST_WAIT = 5_000;
const QUIET = 2_000; // Shorter breaks are nobody's concern.
const SIGNED_OUT = 4401;
const GONE = 4404;
const TOO_MANY = 4429;

export class Socket {
  #url;
  #listener;
  #socket = null;
  #tries = 0;
  #retry = 0;
  #alarm = 0;
  #isSignedOut = false;

  // `listener` has event(object) and link("up" | "down" | "full" | "out" | "gone").
  constructor(path, listener) {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.#url = `${scheme}://${location.host}${path}`;
    this.#listener = listener;
    addEventListener("offline", () => this.#drop());
    addEventListener("online", () => this.#hurry());
    document.addEventListener("visibilitychange", () => document.hidden || this.#hurry());
    addEventListener("pageshow", (event) => event.persisted && this.#hurry());
  }

  connect() {
    clearTimeout(this.#retry);
    this.#socket = new WebSocket(this.#url);
    this.#socket.onmessage = (message) => this.#receive(JSON.parse(message.data));
    this.#socket.onclose = (close) => this.#lost(close.code);
  }

  // Returns false without a connection; the caller keeps the command.
  send(command) {
    if (this.#isSignedOut) this.#hurry(); // Perhaps signed in again, in another tab.
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(command));
    return true;
  }

  // What the page has to fetch after a reconnect could not be fetched: connects again after the longest wait.
  renew() {
    this.#tries = Infinity;
    this.#drop();
  }

  #receive(event) {
    if (event.type === "hello") this.#restored();
    this.#listener.event(event);
  }

  #restored() {
    this.#tries = 0;
    this.#isSignedOut = false;
    this.#silence();
    this.#listener.link("up");
  }

  #silence() {
    clearTimeout(this.#alarm);
    this.#alarm = 0;
  }

  #lost(code) {
    if (code === GONE) return this.#end("gone");
    if (code === SIGNED_OUT) return this.#signedOut();
    if (code === TOO_MANY) {
      this.#tries = Infinity; // The longest wait.
      this.#end("full");
    } else this.#alarm ||= setTimeout(() => this.#listener.link("down"), QUIET);
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.#tries++);
    // Jitter, so that not all pages reconnect to a restarted server at once.
    this.#retry = setTimeout(() => this.connect(), wait * (0.5 + Math.random() / 2));
  }

  #end(state) {
    this.#silence();
    this.#listener.link(state);
  }

  // Once more at once: after a change of the password the browser has another cookie, which is valid.
  #signedOut() {
    if (this.#isSignedOut) return this.#end("out");
    this.#isSignedOut = true;
    this.#retry = setTimeout(() => this.connect());
  }

  // Without a network the browser may take the line for open for minutes, and what is sent waits unseen. A server on
  // this machine is reached again at once.
  #drop() {
    const dropped = this.#socket;
    if (dropped?.readyState !== WebSocket.OPEN) return;
    dropped.onmessage = dropped.onclose = null;
    dropped.close();
    this.#lost();
  }

  // After a wake-up or back online: reconnect immediately.
  #hurry() {
    if (this.#socket?.readyState === WebSocket.CLOSED && this.#retry) this.connect();
  }
}
