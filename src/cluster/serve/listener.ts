/**
 * The internal listener of a data node: for frontends and other nodes, never public.
 *
 *   POST /v1/shard/fragment, /v1/shard/call    as `wire/FORMAT.md`
 *   GET  /health                               open to all: it tells nothing
 *   GET  /metrics
 *   POST /v1/node/drain                        for operators: the node begins to give its shards away
 *
 * Who is let in says `internal-listener.ts`. Answers are made as they are taken: the runtime has written a piece, or copied what the socket
 * did not take, before it asks for the next, so that a frontend that stops reading holds two pieces.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { MemoryPool } from "../../base/memory/server-memory.ts";
import type { MetricRegistry } from "../../base/metrics.ts";
import { REQUEST_BYTES_MAX } from "../wire/limits.ts";
import { AnswerStream } from "./answer-stream.ts";
import {
  bodyLengthOf,
  type InternalListenerOptions,
  type LetIn,
  type PartListener,
  plain,
  startInternalListener,
} from "./internal-listener.ts";
import { STALL_MILLIS } from "./limits.ts";
import type { ServeMetrics } from "./serve-metrics.ts";
import type { ShardService } from "./shard-service.ts";

/** Where a node listens, and to whom. */
export interface ShardListenerOptions extends InternalListenerOptions {
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

type Answers = (request: Uint8Array, peer: string, signal: AbortSignal) => AsyncGenerator<Uint8Array<ArrayBuffer>>;

/** Starts to listen. @throws DbError StorageUnavailable when the address cannot be listened on */
export function startShardListener(options: ShardListenerOptions, parts: ShardListenerParts): PartListener {
  const routes = new ShardRoutes(options.stallMillis ?? STALL_MILLIS, parts);
  const { metrics, clock, logger } = parts;
  const listener = startInternalListener(options, {
    answer: (asked) => routes.answer(asked),
    onRefused: (reason) => metrics.refused.inc({ reason }),
    bodyBytesMax: REQUEST_BYTES_MAX,
    clock,
    logger,
  });
  return {
    port: listener.port,
    renew: (tls) => listener.renew(tls),
    async stop(graceMs) {
      routes.close();
      await listener.rest(graceMs);
      await routes.cutOff();
      await listener.end();
    },
  };
}

/** Answers requests. */
class ShardRoutes {
  private readonly parts: ShardListenerParts;
  private readonly stallMillis: number;
  private readonly open: Set<AnswerStream> = new Set();
  private isClosing = false;

  constructor(stallMillis: number, parts: ShardListenerParts) {
    this.parts = parts;
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

  async answer(asked: LetIn): Promise<Response> {
    const { service, registry } = this.parts;
    switch (asked.pathname) {
      case "/metrics": {
        const all = await registry.ofAllThreads();
        return new Response(await all.metrics(), { headers: { "content-type": all.contentType } });
      }
      case "/v1/shard/fragment":
        return this.answered(asked, (body, peer, signal) => service.fragment(body, peer, signal));
      case "/v1/shard/call":
        return this.answered(asked, (body, peer, signal) => service.call(body, peer, signal));
      case "/v1/node/drain":
        if (asked.request.method !== "POST") return plain(405, "POST");
        return this.parts.drain() ? plain(202, "the node gives its shards away") : plain(503, "the node is no member of the cluster yet");
      default:
        return plain(404, "there is nothing here");
    }
  }

  private async answered({ request, address, lastsAsLongAsItTakes }: LetIn, answers: Answers): Promise<Response> {
    if (request.method === "POST" && this.isClosing) return plain(503, "the node ends");
    const length = bodyLengthOf(request, REQUEST_BYTES_MAX);
    if (length instanceof Response) return length;
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
    lastsAsLongAsItTakes(); // From here on it is ours when an answer is given up.
    return new Response(answer.stream, { headers: { "content-type": "application/octet-stream" } });
  }
}
