/**
 * Points as columns: one write for all metrics, and one a metric for points without a value.
 */
import { resized } from "../../../base/bytes/longer-array.ts";
import { FLOAT64 } from "../../../column/data-type.ts";
import { RowCollector } from "../../../table/rows/row-collector.ts";
import type { ColumnDefinition } from "../../../table/schema.ts";
import type { SeriesDictionary } from "../../../table/series-dictionary.ts";
import type { TableWrite } from "../../../table/write-batch.ts";

/** Name of the value's column. */
export const VALUE_COLUMN = "greptime_value";

/** Columns of a metric's ordinary table, but for its tags. */
const ORDINARY_SHAPE: readonly ColumnDefinition[] = [
  { name: "greptime_timestamp", type: { kind: "timestamp", unit: "millisecond" }, semantic: "timestamp", nullable: false },
  { name: VALUE_COLUMN, type: FLOAT64, semantic: "field", nullable: true },
];

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

  /** The rows, those with a value on a physical table, or in a table a metric where there is none. Borrows the arrays. */
  writes(physicalTable: string | undefined, dictionary: SeriesDictionary): readonly TableWrite[] {
    const shape = physicalTable === undefined ? ORDINARY_SHAPE : undefined;
    const writes = [...this.empty.values()].flatMap((rows) => rows.writes(shape));
    if (physicalTable === undefined) return [...this.ordinaryWrites(dictionary), ...writes];
    const { count } = this;
    if (count === 0) return writes;
    const times = { kind: "time", base: BigInt(this.base), offsets: this.offsets.subarray(0, count), validity: undefined } as const;
    const vector = { kind: "number", values: this.values.subarray(0, count), validity: undefined } as const;
    const fields = [{ name: VALUE_COLUMN, type: FLOAT64, vector }];
    const keys = this.keys.subarray(0, count);
    return [{ table: physicalTable, tablesOfKeys: true, rowCount: count, keys, timeUnit: "millisecond", times, fields }, ...writes];
  }

  /** A write a table. */
  private ordinaryWrites(dictionary: SeriesDictionary): TableWrite[] {
    const rowsOf = new Map<string, number[]>();
    for (let row = 0; row < this.count; row++) {
      const { table } = dictionary.shapeOf(this.keys[row] as number);
      const rows = rowsOf.get(table);
      if (rows === undefined) rowsOf.set(table, [row]);
      else rows.push(row);
    }
    return Array.from(rowsOf, ([table, rows]): TableWrite => {
      const values = Float64Array.from(rows, (row) => this.values[row] as number);
      const offsets = Float64Array.from(rows, (row) => this.offsets[row] as number);
      return {
        table,
        rowCount: rows.length,
        keys: Uint32Array.from(rows, (row) => this.keys[row] as number),
        timeUnit: "millisecond",
        times: { kind: "time", base: BigInt(this.base), offsets, validity: undefined },
        fields: [{ name: VALUE_COLUMN, type: FLOAT64, vector: { kind: "number", values, validity: undefined } }],
        shape: ORDINARY_SHAPE,
      };
    });
  }

  private grow(): void {
    const length = this.keys.length * 2;
    this.keys = resized(this.keys, length);
    this.offsets = resized(this.offsets, length);
    this.values = resized(this.values, length);
  }
}
