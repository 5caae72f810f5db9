import { expect, test } from "bun:test";
import fc from "fast-check";
import { FLOAT64, INT64, STRING } from "../../../column/data-type.ts";
import type { DataType } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import { textTableOf } from "../../../column/text-table.ts";
import type { NumberArray, Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { WinnerColumn } from "./winner-column.ts";
import { WinnerTracker } from "./winner-states.ts";

/** Gives groups 0, 1, … their newest values batch by batch; each batch is later than the one before. */
function newest(type: DataType, batches: readonly NumberArray[]): NumberArray {
  const tracker = new WinnerTracker({ newest: true, laterOfEqual: true });
  const column = new WinnerColumn(type, () => undefined);
  for (const [hour, values] of batches.entries()) {
    const rows = values.length;
    const starts = Uint32Array.from({ length: rows + 1 }, (_, row) => row);
    const groups = starts.subarray(0, rows);
    tracker.update(
      { kind: "time", base: BigInt(hour), offsets: new Float64Array(rows), validity: undefined },
      { count: rows, starts, groups, ascending: true },
      rows,
    );
    column.update({ kind: "number", values, validity: undefined }, tracker, rows);
  }
  const vector = column.vector(batches.at(-1)?.length ?? 0);
  if (vector.kind !== "number") throw new Error(`numbers come as numbers; got ${vector.kind}`);
  return vector.values;
}

test("integers of a byte stay bytes until a wider one comes", () => {
  expect(newest(INT64, [Int8Array.of(1, -2), Int8Array.of(3, 127, 4)])).toEqual(Int8Array.of(3, 127, 4));
  expect(newest(INT64, [Int8Array.of(1, -2, 5), Int16Array.of(300, 2, 7)])).toEqual(Float64Array.of(300, 2, 7));
  expect(newest(INT64, [Int16Array.of(300), Int8Array.of(1, 2)])).toEqual(Float64Array.of(1, 2));
});

test("floats are never bytes", () => {
  expect(newest(FLOAT64, [Float64Array.of(0.5)])).toEqual(Float64Array.of(0.5));
  expect(newest(FLOAT64, [])).toEqual(new Float64Array(0));
});

type Text = string | undefined;

/** Forms that batches have texts in. */
const FORMS: readonly ((texts: readonly Text[]) => Vector)[] = [
  (texts) => vectorOf(STRING, texts),
  (texts) => ({
    kind: "coded",
    codes: Uint32Array.from(texts, (text, i) => (text === undefined ? 0 : i + 1)),
    entries: textTableOf([undefined, ...texts]),
  }),
  (texts) => ({
    kind: "dictionary",
    codes: Uint32Array.from(texts, (text, i) => (text === undefined ? 0 : i + 1)),
    dictionary: [undefined, ...texts],
  }),
];

test("texts are those of the newest rows, in whatever form batches come", () => {
  const text = fc.option(fc.oneof(fc.string({ maxLength: 20 }), fc.string({ minLength: 60, maxLength: 80 })), { nil: undefined });
  const row = fc.tuple(fc.nat(4), text);
  const batches = fc.array(fc.tuple(fc.nat(FORMS.length - 1), fc.array(row, { minLength: 1, maxLength: 8 })), { maxLength: 6 });
  fc.assert(
    fc.property(batches, (all) => {
      const tracker = new WinnerTracker({ newest: true, laterOfEqual: true });
      const column = new WinnerColumn(STRING, () => undefined);
      const want: Text[] = Array.from({ length: 5 });
      for (const [hour, [form, rows]] of all.entries()) {
        const groups = Uint32Array.from(rows, ([group]) => group);
        const starts = Uint32Array.from({ length: rows.length + 1 }, (_, i) => i);
        const offsets = new Float64Array(rows.length);
        tracker.update(
          { kind: "time", base: BigInt(hour), offsets, validity: undefined },
          { count: rows.length, starts, groups, ascending: true },
          5,
        );
        column.update(FORMS[form]?.(rows.map(([, own]) => own)) as Vector, tracker, 5);
        for (const [group, own] of rows) want[group] = own;
      }
      if (all.length === 0) return;
      const vector = column.vector(5);
      expect(want.map((_, group) => scalarAt(vector, STRING, group))).toEqual(want);
    }),
    { seed: 20261124, numRuns: 300 },
  );
});
