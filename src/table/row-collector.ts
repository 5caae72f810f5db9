/**
 * Collects rows of one table whose columns are found while they come: for decoders of logs and of documents. A column that a row does not
 * set is NULL in it. Text goes from the body's bytes to the column's bytes without a JavaScript string.
 *
 *   begin(time, key) ─► field(name, type).set… ─► begin … ─► writes()
 */
import { assert } from "../base/assert.ts";
import { DbError } from "../base/error.ts";
import { fnv1a } from "../base/hash.ts";
import { CHUNK_TIME_SPAN_MAX } from "../base/limits.ts";
import { StatusCode } from "../base/status-code.ts";
import { type DataType, displayName, sameType, type TimeUnit } from "../column/data-type.ts";
import type { Scalar, Validity, Vector } from "../column/vector.ts";
import { vectorOf } from "../column/vector-builder.ts";
import type { ColumnDefinition } from "./schema.ts";
import type { SeriesDictionary } from "./series-dictionary.ts";
import type { FieldWrite, TableWrite } from "./write-batch.ts";

const encoder = new TextEncoder();

/** The key of a tag set in a dictionary, added when it is new. Names are distinct; empty values must be left out by the caller. */
export function tagKey(dictionary: SeriesDictionary, table: string, names: readonly string[], values: readonly string[]): number {
  let raw = table;
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    const value = values[i] as string;
    raw += `\0${name.length}:${name}${value.length}:${value}`;
  }
  const bytes = encoder.encode(raw);
  const hash = fnv1a(bytes, 0, bytes.length);
  const known = dictionary.find(bytes, 0, bytes.length, hash);
  return known >= 0 ? known : dictionary.add(bytes, 0, bytes.length, hash, { table, names, values });
}

/** Cells of one column. Each row sets at most one cell; the last one set counts. */
export interface FieldCells {
  readonly name: string;
  readonly type: DataType;
  /** Sets the cell of the row begun last. */
  set(value: Scalar): void;
  /** Sets it to the UTF-8 text or the binary at `source[start, end)`; for columns that hold bytes. */
  setBytes(source: Uint8Array, start: number, end: number): void;
}

/** See the file header. Memory is bounded by the body that is decoded. */
export class RowCollector {
  readonly table: string;
  private readonly timeUnit: TimeUnit;
  private readonly times: bigint[] = [];
  private readonly keys: number[] = [];
  private readonly columns: Map<string, Cells> = new Map();

  constructor(table: string, timeUnit: TimeUnit) {
    this.table = table;
    this.timeUnit = timeUnit;
  }

  /** Rows begun. */
  get rowCount(): number {
    return this.times.length;
  }

  /** Begins a row. `time` in the unit of the collector, `key` of its tags in the batch's dictionary. */
  begin(time: bigint, key: number): void {
    this.times.push(time);
    this.keys.push(key);
  }

  /** Type of a column that some row set. */
  typeOf(name: string): DataType | undefined {
    return this.columns.get(name)?.type;
  }

  /** The column of a name. @throws DbError InvalidArguments when it was asked for with another type before */
  field(name: string, type: DataType): FieldCells {
    let cells = this.columns.get(name);
    if (cells === undefined) {
      cells = holdsBytes(type) ? new ByteCells(name, type, this.times) : new ScalarCells(name, type, this.times);
      this.columns.set(name, cells);
    } else if (cells.type !== type && !sameType(cells.type, type)) {
      const types = `expected datatype: ${displayName(cells.type)}, actual datatype: ${displayName(type)}`;
      throw new DbError(StatusCode.InvalidArguments, `Column datatype mismatch. For column: ${name}, ${types}`);
    }
    return cells;
  }

  /** All rows; several writes when their times are too far apart for one. `shape` as in `TableWrite`. The collector is used up. */
  writes(shape?: readonly ColumnDefinition[]): TableWrite[] {
    const writes: TableWrite[] = [];
    const { times } = this;
    for (let start = 0; start < times.length; ) {
      const first = times[start] as bigint;
      let end = start + 1;
      while (end < times.length && Math.abs(Number((times[end] as bigint) - first)) < CHUNK_TIME_SPAN_MAX) end++;
      writes.push(this.part(start, end, shape));
      start = end;
    }
    return writes;
  }

  private part(start: number, end: number, shape: readonly ColumnDefinition[] | undefined): TableWrite {
    const times = vectorOf({ kind: "timestamp", unit: this.timeUnit }, this.times.slice(start, end));
    assert(times.kind === "time", "timestamps make a time vector");
    const fields = [...this.columns.values()].map((cells): FieldWrite => {
      return { name: cells.name, type: cells.type, vector: cells.vector(start, end) };
    });
    return {
      table: this.table,
      rowCount: end - start,
      keys: Uint32Array.from(this.keys.slice(start, end)),
      timeUnit: this.timeUnit,
      times,
      fields,
      ...(shape === undefined ? {} : { shape }),
    };
  }
}

interface Cells extends FieldCells {
  vector(start: number, end: number): Vector;
}

function holdsBytes({ kind }: DataType): boolean {
  return kind === "string" || kind === "binary" || kind === "json";
}

class ScalarCells implements Cells {
  readonly name: string;
  readonly type: DataType;
  private readonly rows: readonly unknown[];
  private readonly values: Scalar[] = [];

  constructor(name: string, type: DataType, rows: readonly unknown[]) {
    this.name = name;
    this.type = type;
    this.rows = rows;
  }

  set(value: Scalar): void {
    const row = this.rows.length - 1;
    while (this.values.length < row) this.values.push(undefined);
    this.values[row] = value;
  }

  setBytes(): void {
    assert(false, "a column that holds bytes");
  }

  vector(start: number, end: number): Vector {
    while (this.values.length < end) this.values.push(undefined);
    return vectorOf(this.type, start === 0 && end === this.values.length ? this.values : this.values.slice(start, end));
  }
}

class ByteCells implements Cells {
  readonly name: string;
  readonly type: DataType;
  private readonly rows: readonly unknown[];
  private bytes: Uint8Array<ArrayBuffer> = new Uint8Array(4096);
  private starts: Uint32Array<ArrayBuffer> = new Uint32Array(256);
  private ends: Uint32Array<ArrayBuffer> = new Uint32Array(256);
  private validity: Uint8Array<ArrayBuffer> = new Uint8Array(256);
  private used = 0;
  private filled = 0;

  constructor(name: string, type: DataType, rows: readonly unknown[]) {
    this.name = name;
    this.type = type;
    this.rows = rows;
  }

  set(value: Scalar): void {
    if (value === undefined) {
      this.place(this.used, this.used);
      this.validity[this.filled - 1] = 0;
      return;
    }
    if (value instanceof Uint8Array) {
      this.setBytes(value, 0, value.length);
      return;
    }
    const text = String(value);
    this.reserve(text.length * 3);
    const start = this.used;
    const { written } = encoder.encodeInto(text, this.bytes.subarray(start));
    this.place(start, start + written);
  }

  setBytes(source: Uint8Array, start: number, end: number): void {
    this.reserve(end - start);
    this.bytes.set(source.subarray(start, end), this.used);
    this.place(this.used, this.used + end - start);
  }

  vector(start: number, end: number): Vector {
    this.grow(end);
    const offsets = new Uint32Array(end - start + 1);
    const validity = this.validityOf(start, end);
    let isDense = true;
    let length = 0;
    for (let row = start; row < end; row++) {
      const from = this.starts[row] as number;
      const size = (this.ends[row] as number) - from;
      if (size > 0 && from !== length) isDense = false;
      length += size;
      offsets[row - start + 1] = length;
    }
    if (isDense) return { kind: "bytes", offsets, bytes: this.bytes, validity };
    const bytes = new Uint8Array(length);
    for (let row = start; row < end; row++) bytes.set(this.bytes.subarray(this.starts[row], this.ends[row]), offsets[row - start]);
    return { kind: "bytes", offsets, bytes, validity };
  }

  private validityOf(start: number, end: number): Validity {
    const validity = this.validity.subarray(start, end);
    return validity.includes(0) ? validity : undefined;
  }

  private place(start: number, end: number): void {
    const row = this.rows.length - 1;
    this.grow(row + 1);
    this.starts[row] = start;
    this.ends[row] = end;
    this.validity[row] = 1;
    this.used = end;
    this.filled = row + 1;
  }

  private grow(rows: number): void {
    if (rows <= this.starts.length) return;
    const size = Math.max(rows, this.starts.length * 2);
    this.starts = grown(this.starts, new Uint32Array(size));
    this.ends = grown(this.ends, new Uint32Array(size));
    this.validity = grown(this.validity, new Uint8Array(size));
  }

  private reserve(count: number): void {
    const need = this.used + count;
    if (need > this.bytes.length) this.bytes = grown(this.bytes, new Uint8Array(Math.max(need, this.bytes.length * 2)));
  }
}

function grown<T extends Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(from: T, to: T): T {
  to.set(from);
  return to;
}
