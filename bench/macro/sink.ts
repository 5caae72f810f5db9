/**
 * A bare HTTP server that reads bodies and answers 204: the ceiling of one HTTP thread on this machine.
 *
 *   bun bench/macro/sink.ts 4990
 *
 * `GET /bytes` answers how many bytes of bodies it has read.
 */
const BODY_BYTES_MAX = 1024 * 1024 * 1024;

/** Starts the sink on a port of 127.0.0.1. */
export function startSink(port: number): Bun.Server<undefined> {
  let bytes = 0;
  return Bun.serve({
    port,
    hostname: "127.0.0.1",
    maxRequestBodySize: BODY_BYTES_MAX,
    idleTimeout: 0,
    async fetch(request) {
      if (request.method === "GET") return new Response(String(bytes));
      const body = await request.bytes(); // Not inside the sum: other requests add to it meanwhile.
      bytes += body.length;
      return new Response(null, { status: 204 });
    },
  });
}

if (import.meta.main) startSink(Number(process.argv[2]));
