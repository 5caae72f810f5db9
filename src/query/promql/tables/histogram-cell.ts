/** A native histogram as it is stored (`table/native-histogram.ts`) → as PromQL computes with it. */
import type { DataType } from "../../../column/data-type.ts";
import { decodeNested, type NestedPart } from "../../../column/nested.ts";
import { NATIVE_HISTOGRAM } from "../../../table/native-histogram.ts";
import type { NativeHistogram } from "../evaluation/series-source.ts";

const HINTS = ["unknown", "reset", "not-reset", "gauge"] as const;
const NO_NUMBERS: Float64Array = new Float64Array(0);

type Parts = ReadonlyMap<string, NestedPart>;
type Spans = NativeHistogram["positiveSpans"];

/** Where the bits of the sum stand: behind two numbers with their marks, and a mark. */
const SUM_AT = 19;
/** Bits of a sum that ends a series, as `column/nested.ts` has them. A number that was read may have lost them. */
const STALE: readonly number[] = [0xff, 0xf0, 0, 0, 0, 0, 0, 2];

/** Whether a cell ends its series. */
export function isStaleMarker(bytes: Uint8Array): boolean {
  return STALE.every((byte, at) => bytes[SUM_AT + at] === byte);
}

/** The histogram of a cell, and when its counting began: milliseconds, 0 where nobody says. */
export function histogramOf(bytes: Uint8Array): { histogram: NativeHistogram; startMillis: number } {
  const values = decodeNested(NATIVE_HISTOGRAM, bytes);
  const parts = new Map(NATIVE_HISTOGRAM.fields.map(({ name }, i) => [name, values[i]] as const));
  const family = parts.get("count_f64") === undefined ? "i64" : "f64";
  const bounds = numbersOf(parts, "custom_values");
  const schema = numberOf(parts, "schema");
  const histogram: NativeHistogram = {
    schema,
    zeroThreshold: numberOf(parts, "zero_threshold"),
    zeroCount: numberOf(parts, `zero_count_${family}`),
    count: numberOf(parts, `count_${family}`),
    sum: numberOf(parts, "sum"),
    positiveSpans: spansOf(parts, "positive", family),
    negativeSpans: spansOf(parts, "negative", family),
    customValues: schema === CUSTOM_BOUNDS ? bounds : undefined,
    resetHint: HINTS[numberOf(parts, "reset_hint")] ?? "unknown",
  };
  return { histogram, startMillis: numberOf(parts, "start_timestamp") };
}

/** Schema of histograms that name the bounds of their buckets. */
const CUSTOM_BOUNDS = -53;

function numberOf(parts: Parts, name: string): number {
  const value = parts.get(name);
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : 0;
}

function numbersOf(parts: Parts, name: string): Float64Array {
  const value = parts.get(name);
  const type: DataType | undefined = NATIVE_HISTOGRAM.fields.find((field) => field.name === name)?.type;
  if (!(value instanceof Uint8Array) || type?.kind !== "list") return NO_NUMBERS;
  return Float64Array.from(decodeNested(type, value), (part) => Number(part ?? 0));
}

/** Offsets count from the end of the span before. */
function spansOf(parts: Parts, sign: "positive" | "negative", family: string): Spans {
  const offsets = numbersOf(parts, `${sign}_span_offsets`);
  const lengths = numbersOf(parts, `${sign}_span_lengths`);
  const counts = numbersOf(parts, `${sign}_buckets_${family}`);
  const spans: { readonly index: number; readonly counts: Float64Array }[] = [];
  let index = 0;
  let from = 0;
  for (let i = 0; i < lengths.length; i++) {
    const length = lengths[i] as number;
    index += offsets[i] ?? 0;
    if (length > 0) spans.push({ index, counts: counts.subarray(from, from + length) });
    index += length;
    from += length;
  }
  return spans;
}
