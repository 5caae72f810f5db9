import { expect, test } from "bun:test";
import { type DataType, FLOAT64, INT32, INT64 } from "../../../column/data-type.ts";
import { encodeNested, type NestedPart } from "../../../column/nested.ts";
import type { Vector } from "../../../column/vector.ts";
import { NATIVE_HISTOGRAM } from "../../../table/native-histogram.ts";
import type { ColumnSchema } from "../../../table/schema.ts";
import { histogramOf, isStaleMarker } from "./histogram-cell.ts";
import { SampleBuffer } from "./sample-buffer.ts";

const list = (element: DataType, parts: readonly (number | bigint)[]): Uint8Array => encodeNested({ kind: "list", element }, [...parts]);

/** A cell of whole counts: two spans, (1,2] and (8,16], and a zero bucket. */
function cell({ sum, start, hint }: { sum: number; start: number | undefined; hint: number }): Uint8Array {
  const empty = list(INT32, []);
  const parts: readonly NestedPart[] = [
    0, // schema
    0.25, // zero_threshold
    sum,
    hint,
    start === undefined ? undefined : BigInt(start),
    list(FLOAT64, []),
    list(INT32, [1, 2]),
    list(INT32, [1, 1]),
    empty,
    empty,
    6n,
    1n,
    list(INT64, [2n, 3n]),
    list(INT64, []),
    undefined,
    undefined,
    list(FLOAT64, []),
    list(FLOAT64, []),
  ];
  return encodeNested(NATIVE_HISTOGRAM, parts);
}

/** The same with the bits that end a series, which a number does not keep. */
function staleCell(): Uint8Array {
  const bytes = cell({ sum: 1, start: undefined, hint: 0 });
  bytes.set([0xff, 0xf0, 0, 0, 0, 0, 0, 2], 19);
  return bytes;
}

test("a cell is a histogram, and tells when its counting began", () => {
  const { histogram, startMillis } = histogramOf(cell({ sum: 12.5, start: 4000, hint: 2 }));
  expect(startMillis).toBe(4000);
  expect(histogram).toEqual({
    schema: 0,
    zeroThreshold: 0.25,
    zeroCount: 1,
    count: 6,
    sum: 12.5,
    positiveSpans: [
      { index: 1, counts: Float64Array.of(2) },
      { index: 4, counts: Float64Array.of(3) },
    ],
    negativeSpans: [],
    customValues: undefined,
    resetHint: "not-reset",
  });
  expect(histogramOf(cell({ sum: 1, start: undefined, hint: 0 })).startMillis).toBe(0);
});

test("the end of a series is told by its bits alone", () => {
  expect([staleCell(), cell({ sum: Number.NaN, start: undefined, hint: 0 })].map(isStaleMarker)).toEqual([true, false]);
});

function vectorOf(cells: readonly Uint8Array[]): Vector {
  const offsets = new Uint32Array(cells.length + 1);
  for (const [i, one] of cells.entries()) offsets[i + 1] = (offsets[i] as number) + one.length;
  const bytes = new Uint8Array(offsets.at(-1) ?? 0);
  for (const [i, one] of cells.entries()) bytes.set(one, offsets[i]);
  return { kind: "bytes", bytes, offsets, validity: undefined };
}

test("samples of a series are histograms with their starts, a stale marker where it ends; memory is counted and given back", () => {
  let held = 0;
  const run = { reserve: (bytes: number) => void (held += bytes), release: (bytes: number) => void (held -= bytes) };
  const column: ColumnSchema = { id: 1, name: "h", type: NATIVE_HISTOGRAM, semantic: "field", nullable: true };
  const buffer = new SampleBuffer({ column, unit: "millisecond", mayRepeat: true }, run);
  const cells = [cell({ sum: 1, start: 500, hint: 0 }), cell({ sum: 2, start: undefined, hint: 0 }), staleCell()];
  const times: Vector = { kind: "time", base: 0n, offsets: Float64Array.of(1000, 2000, 3000), validity: undefined };
  buffer.append(times, vectorOf(cells), 0, 3);
  expect([...buffer.times.subarray(0, 3)]).toEqual([1000, 2000, 3000]);
  expect(buffer.histograms?.map((one) => one?.sum)).toEqual([1, 2, undefined]);
  expect([...(buffer.starts?.subarray(0, 3) ?? [])]).toEqual([500, 0, 0]);
  const words = new Uint32Array(buffer.values.buffer);
  expect([words[4], words[5]]).toEqual([2, 0x7ff00000]);
  expect(held).toBeGreaterThan(1000);
  buffer.clear();
  buffer.append(times, vectorOf(cells.slice(1)), 0, 2);
  expect([buffer.count, buffer.starts]).toEqual([2, undefined]);
  buffer.close();
  expect(held).toBe(0);
});
