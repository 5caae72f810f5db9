import { expect, test } from "bun:test";
import fc from "fast-check";
import { ByteReadError, ByteReader } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";

test("numbers and text read back as written, whatever their order", () => {
  const item = fc.oneof(
    fc.record({ kind: fc.constant("u8" as const), value: fc.integer({ min: 0, max: 255 }) }),
    fc.record({ kind: fc.constant("u16" as const), value: fc.integer({ min: 0, max: 65_535 }) }),
    fc.record({ kind: fc.constant("u32" as const), value: fc.integer({ min: 0, max: 2 ** 32 - 1 }) }),
    fc.record({ kind: fc.constant("i32" as const), value: fc.integer() }),
    fc.record({ kind: fc.constant("u53" as const), value: fc.maxSafeNat() }),
    fc.record({ kind: fc.constant("varint" as const), value: fc.maxSafeNat() }),
    fc.record({ kind: fc.constant("f64" as const), value: fc.double() }),
    fc.record({ kind: fc.constant("i64" as const), value: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) }),
    fc.record({ kind: fc.constant("text" as const), value: fc.string({ unit: "grapheme" }) }),
  );
  fc.assert(
    fc.property(fc.array(item), (items) => {
      const out = new ByteWriter(1);
      for (const { kind, value } of items) (out[kind] as (value: unknown) => void)(value);
      const input = new ByteReader(out.copy());
      for (const { kind, value } of items) expect(input[kind]()).toBe(value);
      expect(input.remaining).toBe(0);
    }),
    { seed: 7 },
  );
});

test("a patched number replaces what was written there", () => {
  const out = new ByteWriter();
  out.u32(0);
  out.u8(9);
  out.patchU32(0, 77);
  expect([...out.bytes()]).toEqual([77, 0, 0, 0, 9]);
});

test.each([
  ["u8", []],
  ["u32", [1, 2, 3]],
  ["u53", [0, 0, 0, 0, 0, 0, 0x20, 0]],
  ["varint", [0x80]],
  ["varint", [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
  ["text", [5, 0x61]],
  ["text", [1, 0xff]],
] as const)("%s of %p is refused with its offset", (kind, bytes) => {
  const input = new ByteReader(Uint8Array.from(bytes));
  expect(() => input[kind]()).toThrow(ByteReadError);
});
