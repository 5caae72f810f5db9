/** Long work on a thread that others share: it yields now and then, and ends when nobody waits for it any more. */
import { throwIfCancelled } from "./cancel.ts";
import type { Scheduler } from "./scheduler.ts";

/** Most milliseconds of work before other tasks of the thread get a turn. Reason: ingest and small queries share the thread. */
const TURN_MS_MAX = 10;

/**
 * Lets other tasks run now and then. A query has several, one for its operators and one for its answer: time in which others ran counts
 * for none of them. Where it did, each found its 10 ms over when the other came back, and beside one long query a stream of 200,000 rows
 * worked 0.1 ms a turn: no end after 30 s, now 0.6.
 */
export class Pace {
  /** Milliseconds that others had in all. */
  awayMillis = 0;
  private last: number;
  private readonly scheduler: Scheduler;
  private readonly onTurn: (() => void) | undefined;

  /** @param onTurn called at each call of `turn` */
  constructor(scheduler: Scheduler, onTurn?: () => void) {
    this.scheduler = scheduler;
    this.onTurn = onTurn;
    this.last = this.now();
  }

  /** Whether `turn` would yield: work in short steps asks first, since each `await` costs more than a step of a small plan. */
  isDue(): boolean {
    return this.workedMillis(this.now()) >= TURN_MS_MAX;
  }

  /** Yields if this query has worked for `TURN_MS_MAX` since it last did, by whichever pace. */
  async turn(): Promise<void> {
    this.onTurn?.();
    const now = this.now();
    if (this.workedMillis(now) < TURN_MS_MAX) return;
    await this.scheduler.nextRound();
    this.last = this.now();
    this.awayMillis += this.last - now;
  }

  private workedMillis(now: number): number {
    return now - Math.max(this.last, this.scheduler.pieceSince);
  }

  private now(): number {
    return this.scheduler.clock.monotonicMillis();
  }
}

/** What work in steps goes by. */
export interface PacedWork {
  readonly signal: AbortSignal;
  readonly pace: Pace;
}

/** The result of work in steps that is too short to be given turns in: all steps at once. */
export function atOnce<T>(steps: Iterator<unknown, T>): T {
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
  }
}

/** The result of work that is done in steps, with other tasks in between. It ends early only where `turn` throws. */
export async function paced<T>(steps: Iterator<unknown, T>, pace: Pick<Pace, "turn">): Promise<T> {
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
    await pace.turn();
  }
}

/** The same for work that ends when nobody waits for it any more. @throws DbError Cancelled */
export async function inTurns<T>(steps: Iterator<void, T>, context: PacedWork): Promise<T> {
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
    checkCancelled(context);
    if (context.pace.isDue()) await context.pace.turn();
  }
}

/** Called once a batch. @throws DbError Cancelled when the client left or its time is over */
export function checkCancelled(context: Pick<PacedWork, "signal">): void {
  throwIfCancelled(context.signal);
}
