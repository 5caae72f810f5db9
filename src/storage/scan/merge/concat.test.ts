import { codedOf, plainOf, TEXTS } from "../../../../test/support/coded-text.ts";
import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  BINARY,
  BOOLEAN,
  type DataType,
  FLOAT32,
  FLOAT64,
  INT64,
  STRING,
  TIMESTAMP_NANOSECOND,
  UINT64,
} from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { NumberArray, Scalar, Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { concatPieces } from "./concat.ts";
import type { Piece } from "../runs/scan-source.ts";

function piece(vector: Vector | undefined, from: number, to: number): Piece {
  return { vector, from, to };
}

function valuesOf(vector: Vector, type: DataType, count: number): Scalar[] {
  return Array.from({ length: count }, (_, i) => scalarAt(vector, type, i));
}

function check(type: DataType, pieces: readonly Piece[], want: readonly Scalar[], kind?: Vector["kind"]): void {
  const joined = concatPieces(pieces, want.length, type);
  expect(valuesOf(joined, type, want.length)).toEqual([...want]);
  if (kind !== undefined) expect(joined.kind).toBe(kind);
}

function numbers(values: NumberArray): Vector {
  return { kind: "number", values, validity: undefined };
}

test("a NaN keeps its bits, alone or among others", () => {
  const bits = BigUint64Array.of(0x7ff0_0000_0000_0002n, 0x7ff8_0000_0000_0000n, 0xfff8_0000_dead_beefn);
  const vector = numbers(new Float64Array(bits.buffer));
  const joined = concatPieces([piece(vector, 2, 3), piece(vector, 0, 1), piece(vector, 0, 3)], 5, FLOAT64);
  expect(joined.kind === "number" && new BigUint64Array(joined.values.buffer)).toEqual(
    BigUint64Array.of(0xfff8_0000_dead_beefn, 0x7ff0_0000_0000_0002n, ...bits),
  );
});

test("a single piece from the start is passed through without a copy", () => {
  const vector = vectorOf(INT64, [1, 2, 3]);
  expect(concatPieces([piece(vector, 0, 2)], 2, INT64)).toBe(vector);
});

test("a piece from the middle is cut out", () => check(INT64, [piece(vectorOf(INT64, [1, 2, 3, 4]), 1, 3)], [2, 3], "number"));

test("the result is as narrow as the widest piece", () => {
  const joined = (...parts: readonly NumberArray[]): string => {
    const pieces = parts.map((part) => piece(numbers(part), 0, part.length));
    const count = parts.reduce((sum, part) => sum + part.length, 0);
    const vector = concatPieces(pieces, count, INT64);
    return vector.kind === "number" ? vector.values.constructor.name : vector.kind;
  };
  expect(joined(Int8Array.of(1), Int8Array.of(2))).toBe("Int8Array");
  expect(joined(Int8Array.of(1), Uint8Array.of(200))).toBe("Int16Array");
  expect(joined(Int8Array.of(1), Int16Array.of(2))).toBe("Int16Array");
  expect(joined(Uint16Array.of(65_535), Int8Array.of(2))).toBe("Int32Array");
  expect(joined(Int32Array.of(1), Int8Array.of(2))).toBe("Int32Array");
  expect(joined(Uint32Array.of(2 ** 32 - 1), Int8Array.of(2))).toBe("Float64Array");
});

test("floats keep their width, -0 and NaN", () => {
  for (const type of [FLOAT32, FLOAT64]) {
    check(type, [piece(vectorOf(type, [-0, 1.5]), 0, 2), piece(vectorOf(type, [Number.NaN]), 0, 1)], [-0, 1.5, Number.NaN]);
  }
});

test("narrow and wide integers make wide ones; NULLs of narrow ones stay NULL", () => {
  const narrow = vectorOf(INT64, [1, undefined, -3]);
  const wide = vectorOf(INT64, [2n ** 63n - 1n, undefined, 7]);
  check(INT64, [piece(narrow, 0, 3), piece(wide, 0, 3)], [1, undefined, -3, 2n ** 63n - 1n, undefined, 7], "wide");
  check(UINT64, [piece(vectorOf(UINT64, [5]), 0, 1), piece(vectorOf(UINT64, [2n ** 64n - 1n]), 0, 1)], [5, 2n ** 64n - 1n], "wide");
});

test("pieces without a vector are NULL, also when all are", () => {
  check(INT64, [piece(undefined, 0, 2), piece(vectorOf(INT64, [5]), 0, 1)], [undefined, undefined, 5]);
  check(STRING, [piece(vectorOf(STRING, ["x"]), 0, 1), piece(undefined, 0, 2)], ["x", undefined, undefined]);
  check(INT64, [piece(undefined, 0, 2)], [undefined, undefined], "number");
  check(BOOLEAN, [piece(undefined, 0, 1)], [undefined], "number");
  check(STRING, [piece(undefined, 0, 1)], [undefined], "bytes");
  check(TIMESTAMP_NANOSECOND, [piece(undefined, 0, 1), piece(undefined, 0, 1)], [undefined, undefined], "time");
});

test("a piece without NULLs and one with them", () => {
  check(INT64, [piece(vectorOf(INT64, [1, 2]), 0, 2), piece(vectorOf(INT64, [undefined, 4]), 0, 2)], [1, 2, undefined, 4]);
});

test("times of different bases are counted from the first one's", () => {
  const a = vectorOf(TIMESTAMP_NANOSECOND, [1_000_000n, 1_000_005n]);
  const b = vectorOf(TIMESTAMP_NANOSECOND, [undefined, 7n, 2_000_000n]);
  check(TIMESTAMP_NANOSECOND, [piece(a, 1, 2), piece(b, 0, 3)], [1_000_005n, undefined, 7n, 2_000_000n], "time");
});

test("times too far apart for one base come out wide, and exact", () => {
  const [min, max] = [-(2n ** 63n), 2n ** 63n - 1n];
  const near = vectorOf(TIMESTAMP_NANOSECOND, [5n, undefined, 7n]);
  const far = vectorOf(TIMESTAMP_NANOSECOND, [max, min, undefined]);
  check(TIMESTAMP_NANOSECOND, [piece(near, 0, 3), piece(far, 0, 3)], [5n, undefined, 7n, max, min, undefined], "wide");
  check(
    TIMESTAMP_NANOSECOND,
    [piece(far, 1, 3), piece(undefined, 0, 1), piece(near, 1, 3)],
    [min, undefined, undefined, undefined, 7n],
    "wide",
  );
  const last = vectorOf(TIMESTAMP_NANOSECOND, [max]);
  check(TIMESTAMP_NANOSECOND, [piece(near, 0, 1), piece(last, 0, 1)], [5n, max], "wide");
});

test("near rows of wide times come out as offsets", () => {
  const far = vectorOf(TIMESTAMP_NANOSECOND, [-(2n ** 63n), 2n ** 63n - 2n, 2n ** 63n - 1n]);
  check(TIMESTAMP_NANOSECOND, [piece(far, 1, 3)], [2n ** 63n - 2n, 2n ** 63n - 1n], "time");
});

test("a NULL does not make times wide", () => {
  const nothing = { kind: "time", base: 2n ** 62n, offsets: Float64Array.of(9), validity: Uint8Array.of(0) } as const;
  check(TIMESTAMP_NANOSECOND, [piece(nothing, 0, 1), piece(vectorOf(TIMESTAMP_NANOSECOND, [3n]), 0, 1)], [undefined, 3n], "time");
});

test("text and binary keep their bytes", () => {
  const text = vectorOf(STRING, ["", "Grüße", undefined, "🐟"]);
  check(STRING, [piece(text, 1, 4), piece(text, 0, 2)], ["Grüße", undefined, "🐟", "", "Grüße"], "bytes");
  const binary = vectorOf(BINARY, [Uint8Array.of(0, 255), new Uint8Array(0)]);
  check(BINARY, [piece(binary, 0, 2), piece(binary, 0, 1)], [Uint8Array.of(0, 255), new Uint8Array(0), Uint8Array.of(0, 255)]);
});

test("any cuts of any column join to the column", () => {
  const value = fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { nil: undefined });
  const small = fc.option(fc.integer({ min: -300, max: 300 }), { nil: undefined });
  const text = fc.option(fc.string({ unit: "grapheme" }), { nil: undefined });
  const shape = fc.oneof(
    fc.record({ type: fc.constant(INT64), parts: fc.array(fc.oneof(fc.array(value), fc.array(small)), { minLength: 1 }) }),
    fc.record({ type: fc.constant(TIMESTAMP_NANOSECOND), parts: fc.array(fc.array(value), { minLength: 1 }) }),
    fc.record({ type: fc.constant(STRING), parts: fc.array(fc.array(text), { minLength: 1 }) }),
  );
  fc.assert(
    fc.property(shape, fc.integer({ min: 0, max: 3 }), ({ type, parts }, cut) => {
      const lists: readonly (readonly Scalar[])[] = parts;
      const pieces = lists.map((list) => piece(vectorOf(type, list), Math.min(cut, list.length), list.length));
      const want = lists
        .flatMap((list) => list.slice(cut))
        .map((item) => (type === INT64 && typeof item === "bigint" && Number.isSafeInteger(Number(item)) ? Number(item) : item));
      check(type, pieces, want);
    }),
    { seed: 5 },
  );
});

test("text by code stays so, and becomes bytes beside bytes or rows of an older file", () => {
  const coded = codedOf(TEXTS);
  const count = TEXTS.length;
  const twice = [...TEXTS, ...TEXTS.slice(1)];
  check(STRING, [piece(coded, 0, count), piece(coded, 1, count)], twice, "coded");
  check(STRING, [piece(coded, 0, count), piece(codedOf(TEXTS), 1, count)], twice, "coded");
  check(STRING, [piece(coded, 0, count), piece(plainOf(TEXTS), 1, count)], twice, "bytes");
  check(STRING, [piece(plainOf(TEXTS), 0, count), piece(coded, 1, count)], twice, "bytes");
  check(STRING, [piece(undefined, 0, 2), piece(coded, 0, count)], [undefined, undefined, ...TEXTS], "bytes");
  check(STRING, [piece(coded, 3, 5)], TEXTS.slice(3, 5), "coded");
});
