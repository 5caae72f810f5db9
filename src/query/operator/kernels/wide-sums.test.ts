import { expect, test } from "bun:test";
import fc from "fast-check";
import type { DataType } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { type SummedRows, WideSums } from "./wide-sums.ts";

const DECIMAL: DataType = { kind: "decimal", precision: 38, scale: 2 };
const GROUPS = 3;
const most = 10n ** 38n - 1n;
const decimal = fc.oneof(fc.bigInt(-most, most), fc.constantFrom(0n, 1n, -1n, most, -most, 2n ** 64n, -(2n ** 96n)));
const integer = fc.oneof(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.constantFrom(0n, -1n, 2n ** 63n - 1n, -(2n ** 63n)));
const rowsOf = (value: fc.Arbitrary<bigint>): fc.Arbitrary<readonly (readonly (readonly [number, bigint | undefined])[])[]> =>
  fc.array(fc.array(fc.tuple(fc.nat(GROUPS - 1), fc.option(value, { nil: undefined })), { minLength: 1, maxLength: 20 }), { maxLength: 5 });

/** Adds batches to sums and to bigints, by rows or row by row of one group. */
function check(
  batches: readonly (readonly (readonly [number, bigint | undefined])[])[],
  vectorFor: (values: readonly (bigint | undefined)[]) => Vector,
): void {
  const sums = new WideSums();
  const counts = new Float64Array(GROUPS);
  const want = Array.from({ length: GROUPS }, () => [0n, 0] as [bigint, number]);
  for (const [b, rows] of batches.entries()) {
    sums.reach(GROUPS);
    const vector = vectorFor(rows.map(([, value]) => value));
    const add = (part: SummedRows): void => {
      if (vector.kind === "wide") sums.addIntegers(vector, part, counts);
      else if (vector.kind === "bytes") sums.addDecimals(vector, part, counts);
    };
    if (b % 2 === 0) add({ from: 0, to: rows.length, group: 0, groups: Int32Array.from(rows, ([group]) => group) });
    else for (const [i, [group]] of rows.entries()) add({ from: i, to: i + 1, group, groups: undefined });
    for (const [group, value] of rows) {
      const own = want[group];
      if (own === undefined || value === undefined) continue;
      own[0] += value;
      own[1]++;
    }
  }
  expect(want.map((_, group) => [sums.at(group), counts[group]])).toEqual(want);
  const adopted = new WideSums();
  adopted.adopt(sums, Uint32Array.of(2, 0));
  expect([adopted.at(0), adopted.at(1)]).toEqual([want[2]?.[0] ?? 0n, want[0]?.[0] ?? 0n]);
}

test("decimals of 38 digits add as bigints do", () => {
  fc.assert(
    fc.property(rowsOf(decimal), (batches) => check(batches, (values) => vectorOf(DECIMAL, values))),
    { seed: 20261125, numRuns: 300 },
  );
});

test("64-bit integers add as bigints do, with sign and without", () => {
  for (const isSigned of [true, false]) {
    fc.assert(
      fc.property(rowsOf(isSigned ? integer : integer.map((value) => BigInt.asUintN(64, value))), (batches) =>
        check(batches, (values) => {
          const own = isSigned ? new BigInt64Array(values.length) : new BigUint64Array(values.length);
          for (const [i, value] of values.entries()) own[i] = value ?? 7n;
          return { kind: "wide", values: own, validity: Uint8Array.from(values, (value) => (value === undefined ? 0 : 1)) };
        }),
      ),
      { seed: 20261126, numRuns: 200 },
    );
  }
});

test("sums come out as decimals, or not where bigints have to decide", () => {
  const plain = fc.array(fc.maxSafeInteger(), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(plain, (values) => {
      const vector = new WideSums().decimals(
        Float64Array.from(values),
        Float64Array.from(values, (_, i) => i % 4),
        values.length,
      );
      if (vector === undefined) throw new Error("plain sums are decimals");
      const got = values.map((_, group) => scalarAt(vector, DECIMAL, group));
      expect(got.map((value) => (value === undefined ? value : BigInt(value as number)))).toEqual(
        values.map((value, i) => (i % 4 === 0 ? undefined : BigInt(value))),
      );
    }),
    { seed: 20261127, numRuns: 200 },
  );
  fc.assert(
    fc.property(fc.array(decimal, { minLength: 1, maxLength: 6 }), (values) => {
      const sums = new WideSums();
      sums.reach(1);
      const vector = vectorOf(DECIMAL, values);
      if (vector.kind !== "bytes") throw new Error("wide decimals are bytes");
      const counts = new Float64Array(1);
      sums.addDecimals(vector, { from: 0, to: values.length, group: 0, groups: undefined }, counts);
      const want = values.reduce((sum, value) => sum + value, 0n);
      const found = sums.decimals(Float64Array.of(0), counts, 1);
      if (found === undefined) expect(want > most / 2n || want < -most / 2n).toBe(true);
      else expect(BigInt(scalarAt(found, DECIMAL, 0) as bigint)).toBe(want);
      expect(sums.at(0)).toBe(want);
    }),
    { seed: 20261128, numRuns: 300 },
  );
});

test("millions of the largest values stay exact", () => {
  const sums = new WideSums();
  const counts = new Float64Array(1);
  sums.reach(1);
  const vector = vectorOf(
    DECIMAL,
    Array.from({ length: 4096 }, (_, i) => (i % 3 === 0 ? -most : most)),
  );
  if (vector.kind !== "bytes") throw new Error("wide decimals are bytes");
  for (let turn = 0; turn < 600; turn++) sums.addDecimals(vector, { from: 0, to: 4096, group: 0, groups: undefined }, counts);
  expect(sums.at(0)).toBe(most * 600n * (4096n - 2n * 1366n));
});
