import { describe, expect, test } from "bun:test";
import { textTableOf } from "../../../column/text-table.ts";
import { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import { decodeDeltaLengths, decodePlainBytes, encodeDeltaLengths, encodePlainBytes, encodePlainTexts } from "./byte-arrays.ts";
import { ByteCursor } from "./byte-cursor.ts";
import { joinDoubles, joinFloats, splitDoubles, splitFloats } from "./byte-stream-split.ts";

const encoder = new TextEncoder();
const cursorOf = (bytes: Uint8Array): ByteCursor => new ByteCursor(bytes, "test", 0);

describe("DELTA_LENGTH_BYTE_ARRAY", () => {
  const rows = { offsets: Uint32Array.of(0, 2, 5, 5, 6), bytes: encoder.encode("abcdef"), validity: Uint8Array.of(1, 0, 1, 1) };

  test("stores lengths, then the bytes of values that are not NULL", () => {
    const out = new ByteWriter(1 << 16);
    encodeDeltaLengths(out, rows, 0, 4, "tight");
    const offsets = new Uint32Array(4);
    const bytes = decodeDeltaLengths(cursorOf(out.bytes()), 3, offsets);
    expect([...offsets]).toEqual([0, 2, 2, 3]);
    expect(new TextDecoder().decode(bytes)).toBe("abf");
  });
  test("refuses lengths beyond the page", () => {
    const out = new ByteWriter(1 << 16);
    encodeDeltaLengths(out, rows, 0, 4, "tight");
    expect(() => decodeDeltaLengths(cursorOf(out.bytes().subarray(0, out.length - 1)), 3, new Uint32Array(4))).toThrow(
      "value 2 of 1 bytes, 0 left",
    );
  });
  test("refuses negative lengths", () => {
    const bytes = Uint8Array.of(128, 1, 4, 1, 1); // one value, zigzag of -1
    expect(() => decodeDeltaLengths(cursorOf(bytes), 1, new Uint32Array(2))).toThrow("value 0 of -1 bytes");
  });
});

describe("PLAIN byte arrays", () => {
  test("come back", () => {
    const out = new ByteWriter(4);
    for (const value of ["one", "", "three"]) encodePlainBytes(out, encoder.encode(value));
    const { offsets, bytes } = decodePlainBytes(cursorOf(out.bytes()), 3);
    expect([...offsets]).toEqual([0, 3, 3, 8]);
    expect(new TextDecoder().decode(bytes)).toBe("onethree");
  });
  test("of a table are those of its texts", () => {
    const [one, many] = [new ByteWriter(4), new ByteWriter(4)];
    const texts = ["one", "", "drei ä", "x".repeat(1000)];
    for (const text of texts) encodePlainBytes(one, encoder.encode(text));
    encodePlainTexts(many, textTableOf([undefined, ...texts]));
    expect([...many.bytes()]).toEqual([...one.bytes()]);
  });
  test("refuses more values than bytes", () =>
    expect(() => decodePlainBytes(cursorOf(new Uint8Array(7)), 2)).toThrow("2 values in 7 bytes"));
  test("refuses a length beyond the page", () => {
    expect(() => decodePlainBytes(cursorOf(Uint8Array.of(9, 0, 0, 0, 1)), 1)).toThrow("9 bytes wanted, 1 left");
  });
  test("refuses bytes left over", () => expect(() => decodePlainBytes(cursorOf(Uint8Array.of(1, 0, 0, 0, 1, 2)), 1)).toThrow("left over"));
});

describe("BYTE_STREAM_SPLIT", () => {
  test("puts byte j of every value into stream j", () => {
    const out = new ByteWriter(4);
    splitFloats(out, Int32Array.of(0x0403_0201, 0x0807_0605), 2);
    expect([...out.bytes()]).toEqual([1, 5, 2, 6, 3, 7, 4, 8]);
  });
  test("doubles and floats keep every bit", () => {
    const words = Int32Array.of(1, -2, 0x7ff0_0001, 0x1234_5678, -1, 0);
    const out = new ByteWriter(4);
    splitDoubles(out, words, 3);
    const doubles = new Int32Array(6);
    joinDoubles(cursorOf(out.bytes()), 3, doubles);
    expect(doubles).toEqual(words);
    out.reset();
    splitFloats(out, words, 6);
    const floats = new Int32Array(6);
    joinFloats(cursorOf(out.bytes()), 6, floats);
    expect(floats).toEqual(words);
  });
  test("refuses a page too short", () =>
    expect(() => joinDoubles(cursorOf(new Uint8Array(15)), 2, new Int32Array(4))).toThrow("16 bytes wanted"));
});
