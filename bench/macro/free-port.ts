/** TCP ports of this machine. */

/** A port of 127.0.0.1 that nobody listens on now. Another process may take it before the caller does. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { port } = listener;
  listener.stop(true);
  return port;
}
