/**
 * Integers of any length from bytes: the rare long ones; short ones are read in the field loop itself.
 */
import { Kind } from "./field-column.ts";
import { INT64_MAX, INT64_MIN, UINT64_MAX } from "../../column/exact-integer.ts";

const latin1 = new TextDecoder("latin1");

/** Reads an integer and tells which kind of column can hold it. */
export class IntegerReader {
  /** The value; exact when `kind` is Int32, Int53 or Uint53. */
  value = 0;
  /** The value when `kind` is Int64 or Uint64; as two's complement for the latter. */
  wide = 0n;
  /** The narrowest kind that holds the value. */
  kind: Kind = Kind.Int32;

  /** Reads all of `bytes[start, end)`: `-?digits`, or `digits` when not `signed`. Returns false when it is not one or has over 64 bits. */
  read(bytes: Uint8Array, start: number, end: number, signed: boolean): boolean {
    const negative = signed && bytes[start] === 0x2d;
    let first = negative ? start + 1 : start;
    if (first >= end) return false;
    for (let i = first; i < end; i++) if (bytes[i]! < 0x30 || bytes[i]! > 0x39) return false;
    while (first < end - 1 && bytes[first] === 0x30) first++;
    const digits = end - first;
    if (digits > 20) return false;
    if (digits > 15) return this.readWide(bytes, first, end, negative, signed);
    let value = 0;
    for (let i = first; i < end; i++) value = value * 10 + (bytes[i]! - 0x30);
    this.value = negative ? 0 - value : value;
    if (!signed) this.kind = Kind.Uint53;
    else this.kind = this.value === (this.value | 0) ? Kind.Int32 : Kind.Int53;
    return true;
  }

  private readWide(bytes: Uint8Array, first: number, end: number, negative: boolean, signed: boolean): boolean {
    const magnitude = BigInt(latin1.decode(bytes.subarray(first, end)));
    const value = negative ? -magnitude : magnitude;
    if (signed ? value > INT64_MAX || value < INT64_MIN : value > UINT64_MAX) return false;
    const small = Number(value);
    if (Number.isSafeInteger(small)) {
      this.value = small;
      this.kind = signed ? Kind.Int53 : Kind.Uint53;
      return true;
    }
    this.wide = BigInt.asIntN(64, value);
    this.kind = signed ? Kind.Int64 : Kind.Uint64;
    return true;
  }
}
