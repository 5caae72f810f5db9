import { expect, test } from "bun:test";
import fc from "fast-check";
import { INT64, type TimeUnit, UNITS_PER_SECOND } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { TimeVector } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import { convertTimes, splitForUnit } from "./time-conversion.ts";

const UNITS: readonly TimeUnit[] = ["second", "millisecond", "microsecond", "nanosecond"];

function vector(base: bigint, ...offsets: readonly number[]): TimeVector {
  return { kind: "time", base, offsets: Float64Array.from(offsets), validity: undefined };
}

function timesOf(times: TimeVector, count: number = times.offsets.length): bigint[] {
  return Array.from({ length: count }, (_, i) => times.base + BigInt(times.offsets[i] ?? Number.NaN));
}

function check(times: TimeVector, from: TimeUnit, to: TimeUnit, want: readonly bigint[]): void {
  expect(timesOf(convertTimes(times, times.offsets.length, from, to))).toEqual([...want]);
}

test("the same unit is passed through", () => {
  const times = vector(5n, 1, 2);
  expect(convertTimes(times, 2, "second", "second")).toBe(times);
});

test("finer times are rounded down, also before 1970", () => {
  check(vector(0n, 1_999_999, 0, -1, -1_000_000, -1_000_001), "nanosecond", "millisecond", [1n, 0n, -1n, -1n, -2n]);
  check(vector(-1_500n, 0, 501, -500), "millisecond", "second", [-2n, -1n, -2n]);
});

test("coarser times are exact", () => {
  check(vector(-3n, 0, 5), "second", "nanosecond", [-3_000_000_000n, 2_000_000_000n]);
  check(vector(9_223_372_036n, 0), "second", "nanosecond", [9_223_372_036_000_000_000n]);
});

test("a base far from the times does not matter", () => {
  check(vector(0n, 1_686_441_600_000, 1_686_441_600_001), "millisecond", "nanosecond", [
    1_686_441_600_000_000_000n,
    1_686_441_600_001_000_000n,
  ]);
});

test.each([
  [vector(9_223_372_037n, 0), "second", "nanosecond", "cannot write time 9223372037 (seconds): "],
  [vector(0n, -9_223_372_037, 5), "second", "nanosecond", "cannot write time -9223372037 (seconds): "],
] as const)("times beyond 64 bits are refused: %#", (times, from, to, message) => {
  expect(() => convertTimes(times, times.offsets.length, from, to)).toThrow(message);
});

test("any times in any unit come out as whole numbers rounded down", () => {
  const offset = fc.integer({ min: -(2 ** 52), max: 2 ** 52 });
  const unit = fc.constantFrom(...UNITS);
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }),
      fc.array(offset, { minLength: 1 }),
      unit,
      unit,
      (base, offsets, from, to) => {
        if (UNITS_PER_SECOND[from] < UNITS_PER_SECOND[to]) return;
        const step = BigInt(UNITS_PER_SECOND[from] / UNITS_PER_SECOND[to]);
        const floor = (time: bigint): bigint => (time - (((time % step) + step) % step)) / step;
        check(
          vector(base, ...offsets),
          from,
          to,
          offsets.map((at) => floor(base + BigInt(at))),
        );
      },
    ),
    { seed: 7 },
  );
});

function writeOf(times: TimeVector, timeUnit: TimeUnit): TableWrite {
  const rowCount = times.offsets.length;
  const values = Array.from({ length: rowCount }, (_, i) => (i % 3 === 0 ? undefined : i));
  const fields = [{ name: "v", type: INT64, vector: vectorOf(INT64, values) }];
  return { table: "t", rowCount, keys: Uint32Array.from(values, (_, i) => i), timeUnit, times, fields };
}

test("a write that fits stays as it is", () => {
  for (const to of UNITS) {
    const write = writeOf(vector(0n, 0, 1_000_000), "millisecond");
    expect(splitForUnit(write, to)).toEqual([write]);
  }
});

test("a write whose times get too far apart is split, each row with its own key and values, rows of one time in order", () => {
  const write = writeOf(vector(5n, 0, 9e9, 3e9, 0, 9e9, -4e9), "millisecond");
  const parts = splitForUnit(write, "nanosecond");
  expect(parts.length).toBeGreaterThan(1);
  const rows: string[] = [];
  for (const part of parts) {
    const times = timesOf(convertTimes(part.times, part.rowCount, "millisecond", "nanosecond"), part.rowCount);
    const field = part.fields[0];
    for (let i = 0; i < part.rowCount; i++) rows.push(`${part.keys[i]} ${times[i]} ${String(scalarAt(field!.vector, INT64, i))}`);
  }
  const want = timesOf(write.times).map((time, i) => `${i} ${time * 1_000_000n} ${i % 3 === 0 ? undefined : i}`);
  expect(rows.toSorted()).toEqual(want.toSorted());
  expect(rows.findIndex((row) => row.startsWith("0 "))).toBeLessThan(rows.findIndex((row) => row.startsWith("3 ")));
});
