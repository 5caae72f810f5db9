/**
 * Points of one metric while a request is decoded; its arrays live on between requests.
 */
import { resized } from "../../base/bytes/longer-array.ts";
import { FLOAT64, sameType, sqlName } from "../../column/data-type.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import { ROWS_AT_FIRST } from "./limits.ts";
import type { PutOptions } from "./types.ts";

/** Names of the columns beside the tags, of tables that this protocol makes. */
export const POINT_COLUMNS = { time: "greptime_timestamp", value: "greptime_value" } as const;
/** Bytes of a row. */
const ROW_BYTES = 20;

/** The tag names of some series of a metric, in the order sent. */
export interface TagShape {
  readonly rows: MetricRows;
  readonly names: readonly string[];
  /** Request in which the names were last compared with the table. */
  epoch: number;
  /** Why points with these tags cannot be kept. */
  refusal: string | undefined;
}

/** See the file header. */
export class MetricRows {
  readonly metric: string;
  rowCount = 0;
  /** Rows for which there is room. */
  capacity = 0;
  private keys: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  private offsets: Float64Array<ArrayBuffer> = new Float64Array(0);
  private values: Float64Array<ArrayBuffer> = new Float64Array(0);
  private baseMs = 0;
  private valueColumn: string = POINT_COLUMNS.value;
  private epoch = 0;
  private refusal: string | undefined;

  constructor(metric: string) {
    this.metric = metric;
  }

  /** Compares tag names, and the value, with the table that exists. Returns why points cannot be kept. */
  refusalOf(names: readonly string[], epoch: number, options: PutOptions): string | undefined {
    const { schemas, database } = options;
    const { metric } = this;
    if (this.epoch !== epoch) {
      this.epoch = epoch;
      this.valueColumn = schemas.onlyFieldOf?.(database, metric) ?? POINT_COLUMNS.value;
      const column = schemas.columnOf(database, metric, this.valueColumn);
      const isFit = column === undefined || (column.semantic === "field" && sameType(column.type, FLOAT64));
      const have = column?.semantic === "field" ? sqlName(column.type) : `a ${column?.semantic} column`;
      this.refusal = isFit ? undefined : `column ${this.valueColumn} of table ${metric} is ${have}; values are DOUBLE`;
    }
    if (this.refusal !== undefined) return this.refusal;
    for (const name of names) {
      if (name === this.valueColumn) return `tag ${name} is the value column of table ${metric}`;
      const column = schemas.columnOf(database, metric, name);
      if (column === undefined || (column.semantic === "tag" && column.type.kind === "string")) continue;
      const have = column.semantic === "tag" ? `of type ${sqlName(column.type)}` : `a ${column.semantic} column`;
      return `tag ${name} is ${have} in table ${metric}; tags are STRING`;
    }
    return undefined;
  }

  /** Makes room for more rows; returns the bytes that it took. */
  grow(): number {
    const before = this.capacity;
    this.capacity = Math.max(ROWS_AT_FIRST, before * 2);
    this.keys = resized(this.keys, this.capacity);
    this.offsets = resized(this.offsets, this.capacity);
    this.values = resized(this.values, this.capacity);
    return (this.capacity - before) * ROW_BYTES;
  }

  /** Adds a point; there must be room. */
  add(key: number, timeMs: number, value: number): void {
    const row = this.rowCount++;
    if (row === 0) this.baseMs = timeMs;
    this.keys[row] = key;
    this.offsets[row] = timeMs - this.baseMs;
    this.values[row] = value;
  }

  /** The rows as the engine takes them; borrows the arrays. */
  write(): TableWrite {
    return {
      table: this.metric,
      rowCount: this.rowCount,
      keys: this.keys,
      timeUnit: "millisecond",
      times: { kind: "time", base: BigInt(this.baseMs), offsets: this.offsets, validity: undefined },
      fields: [{ name: this.valueColumn, type: FLOAT64, vector: { kind: "number", values: this.values, validity: undefined } }],
    };
  }
}
