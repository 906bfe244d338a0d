// Commands the server has not answered yet. After a break they are sent again under the same id.

export class Outbox {
  #commands = new Map();

  // Answers the command, with an id of its own.
  put(command) {
    const kept = { ...command, client_id: newId() };
    this.#commands.set(kept.client_id, kept);
    return kept;
  }

  // The command that was answered, or undefined when it is not ours.
  take(client) {
    const command = this.#commands.get(client);
    this.#commands.delete(client);
    return command;
  }

  get isEmpty() {
    return this.#commands.size === 0;
  }

  [Symbol.iterator]() {
    return [...this.#commands.values()].values();
  }
}

// crypto.randomUUID exists on https and localhost only.
function newId() {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0"));
  return hex.join("").replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-8$4-$5");
}
