/**
 * Points as columns: one write for all metrics, and one a metric for points without a value.
 */
import { FLOAT64 } from "../../../column/data-type.ts";
import { RowCollector } from "../../../table/row-collector.ts";
import type { TableWrite } from "../../../table/write-batch.ts";

/** Name of the value's column. */
export const VALUE_COLUMN = "greptime_value";

/** Rows of one request; its arrays stay for the next. */
export class PointRows {
  count = 0;
  keys: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  private offsets: Float64Array<ArrayBuffer> = new Float64Array(1024);
  private values: Float64Array<ArrayBuffer> = new Float64Array(1024);
  private base = 0;
  private empty: Map<string, RowCollector> = new Map();
  private emptyCount = 0;

  /** Bytes held. */
  get byteSize(): number {
    return this.keys.byteLength + this.offsets.byteLength + this.values.byteLength;
  }

  /** All rows. */
  get rowCount(): number {
    return this.count + this.emptyCount;
  }

  /** Forgets the rows. */
  reset(): void {
    this.count = 0;
    this.empty = new Map();
    this.emptyCount = 0;
  }

  /** Adds a point at a time in milliseconds. */
  add(key: number, millis: number, value: number): void {
    const row = this.count;
    if (row === this.keys.length) this.grow();
    if (row === 0) this.base = millis;
    this.keys[row] = key;
    this.offsets[row] = millis - this.base;
    this.values[row] = value;
    this.count = row + 1;
  }

  /** Adds a point without a value. */
  addEmpty(table: string, key: number, millis: number): void {
    let rows = this.empty.get(table);
    if (rows === undefined) {
      rows = new RowCollector(table, "millisecond");
      this.empty.set(table, rows);
    }
    rows.begin(BigInt(millis), key);
    rows.field(VALUE_COLUMN, FLOAT64).set(undefined);
    this.emptyCount++;
  }

  /** The rows, those with a value on a physical table. Borrows the arrays. */
  writes(physicalTable: string): readonly TableWrite[] {
    const writes = [...this.empty.values()].flatMap((rows) => rows.writes());
    const { count } = this;
    if (count === 0) return writes;
    const times = { kind: "time", base: BigInt(this.base), offsets: this.offsets.subarray(0, count), validity: undefined } as const;
    const vector = { kind: "number", values: this.values.subarray(0, count), validity: undefined } as const;
    const fields = [{ name: VALUE_COLUMN, type: FLOAT64, vector }];
    const keys = this.keys.subarray(0, count);
    return [{ table: physicalTable, tablesOfKeys: true, rowCount: count, keys, timeUnit: "millisecond", times, fields }, ...writes];
  }

  private grow(): void {
    const length = this.keys.length * 2;
    const keys = new Uint32Array(length);
    keys.set(this.keys);
    this.keys = keys;
    const offsets = new Float64Array(length);
    offsets.set(this.offsets);
    this.offsets = offsets;
    const values = new Float64Array(length);
    values.set(this.values);
    this.values = values;
  }
}
