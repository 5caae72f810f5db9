/**
 * Builds a `WriteBatch` from columns, some rows of them at a time: nothing is made for a row alone. What `RowBatchBuilder` does for rows.
 *
 * Rows whose times lie `CHUNK_TIME_SPAN_MAX` units or more from the first of their `TableWrite` begin another one, as rows beyond its
 * limits do.
 */
import { textLength } from "../../../column/coded-text.ts";
import { assert } from "../../../base/assert.ts";
import { CHUNK_TIME_SPAN_MAX } from "../../../base/limits.ts";
import type { DataType, TimeUnit } from "../../../column/data-type.ts";
import { type AnyTimes, isTimes } from "../../../column/times.ts";
import type { Scalar, Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import type { TableSchema } from "../../../table/schema.ts";
import { TagKeys } from "../../../table/tag-keys.ts";
import type { FieldWrite, TableWrite, WriteBatch } from "../../../table/write-batch.ts";
import { concat, type VectorPart } from "../../operator/kernels/concat.ts";
import { slice } from "../../../column/slice.ts";

/** Rows and values of one `TableWrite`. Reason: they are put together in a few milliseconds, so that little is left for the end. */
const WRITE_ROWS_MAX = 65_536;
const WRITE_VALUES_MAX = 1024 * 1024;

/** Bytes of a row's time and key. */
const ROW_BYTES = 12;
/** Bytes of a number, and of where a text begins. */
const VALUE_BYTES = 8;

const NO_OFFSETS: Float64Array<ArrayBuffer> = new Float64Array(0);
const NO_KEYS: Uint32Array<ArrayBuffer> = new Uint32Array(0);

/** Values of one column: tags as text in an array; of other columns an array or a vector, which is no dictionary. */
export type ColumnValues = readonly Scalar[] | Vector;

/** Collects rows of one table. */
export class ColumnBatchBuilder {
  private readonly schema: TableSchema;
  private readonly rowsMax: number;
  private readonly timePosition: number = -1;
  private readonly timeUnit: TimeUnit;
  private readonly tagPositions: number[] = [];
  private readonly fieldPositions: number[] = [];
  private readonly tagKeys: TagKeys;
  private readonly writes: TableWrite[] = [];
  /** Of the write that is being collected. */
  private count = 0;
  private base = 0n;
  private offsets: Float64Array<ArrayBuffer> = NO_OFFSETS;
  private keys: Uint32Array<ArrayBuffer> = NO_KEYS;
  private fields: VectorPart[][] = [];
  private rows = 0;
  private held = 0;

  constructor(schema: TableSchema) {
    this.schema = schema;
    this.rowsMax = Math.min(WRITE_ROWS_MAX, Math.ceil(WRITE_VALUES_MAX / schema.columns.length));
    const tagNames: string[] = [];
    for (const [i, { name, semantic }] of schema.columns.entries()) {
      if (semantic === "timestamp") this.timePosition = i;
      else if (semantic === "tag") {
        this.tagPositions.push(i);
        tagNames.push(name);
      } else {
        this.fieldPositions.push(i);
        this.fields.push([]);
      }
    }
    const type = schema.columns[this.timePosition]?.type;
    assert(type?.kind === "timestamp", `one column of ${schema.name} is its time index`);
    this.timeUnit = type.unit;
    this.tagKeys = new TagKeys(schema.name, tagNames);
  }

  /** Rows added. */
  get rowCount(): number {
    return this.rows;
  }

  /** Bytes of what was added, nearly. */
  get bytes(): number {
    return this.held + this.tagKeys.dictionary.memoryBytes;
  }

  /** Adds rows: the values of each column of the schema, in its order. Times are not NULL. */
  add(columns: readonly ColumnValues[], rowCount: number): void {
    const times = this.vectorAt(this.timePosition, columns);
    assert(isTimes(times), `times of the time index; got a ${times.kind} vector`);
    const fields = this.fieldPositions.map((i) => this.vectorAt(i, columns));
    const tags = this.tagPositions.map((i) => columns[i] as readonly (string | undefined)[]);
    for (let from = 0; from < rowCount; ) {
      this.makeRoom(rowCount - from);
      const to = this.addTimes(times, from, Math.min(rowCount, from + this.rowsMax - this.count));
      this.addKeys(tags, from, to);
      for (const [i, vector] of fields.entries())
        this.fields[i]?.push({ vector: from === 0 && to === rowCount ? vector : slice(vector, from, to), rowCount: to - from });
      this.count += to - from;
      from = to;
      if (from < rowCount || this.count === this.rowsMax) this.cut();
    }
    this.rows += rowCount;
    this.held += rowCount * ROW_BYTES + fields.reduce((sum, vector) => sum + bytesOf(vector, rowCount), 0);
  }

  /** The batch. The builder is used up. */
  batch(): WriteBatch {
    this.cut();
    return { dictionary: this.tagKeys.dictionary, tables: this.writes };
  }

  private typeAt(position: number): DataType {
    const type = this.schema.columns[position]?.type;
    assert(type !== undefined, `a column of ${this.schema.name}; got position ${position}`);
    return type;
  }

  private vectorAt(position: number, columns: readonly ColumnValues[]): Vector {
    const values = columns[position];
    assert(values !== undefined, `values of every column of ${this.schema.name}`);
    return "kind" in values ? values : vectorOf(this.typeAt(position), values);
  }

  private makeRoom(rows: number): void {
    const needed = Math.min(this.rowsMax, this.count + rows);
    if (needed <= this.keys.length) return;
    const length = Math.max(needed, Math.min(this.rowsMax, 2 * this.keys.length));
    const { offsets, keys } = this;
    this.offsets = new Float64Array(length);
    this.keys = new Uint32Array(length);
    if (this.count === 0) return;
    this.offsets.set(offsets);
    this.keys.set(keys);
  }

  /** Takes times from row `from` on; gives the first that is too far from the first of the write, or `to`. */
  private addTimes(times: AnyTimes, from: number, to: number): number {
    if (this.count === 0) this.base = timeAt(times, from);
    const { base, offsets, count } = this;
    const shift = times.kind === "time" ? Number(times.base - base) : Number.NaN;
    const isNear = Number.isSafeInteger(shift);
    for (let row = from; row < to; row++) {
      const offset = isNear && times.kind === "time" ? (times.offsets[row] as number) + shift : Number(timeAt(times, row) - base);
      if (Math.abs(offset) >= CHUNK_TIME_SPAN_MAX) return row;
      offsets[count + row - from] = offset;
    }
    return to;
  }

  private addKeys(tags: readonly (readonly (string | undefined)[])[], from: number, to: number): void {
    const { keys, count, tagKeys } = this;
    const texts: (string | undefined)[] = tags.map(() => undefined);
    for (let row = from; row < to; row++) {
      for (let i = 0; i < tags.length; i++) texts[i] = tags[i]?.[row];
      keys[count + row - from] = tagKeys.keyOf(texts);
    }
  }

  private cut(): void {
    const { count, fields } = this;
    if (count === 0) return;
    this.writes.push({
      table: this.schema.name,
      rowCount: count,
      keys: count === this.keys.length ? this.keys : this.keys.subarray(0, count),
      timeUnit: this.timeUnit,
      times: {
        kind: "time",
        base: this.base,
        offsets: count === this.offsets.length ? this.offsets : this.offsets.subarray(0, count),
        validity: undefined,
      },
      fields: this.fieldPositions.flatMap((position, i): FieldWrite[] => {
        const column = this.schema.columns[position];
        const parts = fields[i] ?? [];
        const [first] = parts;
        if (column === undefined || first === undefined) return [];
        return [{ name: column.name, type: column.type, vector: parts.length === 1 ? first.vector : concat(column.type, parts) }];
      }),
    });
    this.count = 0;
    this.offsets = NO_OFFSETS;
    this.keys = NO_KEYS;
    this.fields = this.fieldPositions.map(() => []);
  }
}

function timeAt(times: AnyTimes, row: number): bigint {
  return times.kind === "time" ? times.base + BigInt(times.offsets[row] as number) : (times.values[row] as bigint);
}

function bytesOf(vector: Vector, rowCount: number): number {
  let text = 0;
  if (vector.kind === "bytes") text = (vector.offsets[rowCount] ?? 0) - (vector.offsets[0] ?? 0);
  else if (vector.kind === "coded") text = textLength(vector, 0, rowCount);
  return rowCount * VALUE_BYTES + text;
}
