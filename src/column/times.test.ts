import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { TIMESTAMP_NANOSECOND } from "./data-type.ts";
import { scalarAt } from "./scalar.ts";
import { type AnyTimes, baseOfTimes, copyTimeOffsets, copyWideTimes, isTimes } from "./times.ts";
import type { Scalar } from "./vector.ts";
import { vectorOf } from "./vector-builder.ts";

const LIMIT = 2n ** 53n;

function timesOf(values: readonly Scalar[]): AnyTimes {
  const vector = vectorOf(TIMESTAMP_NANOSECOND, values);
  if (!isTimes(vector)) throw new Error(`times make a vector of times; got ${vector.kind}`);
  return vector;
}

/** A vector whose base is far from its only value. */
function farBase(base: bigint, offset: number): AnyTimes {
  return { kind: "time", base, offsets: Float64Array.of(offset), validity: undefined };
}

/** Copies and reads back; undefined when the copy is refused. */
function offsetsOf(vector: AnyTimes, rowCount: number, base: bigint): Scalar[] | undefined {
  const offsets = new Float64Array(rowCount);
  if (!copyTimeOffsets(vector, 0, rowCount, base, offsets, 0)) return undefined;
  const { validity } = vector;
  return Array.from(offsets, (_, row) => scalarAt({ kind: "time", base, offsets, validity }, TIMESTAMP_NANOSECOND, row));
}

function check(vector: AnyTimes, rowCount: number, base: bigint, fits: boolean): void {
  const own = Array.from({ length: rowCount }, (_, row) => scalarAt(vector, TIMESTAMP_NANOSECOND, row));
  expect(offsetsOf(vector, rowCount, base)).toEqual(fits ? own : undefined);
  const values = new BigInt64Array(rowCount);
  copyWideTimes(vector, 0, rowCount, values, 0);
  const { validity } = vector;
  expect(own).toEqual(own.map((_, row) => scalarAt({ kind: "wide", values, validity }, TIMESTAMP_NANOSECOND, row)));
}

describe("offsets from another base", () => {
  test("are exact up to 2^53", () => {
    check(timesOf([5n, 7n]), 2, 0n, true);
    check(timesOf([LIMIT - 1n, undefined]), 2, 0n, true);
    check(timesOf([1n - LIMIT]), 1, 0n, true);
    check(timesOf([2n ** 63n - 1n]), 1, 2n ** 63n - LIMIT, true);
  });
  test("are refused from 2^53 on", () => {
    check(timesOf([LIMIT]), 1, 0n, false);
    check(timesOf([-LIMIT]), 1, 0n, false);
    check(timesOf([-(2n ** 63n), 2n ** 63n - 1n]), 2, 0n, false);
    check(timesOf([2n ** 63n - 1n, undefined]), 2, -(2n ** 63n), false);
  });
  test("are refused rather than rounded when the bases lie too far apart", () => check(farBase(LIMIT + 1n, -100), 1, 0n, false));
  test("do not care what lies under NULL", () => {
    check({ kind: "time", base: 2n ** 62n, offsets: Float64Array.of(1), validity: Uint8Array.of(0) }, 1, 0n, true);
    check({ kind: "wide", values: BigInt64Array.of(2n ** 62n, 3n), validity: Uint8Array.of(0, 1) }, 2, 0n, true);
  });
  test("agree with whole-number arithmetic for any times", () => {
    const time = fc.option(fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -9n, max: 9n })), {
      nil: undefined,
    });
    fc.assert(
      fc.property(fc.array(time), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (values, base) => {
        const near = (value: Scalar): boolean => typeof value !== "bigint" || (value - base < LIMIT && base - value < LIMIT);
        const vector = timesOf(values);
        const all = values.every(near);
        if (!all || vector.kind === "wide") check(vector, values.length, base, all);
      }),
      { seed: 12 },
    );
  });
});

test("the base is that of the first row with a value", () => {
  expect(baseOfTimes(timesOf([undefined, 7n, 8n]), 0, 3)).toBe(7n);
  expect(baseOfTimes(timesOf([undefined, -(2n ** 63n), 2n ** 62n]), 0, 3)).toBe(-(2n ** 63n));
  expect(baseOfTimes(timesOf([undefined, 2n ** 62n, -(2n ** 63n)]), 2, 3)).toBe(-(2n ** 63n));
  expect(baseOfTimes(timesOf([undefined, undefined]), 0, 2)).toBeUndefined();
  expect(baseOfTimes(timesOf([1n]), 1, 1)).toBeUndefined();
});
