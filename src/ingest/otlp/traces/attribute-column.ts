/**
 * The column of one attribute while spans are read: cells of the spans that have it, each as it was sent. What type the column gets is
 * known once all spans are read; then cells that have that type go to the column as they are.
 *
 *   rows  | 0 | 2 | 3 | …      kinds | string | int | …      numbers | – | 200 | …      texts | GET | – | …  (bytes, ends)
 */
import { longerBytes, resized } from "../../../base/bytes/longer-array.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Validity, Vector } from "../../../column/vector.ts";
import { textVector } from "../columns/text-vector.ts";
import { textOf } from "../text.ts";
import type { Sent, SentKind } from "./reconcile.ts";

/** Kinds of what is sent, by the number of their bit. */
const SENT_KINDS: readonly SentKind[] = ["string", "bool", "int", "double", "json", "bytes"];

/** What kinds of values a column has met: a bit each. */
export const KindBit = { string: 1, bool: 2, int: 4, double: 8, json: 16, bytes: 32 } as const;

const TWO_32 = 0x1_0000_0000;

/** The kinds of a set of bits, in the order of `SENT_KINDS`. */
export function kindsOf(bits: number): ReadonlySet<SentKind> {
  return new Set(SENT_KINDS.filter((_, i) => (bits & (1 << i)) !== 0));
}

/** The bit of the kind whose values have a type without being converted; 0 for types that no kind has. */
export function bitOfType(type: DataType): number {
  switch (type.kind) {
    case "string":
      return KindBit.string;
    case "boolean":
      return KindBit.bool;
    case "int":
      return type.bits === 64 && type.signed ? KindBit.int : 0;
    case "float":
      return type.bits === 64 ? KindBit.double : 0;
    case "json":
      return KindBit.json;
    case "binary":
      return KindBit.bytes;
    default:
      return 0;
  }
}

/** See the file header. */
export class AttributeColumn {
  readonly name: string;
  readonly key: Uint8Array;
  /** The column that came after this one last time. */
  next: AttributeColumn | undefined;
  count = 0;
  /** Bits of all kinds that were sent. */
  kinds = 0;
  private rows: Uint32Array<ArrayBuffer> = new Uint32Array(16);
  private cellKinds: Uint8Array<ArrayBuffer> = new Uint8Array(16);
  private numbers: Float64Array<ArrayBuffer> = new Float64Array(16);
  private ends: Uint32Array<ArrayBuffer> = new Uint32Array(17);
  private bytes: Uint8Array<ArrayBuffer> = new Uint8Array(64);
  private used = 0;
  /** Integers that a number does not hold, by cell. */
  private readonly wide: Map<number, bigint> = new Map();

  constructor(name: string, key: Uint8Array) {
    this.name = name;
    this.key = key;
  }

  /** Bytes held. */
  get byteSize(): number {
    return this.bytes.length + this.rows.length * 17;
  }

  /** Forgets the cells. */
  reset(): void {
    this.count = 0;
    this.kinds = 0;
    this.used = 0;
    this.wide.clear();
  }

  /** Sets the cell of a row, not below that of the call before, to a text, JSON or bytes. */
  setBytes(row: number, bit: number, source: Uint8Array, start: number, end: number): void {
    const cell = this.begin(row, bit);
    const length = end - start;
    const need = this.used + length;
    if (need > this.bytes.length) this.bytes = longerBytes(this.bytes, this.used, need);
    const { bytes, used } = this;
    if (length > 64) bytes.set(source.subarray(start, end), used);
    else for (let i = 0; i < length; i++) bytes[used + i] = source[start + i] as number;
    this.used = need;
    this.ends[cell + 1] = need;
  }

  /** Sets it to a double or a boolean. */
  setNumber(row: number, bit: number, value: number): void {
    const cell = this.begin(row, bit);
    this.numbers[cell] = value;
    this.ends[cell + 1] = this.used;
  }

  /** Sets it to an integer of two halves. */
  setInt(row: number, low: number, high: number): void {
    const signed = high | 0;
    this.setNumber(row, KindBit.int, signed * TWO_32 + low);
    if (signed >= 0x20_0000 || signed < -0x20_0000) this.wide.set(this.count - 1, (BigInt(signed) << 32n) | BigInt(low));
  }

  /** The row of a cell. */
  rowAt(cell: number): number {
    return this.rows[cell] as number;
  }

  /** A cell as it was sent. */
  sentAt(cell: number): Sent {
    const bit = this.cellKinds[cell] as number;
    const kind = SENT_KINDS[31 - Math.clz32(bit)] as SentKind;
    const [start, end] = [this.ends[cell] as number, this.ends[cell + 1] as number];
    const number = this.numbers[cell] as number;
    if (bit === KindBit.bool) return { kind, value: number === 1 };
    if (bit === KindBit.int) return { kind, value: this.wide.get(cell) ?? number };
    if (bit === KindBit.double) return { kind, value: number };
    return { kind, value: bit === KindBit.bytes ? this.bytes.slice(start, end) : textOf(this.bytes, start, end) };
  }

  /** The cells as a vector of `rowCount` rows; all of them have the kind of the column's type. Borrows the memory. */
  vector(rowCount: number): Vector {
    const validity = this.validity(rowCount);
    const { count, rows, numbers } = this;
    if (this.kinds === KindBit.int && this.wide.size > 0) {
      const values = new BigInt64Array(rowCount);
      for (let cell = 0; cell < count; cell++) values[rows[cell] as number] = this.wide.get(cell) ?? BigInt(numbers[cell] as number);
      return { kind: "wide", values, validity };
    }
    if ((this.kinds & (KindBit.bool | KindBit.int | KindBit.double)) !== 0) {
      if (validity === undefined) return { kind: "number", values: numbers, validity };
      const values = new Float64Array(rowCount);
      for (let cell = 0; cell < count; cell++) values[rows[cell] as number] = numbers[cell] as number;
      return { kind: "number", values, validity };
    }
    const offsets = validity === undefined ? this.ends : this.offsets(rowCount);
    if (this.kinds === KindBit.bytes) return { kind: "bytes", offsets, bytes: this.bytes, validity };
    return textVector(this.bytes, offsets, rowCount, validity);
  }

  private validity(rowCount: number): Validity {
    const { count, rows } = this;
    if (count === rowCount) return undefined;
    const validity = new Uint8Array(rowCount);
    for (let cell = 0; cell < count; cell++) validity[rows[cell] as number] = 1;
    return validity;
  }

  private offsets(rowCount: number): Uint32Array {
    const { count, rows, ends } = this;
    const offsets = new Uint32Array(rowCount + 1);
    let from = 0;
    for (let cell = 0; cell < count; cell++) {
      const row = rows[cell] as number;
      offsets.fill(ends[cell] as number, from, row + 1);
      from = row + 1;
    }
    return offsets.fill(this.used, from);
  }

  /** Begins the cell of a row; one that the row has already begins anew. */
  private begin(row: number, bit: number): number {
    let cell = this.count;
    if (cell > 0 && this.rows[cell - 1] === row) {
      cell--;
      this.used = this.ends[cell] as number;
      this.wide.delete(cell);
    } else if (++this.count > this.rows.length) this.grow();
    this.rows[cell] = row;
    this.cellKinds[cell] = bit;
    this.kinds |= bit;
    return cell;
  }

  private grow(): void {
    const length = this.rows.length * 2;
    this.rows = resized(this.rows, length);
    this.cellKinds = resized(this.cellKinds, length);
    this.numbers = resized(this.numbers, length);
    this.ends = resized(this.ends, length + 1);
  }
}
