// Loaded before every JavaScript client: it cannot connect to another machine, and each try is a line in the file OUTSIDE.
import { appendFileSync } from "node:fs";
import net from "node:net";

const connect = net.Socket.prototype.connect;
const isThisMachine = (host) => host === "localhost" || host === "::1" || /^127\./.test(host);

net.Socket.prototype.connect = function (...given) {
  // Node itself passes the normalised arguments as one list.
  const [first, second] = Array.isArray(given[0]) ? given[0] : given;
  const options = typeof first === "object" ? first : { port: first, host: typeof second === "string" ? second : undefined };
  const host = options.host ?? "localhost";
  if (options.path || isThisMachine(host)) return connect.apply(this, given);
  appendFileSync(process.env.OUTSIDE, `${host}\n`);
  process.nextTick(() => this.destroy(new Error(`a test may not reach ${host}`)));
  return this;
};
