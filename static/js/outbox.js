// Unacknowledged commands, sent again under the same id after a reconnect.

export class Outbox {
  #commands = new Map();

  // Returns the command with a new id.
  put(command) {
    const kept = { ...command, client_id: newId() };
    this.#commands.set(kept.client_id, kept);
    return kept;
  }

  // Removes and returns the acknowledged command, or undefined for an unknown id.
  take(client) {
    const command = this.#commands.get(client);
    this.#commands.delete(client);
    return command;
  }

  // What the commands say.
  get texts() {
    return [...this].map((command) => command.text).filter(Boolean);
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
