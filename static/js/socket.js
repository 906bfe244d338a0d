// A socket that comes back. What has to be said again after a break is the caller's business.

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;
const QUIET = 2_000; // Shorter breaks are nobody's concern.
const GONE = 4404;

export class Socket {
  #url;
  #listener;
  #socket = null;
  #tries = 0;
  #retry = 0;
  #alarm = 0;

  // `listener` has event(object) and link("up" | "down" | "gone").
  constructor(path, listener) {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.#url = `${scheme}://${location.host}${path}`;
    this.#listener = listener;
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

  // False when there is no connection now; the caller keeps the command.
  send(command) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(command));
    return true;
  }

  #receive(event) {
    if (event.type === "hello") this.#restored();
    this.#listener.event(event);
  }

  #restored() {
    this.#tries = 0;
    clearTimeout(this.#alarm);
    this.#alarm = 0;
    this.#listener.link("up");
  }

  #lost(code) {
    if (code === GONE) {
      clearTimeout(this.#alarm);
      this.#listener.link("gone");
      return;
    }
    this.#alarm ||= setTimeout(() => this.#listener.link("down"), QUIET);
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.#tries++);
    // Jitter, so that a restarted server does not meet all its pages at once.
    this.#retry = setTimeout(() => this.connect(), wait * (0.5 + Math.random() / 2));
  }

  // Woken or back online: no reason to sit out the wait.
  #hurry() {
    if (this.#socket?.readyState === WebSocket.CLOSED && this.#retry) this.connect();
  }
}
