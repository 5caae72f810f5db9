import { expect, test } from "bun:test";
import fc from "fast-check";
import { INT64, type TimeUnit, UNITS_PER_SECOND } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import { livingRows } from "./living-rows.ts";

const UNITS: readonly TimeUnit[] = ["second", "millisecond", "microsecond", "nanosecond"];

/** A write whose key and value of row i are i. */
function writeOf(times: readonly bigint[], timeUnit: TimeUnit): TableWrite {
  const base = times[0] ?? 0n;
  return {
    table: "t",
    rowCount: times.length,
    keys: Uint32Array.from(times, (_, i) => i),
    timeUnit,
    times: { kind: "time", base, offsets: Float64Array.from(times, (time) => Number(time - base)), validity: undefined },
    fields: [
      {
        name: "v",
        type: INT64,
        vector: vectorOf(
          INT64,
          times.map((_, i) => i),
        ),
      },
    ],
  };
}

/** Rows that are left, the slow way: times rounded down to the table's unit, none before the limit. */
function wanted(times: readonly bigint[], from: TimeUnit, before: bigint, to: TimeUnit): number[] {
  const [sent, kept] = [BigInt(UNITS_PER_SECOND[from]), BigInt(UNITS_PER_SECOND[to])];
  return times.flatMap((time, i) => {
    const nanos = time * (1_000_000_000n / sent);
    const step = 1_000_000_000n / kept;
    const rest = ((nanos % step) + step) % step;
    return (nanos - rest) / step >= before ? [i] : [];
  });
}

test("rows stay that have not expired in the table's unit, in their order", () => {
  const time = fc.bigInt({ min: -4000n, max: 4000n });
  const unit = fc.constantFrom(...UNITS);
  fc.assert(
    fc.property(
      fc.array(time, { minLength: 1, maxLength: 12 }),
      unit,
      fc.bigInt({ min: -5n, max: 5n }),
      unit,
      (times, from, before, to) => {
        const want = wanted(times, from, before, to);
        const write = writeOf(times, from);
        const living = livingRows(write, before, to);
        if (want.length === 0) return expect(living).toBeUndefined();
        if (want.length === times.length) return expect(living).toBe(write);
        expect([...(living?.keys ?? [])]).toEqual(want);
        const values = want.map((_, row) => scalarAt(living!.fields[0]!.vector, INT64, row));
        expect([living?.rowCount, values]).toEqual([want.length, want]);
        expect(want.map((_, row) => living!.times.base + BigInt(living!.times.offsets[row]!))).toEqual(want.map((i) => times[i]!));
      },
    ),
    { seed: 12, numRuns: 500 },
  );
});

test("limits at the ends of time spare all or none", () => {
  const [min, max] = [-(2n ** 63n), 2n ** 63n - 1n];
  for (const time of [min, -1n, 0n, max]) {
    const write = writeOf([time], "nanosecond");
    expect(livingRows(write, min, "nanosecond")).toBe(write);
    expect(livingRows(write, max + 1n, "nanosecond")).toBeUndefined();
    expect(livingRows(write, max + 1n, "second")).toBeUndefined();
  }
  expect(livingRows(writeOf([max], "nanosecond"), max, "nanosecond")?.rowCount).toBe(1);
});
