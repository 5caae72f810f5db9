/**
 * Values of one field in one part of a table while a request is decoded.
 *
 *   next          rows [0, next) are written; the next value normally belongs to row `next`
 *   since         the row for which the column was started: if that row is taken back, so is the column
 *   kind          which of the arrays below holds the values
 *
 * Hot loops read `kind` and `next` and store into an array themselves when the value is the ordinary one; all else goes through the
 * methods. Each kind has an array property of its own, so that a store site sees one array class only. A column has no validity until
 * a row leaves it out; from then on `validity` is 1 ahead of `next`, so that an ordinary store need not touch it.
 */
import { resized } from "../../base/bytes/longer-array.ts";
import type { DataType } from "../../column/data-type.ts";
import { BOOLEAN, FLOAT64, INT64, STRING, UINT64 } from "../../column/data-type.ts";
import type { Vector } from "../../column/vector.ts";
import type { Budget } from "./budget.ts";
import { OBJECT_BYTES } from "./limits.ts";

/** Type of a field as the protocol has it; 0 stands for "not seen in this request". */
export const FieldType = { None: 0, Integer: 1, Unsigned: 2, Float: 3, Boolean: 4, Text: 5 } as const;
export type FieldType = (typeof FieldType)[keyof typeof FieldType];

/** Column type of each `FieldType`; index 0 is not used. */
export const DATA_TYPES: readonly DataType[] = [INT64, INT64, UINT64, FLOAT64, BOOLEAN, STRING];

/** Where a column keeps its values. Integers start as 32 bits and are promoted when a value needs more. */
export const Kind = {
  None: 0,
  /** Signed integers in `ints`. */
  Int32: 1,
  /** Signed integers within ±2^53 in `floats`. */
  Int53: 2,
  /** Signed integers in `wides`. */
  Int64: 3,
  /** Unsigned integers below 2^53 in `floats`. */
  Uint53: 4,
  /** Unsigned integers in `wides`, as two's complement. */
  Uint64: 5,
  /** Doubles in `floats`. */
  Float: 6,
  /** 0 or 1 in `bits`. */
  Boolean: 7,
  /** UTF-8 in `text`, delimited by `ends`. */
  Text: 8,
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

const KIND_AT_FIRST: readonly Kind[] = [Kind.None, Kind.Int32, Kind.Uint53, Kind.Float, Kind.Boolean, Kind.Text];

/** Bytes a row of each kind, validity apart. */
const BYTES_PER_ROW: readonly number[] = [0, 4, 8, 8, 8, 8, 8, 1, 4];

const NO_INTS: Int32Array<ArrayBuffer> = new Int32Array(0);
const NO_FLOATS: Float64Array<ArrayBuffer> = new Float64Array(0);
const NO_WIDES: BigInt64Array<ArrayBuffer> = new BigInt64Array(0);
const NO_BYTES: Uint8Array<ArrayBuffer> = new Uint8Array(0);
const NO_ENDS: Uint32Array<ArrayBuffer> = new Uint32Array(0);

export class FieldColumn {
  kind: Kind = Kind.None;
  /** -1 while the column is not in use. */
  next = -1;
  since = -1;
  ints: Int32Array<ArrayBuffer> = NO_INTS;
  floats: Float64Array<ArrayBuffer> = NO_FLOATS;
  wides: BigInt64Array<ArrayBuffer> = NO_WIDES;
  bits: Uint8Array<ArrayBuffer> = NO_BYTES;
  /** Text of row i is `text[ends[i], ends[i + 1])`. */
  ends: Uint32Array<ArrayBuffer> = NO_ENDS;
  text: Uint8Array<ArrayBuffer> = NO_BYTES;
  /** Bytes of `text` in use. */
  textLength = 0;
  private sparse = false;
  private validity: Uint8Array<ArrayBuffer> = NO_BYTES;

  /** Starts the column for a request, first value in `row`. Returns false when the budget does not allow it. */
  start(type: FieldType, row: number, capacity: number, budget: Budget): boolean {
    this.kind = KIND_AT_FIRST[type] ?? Kind.None;
    this.next = 0;
    this.since = row;
    this.sparse = false;
    this.textLength = 0;
    if (this.resize(capacity, budget)) return true;
    this.stop();
    return false;
  }

  /** Ends the column's use; its arrays stay for the next request. */
  stop(): void {
    this.kind = Kind.None;
    this.next = -1;
    this.since = -1;
  }

  /** Makes room for `capacity` rows. Returns false, and keeps what there is, when the budget does not allow it. */
  resize(capacity: number, budget: Budget): boolean {
    const have = this.rowCapacity();
    if (have >= capacity && (!this.sparse || this.validity.length >= capacity)) return true;
    const bytes = (capacity - Math.min(have, capacity)) * BYTES_PER_ROW[this.kind]!;
    const marks = this.sparse ? Math.max(0, capacity - this.validity.length) : 0;
    if (!budget.take(bytes + marks)) return false;
    if (this.sparse && this.validity.length < capacity) this.growValidity(capacity);
    if (have < capacity) this.growValues(capacity);
    return true;
  }

  /** Marks rows `[next, row)` as NULL. `capacity` is that of the part. */
  skipTo(row: number, capacity: number, budget: Budget): void {
    const { next } = this;
    if (!this.sparse) {
      if (capacity > this.validity.length) {
        budget.charge(capacity - this.validity.length);
        this.growValidity(capacity);
      }
      this.validity.fill(1);
      this.sparse = true;
    }
    const { validity, ints } = this;
    if (row - next > SHORT_GAP_ROWS || this.kind !== Kind.Int32) {
      validity.fill(0, next, row);
      this.clearRows(next, row);
    } else {
      for (let i = next; i < row; i++) {
        validity[i] = 0;
        ints[i] = 0;
      }
    }
    this.next = row;
  }

  /** Takes back the value of `row`, if there is one. */
  rollback(row: number): void {
    if (this.next !== row + 1) return;
    if (this.since === row) {
      this.stop();
      return;
    }
    this.retake(row);
  }

  /** Makes room for another value of `row`, which has one. */
  retake(row: number): void {
    this.next = row;
    if (this.kind === Kind.Text) this.textLength = this.ends[row]!;
  }

  /** Moves 32-bit integers to doubles, or integers within ±2^53 to 64 bits. Returns false when the budget does not allow it. */
  promote(kind: Kind, capacity: number, budget: Budget): boolean {
    const { kind: from, next, ints, floats } = this;
    this.kind = kind;
    if (!this.resize(capacity, budget)) {
      this.kind = from;
      return false;
    }
    if (kind === Kind.Int53) {
      for (let i = 0; i < next; i++) this.floats[i] = ints[i]!;
      return true;
    }
    for (let i = 0; i < next; i++) this.wides[i] = BigInt(from === Kind.Int32 ? ints[i]! : floats[i]!);
    return true;
  }

  /** Makes room for `extra` more bytes of text. Returns false when the budget does not allow it. */
  reserveText(extra: number, budget: Budget): boolean {
    const need = this.textLength + extra;
    if (need <= this.text.length) return true;
    const capacity = Math.max(need, this.text.length * 2, 256);
    if (!budget.take(capacity - this.text.length)) return false;
    this.text = resized(this.text.subarray(0, this.textLength), capacity);
    return true;
  }

  /** All rows as a vector; `next` has reached the number of rows. Borrows the arrays. */
  vector(): Vector {
    const validity = this.sparse ? this.validity : undefined;
    switch (this.kind) {
      case Kind.Int32:
        return { kind: "number", values: this.ints, validity };
      case Kind.Int64:
        return { kind: "wide", values: this.wides, validity };
      case Kind.Uint64:
        return { kind: "wide", values: new BigUint64Array(this.wides.buffer), validity };
      case Kind.Boolean:
        return { kind: "number", values: this.bits, validity };
      case Kind.Text:
        return { kind: "bytes", offsets: this.ends, bytes: this.text, validity };
      default:
        return { kind: "number", values: this.floats, validity };
    }
  }

  /** Bytes that the column holds, in use or not. */
  get byteSize(): number {
    const numbers = this.ints.byteLength + this.floats.byteLength + this.wides.byteLength + this.ends.byteLength;
    return OBJECT_BYTES + numbers + this.bits.length + this.text.length + this.validity.length;
  }

  private rowCapacity(): number {
    switch (this.kind) {
      case Kind.None:
        return Number.POSITIVE_INFINITY;
      case Kind.Int32:
        return this.ints.length;
      case Kind.Int64:
      case Kind.Uint64:
        return this.wides.length;
      case Kind.Boolean:
        return this.bits.length;
      case Kind.Text:
        return this.ends.length - 1;
      default:
        return this.floats.length;
    }
  }

  private growValues(capacity: number): void {
    const { next } = this;
    switch (this.kind) {
      case Kind.None:
        return;
      case Kind.Int32:
        this.ints = resized(this.ints.subarray(0, next), capacity);
        return;
      case Kind.Int64:
      case Kind.Uint64:
        this.wides = resized(this.wides.subarray(0, next), capacity);
        return;
      case Kind.Boolean:
        this.bits = resized(this.bits.subarray(0, next), capacity);
        return;
      case Kind.Text:
        this.ends = resized(this.ends.subarray(0, next + 1), capacity + 1);
        return;
      default:
        this.floats = resized(this.floats.subarray(0, next), capacity);
    }
  }

  private growValidity(capacity: number): void {
    const grown = new Uint8Array(capacity).fill(1);
    grown.set(this.validity.subarray(0, Math.max(0, this.next)));
    this.validity = grown;
  }

  /** Zeroes rows `[from, to)`: what lies under NULL must not depend on earlier requests. */
  private clearRows(from: number, to: number): void {
    switch (this.kind) {
      case Kind.None:
        return;
      case Kind.Int32:
        this.ints.fill(0, from, to);
        return;
      case Kind.Int64:
      case Kind.Uint64:
        this.wides.fill(0n, from, to);
        return;
      case Kind.Boolean:
        this.bits.fill(0, from, to);
        return;
      case Kind.Text:
        this.ends.fill(this.textLength, from + 1, to + 1);
        return;
      default:
        this.floats.fill(0, from, to);
    }
  }
}

/** Rows of a gap up to which a loop is faster than `fill`. */
const SHORT_GAP_ROWS = 8;

/** Stands for a field that a part does not have; never in use, never written. */
export const NO_COLUMN: FieldColumn = new FieldColumn();
