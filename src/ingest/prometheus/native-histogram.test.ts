import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bytesField, sampleMessage, textField } from "../../../test/support/prometheus/messages.ts";
import { REMOTE_WRITE } from "../../../test/support/prometheus/options.ts";
import { canCompileProtos, type Codec, codecOf } from "../../../test/support/proto-schema.ts";
import { DbError } from "../../base/error.ts";
import { nestedJson } from "../../value/nested-json.ts";
import { NATIVE_HISTOGRAM } from "../../table/native-histogram.ts";
import type { RemoteWriteOptions } from "./types.ts";
import { RemoteWriteV2Decoder } from "./write-v2.ts";

const OPTIONS: RemoteWriteOptions = {
  ...REMOTE_WRITE,
  histogramColumn: "greptime_native_histogram",
  acceptsTable: (name) => /^[a-z]+$/.test(name),
};
const SYMBOLS = ["", "__name__", "latency", "job", "a", "greptime_native_histogram"].flatMap((text) => textField(4, text));
const LABELS = bytesField(1, [1, 2, 3, 4]);
const SAMPLE = bytesField(2, sampleMessage(5, 1));

interface HistogramJson {
  readonly [field: string]: unknown;
}

interface Row {
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly value: Readonly<Record<string, unknown>>;
}

const canCompile = canCompileProtos();
if (!canCompile) process.stderr.write("prometheus/native-histogram.test.ts is skipped: buf cannot run here\n");
let codec: Codec<unknown>;
beforeAll(() => {
  if (canCompile) codec = codecOf("io.prometheus.write.v2.Histogram");
}, 60_000);

function message(histogram: HistogramJson): number[] {
  return [...codec.write(histogram as never)];
}

function request(...fields: readonly (readonly number[])[]): Uint8Array {
  return Uint8Array.from([...SYMBOLS, ...bytesField(5, fields.flat())]);
}

/** Rows of native histograms of a request whose other rows are none. */
function rowsOf(body: Uint8Array, decoder: RemoteWriteV2Decoder = new RemoteWriteV2Decoder(OPTIONS)): Row[] {
  return decoder.decode(body).batches.flatMap(({ batch, kind }) =>
    batch.tables.flatMap(({ rowCount, keys, times, fields }) => {
      const vector = fields[0]?.vector;
      if (vector?.kind !== "bytes" || kind !== "histograms") throw new Error("native histograms");
      return Array.from({ length: rowCount }, (_, row) => {
        const { table, names, values } = batch.dictionary.tagsOf(keys[row] as number);
        const bytes = vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1]);
        const text = `${table}{${names.map((name, i) => `${name}=${values[i]}`).join(",")}} ${times.offsets[row]}`;
        return { text, bytes, value: JSON.parse(nestedJson(NATIVE_HISTOGRAM, bytes)) as Row["value"] };
      });
    }),
  );
}

function refusal(body: Uint8Array, options: RemoteWriteOptions = OPTIONS): string {
  try {
    new RemoteWriteV2Decoder(options).decode(body);
  } catch (error) {
    if (error instanceof DbError) return error.message;
    throw error;
  }
  return "taken";
}

const WHOLE: HistogramJson = {
  countInt: "10",
  sum: 18.4,
  schema: 1,
  zeroThreshold: 0.001,
  zeroCountInt: "2",
  positiveSpans: [
    { offset: -2, length: 2 },
    { offset: 1, length: 1 },
  ],
  positiveDeltas: ["1", "2", "-1"],
  negativeSpans: [{ offset: 0, length: 1 }],
  negativeDeltas: ["2"],
  resetHint: "RESET_HINT_NO",
  timestamp: "1000",
  startTimestamp: "900",
};
const FLOATS: HistogramJson = {
  countFloat: 4.5,
  zeroCountFloat: 0.5,
  sum: 3,
  schema: -53,
  zeroThreshold: 0,
  positiveSpans: [{ offset: 0, length: 3 }],
  positiveCounts: [1, 2.5, 0.5],
  customValues: [0.5, 1],
  timestamp: "2000",
};

describe.skipIf(!canCompile)("native histograms", () => {
  const taken = (histogram: HistogramJson): Row["value"] | undefined =>
    rowsOf(request(LABELS, bytesField(3, message(histogram))))[0]?.value;
  const refused = (histogram: HistogramJson, why: RegExp): void => {
    expect(refusal(request(LABELS, bytesField(3, message(histogram))))).toMatch(why);
  };

  test("differences become counts, and the children of floats are empty", () => {
    expect(taken(WHOLE)).toEqual({
      schema: 1,
      zero_threshold: 0.001,
      sum: 18.4,
      reset_hint: 2,
      start_timestamp: 900,
      custom_values: [],
      positive_span_offsets: [-2, 1],
      positive_span_lengths: [2, 1],
      negative_span_offsets: [0],
      negative_span_lengths: [1],
      count_i64: 10,
      zero_count_i64: 2,
      positive_buckets_i64: [1, 3, 2],
      negative_buckets_i64: [2],
      count_f64: null,
      zero_count_f64: null,
      positive_buckets_f64: [],
      negative_buckets_f64: [],
    });
  });

  test("floats stay as they are, with bounds of the sender's own", () => {
    expect(taken({ ...FLOATS, zeroCountFloat: 0 })).toMatchObject({
      schema: -53,
      start_timestamp: null,
      custom_values: [0.5, 1],
      count_i64: null,
      positive_buckets_i64: [],
      count_f64: 4.5,
      zero_count_f64: 0,
      positive_buckets_f64: [1, 2.5, 0.5],
    });
  });

  test("several of a series, its labels behind them, and the same ones again", () => {
    const two = [...bytesField(3, message(WHOLE)), ...bytesField(3, message({ ...FLOATS, zeroCountFloat: 0 }))];
    const want = ["latency{job=a} 1000", "latency{job=a} 2000"];
    const decoder = new RemoteWriteV2Decoder(OPTIONS);
    for (const body of [request(LABELS, two), request(two, LABELS), request(LABELS, two)]) {
      expect(rowsOf(body, decoder).map(({ text }) => text)).toEqual(want);
    }
  });

  test("one that says that the series ended keeps the bits that say so", () => {
    const sum = [0x19, 2, 0, 0, 0, 0, 0, 0xf0, 0x7f];
    const bytes = rowsOf(request(LABELS, bytesField(3, sum)))[0]?.bytes ?? new Uint8Array(0);
    expect([...bytes.subarray(18, 27)]).toEqual([1, 0xff, 0xf0, 0, 0, 0, 0, 0, 2]);
  });

  test("counts beyond 2^53 are exact", () => {
    const count = "9223372036854775807";
    const big = { ...WHOLE, countInt: count, zeroCountInt: "0", positiveDeltas: [], positiveSpans: [], negativeDeltas: [count] };
    const bytes = rowsOf(request(LABELS, bytesField(3, message(big))))[0]?.bytes ?? new Uint8Array(0);
    expect(nestedJson(NATIVE_HISTOGRAM, bytes)).toContain(`"negative_buckets_i64":[${count}]`);
    refused({ ...big, countInt: "9223372036854775808", negativeDeltas: [count, "-9223372036854775806"] }, /span|count/);
    refused({ countInt: "9223372036854775808", zeroCountInt: "9223372036854775808" }, /at most 9223372036854775807/);
  });

  test("what contradicts itself is refused", () => {
    for (const schema of [-5, 9, -52, -54]) refused({ ...WHOLE, schema }, /its schema is/);
    refused({ ...WHOLE, customValues: [1] }, /custom_values are for schema -53/);
    refused({ ...WHOLE, positiveDeltas: ["1", "2"] }, /positive spans describe 3 buckets; got 2/);
    refused({ ...WHOLE, negativeSpans: [] }, /negative spans describe 0 buckets; got 1/);
    refused({ ...WHOLE, positiveDeltas: ["1", "-2", "7"] }, /count of -1, below zero/);
    refused({ ...WHOLE, countInt: "11" }, /have 10 observations; its count is 11/);
    refused({ ...WHOLE, positiveCounts: [1, 2, 3] }, /whole numbers and floats/);
    const { zeroCountInt: _, ...rest } = WHOLE;
    refused({ ...rest, zeroCountFloat: 2 }, /whole numbers and floats/);
    refused({ ...WHOLE, positiveSpans: [{ offset: 3000, length: 3 }] }, /ends at bucket 3002; the last one is 2049/);
    refused({ ...WHOLE, positiveSpans: [{ length: 2 }, { offset: -1, length: 1 }] }, /span 2 is -1, below zero/);
    refused(FLOATS, /neither a bucket of zero/);
    const custom = { ...FLOATS, zeroCountFloat: 0 };
    refused({ ...custom, customValues: [1, 1] }, /must ascend/);
    refused({ ...custom, customValues: [1, "Infinity"] }, /must ascend/);
    refused({ ...custom, positiveSpans: [{ offset: 1, length: 3 }] }, /ends at bucket 3; the last one is 2/);
    refused({ ...custom, positiveCounts: [1, -2.5, 0.5] }, /below zero/);
  });

  test("beside numbers, under the column's name, and where they are off they are refused", () => {
    const histogram = bytesField(3, message(WHOLE));
    expect(refusal(request(LABELS, SAMPLE, histogram))).toMatch(/both samples that are numbers and native histograms/);
    expect(refusal(request(bytesField(1, [1, 2, 5, 4]), histogram))).toMatch(/name of a column/);
    expect(refusal(request(bytesField(1, [1, 2, 3]), histogram))).toMatch(/pairs; got 3/);
    const { histogramColumn: _, ...off } = OPTIONS;
    expect(refusal(request(LABELS, histogram), off)).toMatch(/native histograms are not enabled/);
    expect(refusal(request(LABELS, bytesField(3, message(WHOLE).slice(0, -1))))).toMatch(/^Failed to decode/);
  });

  test("numbers read by hand are those that the library wrote", () => {
    const deltas = fc.array(fc.integer({ min: 0, max: 2 ** 31 }), { maxLength: 9 });
    const doubles = fc.array(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), { maxLength: 9 });
    const scalars = fc.record({ schema: fc.integer({ min: -4, max: 8 }), sum: fc.double({ noNaN: true, noDefaultInfinity: true }) });
    const property = fc.property(scalars, deltas, doubles, fc.boolean(), fc.integer(), (common, whole, floats, isFloat, time) => {
      const counts = isFloat ? floats : whole;
      const total = whole.reduce((sum, count) => sum + count, 0);
      const value = taken({
        ...common,
        timestamp: String(time),
        positiveSpans: [{ offset: -20, length: counts.length }],
        ...(isFloat
          ? { countFloat: 7.5, positiveCounts: floats }
          : { countInt: String(total), positiveDeltas: whole.map((count, i) => String(count - (whole[i - 1] ?? 0))) }),
      });
      expect(value).toMatchObject({
        schema: common.schema,
        sum: common.sum + 0,
        positive_span_offsets: [-20],
        positive_span_lengths: [counts.length],
        count_i64: isFloat ? null : total,
        count_f64: isFloat ? 7.5 : null,
        positive_buckets_i64: isFloat ? [] : whole,
        positive_buckets_f64: isFloat ? floats.map((count) => count + 0) : [],
      });
    });
    fc.assert(property, { seed: 20_261_121, numRuns: 300 });
  });
});
