/**
 * The internal listener of a node: HTTP/1.1, for frontends and other nodes, never public.
 *
 *   POST /v1/shard/fragment, /v1/shard/call    as `wire/FORMAT.md`
 *   GET  /health                               open to all: it tells nothing
 *   GET  /metrics
 *   POST /v1/node/drain                        for operators: the node begins to give its shards away
 *
 * Who asks is looked at before a byte of the body is read. Answers are made as they are taken: the runtime has written a piece, or copied
 * what the socket did not take, before it asks for the next, so that a frontend that stops reading holds two pieces.
 *
 * A certificate that is not good ends the handshake. The runtime tells nothing of that here; the frontend says so.
 */
import type { Server } from "bun";
import { DbError } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import type { MemoryPool } from "../../base/memory/server-memory.ts";
import type { MetricRegistry } from "../../base/metrics.ts";
import { Seldom } from "../../base/process/seldom.ts";
import type { Clock } from "../../base/clock.ts";
import { StatusCode } from "../../base/status-code.ts";
import { isLoopback } from "../../base/text/network-address.ts";
import { REQUEST_BYTES_MAX } from "../wire/limits.ts";
import { Access, type Refusal } from "./access.ts";
import { AnswerStream } from "./answer-stream.ts";
import { REFUSALS_SAID_MAX, REFUSALS_SAID_MILLIS, STALL_MILLIS } from "./limits.ts";
import type { ServeMetrics } from "./serve-metrics.ts";
import type { ShardService } from "./shard-service.ts";

/** Where a node listens, and to whom. */
export interface ShardListenerOptions {
  readonly hostname: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Shared by all nodes and frontends. Absent: none. */
  readonly secret?: string | undefined;
  /** PEM. With `ca`, frontends have to show a certificate of that authority. Absent: no TLS. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string | undefined } | undefined;
  /** How long a frontend may leave a piece of an answer where it is. Default: `STALL_MILLIS`. */
  readonly stallMillis?: number;
}

/** What a listener works with. */
export interface ShardListenerParts {
  readonly service: Pick<ShardService, "fragment" | "call">;
  /** Has the node give its shards to others and take none any more; it does not wait for that. False: the node is no member yet. */
  readonly drain: () => boolean;
  /** Served at `/metrics`. */
  readonly registry: MetricRegistry;
  readonly metrics: ServeMetrics;
  /** Counts the bodies of requests. */
  readonly pool: MemoryPool;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A listener that runs. */
export interface ShardListener {
  readonly port: number;
  /** Takes no more requests, and waits for those under way for at most `graceMs`; then they are cut off. */
  stop(graceMs: number): Promise<void>;
}

type Answers = (request: Uint8Array, peer: string, signal: AbortSignal) => AsyncGenerator<Uint8Array<ArrayBuffer>>;

/** Starts to listen. @throws DbError StorageUnavailable when the address cannot be listened on */
export function startShardListener(options: ShardListenerOptions, parts: ShardListenerParts): ShardListener {
  const door = new Door(options, parts);
  const server = serve(options, door);
  const { port = 0 } = server;
  const { secret, tls, hostname } = options;
  const address = `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
  parts.logger.info({ address, tls: tls !== undefined }, "listens to frontends");
  if (secret === undefined && tls?.ca === undefined && !isLoopback(hostname)) {
    const why = "without cluster.secret and certificates only frontends on this machine are let in";
    parts.logger.warn({ address }, why);
  }
  return {
    port,
    async stop(graceMs) {
      door.close();
      const rested = server.stop();
      const timer = Promise.withResolvers<void>();
      const late = setTimeout(() => timer.resolve(), graceMs);
      await Promise.race([rested, timer.promise]);
      clearTimeout(late);
      await door.cutOff();
      await server.stop(true);
    },
  };
}

function serve({ hostname, port, tls }: ShardListenerOptions, door: Door): Server<undefined> {
  try {
    return Bun.serve({
      hostname,
      port,
      maxRequestBodySize: REQUEST_BYTES_MAX,
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
    throw new DbError(StatusCode.StorageUnavailable, `cannot listen to frontends on ${hostname}:${port}: ${String(error)}`, {
      cause: error,
    });
  }
}

/** Seconds without a byte after which a connection ends that has no answer under way. */
const IDLE_SECONDS = 60;

/** Lets requests in and answers them. */
class Door {
  private readonly parts: ShardListenerParts;
  private readonly access: Access;
  private readonly said: Seldom;
  private readonly stallMillis: number;
  private readonly open: Set<AnswerStream> = new Set();
  private isClosing = false;

  constructor({ secret, tls, stallMillis = STALL_MILLIS }: ShardListenerOptions, parts: ShardListenerParts) {
    this.parts = parts;
    this.access = new Access({ secret, asksCertificate: tls?.ca !== undefined });
    this.said = new Seldom(parts.clock, REFUSALS_SAID_MAX, REFUSALS_SAID_MILLIS);
    this.stallMillis = stallMillis;
  }

  /** From now on requests are refused. */
  close(): void {
    this.isClosing = true;
  }

  /** Ends all requests under way. */
  async cutOff(): Promise<void> {
    await Promise.all([...this.open].map((answer) => answer.end()));
  }

  async answer(request: Request, server: Server<undefined>): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/health") return request.method === "GET" ? Response.json({}) : plain(405, "GET");
    const address = server.requestIP(request)?.address;
    const refusal = this.access.refusal(request.headers.get("authorization"), address);
    if (refusal !== undefined) return this.refuse(refusal, address);
    const { service, registry } = this.parts;
    switch (pathname) {
      case "/metrics": {
        const all = await registry.ofAllThreads();
        return new Response(await all.metrics(), { headers: { "content-type": all.contentType } });
      }
      case "/v1/shard/fragment":
        return this.answered(request, server, address, (body, peer, signal) => service.fragment(body, peer, signal));
      case "/v1/shard/call":
        return this.answered(request, server, address, (body, peer, signal) => service.call(body, peer, signal));
      case "/v1/node/drain":
        if (request.method !== "POST") return plain(405, "POST");
        return this.parts.drain() ? plain(202, "the node gives its shards away") : plain(503, "the node is no member of the cluster yet");
      default:
        return plain(404, "there is nothing here");
    }
  }

  private refuse(refusal: Refusal, address: string | undefined): Response {
    const { metrics, logger } = this.parts;
    metrics.refused.inc({ reason: refusal });
    const unsaid = this.said.take();
    if (unsaid !== undefined) logger.warn({ peer: address, refusal, unsaid }, "a request of a stranger was refused");
    return refusal === "not this machine"
      ? plain(403, "without cluster.secret and certificates only this machine is let in")
      : plain(401, `cluster.secret: ${refusal}`);
  }

  private async answered(request: Request, server: Server<undefined>, address: string | undefined, answers: Answers): Promise<Response> {
    if (request.method !== "POST") return plain(405, "POST");
    if (this.isClosing) return plain(503, "the node ends");
    const length = Number(request.headers.get("content-length") ?? Number.NaN);
    if (!Number.isSafeInteger(length) || length < 0) return plain(411, "a request has a length");
    if (length > REQUEST_BYTES_MAX) return plain(413, `a request has at most ${REQUEST_BYTES_MAX} bytes`);
    const account = this.parts.pool.account();
    if (!account.take(length)) return plain(429, "the node has no memory for the request");
    let body: Uint8Array;
    try {
      body = new Uint8Array(await request.arrayBuffer());
    } catch {
      account.close();
      return plain(400, "the request did not come whole"); // Nobody is there any more, most likely.
    }
    const controller = new AbortController();
    const answer: AnswerStream = new AnswerStream({
      pieces: answers(body, address ?? "gone", controller.signal),
      controller,
      stallMillis: this.stallMillis,
      onOver: () => {
        request.signal.removeEventListener("abort", leave);
        this.open.delete(answer);
        account.close();
      },
      onFailure: (error) => this.parts.logger.error({ error: String(error) }, "an answer to a frontend was cut off"),
    });
    const leave = (): void => void answer.end(); // It tells of what fails.
    this.open.add(answer);
    request.signal.addEventListener("abort", leave, { once: true });
    if (request.signal.aborted) leave();
    server.timeout(request, 0); // From here on it is ours when an answer is given up.
    return new Response(answer.stream, { headers: { "content-type": "application/octet-stream" } });
  }
}

function plain(status: number, text: string): Response {
  return new Response(text, { status, headers: { "content-type": "text/plain; charset=utf-8" } });
}
