/**
 * Calls that look at all rows of a frame, as one walk through the rows: they come in at the end of the frame and leave at its start, and
 * after each move the call is asked for the row whose frame it is. Rows are read once, whatever the frame.
 *
 *   rows    … [first ……… end) ……     leave ◄── first, end ──► enter
 */
import { assert } from "../../../base/assert.ts";
import type { Vector } from "../../../column/vector.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import type { Frames } from "./frames.ts";
import { type Chunk, RowValues, type SortedRows } from "./sorted-rows.ts";

/** Work between two looks at the clock, in rows of the simplest call: less than a millisecond. */
const STEP_WORK = 65_536;

/** Counts bytes that a call holds of a frame of so many rows. @throws DbError RuntimeResourcesExhausted */
export type Hold = (bytes: number, frameRows: number) => void;

/** What a call keeps of the rows of its frame. */
export interface FrameState {
  /** About the work for a row that comes in, leaves or has its result, as many times that of the simplest call; at least 1. */
  readonly cost: number;
  /** Takes the values of rows `[from, to)`, from which rows come in next; false: they are of a kind that it does not know. */
  open(values: readonly Vector[], from: number, to: number): boolean;
  /** Rows `[from, to)`, from the end of the frame on, come in. */
  enter(from: number, to: number): void;
  /** The rows of the frame that lie before `to` leave. */
  leave(to: number): void;
  /** All rows leave. */
  clear(): void;
  /** The rows of a chunk come next. */
  begin(chunk: Chunk): void | Promise<void>;
  /** The result of row `i` of the chunk, whose frame is as it is now; a promise where that takes long. */
  put(i: number): Promise<void> | undefined;
  /** The results of the chunk. */
  results(): Vector;
}

/** One call. */
export class FrameWalk {
  private state: FrameState;
  private readonly others: (() => FrameState) | undefined;
  private readonly rows: SortedRows;
  private readonly context: ExecContext;
  private readonly values: RowValues;
  private first = 0;
  private end = 0;
  /** Rows whose values are at hand. */
  private from = 0;
  private to = 0;
  private pending: Promise<void> | undefined;

  /**
   * @param expressions what the states take values of
   * @param others makes the state that goes on where `state` meets values that it does not know, and knows all; undefined: it knows all
   */
  constructor(
    expressions: readonly TypedExpression[],
    state: FrameState,
    others: (() => FrameState) | undefined,
    rows: SortedRows,
    context: ExecContext,
  ) {
    this.state = state;
    this.others = others;
    this.rows = rows;
    this.context = context;
    this.values = new RowValues(expressions, rows, context);
  }

  /** Results of the rows of the next chunk. @throws DbError Cancelled, RuntimeResourcesExhausted */
  over(chunk: Chunk, frames: Frames): Vector | Promise<Vector> {
    const begun = this.state.begin(chunk);
    if (begun !== undefined) return this.overInTurns(chunk, frames, 0, begun);
    // Few rows in memory need one look at their values and no turn: each promise would cost as much as they do.
    const count = frames.starts.length;
    let i = this.run(frames, 0);
    if (i < count && this.isDry) {
      const known = this.readOn();
      if (known !== true) return this.overInTurns(chunk, frames, i, known);
      i = this.run(frames, i);
    }
    return i < count || this.pending !== undefined ? this.overInTurns(chunk, frames, i, true) : this.state.results();
  }

  /** Goes on with row `i` once `ready` has come, and does; false: with other states. */
  private async overInTurns(chunk: Chunk, frames: Frames, i: number, ready: Promise<unknown> | boolean): Promise<Vector> {
    if ((await ready) === false || !(await this.walked(frames, i))) {
      assert(this.others !== undefined, "values of all kinds are known where no other state is; got one that is not");
      this.state.clear();
      this.state = this.others();
      this.first = this.end = this.from = this.to = 0;
      await this.state.begin(chunk);
      await this.walked(frames, 0);
    }
    return this.state.results();
  }

  /** False where values are not known: all rows of the chunk are to be walked through again. */
  private async walked(frames: Frames, i: number): Promise<boolean> {
    const count = frames.starts.length;
    const { pace } = this.context;
    for (;;) {
      if (this.pending !== undefined) {
        await this.pending;
        this.pending = undefined;
      }
      i = this.run(frames, i);
      if (i === count && this.pending === undefined) return true;
      checkCancelled(this.context);
      if (this.isDry && !(await this.readOn())) return false;
      if (pace.isDue()) await pace.turn();
    }
  }

  /** Whether the next row that comes in is not at hand. */
  private get isDry(): boolean {
    return this.pending === undefined && (this.end < this.from || this.end >= this.to);
  }

  /** Goes on with row `i`, to the row where values are missing, or others should have a turn. */
  private run({ starts, ends }: Frames, i: number): number {
    const { state } = this;
    let work = STEP_WORK;
    for (; i < starts.length; i++) {
      const start = starts[i] as number;
      const to = ends[i] as number;
      if (start >= this.end) {
        if (this.end > this.first) state.clear();
        this.first = this.end = start;
      }
      while (this.first < start) {
        if (work <= 0) return i;
        const until = Math.min(start, this.first + Math.ceil(work / state.cost));
        state.leave(until);
        work -= (until - this.first) * state.cost;
        this.first = until;
      }
      while (this.end < to) {
        if (work <= 0 || this.end >= this.to || this.end < this.from) return i;
        const until = Math.min(to, this.to, this.end + Math.ceil(work / state.cost));
        state.enter(this.end, until);
        work -= (until - this.end) * state.cost;
        this.end = until;
      }
      this.pending = state.put(i);
      work -= state.cost;
      if (work <= 0 || this.pending !== undefined) return i + 1;
    }
    return i;
  }

  /** Reads values from the end of the frame on. */
  private readOn(): boolean | Promise<boolean> {
    const from = (this.from = this.end);
    const to = (this.to = Math.min(this.rows.rowCount, from + this.rows.chunkRows));
    if (to === from) return true;
    const read = this.values.over(from, to);
    return read instanceof Promise ? read.then((values) => this.state.open(values, from, to)) : this.state.open(read, from, to);
  }
}
