/**
 * Any aggregate over frames, by the accumulators of plain aggregation: frames that grow at their end add rows to the one before, equal
 * frames share a result, and any other is computed anew. The work of that is bounded.
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Validity, Vector } from "../../../column/vector.ts";
import { textBytes } from "../../function/aggregate/accumulator.ts";
import type { Value } from "../../function/value/value.ts";
import type { AggregateCall } from "../node-parts/aggregate-call.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import { resultOf, type RowAccumulator, rowAccumulator } from "../rows/row-accumulator.ts";
import { valueAt, valuesVector } from "../../expression/vector-values.ts";
import type { FrameState, Hold } from "./frame-walk.ts";
import { keptOf } from "./plain-numbers.ts";

/**
 * Most rows that all frames of one call may hold together where each is computed anew. Reason: about a minute of work, since n rows whose
 * frames hold most of the others take n² steps. Error: RuntimeResourcesExhausted.
 */
const FRAME_ROWS_MAX = 1_000_000_000;

/** Rows that are added before others get a turn. */
const TURN_ROWS = 4096;

/** About the work of a row that is added, as many times that of the simplest call (`FrameState.cost`). */
const ROW_COST = 8;

/** Bytes of an argument of one row, about. */
const VALUE_BYTES = 32;

interface Row {
  readonly row: number;
  readonly args: readonly Value[];
  readonly keys: readonly Value[];
}

/** See the file header. */
export class AccumulatedFrames implements FrameState {
  cost: number = ROW_COST;
  private readonly call: AggregateCall;
  private readonly types: readonly DataType[];
  private readonly context: ExecContext;
  private readonly hold: Hold;
  /** Whether rows are kept, since frames come that are computed anew. */
  private readonly keeps: boolean;
  /** Those of the frame from `head` on; `[head, added)` are in the accumulator. */
  private rows: Row[] = [];
  private head = 0;
  private added = 0;
  private accumulator: RowAccumulator;
  private accumulatorBytes = 0;
  private steps = 0;
  private values: readonly Vector[] = [];
  private kept: Validity;
  private from = 0;
  private result: Value;
  private isKnown = false;
  private list: Value[] = [];
  private listBytes = 0;

  /** @param leave whether rows leave before all do. @param asks whether a result is asked for before all rows of a partition are there */
  constructor(call: AggregateCall, leave: boolean, asks: boolean, context: ExecContext, hold: Hold) {
    this.call = call;
    this.types = [...call.type.args, ...call.orderBy.map(({ expression }) => expression.type)];
    this.context = context;
    this.hold = hold;
    // An ordered aggregate sorts its rows when it is asked, so it can be asked once.
    this.keeps = leave || (asks && call.orderBy.length > 0);
    this.accumulator = this.fresh();
  }

  private fresh(): RowAccumulator {
    this.context.budget.release(this.accumulatorBytes);
    this.accumulatorBytes = 0;
    this.isKnown = false;
    this.added = this.head;
    return rowAccumulator(this.call, (bytes) => {
      this.accumulatorBytes += bytes;
      this.context.budget.reserve(bytes);
    });
  }

  private get rowBytes(): number {
    return this.types.length * VALUE_BYTES;
  }

  open(values: readonly Vector[], from: number, to: number): boolean {
    const hasFilter = this.call.filter !== undefined;
    this.values = values;
    this.kept = keptOf(undefined, hasFilter ? values.at(-1) : undefined, to - from);
    this.from = from;
    return true;
  }

  enter(from: number, to: number): void {
    const { values, types, kept } = this;
    const argCount = this.call.type.args.length;
    const count = this.rows.length;
    for (let row = from; row < to; row++) {
      const at = row - this.from;
      if (kept !== undefined && kept[at] === 0) continue;
      const own = types.map((type, i) => valueAt(values[i] as Vector, type, at));
      const [args, keys] = argCount === own.length ? [own, []] : [own.slice(0, argCount), own.slice(argCount)];
      if (this.keeps) this.rows.push({ row, args, keys });
      else this.accumulator.add(args, keys);
      this.isKnown = false;
    }
    if (this.rows.length > count) this.hold((this.rows.length - count) * this.rowBytes, this.rows.length - this.head);
  }

  leave(to: number): void {
    const { rows, head } = this;
    while (this.head < rows.length && (rows[this.head] as Row).row < to) this.head++;
    if (this.head === head) return;
    this.context.budget.release((this.head - head) * this.rowBytes);
    if (this.head * 2 > rows.length) {
      this.rows = rows.slice(this.head);
      this.head = 0;
    }
    this.accumulator = this.fresh();
  }

  clear(): void {
    this.context.budget.release((this.rows.length - this.head) * this.rowBytes);
    this.rows = [];
    this.head = 0;
    this.accumulator = this.fresh();
  }

  begin(): void {
    this.context.budget.release(this.listBytes); // the chunk before has gone
    this.list = [];
    this.listBytes = 0;
  }

  put(): Promise<void> | undefined {
    this.cost = ROW_COST;
    if (!this.isKnown) {
      if (this.keeps && this.call.orderBy.length > 0) this.accumulator = this.fresh();
      this.cost += (this.rows.length - this.added) * ROW_COST;
      if (this.rows.length - this.added > TURN_ROWS) return this.putLater();
      this.addUpTo(this.rows.length);
      const result = resultOf(this.accumulator, this.context);
      if (result instanceof Promise) return result.then((value) => this.push(value));
      this.push(result);
    } else this.push(this.result);
    return undefined;
  }

  private async putLater(): Promise<void> {
    while (this.added < this.rows.length) {
      this.addUpTo(Math.min(this.rows.length, this.added + TURN_ROWS));
      checkCancelled(this.context);
      if (this.context.pace.isDue()) await this.context.pace.turn();
    }
    this.push(await resultOf(this.accumulator, this.context));
  }

  private addUpTo(end: number): void {
    this.steps += end - this.added;
    if (this.steps > FRAME_ROWS_MAX) throw tooMuch(this.call.function.name);
    for (; this.added < end; this.added++) {
      const { args, keys } = this.rows[this.added] as Row;
      this.accumulator.add(args, keys);
    }
  }

  private push(result: Value): void {
    this.result = result;
    this.isKnown = true;
    this.list.push(result);
    const bytes = textBytes(result);
    if (bytes === 0) return;
    this.context.budget.reserve(bytes);
    this.listBytes += bytes;
  }

  results(): Vector {
    return valuesVector(this.call.type.result, this.list);
  }
}

function tooMuch(name: string): DbError {
  return new DbError(
    StatusCode.RuntimeResourcesExhausted,
    `cannot run query: the frames of ${name}() OVER hold more than ${FRAME_ROWS_MAX} rows together; ` +
      "make the frames or the partitions smaller",
  );
}
