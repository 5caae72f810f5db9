import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { NESTED_PARTS_MAX } from "../base/limits.ts";
import {
  BINARY,
  BOOLEAN,
  type DataType,
  DATE,
  displayName,
  FLOAT64,
  INT64,
  INTERVAL,
  JSON_TYPE,
  type NestedType,
  NULL,
  STRING,
  TIMESTAMP_NANOSECOND,
  UINT64,
} from "./data-type.ts";
import { exactInteger } from "./exact-integer.ts";
import { decodeNested, encodeNested, type NestedPart } from "./nested.ts";
import { scalarAt } from "./scalar.ts";
import { vectorOf } from "./vector-builder.ts";

const SEED = { seed: 20_260_102, numRuns: 200 };
const list = (element: DataType): NestedType => ({ kind: "list", element });
const struct = (...types: readonly DataType[]): NestedType => ({
  kind: "struct",
  fields: types.map((type, i) => ({ name: `f${i}`, type })),
});

/** Parts of leaves, and how two that are not NULL order. */
const LEAVES: readonly (readonly [DataType, fc.Arbitrary<NestedPart>, (a: NestedPart, b: NestedPart) => number])[] = [
  [BOOLEAN, fc.boolean(), (a, b) => Number(a) - Number(b)],
  [INT64, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(exactInteger), byValue],
  [UINT64, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(exactInteger), byValue],
  [DATE, fc.integer({ min: -1_000_000, max: 1_000_000 }), byValue],
  [TIMESTAMP_NANOSECOND, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), byValue],
  [{ kind: "decimal", precision: 38, scale: 3 }, fc.bigInt({ min: 1n - 10n ** 38n, max: 10n ** 38n - 1n }).map(exactInteger), byValue],
  [FLOAT64, fc.double().map((value) => value + 0), (a, b) => (Number.isNaN(a) ? 1 : 0) - (Number.isNaN(b) ? 1 : 0) || byValue(a, b)],
  [STRING, fc.string({ unit: "binary" }), (a, b) => Buffer.compare(Buffer.from(a as string), Buffer.from(b as string))],
  [BINARY, fc.uint8Array(), (a, b) => Buffer.compare(a as Uint8Array, b as Uint8Array)],
];

function byValue(a: NestedPart, b: NestedPart): number {
  const [x, y] = [a as number | bigint, b as number | bigint];
  return x < y ? -1 : x > y ? 1 : 0;
}

/** What comes back of some parts. */
function check(type: NestedType, parts: readonly NestedPart[]): void {
  expect([displayName(type), decodeNested(type, encodeNested(type, parts))]).toEqual([displayName(type), [...parts]]);
}

describe("parts", () => {
  for (const [type, leaf] of LEAVES) {
    test(`of ${displayName(type)} come back`, () => {
      fc.assert(
        fc.property(fc.array(fc.option(leaf, { nil: undefined })), (parts) => check(list(type), parts)),
        SEED,
      );
    });
  }

  test("of other types come back", () => {
    check(list(NULL), [undefined, undefined]);
    check(list(INTERVAL), [{ months: -14, days: 3, nanos: -5n }, undefined]);
    check(list(JSON_TYPE), ['{"a":[1]}', undefined]);
    check({ kind: "map", key: STRING, value: INT64 }, ["a", 1, "b", undefined]);
    check(struct(STRING, INT64), ["\u0000\u0000x", undefined]);
    check(list(STRING), []);
    check(struct(), []);
  });

  test("that are nested come back as their bytes", () => {
    const inner = list(STRING);
    const pair = struct(inner, { kind: "map", key: INT64, value: inner });
    const words = encodeNested(inner, ["a\u0000b", undefined, ""]);
    const map = encodeNested({ kind: "map", key: INT64, value: inner }, [1, words, 2, undefined]);
    const value = encodeNested(pair, [words, map]);
    check(list(pair), [value, undefined, value]);
    check(list(list(BINARY)), [encodeNested(list(BINARY), [new Uint8Array([0, 255, 0])]), undefined]);
  });
});

describe("bytes", () => {
  for (const [type, leaf, order] of LEAVES) {
    test(`order lists of ${displayName(type)} as their parts, NULL last and shorter ones first`, () => {
      const parts = fc.array(fc.option(leaf, { nil: undefined }), { maxLength: 3 });
      fc.assert(
        fc.property(parts, parts, (a, b) => {
          const [x, y] = [encodeNested(list(type), a), encodeNested(list(type), b)];
          expect(Math.sign(Buffer.compare(x, y))).toBe(Math.sign(listOrder(a, b, order)));
        }),
        SEED,
      );
    });
  }

  function listOrder(a: readonly NestedPart[], b: readonly NestedPart[], order: (a: NestedPart, b: NestedPart) => number): number {
    for (let i = 0; i < Math.min(a.length, b.length); i++) {
      const [x, y] = [a[i], b[i]];
      const difference = x === undefined || y === undefined ? Number(x === undefined) - Number(y === undefined) : order(x, y);
      if (difference !== 0) return difference;
    }
    return a.length - b.length;
  }

  test("are the same for the same value however it is written", () => {
    expect(encodeNested(list(FLOAT64), [-0])).toEqual(encodeNested(list(FLOAT64), [0]));
    expect(encodeNested(list(INT64), [5n])).toEqual(encodeNested(list(INT64), [5]));
  });

  test("of a value that is too long are refused", () => {
    expect(() => encodeNested(list(NULL), new Array<undefined>(NESTED_PARTS_MAX + 1))).toThrow("more than 4000000 elements");
    const mebibyte = "x".repeat(2 ** 20);
    expect(() => encodeNested(list(STRING), new Array<string>(65).fill(mebibyte))).toThrow("more than 64 MiB");
    check(list(STRING), ["after a failure"]);
  });
});

test("vectors hold nested values", () => {
  const type = list(INT64);
  const values = [encodeNested(type, [1, 2]), undefined, encodeNested(type, [])];
  const vector = vectorOf(type, values);
  expect(values.map((_, row) => scalarAt(vector, type, row))).toEqual(values);
});
