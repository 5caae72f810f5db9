/**
 * `AnyValue`, `KeyValue` and lists of them where they stand in a message (opentelemetry/proto/common/v1): no object a value.
 */
import { resized } from "../../base/bytes/longer-array.ts";
import { field, type ProtoReader, Wire } from "../../format/proto/reader.ts";
import { textOf } from "./text.ts";

/** What an `AnyValue` holds. */
export const Kind = { none: 0, string: 1, bool: 2, int: 3, double: 4, array: 5, list: 6, bytes: 7 } as const;

const STRING = field(1, Wire.bytes);
const BOOL = field(2, Wire.varint);
const INT = field(3, Wire.varint);
const DOUBLE = field(4, Wire.fixed64);
const ARRAY = field(5, Wire.bytes);
const LIST = field(6, Wire.bytes);
const BYTES = field(7, Wire.bytes);

/** Start of a value that a `KeyValue` does not have. */
const NO_VALUE = 0xffff_ffff;

/** One value of an attribute or body, read up to where its parts stand. Used again for the next. */
export class AnyValue {
  kind: number = Kind.none;
  /** Where text, bytes, an array or a list stand. */
  start = 0;
  end = 0;
  /** Of a bool (0 or 1) or a double. */
  number = 0;
  /** Of an int. */
  low = 0;
  high = 0;

  /** Reads the value at `[start, end)`; the reader is left behind it. @throws ProtoError */
  read(reader: ProtoReader, start: number, end: number): void {
    this.kind = Kind.none;
    if (start === NO_VALUE) return;
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      switch (tag) {
        case STRING:
          this.span(Kind.string, reader, end);
          break;
        case BOOL:
          reader.varint64(end);
          this.kind = Kind.bool;
          this.number = reader.low === 0 && reader.high === 0 ? 0 : 1;
          break;
        case INT:
          reader.varint64(end);
          this.kind = Kind.int;
          this.low = reader.low;
          this.high = reader.high;
          break;
        case DOUBLE:
          this.kind = Kind.double;
          this.number = reader.double(end);
          break;
        case ARRAY:
          this.span(Kind.array, reader, end);
          break;
        case LIST:
          this.span(Kind.list, reader, end);
          break;
        case BYTES:
          this.span(Kind.bytes, reader, end);
          break;
        default:
          reader.skip(tag, end);
      }
    }
  }

  /** An int; a bigint where a number would not be exact. */
  get int(): number | bigint {
    const high = this.high | 0;
    if (high < 0x20_0000 && high >= -0x20_0000) return high * 0x1_0000_0000 + this.low;
    return (BigInt(high) << 32n) | BigInt(this.low);
  }

  private span(kind: number, reader: ProtoReader, end: number): void {
    this.end = reader.lengthEnd(end);
    this.start = reader.at;
    this.kind = kind;
    reader.at = this.end;
  }
}

const KEY = field(1, Wire.bytes);
const VALUE = field(2, Wire.bytes);
const SLOTS = 4;

/** A stack of `KeyValue`s, as where their keys and values stand: `slots[4 i ..]` is key start, key end, value start, value end. */
export class Attributes {
  slots: Uint32Array<ArrayBuffer> = new Uint32Array(64 * SLOTS);
  count = 0;

  /** Reads the `KeyValue` whose length is next, and moves behind it. @throws ProtoError */
  push(reader: ProtoReader, outerEnd: number): void {
    const end = reader.lengthEnd(outerEnd);
    const at = this.count * SLOTS;
    if (at === this.slots.length) {
      this.slots = resized(this.slots, at * 2);
    }
    const { slots } = this;
    slots[at] = reader.at;
    slots[at + 1] = reader.at;
    slots[at + 2] = NO_VALUE;
    slots[at + 3] = 0;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === KEY || tag === VALUE) {
        const stop = reader.lengthEnd(end);
        const to = tag === KEY ? at : at + 2;
        slots[to] = reader.at;
        slots[to + 1] = stop;
        reader.at = stop;
      } else reader.skip(tag, end);
    }
    this.count++;
  }

  /** The key of an entry as a string. */
  key(bytes: Uint8Array, index: number): string {
    return textOf(bytes, this.slots[index * SLOTS] as number, this.slots[index * SLOTS + 1] as number);
  }

  /** Reads the value of an entry. @throws ProtoError */
  value(reader: ProtoReader, index: number, into: AnyValue): void {
    into.read(reader, this.slots[index * SLOTS + 2] as number, this.slots[index * SLOTS + 3] as number);
  }

  /** Sorts the entries from `base` on by the bytes of their keys; equal keys stay in order. */
  sort(bytes: Uint8Array, base: number): void {
    const { slots, count } = this;
    if (count - base > 32) {
      this.sortMany(bytes, base);
      return;
    }
    for (let i = base + 1; i < count; i++) {
      const at = i * SLOTS;
      if (compareKeys(bytes, slots, at - SLOTS, at) <= 0) continue;
      const [a, b, c, d] = [slots[at], slots[at + 1], slots[at + 2], slots[at + 3]] as [number, number, number, number];
      let to = at;
      do {
        // A native call takes longer than four moves.
        slots[to] = slots[to - 4] as number;
        slots[to + 1] = slots[to - 3] as number;
        slots[to + 2] = slots[to - 2] as number;
        slots[to + 3] = slots[to - 1] as number;
        to -= SLOTS;
      } while (to > base * SLOTS && compareRanges(bytes, slots[to - SLOTS] as number, slots[to - SLOTS + 1] as number, a, b) > 0);
      slots[to] = a;
      slots[to + 1] = b;
      slots[to + 2] = c;
      slots[to + 3] = d;
    }
  }

  private sortMany(bytes: Uint8Array, base: number): void {
    const { slots, count } = this;
    const order = Array.from({ length: count - base }, (_, i) => (base + i) * SLOTS);
    order.sort((a, b) => compareKeys(bytes, slots, a, b));
    const sorted = new Uint32Array(order.length * SLOTS);
    order.forEach((at, i) => sorted.set(slots.subarray(at, at + SLOTS), i * SLOTS));
    slots.set(sorted, base * SLOTS);
  }

  /** Whether an entry has the key of the next one. */
  sameAsNext(bytes: Uint8Array, index: number): boolean {
    return compareKeys(bytes, this.slots, index * SLOTS, (index + 1) * SLOTS) === 0;
  }
}

function compareKeys(bytes: Uint8Array, slots: Uint32Array, a: number, b: number): number {
  return compareRanges(bytes, slots[a] as number, slots[a + 1] as number, slots[b] as number, slots[b + 1] as number);
}

function compareRanges(bytes: Uint8Array, aStart: number, aEnd: number, bStart: number, bEnd: number): number {
  const length = Math.min(aEnd - aStart, bEnd - bStart);
  for (let i = 0; i < length; i++) {
    const order = (bytes[aStart + i] as number) - (bytes[bStart + i] as number);
    if (order !== 0) return order;
  }
  return aEnd - aStart - (bEnd - bStart);
}
