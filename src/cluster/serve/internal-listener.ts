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
  readonly tls?: InternalTls | undefined;
}

/** PEM of who listens, and of whose certificates count. */
export interface InternalTls {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string | undefined;
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

/** A part's listener that runs. */
export interface PartListener extends Pick<InternalListener, "port" | "renew"> {
  /** Takes no more requests, and waits for those under way for at most `graceMs`; then they are cut off. */
  stop(graceMs: number): Promise<void>;
}

/** A listener that runs. */
export interface InternalListener {
  readonly port: number;
  /**
   * Has new connections use other certificates. The runtime keeps those that a server began with, so another one takes over the port:
   * requests under way end as ever, connections at rest are closed, and one that is being made may be. Frontends ask again.
   *
   * @throws DbError InvalidArguments: they cannot be used, and the last ones stay; StorageUnavailable: nobody listens any more
   */
  renew(tls: InternalTls): void;
  /** Accepts nobody any more, and waits for requests under way for at most `graceMs`. */
  rest(graceMs: number): Promise<void>;
  /** Ends all connections. */
  end(): Promise<void>;
}

/** Seconds without a byte after which a connection ends that has no answer under way. */
const IDLE_SECONDS = 60;

/** Starts to listen. @throws DbError StorageUnavailable when the address cannot be listened on */
export function startInternalListener(options: InternalListenerOptions, parts: InternalListenerParts): InternalListener {
  const listening = new Listening(options, parts);
  const { port } = listening;
  const { secret, tls, hostname } = options;
  const address = `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
  parts.logger.info({ address, tls: tls !== undefined }, "listens to the cluster");
  if (secret === undefined && tls?.ca === undefined && !isLoopback(hostname)) {
    const why = "without cluster.secret and certificates only frontends on this machine are let in";
    parts.logger.warn({ address }, why);
  }
  return listening;
}

/** The server that has the port, and those before it whose requests have not ended. */
class Listening implements InternalListener {
  readonly port: number;
  private readonly door: Door;
  private readonly bodyBytesMax: number;
  private options: InternalListenerOptions;
  private server: Server<undefined>;
  private readonly former: Map<Server<undefined>, Promise<void>> = new Map();
  private isEnding = false;

  constructor(options: InternalListenerOptions, parts: InternalListenerParts) {
    this.door = new Door(options, parts);
    this.bodyBytesMax = parts.bodyBytesMax;
    this.server = serve(options, this.door, this.bodyBytesMax);
    this.port = this.server.port ?? 0;
    this.options = { ...options, port: this.port };
  }

  renew(tls: InternalTls): void {
    if (this.isEnding) return;
    this.restFormer(this.server);
    const renewed = { ...this.options, tls };
    try {
      this.server = serve(renewed, this.door, this.bodyBytesMax);
      this.options = renewed;
    } catch (cause) {
      this.server = serve(this.options, this.door, this.bodyBytesMax);
      throw new DbError(StatusCode.InvalidArguments, `cannot use the certificate: ${String(cause)}`, { cause });
    }
  }

  async rest(graceMs: number): Promise<void> {
    this.isEnding = true;
    const rested = Promise.all([this.server.stop(), ...this.former.values()]);
    const timer = Promise.withResolvers<void>();
    const late = setTimeout(() => timer.resolve(), graceMs);
    await Promise.race([rested, timer.promise]);
    clearTimeout(late);
  }

  async end(): Promise<void> {
    this.isEnding = true;
    await Promise.all([this.server, ...this.former.keys()].map((server) => server.stop(true)));
  }

  /** From here on it listens no more; it is kept until its requests have ended. */
  private restFormer(server: Server<undefined>): void {
    const rested = server.stop();
    this.former.set(server, rested);
    void rested.then(() => this.former.delete(server)); // `rest` and `end` wait for those that are left.
  }
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
