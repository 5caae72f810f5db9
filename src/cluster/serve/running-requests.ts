/** The fragments and calls that a node works on: so many at a time, in the order in which they came, and a list for those who look. */
import type { Clock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { waitWithin } from "../../base/scheduler/wait-within.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { TableId } from "../../base/units.ts";
import type { ShardCall } from "../wire/shard-request.ts";
import { RUNNING_MAX, TURN_MILLIS, WAITING_MAX } from "./limits.ts";

/** What is asked, and by whom. */
export interface AskedRequest {
  readonly kind: "fragment" | ShardCall["kind"];
  readonly shard: number;
  readonly tableId: TableId | undefined;
  /** Address of the frontend. */
  readonly peer: string;
}

/** A request under way. */
export interface RunningRequest extends AskedRequest {
  readonly id: number;
  /** When it came, since the epoch. */
  readonly startMillis: number;
  /** Bytes that it holds. */
  readonly memoryBytes: number;
}

/** A request that may run. */
export interface BegunRequest {
  /** Has the list show what it holds. */
  holds(bytes: () => number): void;
  /** Takes it off the list. */
  end(): void;
}

interface Entry {
  readonly id: number;
  readonly asked: AskedRequest;
  readonly startMillis: number;
  bytes: () => number;
}

/** Limits other than the default ones. */
export interface RunningLimits {
  readonly runningMax: number;
  readonly waitingMax: number;
  readonly turnMillis: number;
}

const LIMITS: RunningLimits = { runningMax: RUNNING_MAX, waitingMax: WAITING_MAX, turnMillis: TURN_MILLIS };

/** See the file header. */
export class RunningRequests {
  private readonly clock: Clock;
  private readonly limits: RunningLimits;
  private readonly entries: Map<number, Entry> = new Map();
  /** Those whose turn has not come; each is removed by whoever waits. */
  private readonly waiting: Set<() => void> = new Set();
  private taken = 0;
  private next = 1;

  constructor(clock: Clock, limits: RunningLimits = LIMITS) {
    this.clock = clock;
    this.limits = limits;
  }

  /** How many run. */
  get size(): number {
    return this.entries.size;
  }

  /** How many wait. */
  get waitingCount(): number {
    return this.waiting.size;
  }

  /** Oldest first. */
  list(): readonly RunningRequest[] {
    return [...this.entries.values()].map(({ id, asked, startMillis, bytes }) => ({ id, ...asked, startMillis, memoryBytes: bytes() }));
  }

  /** Resolves when it may run; whoever asked calls `end`. @throws DbError RateLimited, Cancelled */
  async begin(asked: AskedRequest, signal: AbortSignal): Promise<BegunRequest> {
    if (this.taken < this.limits.runningMax) this.taken++;
    else await this.turn(signal);
    const id = this.next++;
    const entry: Entry = { id, asked, startMillis: this.clock.nowMillis(), bytes: () => 0 };
    this.entries.set(id, entry);
    return {
      holds: (bytes) => {
        entry.bytes = bytes;
      },
      end: () => {
        if (this.entries.delete(id)) this.handOn();
      },
    };
  }

  /** Resolves when a place was handed over. */
  private async turn(signal: AbortSignal): Promise<void> {
    const { waitingMax, turnMillis, runningMax } = this.limits;
    const late = (): DbError =>
      new DbError(StatusCode.RateLimited, `cannot run the query: ${runningMax} requests are under way on the node; try again later`, {
        retryAfterSeconds: 1,
      });
    if (this.waiting.size >= waitingMax) throw late();
    const turn = Promise.withResolvers<void>();
    let isMine = false;
    const take = (): void => {
      isMine = true;
      turn.resolve();
    };
    this.waiting.add(take);
    try {
      await waitWithin(turn.promise, { millis: turnMillis, late, signal });
    } catch (error) {
      if (isMine) this.handOn(); // It came with the end of the wait.
      throw error;
    } finally {
      this.waiting.delete(take);
    }
  }

  private handOn(): void {
    const [first] = this.waiting;
    if (first === undefined) {
      this.taken--;
      return;
    }
    this.waiting.delete(first);
    first();
  }
}
