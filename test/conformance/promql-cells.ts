/** Native histograms of scripts as cells of tables: the bytes that `table/native-histogram.ts` tells of, counts as floats. */
import { encodeNested, type NestedPart } from "../../src/column/nested.ts";
import type { NativeHistogram } from "../../src/query/promql/evaluation/series-source.ts";
import { NATIVE_HISTOGRAM } from "../../src/table/native-histogram.ts";

const HINTS: readonly NativeHistogram["resetHint"][] = ["unknown", "reset", "not-reset", "gauge"];
const NONE: NativeHistogram = {
  schema: 0,
  zeroThreshold: 0,
  zeroCount: 0,
  count: 0,
  sum: 0,
  positiveSpans: [],
  negativeSpans: [],
  customValues: undefined,
  resetHint: "unknown",
};
/** Where the bits of the sum stand, and those that end a series. */
const SUM_AT = 19;
const STALE: readonly number[] = [0xff, 0xf0, 0, 0, 0, 0, 0, 2];

/** The cell of a histogram. @param startMillis when its counting began; undefined: nobody says */
export function histogramCell(histogram: NativeHistogram, startMillis?: number): Uint8Array {
  const { schema, zeroThreshold, zeroCount, count, sum, positiveSpans, negativeSpans, customValues, resetHint } = histogram;
  const parts = new Map<string, NestedPart>([
    ["schema", schema],
    ["zero_threshold", zeroThreshold],
    ["sum", sum],
    ["reset_hint", HINTS.indexOf(resetHint)],
    ["start_timestamp", startMillis === undefined ? undefined : BigInt(startMillis)],
    ["custom_values", listCell("custom_values", customValues ?? [])],
    ["count_f64", count],
    ["zero_count_f64", zeroCount],
    ...spanCells("positive", positiveSpans),
    ...spanCells("negative", negativeSpans),
  ]);
  for (const { name, type } of NATIVE_HISTOGRAM.fields) if (type.kind === "list" && !parts.has(name)) parts.set(name, listCell(name, []));
  return encodeNested(
    NATIVE_HISTOGRAM,
    NATIVE_HISTOGRAM.fields.map(({ name }) => parts.get(name)),
  );
}

/** The cell that ends a series. */
export function staleCell(): Uint8Array {
  const cell = histogramCell(NONE);
  cell.set(STALE, SUM_AT);
  return cell;
}

function spanCells(sign: "positive" | "negative", spans: NativeHistogram["positiveSpans"]): readonly (readonly [string, NestedPart])[] {
  const ends = spans.map(({ index, counts }) => index + counts.length);
  return [
    [
      `${sign}_span_offsets`,
      listCell(
        `${sign}_span_offsets`,
        spans.map(({ index }, i) => index - (ends[i - 1] ?? 0)),
      ),
    ],
    [
      `${sign}_span_lengths`,
      listCell(
        `${sign}_span_lengths`,
        spans.map(({ counts }) => counts.length),
      ),
    ],
    [
      `${sign}_buckets_f64`,
      listCell(
        `${sign}_buckets_f64`,
        spans.flatMap(({ counts }) => [...counts]),
      ),
    ],
  ];
}

function listCell(name: string, numbers: Iterable<number>): Uint8Array {
  const type = NATIVE_HISTOGRAM.fields.find((field) => field.name === name)?.type;
  if (type?.kind !== "list") throw new Error(`no list: ${name}`);
  return encodeNested(type, [...numbers]);
}
