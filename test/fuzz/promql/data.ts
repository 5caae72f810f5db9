/** What fuzzed queries read: a few series of every kind, ten minutes of them, with gaps. */
import { seededRandom } from "../../../bench/macro/random.ts";
import { encodeNested } from "../../../src/column/nested.ts";
import { vectorOf } from "../../../src/column/vector-builder.ts";
import { NATIVE_HISTOGRAM } from "../../../src/table/native-histogram.ts";
import type { WriteBatch } from "../../../src/table/write-batch.ts";
import { metricBatch } from "../../support/metric-batch.ts";

/** Seconds since the epoch of the first sample, and of the last. */
export const FIRST_SECOND = 0;
/** See `FIRST_SECOND`. */
export const LAST_SECOND = 600;
/** Seconds between two samples. */
const STEP_SECONDS = 15;

/** Statements that make the data. */
export function dataStatements(): readonly string[] {
  const random = seededRandom(1);
  const samples = (valueOf: (step: number) => string): readonly string[] =>
    Array.from({ length: (LAST_SECOND - FIRST_SECOND) / STEP_SECONDS + 1 }, (_, step) => step)
      .filter(() => random.below(10) > 0)
      .map((step) => `${step * STEP_SECONDS * 1000}, ${valueOf(step)}`);
  const rows = (table: string, tags: string, valueOf: (step: number) => string): string =>
    `INSERT INTO ${table} VALUES ${samples(valueOf)
      .map((sample) => `(${tags === "" ? "" : `${tags}, `}${sample})`)
      .join(", ")}`;
  const odd = ["1", "2.5", "-3", "0", "1000", "'NaN'", "'Infinity'", "NULL"];
  const pairs = ["'a', 'x'", "'b', 'x'", "'c', 'y'", "'', 'y'", "NULL, 'z'"];
  return [
    "CREATE TABLE m (h STRING, job STRING, ts TIMESTAMP TIME INDEX, v DOUBLE, PRIMARY KEY (h, job))",
    ...pairs.map((tags) => rows("m", tags, () => odd[random.below(odd.length)] ?? "0")),
    "CREATE TABLE c_total (h STRING, job STRING, ts TIMESTAMP TIME INDEX, v BIGINT, PRIMARY KEY (h, job))",
    ...pairs.slice(0, 3).map((tags) => rows("c_total", tags, (step) => String(step % 17))),
    "CREATE TABLE b_bucket (le STRING, ts TIMESTAMP TIME INDEX, v DOUBLE, PRIMARY KEY (le))",
    ...["0.1", "1", "+Inf", "none"].map((le, i) => rows("b_bucket", `'${le}'`, (step) => String(step * (i + 1)))),
    "CREATE TABLE w (ts TIMESTAMP TIME INDEX, u DOUBLE, v INT)",
    rows("w", "", (step) => `${step}, ${-step}`),
    "CREATE TABLE target_info (job STRING, version STRING, instance STRING, ts TIMESTAMP TIME INDEX, v DOUBLE, " +
      "PRIMARY KEY (job, version, instance))",
    rows("target_info", "'x', '1.0', 'i'", () => "1"),
  ];
}

/** Series of native histograms, of several resolutions, one with bounds of its own. */
export function histogramBatch(): WriteBatch {
  const random = seededRandom(2);
  const samples = ["a", "b", "c"].flatMap((h) =>
    Array.from({ length: (LAST_SECOND - FIRST_SECOND) / STEP_SECONDS }, (_, step) => ({
      metric: "nh",
      labels: { h, job: "x" },
      time: (FIRST_SECOND + step * STEP_SECONDS) * 1000,
      value: step,
    })),
  );
  const batch = metricBatch(samples, "histograms_physical");
  const cells = samples.map(({ labels, value }) => histogramCell(labels.h === "c" ? CUSTOM_BOUNDS : random.below(4), 1 + (value % 19)));
  const tables = batch.tables.map((write) => ({
    ...write,
    fields: [{ name: "greptime_native_histogram", type: NATIVE_HISTOGRAM, vector: vectorOf(NATIVE_HISTOGRAM, cells) }],
  }));
  return { ...batch, tables };
}

/** Schema of histograms that name the bounds of their buckets. */
const CUSTOM_BOUNDS = -53;

function histogramCell(schema: number, size: number): Uint8Array {
  const isCustom = schema === CUSTOM_BOUNDS;
  const lists: Readonly<Record<string, readonly (number | bigint)[]>> = {
    custom_values: isCustom ? [0.1, 1, 10] : [],
    positive_span_offsets: isCustom ? [0] : [0, 2],
    positive_span_lengths: isCustom ? [4] : [2, 1],
    positive_buckets_i64: (isCustom ? [1, 2, 3, 1] : [2, 1, 4]).map((count) => BigInt(count * size)),
  };
  const sum = isCustom ? 7 : 7 + 3;
  const numbers: Readonly<Record<string, number | bigint>> = {
    schema,
    zero_threshold: isCustom ? 0 : 0.001,
    sum: 2.5 * size,
    reset_hint: 0,
    count_i64: BigInt(sum * size),
    zero_count_i64: BigInt(isCustom ? 0 : 3 * size),
  };
  return encodeNested(
    NATIVE_HISTOGRAM,
    NATIVE_HISTOGRAM.fields.map(({ name, type }) => (type.kind === "list" ? encodeNested(type, lists[name] ?? []) : numbers[name])),
  );
}
