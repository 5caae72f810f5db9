/**
 * Thrift's compact protocol, as far as Parquet uses it: structs, lists, binary, integers, booleans. No maps, sets or doubles are written;
 * the reader skips any of them, so that newer footers stay readable.
 *
 *   field   | delta of id << 4 | type |            or | type | zigzag id |   when the delta is not 1..15
 *   list    | size << 4 | element type |           or | 0xF? | varint size | when the size is 15 or more
 *   struct  fields, then 0x00
 *
 * Source: Apache Thrift, doc/specs/thrift-compact-protocol.md.
 */
import { assert } from "../../../base/assert.ts";
import { corruption } from "../corruption.ts";
import { ByteWriter } from "../../../base/bytes/byte-writer.ts";

/** Type codes of fields and list elements. */
export const ThriftType = {
  True: 1,
  False: 2,
  Byte: 3,
  I16: 4,
  I32: 5,
  I64: 6,
  Double: 7,
  Binary: 8,
  List: 9,
  Set: 10,
  Map: 11,
  Struct: 12,
} as const;

/** Deepest nesting that the reader follows. Reason: `skip` recurses. */
const DEPTH_MAX = 32;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Writes structs field by field, ids ascending within a struct. */
export class ThriftWriter {
  readonly out: ByteWriter = new ByteWriter(4096);
  private lastId = 0;
  private readonly stack: number[] = [];

  private field(id: number, type: number): void {
    const delta = id - this.lastId;
    assert(delta > 0, `field ids ascend; got ${id} after ${this.lastId}`);
    if (delta <= 15) {
      this.out.u8((delta << 4) | type);
    } else {
      this.out.u8(type);
      this.out.varint(id * 2);
    }
    this.lastId = id;
  }

  bool(id: number, value: boolean): void {
    this.field(id, value ? ThriftType.True : ThriftType.False);
  }

  /** A signed byte, stored as itself. */
  byte(id: number, value: number): void {
    this.field(id, ThriftType.Byte);
    this.out.u8(value & 0xff);
  }

  i16(id: number, value: number): void {
    this.field(id, ThriftType.I16);
    this.out.varint(zigzag(value));
  }

  i32(id: number, value: number): void {
    this.field(id, ThriftType.I32);
    this.out.varint(zigzag(value));
  }

  /** A whole number within ±2^52. */
  i64(id: number, value: number): void {
    this.field(id, ThriftType.I64);
    this.out.varint(zigzag(value));
  }

  binary(id: number, value: Uint8Array): void {
    this.field(id, ThriftType.Binary);
    this.out.varint(value.length);
    this.out.raw(value);
  }

  text(id: number, value: string): void {
    this.binary(id, encoder.encode(value));
  }

  /** Opens the struct that is field `id`. */
  struct(id: number): void {
    this.field(id, ThriftType.Struct);
    this.open();
  }

  /** Opens a struct that is a list element or the outermost. */
  open(): void {
    this.stack.push(this.lastId);
    this.lastId = 0;
  }

  close(): void {
    this.out.u8(0);
    const last = this.stack.pop();
    assert(last !== undefined, "a struct is open");
    this.lastId = last;
  }

  /** Opens the list that is field `id`; its elements follow through `open` or the `element*` calls. */
  list(id: number, type: number, size: number): void {
    this.field(id, ThriftType.List);
    if (size < 15) {
      this.out.u8((size << 4) | type);
    } else {
      this.out.u8(0xf0 | type);
      this.out.varint(size);
    }
  }

  elementBool(value: boolean): void {
    this.out.u8(value ? ThriftType.True : ThriftType.False);
  }

  /** An i32 or i64 element within ±2^52. */
  elementInt(value: number): void {
    this.out.varint(zigzag(value));
  }

  elementBinary(value: Uint8Array): void {
    this.out.varint(value.length);
    this.out.raw(value);
  }

  elementText(value: string): void {
    this.elementBinary(encoder.encode(value));
  }
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

/** Reads structs field by field from `bytes`, which begin at byte `base` of the file. @throws DbError StorageUnavailable */
export class ThriftReader {
  private readonly bytes: Uint8Array;
  private readonly fileName: string;
  private readonly base: number;
  private lastId = 0;
  private readonly stack: number[] = [];
  /** Position of the next byte in `bytes`. */
  offset: number;
  /** Type of the field or list elements that the last `field` or `list` announced. */
  type = 0;

  constructor(bytes: Uint8Array, offset: number, fileName: string, base: number) {
    this.bytes = bytes;
    this.offset = offset;
    this.fileName = fileName;
    this.base = base;
  }

  fail(why: string): never {
    throw corruption(this.fileName, this.base + this.offset, why);
  }

  u8(): number {
    const byte = this.bytes[this.offset];
    if (byte === undefined) this.fail("the structure ends early");
    this.offset++;
    return byte;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 8; i++) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
      scale *= 0x80;
    }
    return this.fail("a number above 2^53");
  }

  /** Opens a struct: the outermost, a field's or a list element's. */
  open(): void {
    if (this.stack.length >= DEPTH_MAX) this.fail("nested too deeply");
    this.stack.push(this.lastId);
    this.lastId = 0;
  }

  /** Id of the next field, its type in `type`; 0 at the end of the struct, which it closes. */
  field(): number {
    const byte = this.u8();
    if (byte === 0) {
      this.lastId = this.stack.pop() ?? 0;
      return 0;
    }
    this.type = byte & 0x0f;
    const delta = byte >> 4;
    this.lastId = delta === 0 ? this.rawInt() : this.lastId + delta;
    if (this.lastId <= 0) this.fail(`field id ${this.lastId}`);
    return this.lastId;
  }

  private want(type: number): void {
    if (this.type !== type) this.fail(`a field of type ${this.type} where ${type} belongs`);
  }

  private rawInt(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  bool(): boolean {
    if (this.type !== ThriftType.True) this.want(ThriftType.False);
    return this.type === ThriftType.True;
  }

  /** An integer field of any width. */
  int(): number {
    if (this.type < ThriftType.I16 || this.type > ThriftType.I64) this.want(ThriftType.I64);
    return this.rawInt();
  }

  /** An integer field that is a size or position: not negative. */
  size(): number {
    const value = this.int();
    if (value < 0) this.fail(`a negative size ${value}`);
    return value;
  }

  /** A view of the bytes of a binary field. */
  binary(): Uint8Array {
    this.want(ThriftType.Binary);
    return this.elementBinary();
  }

  text(): string {
    return decoder.decode(this.binary());
  }

  /** Size of a list field whose elements are `type`. A list never claims more elements than bytes are left. */
  list(type: number): number {
    this.want(ThriftType.List);
    const size = this.listHeader();
    if (size > 0 && this.type !== type && !(type === ThriftType.True && this.type === ThriftType.False)) this.want(type);
    return size;
  }

  private listHeader(): number {
    const byte = this.u8();
    this.type = byte & 0x0f;
    const size = byte >> 4 === 15 ? this.varint() : byte >> 4;
    if (size > this.bytes.length - this.offset) this.fail(`a list of ${size} elements in ${this.bytes.length - this.offset} bytes`);
    return size;
  }

  elementBool(): boolean {
    return this.u8() === ThriftType.True;
  }

  elementInt(): number {
    return this.rawInt();
  }

  elementBinary(): Uint8Array {
    const length = this.varint();
    if (length > this.bytes.length - this.offset) this.fail(`${length} bytes announced, ${this.bytes.length - this.offset} left`);
    this.offset += length;
    return this.bytes.subarray(this.offset - length, this.offset);
  }

  elementText(): string {
    return decoder.decode(this.elementBinary());
  }

  /** Skips the value of the field just announced. */
  skip(): void {
    this.skipValue(this.type, false, 0);
  }

  private skipValue(type: number, element: boolean, depth: number): void {
    if (depth > DEPTH_MAX) this.fail("nested too deeply");
    switch (type) {
      case ThriftType.True:
      case ThriftType.False:
        if (element) this.u8();
        return;
      case ThriftType.Byte:
        this.u8();
        return;
      case ThriftType.I16:
      case ThriftType.I32:
      case ThriftType.I64:
        this.skipVarint();
        return;
      case ThriftType.Double:
        for (let i = 0; i < 8; i++) this.u8();
        return;
      case ThriftType.Binary:
        this.elementBinary();
        return;
      case ThriftType.List:
      case ThriftType.Set: {
        const size = this.listHeader();
        const elementType = this.type;
        for (let i = 0; i < size; i++) this.skipValue(elementType, true, depth + 1);
        return;
      }
      case ThriftType.Map:
        this.skipMap(depth);
        return;
      case ThriftType.Struct:
        this.open();
        while (this.field() !== 0) this.skipValue(this.type, false, depth + 1);
        return;
      default:
        this.fail(`unknown type ${type}`);
    }
  }

  private skipMap(depth: number): void {
    const size = this.varint();
    if (size > this.bytes.length - this.offset) this.fail(`a map of ${size} entries`);
    if (size === 0) return;
    const types = this.u8();
    for (let i = 0; i < size; i++) {
      this.skipValue(types >> 4, true, depth + 1);
      this.skipValue(types & 0x0f, true, depth + 1);
    }
  }

  private skipVarint(): void {
    for (let i = 0; i < 10; i++) if (this.u8() < 0x80) return;
    this.fail("a number of more than ten bytes");
  }
}
