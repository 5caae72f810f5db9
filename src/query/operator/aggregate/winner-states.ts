/**
 * `last_value(x ORDER BY time)` and `first_value(x ORDER BY time)` over the time index, and `min`/`max` of it: which row of each
 * group wins.
 *
 * One tracker serves all aggregates with the same order. It sees one candidate a segment (the last row of ascending times), and copies the
 * winners' columns once a batch. Times are kept as two doubles (floor(t / 2^32) and the rest), since doubles cannot hold all 64 bits.
 */
import type { DataType } from "../../../column/data-type.ts";
import type { TimeVector, Vector } from "../../../column/vector.ts";
import type { Value } from "../../function/value/value.ts";
import type { ExecBatch } from "../contract/exec-context.ts";
import type { Segments } from "../group-keys/group-keys.ts";
import { grown } from "../../../base/bytes/longer-array.ts";
import { valuesVector } from "../../expression/vector-values.ts";

const HALF = 2 ** 32;

/** Which of two rows wins. */
export interface WinnerOrder {
  /** The newest time wins, not the oldest. */
  readonly newest: boolean;
  /** Of equal times the later row wins, not the earlier. */
  readonly laterOfEqual: boolean;
}

/** Winners of all groups under one order. */
export class WinnerTracker {
  /** Row of each group's winner in the current batch, for groups in `changed`. */
  rows: Uint32Array = new Uint32Array(64);
  /** Groups whose winner lies in the current batch. */
  changed: number[] = [];
  private high: Float64Array = new Float64Array(64);
  private low: Float64Array = new Float64Array(64);
  /** 0 no winner yet, 1 from an earlier batch, 2 in `changed`. */
  private states: Uint8Array = new Uint8Array(64);
  private readonly order: WinnerOrder;

  constructor(order: WinnerOrder) {
    this.order = order;
  }

  /** Finds the winners among the rows of a batch. `time` has no NULL. */
  update(time: TimeVector, segments: Segments, groupCount: number): void {
    this.high = grown(this.high, groupCount);
    this.low = grown(this.low, groupCount);
    this.states = grown(this.states, groupCount);
    this.rows = grown(this.rows, groupCount);
    for (const group of this.changed) this.states[group] = 1;
    this.changed = [];
    const baseHigh = Number(time.base >> 32n);
    const baseLow = Number(time.base & 0xffff_ffffn);
    const { starts, groups, count } = segments;
    for (let s = 0; s < count; s++) {
      const from = starts[s] as number;
      const to = starts[s + 1] as number;
      const row = this.candidate(time.offsets, from, to, segments.ascending);
      const offset = time.offsets[row] as number;
      const offsetHigh = Math.floor(offset / HALF);
      const low = baseLow + (offset - offsetHigh * HALF);
      const carry = low >= HALF ? 1 : 0;
      this.offer(groups[s] as number, row, baseHigh + offsetHigh + carry, low - carry * HALF);
    }
  }

  private candidate(offsets: Float64Array, from: number, to: number, ascending: boolean): number {
    const { newest, laterOfEqual } = this.order;
    if (ascending && newest && laterOfEqual) return to - 1;
    if (ascending && !newest && !laterOfEqual) return from;
    let best = from;
    for (let row = from + 1; row < to; row++) {
      const difference = (offsets[row] as number) - (offsets[best] as number);
      if (difference === 0 ? laterOfEqual : difference > 0 === newest) best = row;
    }
    return best;
  }

  private offer(group: number, row: number, high: number, low: number): void {
    const state = this.states[group] as number;
    if (state !== 0) {
      const difference = high - (this.high[group] as number) || low - (this.low[group] as number);
      if (difference === 0 ? !this.order.laterOfEqual : difference > 0 !== this.order.newest) return;
    }
    this.high[group] = high;
    this.low[group] = low;
    this.rows[group] = row;
    if (state !== 2) this.changed.push(group);
    this.states[group] = 2;
  }

  /** The winning times. */
  times(type: DataType, groupCount: number): Vector {
    const values: Value[] = [];
    for (let g = 0; g < groupCount; g++) {
      const present = g < this.states.length && this.states[g] !== 0;
      values.push(present ? (BigInt(this.high[g] as number) << 32n) + BigInt(this.low[g] as number) : undefined);
    }
    return valuesVector(type, values);
  }
}

/** The time column of a batch that winners are found by. */
export function timeColumn(batch: ExecBatch, column: number): TimeVector {
  const vector = batch.vectors[column];
  if (vector?.kind !== "time") throw new Error(`column ${column} of the scan is the time index`);
  return vector;
}
