/**
 * Cells of one column while rows come, in typed arrays: an object or a string a cell is what decoders of logs would else spend half of
 * their time on. Rows are counted by `RowCount`, which all columns of a table share; a row that sets no cell is NULL.
 */
import { longer, partOf } from "../base/bytes/longer-array.ts";
import { assert } from "../base/assert.ts";
import type { DataType } from "../column/data-type.ts";
import type { Scalar, Validity, Vector } from "../column/vector.ts";
import { vectorOf } from "../column/vector-builder.ts";

/** Cells of one column. Each row sets at most one cell; the last one set counts. */
export interface FieldCells {
  readonly name: string;
  readonly type: DataType;
  /** Sets the cell of the row begun last. */
  set(value: Scalar): void;
  /** Sets it to a number; for columns of floats, booleans (0 or 1) and integers, which must be within ±2^53. */
  setNumber(value: number): void;
  /** Sets it to the UTF-8 text or the binary at `source[start, end)`; for columns that hold bytes. */
  setBytes(source: Uint8Array, start: number, end: number): void;
}

/** Cells that become a vector. */
export interface Cells extends FieldCells {
  /** Rows `[start, end)`. The cells are used up once all rows were taken. */
  vector(start: number, end: number): Vector;
}

/** Rows begun, of all columns of a table. */
export interface RowCount {
  rows: number;
}

/** Longer texts are copied by the runtime: a native call and its view cost about 60 ns, a byte of a loop 0.6. Measured from 16 to 256 B. */
const LOOP_BYTES_MAX = 96;
/** Longer strings are encoded by the runtime at once. */
const LOOP_CHARACTERS_MAX = 24;

/** Rows that cells have room for at first, where nobody knows how many will come. */
const ROWS_MIN = 256;
/** Bytes that cells of text have room for at first, a row. */
const TEXT_BYTES_A_ROW = 16;

/**
 * The cells of a column of this type.
 *
 * @param rows how many will come, where that is known and counted: arrays that need not grow save 13 of 248 ns a row of ten columns
 * (ingest/greptime/decode.bench.ts)
 */
export function cellsOf(name: string, type: DataType, count: RowCount, rows: number = ROWS_MIN): Cells {
  switch (type.kind) {
    case "string":
    case "binary":
    case "json":
      return new ByteCells(name, type, count, rows);
    case "float":
    case "int":
    case "boolean":
      return new NumberCells(name, type, count, rows);
    default:
      return new ScalarCells(name, type, count);
  }
}

class NumberCells implements Cells {
  readonly name: string;
  readonly type: DataType;
  private readonly count: RowCount;
  private values: Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;
  private validity: Uint8Array<ArrayBuffer>;
  /** Integers beyond ±2^53, by row. */
  private wide: Map<number, bigint> | undefined;

  constructor(name: string, type: DataType, count: RowCount, rows: number) {
    this.name = name;
    this.type = type;
    this.count = count;
    this.values = type.kind === "float" && type.bits === 32 ? new Float32Array(rows) : new Float64Array(rows);
    this.validity = new Uint8Array(rows);
  }

  set(value: Scalar): void {
    if (typeof value === "bigint" && !Number.isSafeInteger(Number(value)) && this.type.kind === "int") {
      this.wide ??= new Map();
      this.setNumber(0);
      this.wide.set(this.count.rows - 1, value);
      return;
    }
    this.setNumber(Number(value ?? 0));
    if (value === undefined) this.validity[this.count.rows - 1] = 0;
  }

  setNumber(value: number): void {
    const row = this.count.rows - 1;
    if (row >= this.values.length) this.grow(row + 1);
    this.values[row] = value;
    this.validity[row] = 1;
    this.wide?.delete(row);
  }

  setBytes(): void {
    assert(false, "a column that holds bytes");
  }

  vector(start: number, end: number): Vector {
    if (end > this.values.length) this.grow(end);
    const validity = nullsOf(this.validity, start, end);
    const values = partOf(this.values, start, end);
    const wide = [...(this.wide ?? [])].filter(([row]) => row >= start && row < end);
    if (wide.length === 0) return { kind: "number", values, validity };
    const { type } = this;
    const integers = type.kind === "int" && !type.signed ? new BigUint64Array(end - start) : new BigInt64Array(end - start);
    for (let i = 0; i < values.length; i++) integers[i] = BigInt(values[i] as number); // i < length
    for (const [row, value] of wide) integers[row - start] = value;
    return { kind: "wide", values: integers, validity };
  }

  private grow(rows: number): void {
    this.values = longer(this.values, rows);
    this.validity = longer(this.validity, rows);
  }
}

/** Types that few columns have: scalars, made a vector at the end. */
class ScalarCells implements Cells {
  readonly name: string;
  readonly type: DataType;
  private readonly count: RowCount;
  private readonly values: Scalar[] = [];

  constructor(name: string, type: DataType, count: RowCount) {
    this.name = name;
    this.type = type;
    this.count = count;
  }

  set(value: Scalar): void {
    const row = this.count.rows - 1;
    while (this.values.length < row) this.values.push(undefined);
    this.values[row] = value;
  }

  setNumber(value: number): void {
    this.set(value);
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
  private readonly count: RowCount;
  private bytes: Uint8Array<ArrayBuffer>;
  private starts: Uint32Array<ArrayBuffer>;
  private ends: Uint32Array<ArrayBuffer>;
  private validity: Uint8Array<ArrayBuffer>;
  private used = 0;

  constructor(name: string, type: DataType, count: RowCount, rows: number) {
    this.name = name;
    this.type = type;
    this.count = count;
    this.bytes = new Uint8Array(rows * TEXT_BYTES_A_ROW);
    this.starts = new Uint32Array(rows);
    this.ends = new Uint32Array(rows);
    this.validity = new Uint8Array(rows);
  }

  set(value: Scalar): void {
    if (typeof value === "string") this.setText(value);
    else if (value instanceof Uint8Array) this.setBytes(value, 0, value.length);
    else if (value !== undefined) this.setText(String(value));
    else {
      this.place(this.used, this.used);
      this.validity[this.count.rows - 1] = 0;
    }
  }

  setNumber(value: number): void {
    this.setText(String(value));
  }

  setBytes(source: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.reserve(length);
    const { bytes, used } = this;
    if (length > LOOP_BYTES_MAX) bytes.set(source.subarray(start, end), used);
    else for (let i = 0; i < length; i++) bytes[used + i] = source[start + i] as number; // both are long enough
    this.place(used, used + length);
  }

  vector(start: number, end: number): Vector {
    this.grow(end);
    const { starts, ends } = this;
    const offsets = new Uint32Array(end - start + 1);
    const validity = nullsOf(this.validity, start, end);
    let isDense = true;
    let length = 0;
    let base = -1;
    for (let row = start; row < end; row++) {
      const from = starts[row] as number;
      const size = (ends[row] as number) - from;
      if (size > 0) {
        if (base < 0) base = from;
        if (from !== base + length) isDense = false;
      }
      length += size;
      offsets[row - start + 1] = length;
    }
    if (isDense) return { kind: "bytes", offsets, bytes: base > 0 ? this.bytes.subarray(base) : this.bytes, validity };
    const bytes = new Uint8Array(length);
    for (let row = start; row < end; row++) bytes.set(this.bytes.subarray(starts[row], ends[row]), offsets[row - start]);
    return { kind: "bytes", offsets, bytes, validity };
  }

  private setText(text: string): void {
    const { length } = text;
    this.reserve(length * 3);
    const { bytes, used } = this;
    let at = 0;
    if (length <= LOOP_CHARACTERS_MAX) {
      for (; at < length; at++) {
        const code = text.charCodeAt(at);
        if (code > 0x7f) break;
        bytes[used + at] = code;
      }
    }
    this.place(used, used + (at === length ? length : writeText(bytes, text, used)));
  }

  private place(start: number, end: number): void {
    const row = this.count.rows - 1;
    if (row >= this.starts.length) this.grow(row + 1);
    this.starts[row] = start;
    this.ends[row] = end;
    this.validity[row] = 1;
    this.used = end;
  }

  private grow(rows: number): void {
    if (rows <= this.starts.length) return;
    this.starts = longer(this.starts, rows);
    this.ends = longer(this.ends, rows);
    this.validity = longer(this.validity, rows);
  }

  private reserve(count: number): void {
    const need = this.used + count;
    if (need <= this.bytes.length) return;
    this.bytes = longer(this.bytes, need);
  }
}

/** Writes a text as UTF-8 and returns its bytes. 50 ns for 53 characters; an encoder and its view take 80 and leave garbage. */
function writeText(bytes: Uint8Array, text: string, at: number): number {
  return Buffer.prototype.write.call(bytes, text, at);
}

function nullsOf(validity: Uint8Array, start: number, end: number): Validity {
  const rows = partOf(validity, start, end);
  return rows.includes(0) ? rows : undefined;
}
