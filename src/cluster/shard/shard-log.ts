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
 * A log that lost messages which were taken, or that files have rows of, goes on behind a number that it never had (`passLoss`): what
 * follows from what was taken is in files by then, and writers are asked to send again what they hold.
 *
 *   went back │ replaced │ vanished ─► the engine has all in files, and commits ─► the log is lifted ─► followed
 *
 * It reads ahead by what the port reads ahead. After each message the thread may do other work.
 */
import type { Logger } from "../../base/log.ts";
import { DbError, errorText } from "../../base/error.ts";
import { Pace } from "../../base/scheduler/pace.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import { waitWithin } from "../../base/scheduler/wait-within.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Engine } from "../../engine/engine.ts";
import type { FollowedSource, FollowLimits } from "../../engine/follow/followed-source.ts";
import { Fenced } from "../../storage/meta-store/meta-store.ts";
import type { ClusterPort } from "../port/cluster-port.ts";
import { AGAIN_MILLIS } from "../port/insist.ts";
import { PortError, type PortFailure, portFailureOf } from "../port/port-error.ts";
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
/** How far the numbers of a log that lost messages go on behind the largest that is known: more than others may know of. */
const LIFT_NUMBERS: number = 2 ** 20;
/** No log has so many messages: whoever names one is wrong. */
const NUMBER_MAX: number = 2 ** 40;
/** Most messages that are passed over one by one. */
const HOLE_MAX = 500;
/** Failures that trying again does not help. */
const LASTING: ReadonlySet<PortFailure> = new Set(["denied", "closed", "trimmed", "cancelled"]);
/** How long a stream has to be gone until it is believed. */
const GONE_MILLIS = 2000;

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
  /** The message up to which the log is followed before it goes on elsewhere; 0: it does not have to. */
  private doubted = 0;

  constructor(parts: ShardLogParts) {
    this.parts = parts;
    this.limits = parts.limits;
  }

  /** How many messages are behind the last one that was taken, as far as is known. */
  behind(applied: number): number {
    return Math.max(0, this.known - applied);
  }

  /**
   * Begins to give the messages to the engine, from where its manifest says.
   *
   * A flush was of messages that were there, and before this owner marked the log: a mark that is not behind all of them says that the log
   * has lost some.
   */
  begin(engine: Engine): void {
    if (this.own > 0 && this.own <= engine.followed.wholeFrom) {
      this.doubted = this.own;
      engine.doubtFlushed();
    }
    this.running = this.run(engine);
  }

  /** Resolves when all messages up to `least` are visible. @throws as `ShardHost.reach` */
  reach(least: number, signal?: AbortSignal): Promise<void> {
    const { shard } = this.parts;
    if (!(least <= NUMBER_MAX)) return Promise.reject(tooFar(shard, least));
    this.known = Math.max(this.known, least);
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
    const { from, number } = engine.followed.start;
    let records = new FollowedRecords(this.parts.shard, number);
    let after = from;
    this.reached.taken(number);
    while (!this.stopping.signal.aborted) {
      let loss: string | undefined;
      try {
        loss = await this.followOn(engine, records, after);
      } catch (error) {
        const trouble = await this.troubleOf(error, engine);
        if (typeof trouble === "number") after = trouble;
        else loss = trouble;
        if (loss === undefined) continue;
      }
      if (loss === undefined) return;
      await this.passLoss(loss, engine);
      after = engine.followed.applied;
      records = new FollowedRecords(this.parts.shard, after);
    }
  }

  /**
   * What became of the log: the number behind which it is followed on, or how it lost messages.
   *
   * @throws what it cannot go on after: the shard is another's, or NATS does not let it read
   */
  private async troubleOf(error: unknown, engine: Engine): Promise<number | string> {
    const failure = portFailureOf(error);
    if (failure === "trimmed" && error instanceof PortError && error.first !== undefined) {
      await this.confirmed(engine); // Another owner may have let them go; if not, the servers have lost them.
      return this.passHole(error.first, engine);
    }
    if (failure === "vanished" && !(await this.isGone())) return engine.followed.applied;
    if (failure !== "went-back" && failure !== "replaced" && failure !== "vanished") throw error;
    return errorText(error);
  }

  /** Follows it until it ends; returns why it has to go on elsewhere. */
  private async followOn(engine: Engine, records: FollowedRecords, after: number): Promise<string | undefined> {
    const { port, shard, scheduler } = this.parts;
    const { signal } = this.stopping;
    const pace = new Pace(scheduler);
    for await (const messages of port.log.follow(shard, after, { signal })) {
      this.known = Math.max(this.known, messages.at(-1)?.number ?? 0);
      for (const message of messages) {
        if (message.bytes.length === 0 && message.number > this.own) await this.confirmed(engine);
        const read = records.take(message);
        if (read !== undefined) await this.give(read, engine);
        if (signal.aborted) return undefined;
        if (message.number === this.doubted) {
          this.doubted = 0;
          return `files have rows of messages behind ${message.number}, which was its last one when this node took the shard over`;
        }
        if (pace.isDue()) await pace.turn();
      }
    }
    return undefined;
  }

  /** Goes on behind messages that are not there any more: they count as damaged. Many of them are a loss. */
  private async passHole(first: number, engine: Engine): Promise<number | string> {
    const { applied } = engine.followed;
    if (first - applied - 1 > HOLE_MAX) return `its messages from ${applied + 1} to ${first - 1} are not there`;
    for (let number = applied + 1; number < first; number++) {
      engine.follow({ number, bytes: 0, records: [], open: undefined, damaged: "it is not in the log any more" });
    }
    await this.taken(engine);
    return first - 1;
  }

  /** Whether the log is gone for good: it is not believed at once. */
  private async isGone(): Promise<boolean> {
    const { port, shard, sleep } = this.parts;
    await sleep(GONE_MILLIS);
    let isGone = false;
    await this.insisted(async () => {
      try {
        await port.log.last(shard, { signal: this.stopping.signal });
      } catch (error) {
        if (portFailureOf(error) !== "vanished") throw error;
        isGone = true;
      }
    });
    return isGone;
  }

  /** Goes on with a log that has lost messages. @throws Fenced */
  private async passLoss(why: string, engine: Engine): Promise<void> {
    const { port, shard, logger } = this.parts;
    const { applied, wholeFrom } = engine.followed;
    const to = Math.max(applied, wholeFrom, this.known, this.own) + LIFT_NUMBERS;
    const what = "the log of a shard has lost messages: what was taken goes to files, and writers are asked to send again what they hold";
    logger.error({ shard, error: why, taken: applied, to }, what);
    await this.insisted(() => engine.passLoss(to));
    await this.insisted(() => port.log.lift(shard, to, { signal: this.stopping.signal }));
    this.known = to;
    this.reached.taken(to);
  }

  /** Resolves when the manifest has taken a commit of this owner. @throws Fenced */
  private confirmed(engine: Engine): Promise<void> {
    return this.insisted(() => engine.confirmStore());
  }

  /** Does it again where nobody answers, until this ends. @throws Fenced, and what is no want of an answer */
  private async insisted(act: () => Promise<void>): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        return await act();
      } catch (error) {
        if (error instanceof Fenced || !(error instanceof DbError) || error.code !== StatusCode.StorageUnavailable) throw error;
        if (error instanceof PortError && LASTING.has(error.failure)) throw error;
        this.parts.logger.debug({ shard: this.parts.shard, error: error.message }, "what the log of a shard needs is tried again");
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
    await this.taken(engine);
  }

  /** Whoever waits for what was taken goes on, once owners that come know as well that writers are to be asked. */
  private async taken(engine: Engine): Promise<void> {
    if (engine.followed.losses.isUncommitted) await this.confirmed(engine);
    this.reached.taken(engine.followed.applied);
  }
}

function tooFar(shard: number, least: number): DbError {
  const why = `its log was not taken up to message ${least} within ${REACH_MILLIS_MAX / 1000} s`;
  return new DbError(StatusCode.StorageUnavailable, `cannot answer for shard ${shard}: ${why}`, { retryAfterSeconds: 1 });
}

function unfollowed(shard: number, why: Error): DbError {
  return new DbError(StatusCode.StorageUnavailable, `cannot answer for shard ${shard}: ${why.message}`, { cause: why });
}
