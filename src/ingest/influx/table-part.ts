/**
 * Rows of one table whose times lie in one window (`common/time-window.ts`), so that their distance from the first is exact in a double.
 * Ordinary requests have one part a table.
 */
import { resized } from "../../base/bytes/longer-array.ts";
import type { FieldWrite, TableWrite } from "../../table/write-batch.ts";
import type { Budget } from "./budget.ts";
import { DATA_TYPES, FieldColumn, NO_COLUMN } from "./field-column.ts";
import type { FieldName } from "./field-names.ts";
import { ROWS_AT_FIRST } from "./limits.ts";
import { WINDOW_SECONDS, windowOf } from "../common/time-window.ts";

export class TablePart {
  rowCount = 0;
  /** Rows for which `keys`, `offsets` and all columns in use have room. */
  capacity = 0;
  keys: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  offsets: Float64Array<ArrayBuffer> = new Float64Array(0);
  /** By `FieldName.index`; `NO_COLUMN` where this part has none. */
  readonly columns: FieldColumn[] = [];
  /** Time of the first row: seconds, and nanoseconds 0..999,999,999. */
  baseSeconds = 0;
  baseNanos = 0;
  /** Times of this part lie in seconds `[windowStart, windowEnd)`; empty until the first row. */
  windowStart = 0;
  windowEnd = 0;
  private readonly budget: Budget;

  constructor(budget: Budget) {
    this.budget = budget;
  }

  /** Settles base and window from the first row's time. */
  open(seconds: number, nanos: number): void {
    this.baseSeconds = seconds;
    this.baseNanos = nanos;
    this.windowStart = windowOf(seconds) * WINDOW_SECONDS;
    this.windowEnd = this.windowStart + WINDOW_SECONDS;
  }

  /** Makes room for more rows. Returns false when the budget does not allow it. */
  grow(fields: readonly FieldName[]): boolean {
    const capacity = Math.max(ROWS_AT_FIRST, this.capacity * 2);
    for (const field of fields) {
      const column = this.columns[field.index];
      if (column !== undefined && column !== NO_COLUMN && !column.resize(capacity, this.budget)) return false;
    }
    if (capacity > this.keys.length) {
      if (!this.budget.take((capacity - this.keys.length) * 12)) return false;
      this.keys = resized(this.keys, capacity);
      this.offsets = resized(this.offsets, capacity);
    }
    this.capacity = capacity;
    return true;
  }

  /** The column of a field, started when this part has none yet. Undefined when the budget does not allow it. */
  column(field: FieldName): FieldColumn | undefined {
    let column = this.columns[field.index]!;
    if (column === NO_COLUMN) {
      column = new FieldColumn();
      if (!this.budget.take(column.byteSize)) return undefined;
      this.columns[field.index] = column;
    }
    if (column.next === -1 && !column.start(field.type, this.rowCount, this.capacity, this.budget)) return undefined;
    return column;
  }

  /** Forgets the rows and keeps the arrays. `fields` are those in use. */
  reset(fields: readonly FieldName[]): void {
    for (const field of fields) {
      const column = this.columns[field.index];
      if (column !== undefined && column !== NO_COLUMN) column.stop();
    }
    this.rowCount = 0;
    this.windowStart = 0;
    this.windowEnd = 0;
  }

  /** The rows as the engine takes them; borrows the arrays. `fields` are those in use, in the order in which they were first seen. */
  finish(table: string, fields: readonly FieldName[]): TableWrite {
    const { rowCount, capacity, budget, columns } = this;
    const writes: FieldWrite[] = [];
    for (const field of fields) {
      const column = columns[field.index];
      const type = DATA_TYPES[field.type];
      if (column === undefined || type === undefined || column.next === -1) continue;
      if (column.next < rowCount) column.skipTo(rowCount, capacity, budget);
      writes.push({ name: field.name, type, vector: column.vector() });
    }
    const base = BigInt(this.baseSeconds) * 1_000_000_000n + BigInt(this.baseNanos);
    const times = { kind: "time", base, offsets: this.offsets, validity: undefined } as const;
    return { table, rowCount, keys: this.keys, timeUnit: "nanosecond", times, fields: writes };
  }

  /** Bytes held, in use or not. */
  get byteSize(): number {
    let bytes = this.keys.byteLength + this.offsets.byteLength;
    for (const column of this.columns) if (column !== NO_COLUMN) bytes += column.byteSize;
    return bytes;
  }
}
