/**
 * The HTTP listener of an ingest thread: serves writes by itself, and passes every other request on to the thread that owns the tables. It
 * shares its address with the other threads' listeners; the system spreads connections over them.
 */
import { forwardTo } from "./forward.ts";
import { type HttpListener, openListener } from "./listener.ts";
import { FORWARDED_MAX, FORWARDED_PROBES_MAX } from "./limits.ts";
import type { IngestServerOptions } from "./options.ts";
import { HttpService } from "./service.ts";
import { writeRoutes } from "./protocols/write-routes.ts";

/**
 * Starts the listener.
 *
 * @param owner path of the socket of the thread that owns the tables (`HttpServer.listenForForwarded`)
 * @param threads how many threads pass requests on
 * @throws DbError StorageUnavailable when the address cannot be listened on
 */
export function startIngestServer(options: IngestServerOptions, owner: string, threads: number): HttpListener {
  const service = new HttpService(options, {
    routes: (metrics, failures) => writeRoutes(options, metrics, failures, undefined),
    forward: forwardTo(owner, perThread(FORWARDED_MAX, threads), perThread(FORWARDED_PROBES_MAX, threads)),
  });
  return openListener(options, service);
}

function perThread(most: number, threads: number): number {
  return Math.max(1, Math.floor(most / threads));
}
