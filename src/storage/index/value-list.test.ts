import { describe, expect, test } from "bun:test";
import { BINARY, BOOLEAN, type DataType, FLOAT64, INT64, STRING, UINT64 } from "../../column/data-type.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { Scalar } from "../../column/vector.ts";
import { LIST_VALUES_MAX } from "./limits.ts";
import { keyKindOf } from "./value-keys.ts";
import { encodeValueList, unpackValueList, ValueList } from "./value-list.ts";

/** A list in which page p holds `pages[p]`. */
function listOf(type: DataType, pages: readonly (readonly Scalar[])[]): ValueList {
  let end = 0;
  const pageEnds = Uint32Array.from(pages, (values) => (end += values.length));
  const bytes = encodeValueList(vectorOf(type, pages.flat()), type, keyKindOf(type)!, pageEnds);
  return new ValueList(unpackValueList(bytes!), type, keyKindOf(type)!);
}

/** Pages that a range marks; "unknown" when the list cannot tell. */
function pagesOf(list: ValueList, min: Scalar, max: Scalar): readonly number[] | "unknown" {
  const marks = new Uint8Array(list.pageEnds.length);
  if (!list.markRange(min, max, marks)) {
    expect(marks.includes(1)).toBe(false);
    return "unknown";
  }
  return [...marks.keys()].filter((page) => marks[page] === 1);
}

const MAX = 2n ** 63n - 1n;

describe("integers", () => {
  const list = listOf(INT64, [[1, 2], [-5, undefined], [2, 100], [undefined], [MAX, -MAX - 1n]]);
  test.each<[Scalar, Scalar, readonly number[] | "unknown"]>([
    [2, 2, [0, 2]],
    [3, 3, []],
    [-5, -5, [1]],
    [2, undefined, [0, 2, 4]],
    [undefined, -5, [1, 4]],
    [undefined, undefined, [0, 1, 2, 4]],
    [101, MAX - 1n, []],
    [MAX, MAX, [4]],
    [MAX + 1n, undefined, []],
    [undefined, MAX + 1n, [0, 1, 2, 4]],
    [undefined, -MAX - 2n, []],
    [-MAX - 2n, -MAX - 1n, [4]],
    [1.5, undefined, "unknown"],
    ["x", "x", "unknown"],
    [Number.NaN, undefined, "unknown"],
  ])("%p to %p", (min, max, want) => expect(pagesOf(list, min, max)).toEqual(want));
});

describe("unsigned integers", () => {
  const list = listOf(UINT64, [[0, 7], [2n ** 64n - 1n], [2n ** 63n]]);
  test.each<[Scalar, Scalar, readonly number[]]>([
    [-1, undefined, [0, 1, 2]],
    [undefined, -1, []],
    [8, undefined, [1, 2]],
    [2n ** 63n + 1n, 2n ** 64n, [1]],
  ])("%p to %p", (min, max, want) => expect(pagesOf(list, min, max)).toEqual(want));
});

describe("floats", () => {
  const list = listOf(FLOAT64, [[-1.5, 0.25], [-0], [Number.NaN], [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]]);
  test.each<[Scalar, Scalar, readonly number[] | "unknown"]>([
    [0, 0, [1]],
    [-0, -0, [1]],
    [-1.5, 0, [0, 1]],
    [0.25, undefined, [0, 2, 3]],
    [Number.NaN, Number.NaN, [2]],
    [undefined, -2, [3]],
    [undefined, Number.POSITIVE_INFINITY, [0, 1, 3]],
    [5n, 5n, "unknown"],
  ])("%p to %p", (min, max, want) => expect(pagesOf(list, min, max)).toEqual(want));
});

describe("texts", () => {
  const list = listOf(STRING, [["info", ""], ["warn", "warning"], ["é", "\u{1f41f}"], [undefined]]);
  test.each<[Scalar, Scalar, readonly number[] | "unknown"]>([
    ["", "", [0]],
    ["warn", "warn", [1]],
    ["war", "war", []],
    ["warn", undefined, [1, 2]],
    ["x", "\u{1f41f}", [2]],
    [undefined, "i", [0]],
    [5, 5, "unknown"],
  ])("%p to %p", (min, max, want) => expect(pagesOf(list, min, max)).toEqual(want));
});

test("binary and Booleans", () => {
  expect(pagesOf(listOf(BINARY, [[Uint8Array.of(0)], [Uint8Array.of(255, 1)]]), Uint8Array.of(255), undefined)).toEqual([1]);
  expect(pagesOf(listOf(BOOLEAN, [[true], [false], [true, false]]), true, true)).toEqual([0, 2]);
});

test("a column of NULL alone has a list without values", () => {
  expect(pagesOf(listOf(INT64, [[undefined]]), undefined, undefined)).toEqual([]);
});

describe("no list is made", () => {
  const encode = (type: DataType, values: readonly Scalar[]): Uint8Array | undefined =>
    encodeValueList(vectorOf(type, values), type, keyKindOf(type)!, Uint32Array.of(values.length));
  test("of more values than the limit", () => {
    const numbers = Array.from({ length: LIST_VALUES_MAX + 1 }, (_, i) => i);
    expect(encode(INT64, numbers)).toBeUndefined();
    expect(encode(INT64, numbers.slice(1))).toBeDefined();
  });
  test("of longer texts than the limit", () => {
    expect(
      encode(
        STRING,
        ["a", "b", "c", "d", "e"].map((letter) => letter.repeat(1 << 20)),
      ),
    ).toBeUndefined();
  });
});

test("a list that was cut is refused", () => {
  const bytes = encodeValueList(vectorOf(STRING, ["a", "bb"]), STRING, "bytes", Uint32Array.of(1, 2))!;
  const plain = unpackValueList(bytes);
  for (let length = 0; length < plain.length; length++) {
    expect(() => new ValueList(plain.subarray(0, length), STRING, "bytes")).toThrow();
  }
  expect(() => unpackValueList(bytes.subarray(0, bytes.length - 1))).toThrow();
});
