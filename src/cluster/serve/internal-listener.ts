/**
 * HTTP/1.1 inside the cluster, never public: who asks is looked at before a byte of the body is read, and what is asked is the routes'.
 *
 *   GET /health      open to all: it tells nothing
 *   all else         Access ─► routes
 *
 * A certificate that is not good ends the handshake. The runtime tells nothing of that here; whoever asked says so.
 */
import type { Server } from "bun";
import type { Clock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { Seldom } from "../../base/process/seldom.ts";
import { StatusCode } from "../../base/status-code.ts";
import { isLoopback } from "../../base/text/network-address.ts";
import { Access, type Refusal } from "./access.ts";
import { REFUSALS_SAID_MAX, REFUSALS_SAID_MILLIS } from "./limits.ts";

/** Where a process listens to others of its cluster, and to whom. */
export interface InternalListenerOptions {
  readonly hostname: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Shared by all nodes and frontends. Absent: none. */
  readonly secret?: string | undefined;
  /** PEM. With `ca`, peers have to show a certificate of that authority. Absent: no TLS. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string | undefined } | undefined;
}

/** A request of somebody who is let in. */
export interface LetIn {
  readonly request: Request;
  readonly pathname: string;
  /** Of the peer; undefined: it is gone. */
  readonly address: string | undefined;
  /** Takes the request's time limit away. */
  lastsAsLongAsItTakes(this: void): void;
}

/** What a listener works with. */
export interface InternalListenerParts {
  readonly answer: (asked: LetIn) => Promise<Response> | Response;
  /** Called for each request that is not let in. */
  readonly onRefused: (reason: Refusal) => void;
  /** Most bytes of a body. */
  readonly bodyBytesMax: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A listener that runs. */
export interface InternalListener {
  readonly port: number;
  /** Accepts nobody any more, and waits for requests under way for at most `graceMs`. */
  rest(graceMs: number): Promise<void>;
  /** Ends all connections. */
  end(): Promise<void>;
}

/** Seconds without a byte after which a connection ends that has no answer under way. */
const IDLE_SECONDS = 60;

/** Starts to listen. @throws DbError StorageUnavailable when the address cannot be listened on */
export function startInternalListener(options: InternalListenerOptions, parts: InternalListenerParts): InternalListener {
  const server = serve(options, new Door(options, parts), parts.bodyBytesMax);
  const { port = 0 } = server;
  const { secret, tls, hostname } = options;
  const address = `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
  parts.logger.info({ address, tls: tls !== undefined }, "listens to the cluster");
  if (secret === undefined && tls?.ca === undefined && !isLoopback(hostname)) {
    const why = "without cluster.secret and certificates only frontends on this machine are let in";
    parts.logger.warn({ address }, why);
  }
  return {
    port,
    async rest(graceMs) {
      const rested = server.stop();
      const timer = Promise.withResolvers<void>();
      const late = setTimeout(() => timer.resolve(), graceMs);
      await Promise.race([rested, timer.promise]);
      clearTimeout(late);
    },
    end: () => server.stop(true),
  };
}

function serve({ hostname, port, tls }: InternalListenerOptions, door: Door, bodyBytesMax: number): Server<undefined> {
  try {
    return Bun.serve({
      hostname,
      port,
      maxRequestBodySize: bodyBytesMax,
      idleTimeout: IDLE_SECONDS,
      ...(tls === undefined
        ? {}
        : {
            tls: {
              cert: tls.cert,
              key: tls.key,
              ...(tls.ca === undefined ? {} : { ca: tls.ca, requestCert: true, rejectUnauthorized: true }),
            },
          }),
      fetch: (request, server) => door.answer(request, server),
    });
  } catch (error) {
    throw new DbError(StatusCode.StorageUnavailable, `cannot listen to the cluster on ${hostname}:${port}: ${String(error)}`, {
      cause: error,
    });
  }
}

/** Lets requests in. */
class Door {
  private readonly parts: InternalListenerParts;
  private readonly access: Access;
  private readonly said: Seldom;

  constructor({ secret, tls }: InternalListenerOptions, parts: InternalListenerParts) {
    this.parts = parts;
    this.access = new Access({ secret, asksCertificate: tls?.ca !== undefined });
    this.said = new Seldom(parts.clock, REFUSALS_SAID_MAX, REFUSALS_SAID_MILLIS);
  }

  async answer(request: Request, server: Server<undefined>): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/health") return request.method === "GET" ? Response.json({}) : plain(405, "GET");
    const address = server.requestIP(request)?.address;
    const refusal = this.access.refusal(request.headers.get("authorization"), address);
    if (refusal !== undefined) return this.refuse(refusal, address);
    return await this.parts.answer({ request, pathname, address, lastsAsLongAsItTakes: () => server.timeout(request, 0) });
  }

  private refuse(refusal: Refusal, address: string | undefined): Response {
    const { onRefused, logger } = this.parts;
    onRefused(refusal);
    const unsaid = this.said.take();
    if (unsaid !== undefined) logger.warn({ peer: address, refusal, unsaid }, "a request of a stranger was refused");
    return refusal === "not this machine"
      ? plain(403, "without cluster.secret and certificates only this machine is let in")
      : plain(401, `cluster.secret: ${refusal}`);
  }
}

/** An answer that is a line. */
export function plain(status: number, text: string): Response {
  return new Response(text, { status, headers: { "content-type": "text/plain; charset=utf-8" } });
}

/** How long the body of a POST is; an answer: it is refused. */
export function bodyLengthOf({ method, headers }: Request, bytesMax: number): number | Response {
  if (method !== "POST") return plain(405, "POST");
  const length = Number(headers.get("content-length") ?? Number.NaN);
  if (!Number.isSafeInteger(length) || length < 0) return plain(411, "a request has a length");
  return length > bytesMax ? plain(413, `a request has at most ${bytesMax} bytes`) : length;
}
