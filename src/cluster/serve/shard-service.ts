/**
 * A node's answers to frontends, whatever carries them: bytes of a request in, bytes of the answer out.
 *
 *   request ─► shard is here ─► turn ─► shard has seen what it must have seen ─► plan over its table ─► frames ─► pieces
 *              └─ no: refused   └─ RateLimited   └─ late, lost: refused             └─ failed
 *
 * "Refused" says that nothing was begun. A shard that is lost while rows come fails the answer if some are out, and is refused otherwise.
 * Nothing runs ahead of the reader: work goes on when the next piece is asked for.
 */
import { AssertionError } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { MemoryBudget } from "../../base/memory/memory-budget.ts";
import type { MemoryPool } from "../../base/memory/server-memory.ts";
import { Pace } from "../../base/scheduler/pace.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { waitWithin } from "../../base/scheduler/wait-within.ts";
import { StatusCode } from "../../base/status-code.ts";
import { toldError } from "../../base/told-error.ts";
import type { QueryWorkers } from "../../query/operator/contract/query-workers.ts";
import { PlanRun } from "../../query/workers/plan-run.ts";
import type { SpillStore } from "../../table/spill-space.ts";
import type { ShardHost } from "../shard/shard-host.ts";
import { FRAME, type Frame } from "../wire/frames.ts";
import { decodeCall, decodeFragments, encodeAnswer, valueBytes } from "../wire/requests.ts";
import type { FragmentRequest, ShardCall, ShardMoment } from "../wire/shard-request.ts";
import { fragmentEnd, toldError as toldErrorShape } from "../wire/shapes.ts";
import { FragmentFrames } from "./fragment-frames.ts";
import { gatheredBytes } from "./gathered-bytes.ts";
import { REACH_MILLIS } from "./limits.ts";
import { partsInOrder } from "./parts-in-order.ts";
import type { AskedRequest, BegunRequest, RunningRequests } from "./running-requests.ts";
import type { ServeMetrics } from "./serve-metrics.ts";
import { doCall } from "./shard-calls.ts";
import { SharedPlan } from "./shared-plan.ts";
import { StreamSeries } from "./stream-series.ts";

/** Shards that are open here. */
export interface ShardHosts {
  get(shard: number): ShardHost | undefined;
}

/** The catalogue as this node follows it. */
export interface FollowedCatalog {
  /** Resolves when entries up to `version` are in force. @throws DbError StorageUnavailable, Cancelled */
  reach(version: number, signal?: AbortSignal): Promise<void>;
}

/** What answers are made with. */
export interface ShardServiceParts {
  readonly hosts: ShardHosts;
  readonly catalog: FollowedCatalog;
  readonly running: RunningRequests;
  readonly scheduler: Scheduler;
  readonly logger: Logger;
  readonly metrics: ServeMetrics;
  /** Memory of all requests together. */
  readonly pool: MemoryPool;
  /** Most bytes of one of them, whatever the frontend allows. */
  readonly memoryBytesMax: number;
  /** Where rows go that do not fit in memory. Default: nowhere. */
  readonly spill?: SpillStore | undefined;
  /** Other threads for large scans. Default: none. */
  readonly workers?: QueryWorkers | undefined;
  /** How long a request waits for what its shard must have seen. Default: `REACH_MILLIS`. */
  readonly reachMillis?: number;
}

/** What one request works with. */
interface Work {
  readonly host: ShardHost;
  readonly signal: AbortSignal;
  readonly begun: BegunRequest;
}

/** How requests end, for the metrics. */
type Result = "done" | "refused" | "failed" | "left";

/** What changes nothing, and may be asked again elsewhere. */
const READS: ReadonlySet<AskedRequest["kind"]> = new Set(["fragment", "facts", "files"]);

/** See the file header. */
export class ShardService {
  private readonly parts: ShardServiceParts;

  constructor(parts: ShardServiceParts) {
    this.parts = parts;
  }

  /**
   * The answer to a fragment over some shards, in pieces; each is valid until the next one is asked for. Ends early when the signal fires.
   *
   * @param peer who asks
   */
  fragment(request: Uint8Array, peer: string, signal: AbortSignal): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const frames = async function* (this: ShardService): AsyncGenerator<Frame> {
      const { shards, ...same } = decodeFragments(request);
      const plan = new SharedPlan(same.plan, same.tableId);
      const parts = shards.map((own) => {
        const fragment: FragmentRequest = { ...same, ...own };
        const asked = { kind: "fragment" as const, shard: own.shard, tableId: same.tableId, peer };
        return this.served(asked, fragment, signal, (work) => this.rows(fragment, plan, work));
      });
      yield* partsInOrder(parts);
    };
    return this.bytes(frames.call(this), signal);
  }

  /** The answer to a call. */
  call(request: Uint8Array, peer: string, signal: AbortSignal): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const frames = async function* (this: ShardService): AsyncGenerator<Frame> {
      const call = decodeCall(request);
      const { kind, shard, tableId } = call;
      yield* this.served({ kind, shard, tableId, peer }, call, signal, (work) => this.answer(call, work));
    };
    return this.bytes(frames.call(this), signal);
  }

  private async *bytes(frames: AsyncGenerator<Frame>, signal: AbortSignal): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for await (const piece of gatheredBytes(this.caught(frames, signal))) {
      this.parts.metrics.bytes.inc(piece.length);
      yield piece;
    }
  }

  /** What fails before a request is understood. */
  private async *caught(frames: AsyncGenerator<Frame>, signal: AbortSignal): AsyncGenerator<Frame> {
    try {
      yield* frames;
    } catch (error) {
      if (!signal.aborted) yield this.failed(error);
    }
  }

  /** Runs a request in its turn, once the shard has seen what it must have seen. */
  private async *served(
    asked: AskedRequest,
    moment: ShardMoment,
    signal: AbortSignal,
    work: (work: Work) => AsyncGenerator<Frame>,
  ): AsyncGenerator<Frame> {
    const { hosts, running, metrics, scheduler } = this.parts;
    const since = scheduler.clock.monotonicMillis();
    let result: Result = "left";
    let begun: BegunRequest | undefined;
    try {
      const host = hosts.get(asked.shard);
      if (host === undefined) {
        result = "refused";
        return yield refused(new DbError(StatusCode.StorageUnavailable, `shard ${asked.shard} is not on this node`));
      }
      begun = await running.begin(asked, signal);
      const behind = await this.behind(host, moment, signal);
      if (behind !== undefined) {
        result = "refused";
        return yield refused(behind);
      }
      let isOut = false;
      try {
        for await (const frame of work({ host, signal, begun })) {
          isOut = true;
          yield frame;
        }
        result = "done";
      } catch (error) {
        throwIfCancelled(signal);
        const isLost = await this.isLost(host);
        const mayAgain = isLost && !isOut && READS.has(asked.kind);
        result = mayAgain ? "refused" : "failed";
        yield mayAgain ? refused(error) : this.failed(isLost ? lost(asked, error) : error);
      }
    } catch (error) {
      if (signal.aborted) return;
      result = "failed";
      yield this.failed(error);
    } finally {
      begun?.end();
      metrics.ended.inc({ kind: asked.kind, result });
      metrics.seconds.observe({ kind: asked.kind }, (scheduler.clock.monotonicMillis() - since) / 1000);
    }
  }

  /** Whether a shard is not served here any more: what happens to its tables then is no error of theirs. */
  private async isLost(host: ShardHost): Promise<boolean> {
    if (this.parts.hosts.get(host.shard) !== host) return true;
    const [open] = await Promise.allSettled([host.reach(0)]);
    return open.status === "rejected";
  }

  /** Why the shard has not seen what it must have seen, after a bounded wait; undefined: it has. @throws DbError Cancelled */
  private async behind(host: ShardHost, { catalogVersion, least }: ShardMoment, signal: AbortSignal): Promise<unknown> {
    const { catalog, reachMillis = REACH_MILLIS } = this.parts;
    const enough = new AbortController();
    const end = (): void => enough.abort(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    const late = (): DbError =>
      new DbError(
        StatusCode.StorageUnavailable,
        `shard ${host.shard} has not seen record ${least} and version ${catalogVersion} of the catalogue within ${reachMillis / 1000} s`,
        { retryAfterSeconds: 1 },
      );
    // Records that need a version wait for it themselves: one after the other takes no longer.
    const reached = catalog.reach(catalogVersion, enough.signal).then(() => host.reach(least, enough.signal));
    try {
      await waitWithin(reached, { millis: reachMillis, late, signal });
      return undefined;
    } catch (error) {
      throwIfCancelled(signal);
      return error;
    } finally {
      signal.removeEventListener("abort", end);
      enough.abort();
      void Promise.allSettled([reached]); // Nobody waits for it any more.
    }
  }

  private async *rows(fragment: FragmentRequest, shared: SharedPlan, { host, signal, begun }: Work): AsyncGenerator<Frame> {
    const { scheduler, workers } = this.parts;
    const { clock } = scheduler;
    const room = this.room(fragment.memoryBytesMax, begun);
    let series: StreamSeries | undefined;
    let run: PlanRun | undefined;
    try {
      const { budget, spill } = room;
      const table = host.table(fragment.tableId);
      const plan = shared.over(table, budget.part("plan").reserve);
      const parts = { signal, clock, pace: new Pace(scheduler), budget, spill, workers: fragment.wantsRuns ? undefined : workers };
      run = new PlanRun(plan, fragment, parts);
      // Rows of the scan are numbered as the run's own context has it.
      series = fragment.wantsRuns ? new StreamSeries(table, run.context.series.of(table), budget) : undefined;
      const frames = new FragmentFrames(series);
      let workMs = 0;
      for (;;) {
        const since = clock.monotonicMillis();
        const next = await run.batches.next();
        workMs += clock.monotonicMillis() - since;
        if (next.done === true) break;
        throwIfCancelled(signal);
        yield* frames.of(next.value);
      }
      yield { kind: FRAME.end, payload: valueBytes(fragmentEnd, { workMs, metrics: run.chain() }) };
    } finally {
      series?.close();
      await run?.batches.return?.();
      await room.close();
    }
  }

  private async *answer(call: ShardCall, { host, signal, begun }: Work): AsyncGenerator<Frame> {
    const { scheduler } = this.parts;
    const room = this.room(Number.POSITIVE_INFINITY, begun);
    try {
      const { budget } = room;
      const answer = await doCall(call, host, { signal, clock: scheduler.clock, pace: new Pace(scheduler), budget });
      yield { kind: FRAME.answer, payload: encodeAnswer(call.kind, answer) };
    } finally {
      await room.close();
    }
  }

  /** Memory and disk of one request. */
  private room(allowedBytes: number, begun: BegunRequest): RequestRoom {
    const { pool, memoryBytesMax, spill } = this.parts;
    const account = pool.account();
    const session = spill?.session();
    const budget = new MemoryBudget(Math.min(allowedBytes, memoryBytesMax), account);
    begun.holds(() => budget.used);
    return {
      budget,
      spill: session,
      async close() {
        account.close();
        await session?.close();
      },
    };
  }

  private failed(error: unknown): Frame {
    if (!(error instanceof DbError)) {
      const what = error instanceof AssertionError ? "a broken invariant" : "a bug";
      this.parts.logger.error({ error: error instanceof Error ? error.stack : String(error) }, `a request of a frontend met ${what}`);
    }
    return { kind: FRAME.failed, payload: valueBytes(toldErrorShape, toldError(error)) };
  }
}

/** See `ShardService.room`. */
interface RequestRoom {
  readonly budget: MemoryBudget;
  readonly spill: ReturnType<SpillStore["session"]> | undefined;
  close(): Promise<void>;
}

/** The error of a shard that went away while something was done with it. */
function lost({ kind, shard }: AskedRequest, cause: unknown): DbError {
  const why = "it went to another node meanwhile";
  if (READS.has(kind)) {
    return new DbError(StatusCode.StorageUnavailable, `cannot read all of shard ${shard}: ${why}; run it again`, {
      cause,
      retryAfterSeconds: 1,
    });
  }
  return new DbError(StatusCode.StorageUnavailable, `cannot ${kind} in shard ${shard}: ${why}; nobody knows whether it was done`, {
    cause,
  });
}

function refused(error: unknown): Frame {
  return { kind: FRAME.refused, payload: valueBytes(toldErrorShape, toldError(error)) };
}
