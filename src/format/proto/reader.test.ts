import { describe, expect, test } from "bun:test";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { field, ProtoError, ProtoReader, Wire } from "./reader.ts";

const SEED = 20261121;

function readerOf(bytes: Uint8Array | readonly number[]): ProtoReader {
  const reader = new ProtoReader();
  reader.open(Uint8Array.from(bytes));
  return reader;
}

function checkRefused(bytes: readonly number[], read: (reader: ProtoReader, end: number) => void, want: string): void {
  const reader = readerOf(bytes);
  expect(() => read(reader, bytes.length)).toThrow(want);
}

test("64-bit varints of every size", () => {
  const property = fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.nat(63), (value, shift) => {
    const small = value >> BigInt(shift);
    const bytes = new BinaryWriter().int64(small).finish();
    const reader = readerOf(bytes);
    reader.varint64(bytes.length);
    expect(reader.at).toBe(bytes.length);
    expect(reader.signedBigInt()).toBe(small);
    const fits = small >= -(2n ** 53n) && small < 2n ** 53n;
    expect(reader.isExact()).toBe(fits);
    if (fits) expect(reader.signed()).toBe(Number(small));
  });
  fc.assert(property, { seed: SEED, numRuns: 1000 });
});

test("32-bit varints", () => {
  const property = fc.property(fc.nat(0xffff_ffff), (value) => {
    const bytes = new BinaryWriter().uint32(value).finish();
    expect(readerOf(bytes).varint32(bytes.length)).toBe(value);
  });
  fc.assert(property, { seed: SEED, numRuns: 500 });
});

test("doubles, and a message inside a message", () => {
  const bytes = new BinaryWriter().tag(1, WireType.LengthDelimited).fork().tag(2, WireType.Bit64).double(-1.5).join().finish();
  const reader = readerOf(bytes);
  expect(reader.tag(bytes.length)).toBe(field(1, Wire.bytes));
  const end = reader.lengthEnd(bytes.length);
  expect(end).toBe(bytes.length);
  expect(reader.tag(end)).toBe(field(2, Wire.fixed64));
  expect(reader.double(end)).toBe(-1.5);
});

test("skipping goes where the generated reader goes", () => {
  const fieldOf = fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => (writer: BinaryWriter) => writer.tag(9, WireType.Varint).uint64(value)),
    fc.double().map((value) => (writer: BinaryWriter) => writer.tag(2000, WireType.Bit64).double(value)),
    fc.uint8Array({ maxLength: 300 }).map((value) => (writer: BinaryWriter) => writer.tag(3, WireType.LengthDelimited).bytes(value)),
    fc.nat().map((value) => (writer: BinaryWriter) => writer.tag(4, WireType.Bit32).fixed32(value)),
    fc.nat(100).map((value) => (writer: BinaryWriter) => writer.raw(Uint8Array.of(0x0b, 0x08, value, 0x0c))),
  );
  const property = fc.property(fc.array(fieldOf, { maxLength: 20 }), (fields) => {
    const writer = new BinaryWriter();
    for (const write of fields) write(writer);
    const bytes = writer.finish();
    const own = readerOf(bytes);
    const other = new BinaryReader(bytes);
    while (own.at < bytes.length) {
      own.skip(own.tag(bytes.length), bytes.length);
      const [number, wire] = other.tag();
      other.skip(wire, number);
      expect(own.at).toBe(other.pos);
    }
    expect(other.pos).toBe(bytes.length);
  });
  fc.assert(property, { seed: SEED, numRuns: 300 });
});

describe("refused", () => {
  test("numbers that do not end", () => {
    checkRefused([0x80], (reader, end) => reader.varint32(end), "the message ends inside a number at byte 0");
    checkRefused([0x80], (reader, end) => reader.varint64(end), "the message ends inside a number at byte 0");
    checkRefused([], (reader, end) => reader.tag(end), "the message ends inside a number at byte 0");
    checkRefused(new Array<number>(11).fill(0x80), (reader, end) => reader.varint64(end), "a number has more than ten bytes at byte 0");
  });
  test("numbers beyond 32 bits", () => {
    checkRefused([0xff, 0xff, 0xff, 0xff, 0x1f], (reader, end) => reader.varint32(end), "a number exceeds 32 bits at byte 0");
    checkRefused([0x80, 0x80, 0x80, 0x80, 0x80, 0], (reader, end) => reader.varint32(end), "a number exceeds 32 bits at byte 0");
  });
  test("lengths that lie", () => {
    checkRefused([5, 1, 2], (reader, end) => reader.lengthEnd(end), "a length of 5 where 2 bytes are left at byte 0");
    checkRefused(
      [0xff, 0xff, 0xff, 0xff, 0x0f, 1],
      (reader, end) => reader.lengthEnd(end),
      "a length of 4294967295 where 1 bytes are left",
    );
    checkRefused([1, 2], (reader, end) => reader.double(end), "8 bytes wanted where 2 are left at byte 0");
  });
  test("field number 0 and wire types that do not exist", () => {
    checkRefused([0x00], (reader, end) => reader.tag(end), "field number 0 at byte 0");
    checkRefused([0x0e], (reader, end) => reader.skip(reader.tag(end), end), "wire type 6 of field 1 at byte 1");
    checkRefused([0x0c], (reader, end) => reader.skip(reader.tag(end), end), "wire type 4 of field 1 at byte 1");
  });
  test("groups that do not match, or are too deep", () => {
    checkRefused([0x0b, 0x14], (reader, end) => reader.skip(reader.tag(end), end), "the end of group 2 inside group 1 at byte 1");
    checkRefused(
      new Array<number>(40).fill(0x0b),
      (reader, end) => reader.skip(reader.tag(end), end),
      "more than 16 groups inside each other",
    );
  });
});

test("random bytes are read or refused, and never left behind", () => {
  const property = fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
    const reader = readerOf(bytes);
    try {
      while (reader.at < bytes.length) reader.skip(reader.tag(bytes.length), bytes.length);
      expect(reader.at).toBe(bytes.length);
    } catch (error) {
      expect(error).toBeInstanceOf(ProtoError);
    }
  });
  fc.assert(property, { seed: SEED, numRuns: 2000 });
});
