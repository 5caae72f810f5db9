/**
 * `ShardClient` by the bytes of `FORMAT.md`: it asks whoever owns the shard, and asks again, elsewhere or later, as long as nothing of the
 * answer was handed out.
 *
 *   owner ─► ask ─► pieces … end
 *     ▲       └─ nobody there, refused, silent, cut off ─► owners change, or 200 ms ─┐
 *     └──────────────────────────────────────────────────────────────────────────────┘   for 15 s since a node worked on it
 *
 * A request that was under way on several nodes when they went away is not given to another one: it may be why they did.
 *
 * What changes rows by what it finds there (delete, truncate) is asked again only where it is sure that nothing had begun.
 */
import { DbError } from "../../base/error.ts";
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { waitWithin } from "../../base/scheduler/wait-within.ts";
import { errorOfTold } from "../../base/told-error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Clock } from "../../base/clock.ts";
import type { LogService } from "../port/log-service.ts";
import { portFailureOf } from "../port/port-error.ts";
import { FragmentReader, readAnswer } from "./answer-reader.ts";
import { FrameReader, type ReadFrame } from "./frames.ts";
import { AGAIN_MILLIS, OWNER_MILLIS } from "./limits.ts";
import { type NodeRequest, type NodeTransport, NotAnswered } from "./node-transport.ts";
import { encodeCall, encodeFragment } from "./requests.ts";
import { typesOfPlan } from "./plan-types.ts";
import type { ShardClient } from "./shard-client.ts";
import type { FragmentPiece, FragmentRequest, ShardAnswers, ShardCall } from "./shard-request.ts";
import { SharedQuestions } from "./shared-questions.ts";

/** Who owns shards, as the leases say. */
export interface Owners {
  ownerOf(shard: number): { readonly address: string } | undefined;
  /** Resolves when anything differs from now. */
  nextChange(): Promise<void>;
}

/** What a client is made of. */
export interface ShardClientParts {
  readonly shards: number;
  readonly owners: Owners;
  readonly transport: NodeTransport;
  /** Whose numbers `newest` tells. */
  readonly log: Pick<LogService, "last">;
  readonly clock: Pick<Clock, "monotonicMillis">;
  /** How long it looks for an owner that answers. Default: `OWNER_MILLIS`. */
  readonly ownerMillis?: number;
}

/** Most nodes that may go away with a request. */
const LOST_MAX = 3;

/** Whether a call may be done twice. */
const MAY_REPEAT: Readonly<Record<ShardCall["kind"], boolean>> = {
  flush: true,
  compact: true,
  "build-indexes": true,
  facts: true,
  files: true,
  // Done again they hit rows that were written meanwhile, or count none of those that are gone.
  truncate: false,
  delete: false,
  "delete-keys": false,
};

/** See the file header. */
export class NodeShardClient implements ShardClient {
  readonly shards: number;
  private readonly parts: ShardClientParts;
  private readonly questions: SharedQuestions<number, number>;

  constructor(parts: ShardClientParts) {
    this.parts = parts;
    this.shards = parts.shards;
    this.questions = new SharedQuestions((shard) => this.last(shard));
  }

  newest(shard: number): Promise<number> {
    return this.questions.ask(shard);
  }

  /** Waits while the log's servers elect. */
  private async last(shard: number): Promise<number> {
    const { log, clock, ownerMillis = OWNER_MILLIS } = this.parts;
    const until = clock.monotonicMillis() + ownerMillis;
    for (;;) {
      try {
        return await log.last(shard);
      } catch (error) {
        if (portFailureOf(error) !== "unavailable" || clock.monotonicMillis() >= until) throw error;
        await Bun.sleep(AGAIN_MILLIS);
      }
    }
  }

  async *fragment(request: FragmentRequest, signal: AbortSignal): AsyncGenerator<FragmentPiece> {
    const types = typesOfPlan(request.plan);
    const body = encodeFragment(request);
    const search = this.search(request.shard, signal);
    for (;;) {
      const address = await search.owner();
      let isOut = false;
      try {
        const reader = new FragmentReader(types);
        for await (const frame of this.frames({ address, path: "/v1/shard/fragment", body, mayReuse: true }, signal)) {
          const piece = reader.read(frame);
          if (piece.kind !== "refused") search.heard();
          if (piece.kind === "alive") continue;
          if (piece.kind === "failed") throw errorOfTold(piece.error);
          if (piece.kind === "refused") throw refusalOf(piece.error.message, errorOfTold(piece.error));
          isOut = true;
          yield piece;
          if (piece.kind === "end") return;
        }
        throw new NotAnswered(`node ${address} ended its answer before the end`, true);
      } catch (error) {
        if (!(error instanceof NotAnswered)) throw error;
        if (isOut) throw cutOff(request.shard, error);
        await search.again(error);
      }
    }
  }

  async call<C extends ShardCall>(call: C, signal: AbortSignal = new AbortController().signal): Promise<ShardAnswers[C["kind"]]> {
    const kind: C["kind"] = call.kind;
    const body = encodeCall(call);
    const mayRepeat = MAY_REPEAT[kind];
    const search = this.search(call.shard, signal);
    for (;;) {
      const address = await search.owner();
      try {
        for await (const frame of this.frames({ address, path: "/v1/shard/call", body, mayReuse: mayRepeat }, signal)) {
          const piece = readAnswer(kind, frame);
          if (piece.kind === "alive") search.heard();
          if (piece.kind === "answer") return piece.answer;
          if (piece.kind === "failed") throw errorOfTold(piece.error);
          if (piece.kind === "refused") throw refusalOf(piece.error.message, errorOfTold(piece.error));
        }
        throw new NotAnswered(`node ${address} ended its answer before the end`, true);
      } catch (error) {
        if (!(error instanceof NotAnswered)) throw error;
        if (error.mayHaveBegun && !mayRepeat) throw unknownEnd(call, error);
        await search.again(error);
      }
    }
  }

  private search(shard: number, signal: AbortSignal): OwnerSearch {
    return new OwnerSearch(shard, this.parts, signal);
  }

  private async *frames(request: NodeRequest, signal: AbortSignal): AsyncGenerator<ReadFrame> {
    const reader = new FrameReader(`node ${request.address}`);
    for await (const piece of this.parts.transport.ask(request, signal)) {
      reader.add(piece);
      for (let frame = reader.next(); frame !== undefined; frame = reader.next()) yield frame;
    }
    if (!reader.isBetween) throw new NotAnswered(`node ${request.address} ended its answer within a frame`, true);
  }
}

/** Looks for the owner of a shard on behalf of one request. */
class OwnerSearch {
  private readonly shard: number;
  private readonly parts: ShardClientParts;
  private readonly signal: AbortSignal;
  private readonly millis: number;
  private since: number;
  /** When a node said last that it works on the request. */
  private heardMillis: number | undefined;
  private lost = 0;
  private lastWhy: NotAnswered | undefined;

  constructor(shard: number, parts: ShardClientParts, signal: AbortSignal) {
    this.shard = shard;
    this.parts = parts;
    this.signal = signal;
    this.millis = parts.ownerMillis ?? OWNER_MILLIS;
    this.since = parts.clock.monotonicMillis();
  }

  /** The address of the owner, once there is one. @throws DbError StorageUnavailable, Cancelled */
  async owner(): Promise<string> {
    const { owners } = this.parts;
    for (;;) {
      throwIfCancelled(this.signal);
      const change = owners.nextChange(); // Before it is looked: none is missed.
      const owner = owners.ownerOf(this.shard);
      if (owner !== undefined) return owner.address;
      await this.waitFor(change, this.left());
    }
  }

  /** Says that a node works on the request. */
  heard(): void {
    this.heardMillis = this.parts.clock.monotonicMillis();
  }

  /** Resolves when it is worth asking again. @throws DbError StorageUnavailable, Cancelled */
  async again(why: NotAnswered): Promise<void> {
    this.lastWhy = why;
    if (why.mayHaveBegun && this.heardMillis !== undefined) {
      this.since = this.heardMillis;
      this.lost++;
    }
    this.heardMillis = undefined;
    if (this.lost >= LOST_MAX) throw this.unavailable(`${this.lost} nodes went away while they worked on it; ${why.message}`);
    const left = this.left();
    await this.waitFor(this.parts.owners.nextChange(), Math.min(AGAIN_MILLIS, left));
  }

  private left(): number {
    const left = this.since + this.millis - this.parts.clock.monotonicMillis();
    if (left > 0) return left;
    throw this.unavailable(this.lastWhy?.message ?? "no node owns it");
  }

  private unavailable(why: string): DbError {
    const options = { cause: this.lastWhy, retryAfterSeconds: 1 };
    return new DbError(StatusCode.StorageUnavailable, `cannot reach shard ${this.shard}: ${why}`, options);
  }

  private async waitFor(change: Promise<void>, millis: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, millis);
    try {
      await waitWithin(Promise.race([change, promise]), { signal: this.signal });
    } finally {
      clearTimeout(timer);
    }
  }
}

function refusalOf(why: string, cause: Error): NotAnswered {
  return new NotAnswered(why, false, cause);
}

function cutOff(shard: number, cause: NotAnswered): DbError {
  const why = `${cause.message}; part of its rows had come already; run it again`;
  return new DbError(StatusCode.StorageUnavailable, `cannot read all of shard ${shard}: ${why}`, { cause, retryAfterSeconds: 1 });
}

function unknownEnd({ kind, shard }: ShardCall, cause: NotAnswered): DbError {
  const why = `${cause.message}; nobody knows whether it was done`;
  return new DbError(StatusCode.StorageUnavailable, `cannot ${kind} in shard ${shard}: ${why}`, { cause });
}
