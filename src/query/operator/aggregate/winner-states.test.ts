import { expect, test } from "bun:test";
import { FLOAT64, INT64 } from "../../../column/data-type.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { NumberArray } from "../../../column/vector.ts";
import { WinnerColumn, WinnerTracker } from "./winner-states.ts";

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
