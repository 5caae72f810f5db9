/**
 * TCP ports of this machine, for servers that are told theirs. Ports that the system gives out by itself are left alone: an outgoing
 * connection of another test might have one a moment later. Source: `net.ipv4.ip_local_port_range`, 32768 to 60999 where nobody set it.
 */
import { randomInt } from "node:crypto";

const PORT_MIN = 10_240;
const PORTS = 32_768 - PORT_MIN;
const TRIES_MAX = 100;

/** Given out by this process before: who has one may not listen yet. */
const given: Set<number> = new Set();

/** A port of 127.0.0.1 that nobody listens on now. Another process may take it before the caller does. @throws Error where none is found */
export function freePort(): number {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = PORT_MIN + randomInt(PORTS);
    if (given.has(port) || !isFree(port)) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no free port of 127.0.0.1 among ${TRIES_MAX} from ${PORT_MIN} to ${PORT_MIN + PORTS - 1}`);
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data: () => undefined } }).stop(true);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return false;
    throw error;
  }
}
