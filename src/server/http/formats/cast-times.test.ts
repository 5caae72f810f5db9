import { expect, test } from "bun:test";
import fc from "fast-check";
import { scalarAt } from "../../../column/scalar.ts";
import { type TimeUnit, TIMESTAMP_NANOSECOND, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import type { TimeVector, WideVector } from "../../../column/vector.ts";
import { castTimes } from "./cast-times.ts";

const UNITS = Object.keys(UNITS_PER_SECOND) as TimeUnit[];

function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
}

test("casts agree with whole-number arithmetic for any base, offset and pair of units", () => {
  const offset = fc.integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
  const base = fc.bigInt({ min: -(2n ** 33n), max: 2n ** 33n });
  fc.assert(
    fc.property(base, offset, fc.constantFrom(...UNITS), fc.constantFrom(...UNITS), (from, by, source, target) => {
      const vector: TimeVector = { kind: "time", base: from, offsets: Float64Array.of(by), validity: undefined };
      const value = from + BigInt(by);
      const up = BigInt(UNITS_PER_SECOND[target]);
      const down = BigInt(UNITS_PER_SECOND[source]);
      const want = BigInt.asIntN(64, floorDivide(value * up, down));
      expect(BigInt(scalarAt(castTimes(vector, 1, source, target), TIMESTAMP_NANOSECOND, 0) as bigint)).toBe(want);
    }),
    { seed: 7, numRuns: 500 },
  );
});

test("casts of times as they are agree with whole-number arithmetic", () => {
  const time = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  fc.assert(
    fc.property(time, fc.constantFrom(...UNITS), fc.constantFrom(...UNITS), (value, source, target) => {
      const vector: WideVector = { kind: "wide", values: BigInt64Array.of(value), validity: undefined };
      const want = BigInt.asIntN(64, floorDivide(value * BigInt(UNITS_PER_SECOND[target]), BigInt(UNITS_PER_SECOND[source])));
      expect(scalarAt(castTimes(vector, 1, source, target), TIMESTAMP_NANOSECOND, 0)).toBe(want);
    }),
    { seed: 8, numRuns: 300 },
  );
});
