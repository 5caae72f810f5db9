/**
 * A listening socket in front of a service: opened, and stopped with grace.
 */
import { DbError, errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import { MARK_MS } from "../connections/limits.ts";
import { CONNECTION_IDLE_SECONDS } from "./limits.ts";
import type { IngestServerOptions } from "./options.ts";
import type { HttpService } from "./service.ts";

/** A running listener. */
export interface HttpListener {
  /** The port it listens on: the real one when any free port was asked for. */
  readonly port: number;
  /**
   * Stops accepting, lets requests in flight finish for at most `graceMs`, then closes every connection. Resolves when all are closed.
   * Stop it before the database closes, so that a write in flight is still acknowledged.
   */
  stop(graceMs: number): Promise<void>;
}

/** Listens on the address of the options. @throws DbError StorageUnavailable when it cannot be listened on */
export function openListener(options: IngestServerOptions, service: HttpService): HttpListener {
  const server = listen(options, service);
  const { port } = server;
  if (port === undefined) throw new DbError(StatusCode.Internal, "cannot read the port of the HTTP listener");
  const marking = setInterval(() => service.markUnderway(), MARK_MS);
  marking.unref();
  return {
    port,
    stop: async (graceMs) => {
      clearInterval(marking);
      service.startStopping();
      await stopGracefully(server, graceMs, options.logger);
    },
  };
}

/**
 * Tries to listen and lets go at once, so that a taken port is told before a long start.
 *
 * @throws DbError StorageUnavailable as `openListener` would
 */
export function probeAddress(hostname: string, port: number): void {
  try {
    // Without routes or a handler of use: it is gone before anyone can connect.
    void Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response(undefined, { status: 503 }) }).stop(true);
  } catch (cause) {
    throw new DbError(StatusCode.StorageUnavailable, `cannot listen on ${hostname}:${port}: ${listenFailure(cause)}`, { cause });
  }
}

function listen(options: IngestServerOptions, service: HttpService): Bun.Server<undefined> {
  const { hostname, port } = options;
  try {
    return Bun.serve({
      hostname,
      port,
      development: false,
      // Said aloud: without it `development: false` lets a second process share the port, and each gets half of the requests.
      reusePort: options.sharesPort,
      idleTimeout: CONNECTION_IDLE_SECONDS,
      // The runtime would answer by itself, without our text and headers, so its limit is out of reach and ours is kept in body.ts.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: (request, server) => service.handle(request, server),
      error: (error) => service.lastResort(error),
    });
  } catch (cause) {
    throw new DbError(StatusCode.StorageUnavailable, `cannot listen on ${hostname}:${port}: ${listenFailure(cause)}`, { cause });
  }
}

function listenFailure(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  switch (code) {
    case "EADDRINUSE":
      return "address in use; stop the other process or set another http.addr";
    case "EACCES":
      return "not permitted; ports below 1024 need privileges, set another http.addr";
    case "EADDRNOTAVAIL":
      return "no interface of this machine has that address; set another http.addr";
    default:
      return errorText(cause);
  }
}

/** Stops a server; what has not finished after `graceMs` is cut. */
export async function stopGracefully(server: Bun.Server<undefined>, graceMs: number, logger: Logger): Promise<void> {
  const drained = server.stop(false).then(() => true);
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), graceMs);
  const done = await Promise.race([drained, late.promise]);
  clearTimeout(timer);
  if (done) return;
  logger.warn({ pending: server.pendingRequests, graceMs }, "HTTP closes requests that did not finish in time");
  await server.stop(true);
}
