import { expect, test } from "bun:test";
import fc from "fast-check";
import { FLOAT64, INT64, STRING } from "../../../column/data-type.ts";
import type { NumberArray, Vector } from "../../../column/vector.ts";
import type { ColumnCondition } from "./column-condition.ts";
import { type RowFilter, rowFilterOf, selectRows } from "./row-filter.ts";
import type { Piece, ScanColumn } from "../runs/scan-source.ts";

const V: ScanColumn = { id: 7, type: FLOAT64, missing: undefined };

function filter(min: number | undefined, max: number | undefined): RowFilter {
  return { column: V, min, max };
}

function range(columnId: number, min: number | string | undefined, max: number | string | undefined): ColumnCondition {
  return { kind: "range", column: "v", columnId, min, max };
}

function numbers(values: NumberArray, validity?: readonly number[]): Vector {
  return { kind: "number", values, validity: validity && Uint8Array.from(validity) };
}

function check(pieces: readonly Piece[], min: number | undefined, max: number | undefined, want: readonly number[]): void {
  let rowCount = 0;
  for (const { from, to } of pieces) rowCount += to - from;
  expect([...selectRows(filter(min, max), pieces, rowCount)]).toEqual([...want]);
}

test("rows within the bounds are selected, the bounds too", () => {
  const pieces = [{ vector: numbers(Int8Array.of(9, 5, 6, 7, 8)), from: 1, to: 5 }];
  check(pieces, 6, undefined, [1, 2, 3]);
  check(pieces, undefined, 6, [0, 1]);
  check(pieces, 6, 7, [1, 2]);
  check(pieces, 9, undefined, []);
});

test("positions go on over pieces, and NULL is never selected", () => {
  const pieces = [
    { vector: numbers(Float64Array.of(1, 5, 5), [1, 1, 0]), from: 0, to: 3 },
    { vector: undefined, from: 0, to: 2 },
    { vector: numbers(Float64Array.of(0, 5, 9), [0, 0, 1]), from: 1, to: 3 },
  ];
  check(pieces, 5, undefined, [1, 6]);
});

test("NaN is above all numbers", () => {
  const pieces = [{ vector: numbers(Float64Array.of(Number.NaN, 1)), from: 0, to: 2 }];
  check(pieces, 5, undefined, [0]);
  check(pieces, undefined, 5, [1]);
});

test("what is not a number is left to others", () => {
  check([{ vector: { kind: "wide", values: BigInt64Array.of(1n, 2n), validity: undefined }, from: 0, to: 2 }], 5, undefined, [0, 1]);
});

test("a condition becomes a filter when it bounds a column of numbers that is read", () => {
  const bounds = (conditions: readonly ColumnCondition[], output: readonly ScanColumn[]): unknown => {
    const found = rowFilterOf(conditions, output);
    return found && [found.min, found.max];
  };
  expect(bounds([range(7, 1, undefined)], [V])).toEqual([1, undefined]);
  expect(bounds([range(7, undefined, Number.NaN)], [V])).toBeUndefined();
  expect(bounds([range(7, 2, Number.NaN)], [V])).toEqual([2, undefined]);
  expect(bounds([range(8, 1, undefined)], [V])).toBeUndefined();
  expect(bounds([range(7, "a", undefined)], [V])).toBeUndefined();
  expect(bounds([{ kind: "any", of: [range(7, 1, undefined)] }], [V])).toBeUndefined();
  const text: ScanColumn = { id: 7, type: STRING, missing: undefined };
  expect(bounds([range(7, 1, undefined)], [text])).toBeUndefined();
  const whole: ScanColumn = { id: 7, type: INT64, missing: undefined };
  expect(bounds([range(9, 0, 1), range(7, 3, 4)], [whole])).toEqual([3, 4]);
});

test("any pieces: those rows that a plain test finds", () => {
  const value = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constant(Number.NaN));
  const cell = fc.record({ value, valid: fc.boolean() });
  const bound = fc.option(fc.integer({ min: -3, max: 3 }), { nil: undefined });
  fc.assert(
    fc.property(fc.array(fc.array(cell, { maxLength: 5 }), { maxLength: 4 }), bound, bound, (parts, min, max) => {
      const pieces = parts.map((cells) => ({
        vector: numbers(
          Float64Array.from(cells, (one) => one.value),
          cells.map(({ valid }) => Number(valid)),
        ),
        from: 0,
        to: cells.length,
      }));
      const isWanted = ({ value: v, valid }: { value: number; valid: boolean }): boolean =>
        valid && (min === undefined || !(v < min)) && (max === undefined || v <= max);
      const want = parts.flat().flatMap((one, i) => (isWanted(one) ? [i] : []));
      check(pieces, min, max, want);
    }),
    { seed: 5, numRuns: 200 },
  );
});
