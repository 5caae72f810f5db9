/**
 * `ShardClient` by the bytes of `FORMAT.md`: it asks whoever owns the shard, and asks again, elsewhere or later, as long as nothing of the
 * answer was handed out.
 *
 *   owner ─► ask ─► pieces … end
 *     ▲       └─ nobody there, refused, silent, cut off ─► owners change, or 200 ms ─┐
 *     └──────────────────────────────────────────────────────────────────────────────┘   for 15 s since a node worked on it
 *
 * A node that says nothing is left as soon as another one owns the shard: one that hangs is not waited for.
 * A request that was under way on several nodes when they went away is not given to another one: it may be why they did.
 *
 * Fragments over shards of one owner go as one request, at first: what it refuses, or goes away with, each shard asks for by itself.
 *
 * What changes rows by what it finds there (delete, truncate) is asked again only where it is sure that nothing had begun.
 */
import { DbError, errorText } from "../../base/error.ts";
import { errorOfTold } from "../../base/told-error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Clock } from "../../base/clock.ts";
import type { LogService } from "../port/log-service.ts";
import { portFailureOf } from "../port/port-error.ts";
import { FragmentReader, readAnswer } from "./answer-reader.ts";
import { FrameReader, type ReadFrame } from "./frames.ts";
import { AGAIN_MILLIS, OWNER_MILLIS } from "./limits.ts";
import { type NodeRequest, type NodeTransport, NotAnswered } from "./node-transport.ts";
import { encodeCall, encodeFragments } from "./requests.ts";
import { Attempt, type Owners, OwnerSearch } from "./owner-search.ts";
import { typesOfPlan } from "./plan-types.ts";
import type { ShardClient } from "./shard-client.ts";
import type { FragmentPiece, FragmentRequest, FragmentsRequest, ShardAnswers, ShardCall } from "./shard-request.ts";
import { LAST_FRAMES, SharedAnswer } from "./shared-answer.ts";
import { SharedQuestions } from "./shared-questions.ts";

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
  /** Is told that the log of a shard ends before a message that was there. */
  onWentBack?(shard: number, why: string): void;
}

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

const FRAGMENT_PATH = "/v1/shard/fragment";

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
        const failure = portFailureOf(error);
        // One that is gone is made anew by the shard's owner.
        const isPassing = failure === "unavailable" || failure === "vanished" || failure === "went-back";
        if (!isPassing || clock.monotonicMillis() >= until) throw error;
        if (failure === "went-back") this.parts.onWentBack?.(shard, errorText(error));
        await Bun.sleep(AGAIN_MILLIS);
      }
    }
  }

  fragment(request: FragmentRequest, signal: AbortSignal): AsyncGenerator<FragmentPiece> {
    return this.pieces(request, this.search(request.shard, signal), undefined, signal);
  }

  fragments(requests: readonly FragmentRequest[], signal: AbortSignal): readonly AsyncGenerator<FragmentPiece>[] {
    const answers: AsyncGenerator<FragmentPiece>[] = [];
    for (const [address, places] of this.placesByOwner(requests)) {
      const own = places.map((place) => requests[place] as FragmentRequest);
      const searches = own.map(({ shard }) => this.search(shard, signal));
      const shared = address === undefined || own.length === 1 ? undefined : this.shared(address, own, searches, signal);
      for (const [i, place] of places.entries()) {
        answers[place] = this.pieces(own[i] as FragmentRequest, searches[i] as OwnerSearch, shared?.part(i), signal);
      }
    }
    return answers;
  }

  /** Places of requests, by who owns their shards now. */
  private placesByOwner(requests: readonly FragmentRequest[]): ReadonlyMap<string | undefined, readonly number[]> {
    const { owners } = this.parts;
    return Map.groupBy(requests.keys(), (place) => owners.ownerOf((requests[place] as FragmentRequest).shard)?.address);
  }

  /** One request over shards of one owner. */
  private shared(
    address: string,
    requests: readonly FragmentRequest[],
    searches: readonly OwnerSearch[],
    signal: AbortSignal,
  ): SharedAnswer {
    const shards = requests.map(({ shard }) => shard);
    const frames = this.frames({ address, path: FRAGMENT_PATH, body: bodyOf(requests), mayReuse: true }, shards, true, signal);
    return new SharedAnswer(
      frames,
      searches.map((search) => () => search.heard()),
      signal,
    );
  }

  /** @param part what comes of it in an answer that it shares with others, and is looked at first */
  private async *pieces(
    request: FragmentRequest,
    search: OwnerSearch,
    part: AsyncGenerator<ReadFrame> | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<FragmentPiece> {
    const types = typesOfPlan(request.plan);
    let shared = part;
    let body: Uint8Array<ArrayBuffer> | undefined;
    for (;;) {
      let isOut = false;
      const first = shared;
      shared = undefined;
      try {
        const reader = new FragmentReader(types);
        let frames = first;
        if (frames === undefined) {
          body ??= bodyOf([request]);
          const address = await search.owner();
          frames = this.frames({ address, path: FRAGMENT_PATH, body, mayReuse: true }, [request.shard], true, signal);
        }
        for await (const frame of frames) {
          const piece = reader.read(frame);
          if (piece.kind !== "refused") search.heard();
          if (piece.kind === "alive") continue;
          if (piece.kind === "failed") throw errorOfTold(piece.error);
          if (piece.kind === "refused") throw refusalOf(piece.error.message, errorOfTold(piece.error));
          isOut = true;
          if (piece.kind === "end") await frames.return(undefined); // Nobody may ask for more, and others may wait behind it.
          yield piece;
          if (piece.kind === "end") return;
        }
        throw new NotAnswered(`the owner of shard ${request.shard} ended its answer before the end`, true);
      } catch (error) {
        if (!(error instanceof NotAnswered)) throw error;
        if (first !== undefined) search.begin();
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
        for await (const frame of this.frames(
          { address, path: "/v1/shard/call", body, mayReuse: mayRepeat },
          [call.shard],
          mayRepeat,
          signal,
        )) {
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
    const { owners, clock, ownerMillis } = this.parts;
    return new OwnerSearch(shard, { owners, clock, millis: ownerMillis ?? OWNER_MILLIS }, signal);
  }

  /**
   * @param shards each of which has a last frame
   * @param mayLeave whether it may be left to ask another node
   */
  private async *frames(
    request: NodeRequest,
    shards: readonly number[],
    mayLeave: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<ReadFrame> {
    const { owners, clock, transport } = this.parts;
    const attempt = new Attempt(request.address, shards, { owners, clock }, signal);
    if (mayLeave) attempt.watch();
    const reader = new FrameReader(`node ${request.address}`);
    const pieces = transport.ask(request, attempt.signal)[Symbol.asyncIterator]();
    let open = shards.length;
    let isAnswered = false;
    try {
      for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
        attempt.rests(); // The time until the next piece is asked for is the reader's.
        reader.add(next.value);
        for (let frame = reader.next(); frame !== undefined; frame = reader.next()) {
          isAnswered = LAST_FRAMES.has(frame.kind) && --open === 0;
          if (isAnswered) {
            attempt.end(); // What its reader fires from here on is not meant for the node.
            void readOut(pieces);
          }
          yield frame;
          if (isAnswered) return;
        }
        attempt.waits();
      }
      if (!reader.isBetween) throw new NotAnswered(`node ${request.address} ended its answer within a frame`, true);
    } catch (error) {
      throw attempt.left ?? error;
    } finally {
      attempt.end();
      if (!isAnswered) await pieces.return?.();
    }
  }
}

/** The bytes of requests for one plan, over their shards. */
function bodyOf(requests: readonly FragmentRequest[]): Uint8Array<ArrayBuffer> {
  const [{ shard: _, least: __, ...same }] = requests as readonly [FragmentRequest];
  const shards: FragmentsRequest["shards"] = requests.map(({ shard, least }) => ({ shard, least }));
  return encodeFragments({ ...same, shards });
}

/**
 * Reads an answer behind its last frame, for which nobody waits: its end is under way, and a connection over which all of an answer came
 * can be used again. Number: 3,200 new connections for 800 point queries over four shards before, 4 after.
 */
async function readOut(pieces: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    while ((await pieces.next()).done !== true);
  } catch {
    // Whoever asked has the answer; a connection that fails behind it is not used again.
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
