/**
 * Reads FlatBuffers that a client sent: every place is checked before it is read, so that no bytes lead behind their end.
 * Source: flatbuffers.dev "Internals".
 *
 *   table    ┌ to its vtable, backwards: i32 ┬ fields ┐
 *   vtable   ┌ its bytes: u16 ┬ bytes of the table: u16 ┬ field s at: u16, 0 = default ┐
 *   vector   ┌ count: u32 ┬ items ┐                         offsets count from where they lie, and never backwards
 */
import { utf8Text } from "../../../column/text-table.ts";
import { malformed } from "./arrow-failure.ts";

/** Where the items of a vector lie. */
export interface FlatVector {
  readonly at: number;
  readonly count: number;
}

/** Longest text. Reason: many tables may share one, so that short bytes would become long names. */
const TEXT_BYTES_MAX = 4096;

const NO_ITEMS: FlatVector = { at: 0, count: 0 };

/** The root table of a buffer. @throws DbError InvalidArguments */
export function rootTable(bytes: Uint8Array): FlatTable {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 4) throw malformed(`the metadata of a message has ${bytes.length} bytes`);
  return new FlatTable(bytes, view, view.getUint32(0, true));
}

/** One table. Fields that are absent have the defaults that are given. Methods throw DbError InvalidArguments for what lies outside. */
export class FlatTable {
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private readonly at: number;
  private readonly vtable: number;
  private readonly vtableBytes: number;

  constructor(bytes: Uint8Array, view: DataView, at: number) {
    this.bytes = bytes;
    this.view = view;
    this.at = at;
    this.need(at, 4);
    this.vtable = at - view.getInt32(at, true);
    this.need(this.vtable, 4);
    this.vtableBytes = view.getUint16(this.vtable, true);
    if (this.vtableBytes < 4) throw malformed("a table of the metadata has no fields");
    this.need(this.vtable, this.vtableBytes);
  }

  private need(at: number, length: number): void {
    if (at < 0 || at + length > this.bytes.length) throw malformed(`the metadata has ${this.bytes.length} bytes; it points to byte ${at}`);
  }

  /** Where a field lies; 0: it is absent. */
  private place(slot: number, width: number): number {
    const entry = 4 + slot * 2;
    if (entry + 2 > this.vtableBytes) return 0;
    const offset = this.view.getUint16(this.vtable + entry, true);
    if (offset === 0) return 0;
    this.need(this.at + offset, width);
    return this.at + offset;
  }

  u8(slot: number, absent: number): number {
    const place = this.place(slot, 1);
    return place === 0 ? absent : this.view.getUint8(place);
  }

  i16(slot: number, absent: number): number {
    const place = this.place(slot, 2);
    return place === 0 ? absent : this.view.getInt16(place, true);
  }

  i32(slot: number, absent: number): number {
    const place = this.place(slot, 4);
    return place === 0 ? absent : this.view.getInt32(place, true);
  }

  i64(slot: number): bigint {
    const place = this.place(slot, 8);
    return place === 0 ? 0n : this.view.getBigInt64(place, true);
  }

  /** A 64-bit number that counts bytes or rows: 0..2^53-1. */
  count(slot: number, what: string): number {
    return countOf(this.i64(slot), what);
  }

  /** What an offset points to; undefined: it is absent. */
  private target(slot: number): number | undefined {
    const place = this.place(slot, 4);
    return place === 0 ? undefined : this.follow(place);
  }

  private follow(place: number): number {
    const to = place + this.view.getUint32(place, true);
    this.need(to, 4);
    return to;
  }

  table(slot: number): FlatTable | undefined {
    const to = this.target(slot);
    return to === undefined ? undefined : new FlatTable(this.bytes, this.view, to);
  }

  /** A text; empty where it is absent. */
  text(slot: number): string {
    const to = this.target(slot);
    if (to === undefined) return "";
    const length = this.view.getUint32(to, true);
    if (length > TEXT_BYTES_MAX) throw malformed(`a name of ${length} bytes; the longest has ${TEXT_BYTES_MAX}`);
    this.need(to + 4, length);
    return utf8Text(this.bytes, to + 4, to + 4 + length);
  }

  /** A vector of items of so many bytes. */
  vector(slot: number, itemBytes: number): FlatVector {
    const to = this.target(slot);
    if (to === undefined) return NO_ITEMS;
    const count = this.view.getUint32(to, true);
    this.need(to + 4, count * itemBytes);
    return { at: to + 4, count };
  }

  /** A table of a vector of them. */
  tableOf(vector: FlatVector, index: number): FlatTable {
    return new FlatTable(this.bytes, this.view, this.follow(vector.at + index * 4));
  }

  /** A 64-bit number that lies in a vector, so many bytes from its first item. */
  countIn(vector: FlatVector, offset: number, what: string): number {
    return countOf(this.view.getBigInt64(vector.at + offset, true), what);
  }
}

function countOf(value: bigint, what: string): number {
  const count = Number(value);
  if (count < 0 || !Number.isSafeInteger(count)) throw malformed(`${what} is ${value}`);
  return count;
}
