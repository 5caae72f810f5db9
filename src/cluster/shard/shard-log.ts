/**
 * The log of a shard as its owner follows it.
 *
 *   port ─► messages ─► records ─► the catalogue has what they name ─► there is memory ─► engine
 *                        └ none: another owner may have the shard ─► the manifest takes a commit, or the shard is lost
 *
 * Each owner appends a message without records when it has the manifest, and others to number its deletes behind them. Rows that it takes
 * away leave no other trace in the log. So an owner of before that still is asked, and has come as far as the one who asks knows the log
 * to be, has heard of the next one.
 *
 * It reads ahead by what the port reads ahead. After each message the thread may do other work.
 */
import type { Logger } from "../../base/log.ts";
import { DbError } from "../../base/error.ts";
import { Pace } from "../../base/scheduler/pace.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import { waitWithin } from "../../base/scheduler/wait-within.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Engine } from "../../engine/engine.ts";
import type { FollowedSource, FollowLimits } from "../../engine/follow/followed-source.ts";
import { Fenced } from "../../storage/meta-store/meta-store.ts";
import type { ClusterPort } from "../port/cluster-port.ts";
import { AGAIN_MILLIS } from "../port/insist.ts";
import { FollowedRecords, type ReadMessage } from "./followed-records.ts";
import { REACH_MILLIS_MAX } from "./limits.ts";
import { Reached } from "./reached.ts";

/** What a shard needs of the mirror of the catalogue. */
export interface FollowedCatalog {
  /** Resolves when entries up to a version are in force; bounded by the signal. @throws DbError StorageUnavailable: it ended; Cancelled */
  reach(version: number, signal?: AbortSignal): Promise<void>;
}

/** What the log is followed with. */
export interface ShardLogParts {
  readonly port: Pick<ClusterPort, "log">;
  readonly shard: number;
  readonly catalog: FollowedCatalog;
  readonly scheduler: Scheduler;
  readonly logger: Logger;
  readonly sleep: (millis: number) => Promise<void>;
  /** As of `FollowedSource`. */
  readonly limits?: FollowLimits | undefined;
  /** Called once when it cannot go on. */
  onLost(why: Error): void;
}

const EMPTY = new Uint8Array(0);

/** See the file header. */
export class ShardLog implements FollowedSource {
  readonly limits: FollowLimits | undefined;
  private readonly parts: ShardLogParts;
  private readonly stopping: AbortController = new AbortController();
  private readonly reached: Reached = new Reached(0);
  private running: Promise<void> = Promise.resolve();
  /** The largest number that is known to be in the log. */
  private known = 0;
  /** The last message without records that this owner appended, as far as it knows. */
  private own = 0;

  constructor(parts: ShardLogParts) {
    this.parts = parts;
    this.limits = parts.limits;
  }

  /** How many messages are behind the last one that was taken, as far as is known. */
  behind(applied: number): number {
    return Math.max(0, this.known - applied);
  }

  /** Begins to give the messages to the engine, from where its manifest says. */
  begin(engine: Engine): void {
    this.running = this.run(engine);
  }

  /** Resolves when all messages up to `least` are visible. @throws as `ShardHost.reach` */
  reach(least: number, signal?: AbortSignal): Promise<void> {
    this.known = Math.max(this.known, least);
    const { shard } = this.parts;
    return waitWithin(this.reached.wait(least), { millis: REACH_MILLIS_MAX, late: () => tooFar(shard, least), signal });
  }

  /** The same, however long it takes. */
  whenTaken(least: number): Promise<void> {
    return this.reached.wait(least);
  }

  /** Ends it: nothing is given to the engine any more. Who waits, now or later, fails with `why`. */
  end(why: Error): void {
    this.stopping.abort();
    this.reached.fail(unfollowed(this.parts.shard, why));
  }

  /** Resolves when nothing of it runs any more; `end` it first. */
  async ended(): Promise<void> {
    await this.running;
  }

  async last(): Promise<number> {
    const last = await this.parts.port.log.last(this.parts.shard, { signal: this.stopping.signal });
    this.known = Math.max(this.known, last);
    return last;
  }

  trim(through: number): Promise<void> {
    return this.parts.port.log.trim(this.parts.shard, through, { signal: this.stopping.signal });
  }

  async pad(): Promise<void> {
    await this.reach(await this.mark());
  }

  /** Appends a message without records: owners of before hear of this one. Returns its number. @throws PortError */
  async mark(): Promise<number> {
    const number = await this.parts.port.log.append(this.parts.shard, EMPTY, { signal: this.stopping.signal });
    this.own = Math.max(this.own, number);
    return number;
  }

  /** Never rejects. */
  private async run(engine: Engine): Promise<void> {
    try {
      await this.follow(engine);
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      this.parts.onLost(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private async follow(engine: Engine): Promise<void> {
    const { port, shard, scheduler } = this.parts;
    const { signal } = this.stopping;
    const { from, number: done } = engine.followed.start;
    this.reached.taken(done);
    const records = new FollowedRecords(shard, done);
    const pace = new Pace(scheduler);
    for await (const messages of port.log.follow(shard, from, { signal })) {
      this.known = Math.max(this.known, messages.at(-1)?.number ?? 0);
      for (const message of messages) {
        if (message.bytes.length === 0 && message.number > this.own) await this.confirmed(engine);
        const read = records.take(message);
        if (read !== undefined) await this.give(read, engine);
        if (signal.aborted) return;
        if (pace.isDue()) await pace.turn();
      }
    }
  }

  /** Resolves when the manifest has taken a commit of this owner; where nobody answers it is asked again. @throws Fenced */
  private async confirmed(engine: Engine): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        return await engine.confirmStore();
      } catch (error) {
        if (error instanceof Fenced || !(error instanceof DbError) || error.code !== StatusCode.StorageUnavailable) throw error;
      }
      await this.parts.sleep(AGAIN_MILLIS);
    }
  }

  private async give(message: ReadMessage, engine: Engine): Promise<void> {
    const { signal } = this.stopping;
    if (message.catalogVersion > 0) await this.parts.catalog.reach(message.catalogVersion, signal);
    while (!signal.aborted) {
      try {
        await engine.room(signal);
        break;
      } catch (error) {
        // Writers are held back by how far the log has come (`cluster/lanes`); here it only waits.
        if (!(error instanceof DbError) || error.code !== StatusCode.RateLimited) throw error;
        this.parts.logger.warn({ shard: this.parts.shard, error: error.message }, "the log of a shard waits for memory");
      }
    }
    if (signal.aborted) return;
    engine.follow(message);
    this.reached.taken(message.number);
  }
}

function tooFar(shard: number, least: number): DbError {
  const why = `its log was not taken up to message ${least} within ${REACH_MILLIS_MAX / 1000} s`;
  return new DbError(StatusCode.StorageUnavailable, `cannot answer for shard ${shard}: ${why}`, { retryAfterSeconds: 1 });
}

function unfollowed(shard: number, why: Error): DbError {
  return new DbError(StatusCode.StorageUnavailable, `cannot answer for shard ${shard}: ${why.message}`, { cause: why });
}
