import { expect, test } from "bun:test";
import fc from "fast-check";
import { FLOAT64, STRING } from "../../../column/data-type.ts";
import { textTableOf } from "../../../column/text-table.ts";
import type { CodedVector, Vector } from "../../../column/vector.ts";
import { compareRows, rowKeys } from "./row-keys.ts";
import { notBehind, TextBound } from "./value-bound.ts";

const direction = fc.record({ descending: fc.boolean(), nullsFirst: fc.boolean() });

test("numbers and times are told as their keys tell them", () => {
  const value = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(Number.NaN, -0, 1e300, Number.NEGATIVE_INFINITY));
  fc.assert(
    fc.property(fc.array(value), value, direction, fc.boolean(), (list, bound, order, isTime) => {
      const values = Float64Array.from(list);
      const vector: Vector = { kind: "number", values, validity: undefined };
      const most: Vector = { kind: "number", values: Float64Array.of(bound), validity: undefined };
      const keys = rowKeys(vector, FLOAT64, list.length, order);
      const want = [...values.keys()].filter((row) => compareRows(keys, row, rowKeys(most, FLOAT64, 1, order), 0) <= 0);
      const whole = list.every(Number.isInteger) && Number.isInteger(bound);
      const timed = isTime && whole;
      const got = timed
        ? notBehind({ kind: "time", base: 100n, offsets: values, validity: undefined }, timeOf(bound), list.length, order.descending)
        : notBehind(vector, most, list.length, order.descending);
      if (got === undefined) expect(Number.isNaN(bound)).toBe(true);
      else expect([...got]).toEqual(want);
    }),
    { seed: 5, numRuns: 500 },
  );
});

function timeOf(offset: number): Vector {
  return { kind: "time", base: 50n, offsets: Float64Array.of(offset + 50), validity: undefined };
}

test("rows with NULL are left to keys", () => {
  const vector: Vector = { kind: "number", values: Float64Array.of(1, 2), validity: Uint8Array.of(1, 0) };
  expect(notBehind(vector, { kind: "number", values: Float64Array.of(1), validity: undefined }, 2, false)).toBeUndefined();
});

test("texts by code are told as their keys tell them", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "é"), maxLength: 3 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), fc.array(fc.nat()), text, direction, (texts, picks, bound, order) => {
      const entries = textTableOf([undefined, ...texts]);
      const codes = Uint32Array.from(picks, (pick) => pick % entries.size);
      const vector: CodedVector = { kind: "coded", codes, entries };
      const most: CodedVector = { kind: "coded", codes: Uint32Array.of(1), entries: textTableOf([undefined, bound]) };
      const [keys, bounds] = [rowKeys(vector, STRING, codes.length, order), rowKeys(most, STRING, 1, order)];
      const want = [...codes.keys()].filter((row) => compareRows(keys, row, bounds, 0) <= 0);
      const key = bounds[0]!;
      if (key.kind !== "texts") throw new Error("texts have keys of texts");
      const told = new TextBound(key);
      expect([...told.notBehind(vector, codes.length)]).toEqual(want);
      expect([...told.notBehind(vector, codes.length)]).toEqual(want);
    }),
    { seed: 6, numRuns: 500 },
  );
});
