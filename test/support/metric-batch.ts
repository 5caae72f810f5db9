/** Samples as a metric protocol hands them over: one "tables of keys" write a physical table. */
import { fnv1a } from "../../src/base/bytes/hash.ts";
import { FLOAT64 } from "../../src/column/data-type.ts";
import { DEFAULT_PHYSICAL_TABLE } from "../../src/table/metric.ts";
import { SeriesDictionary } from "../../src/table/series-dictionary.ts";
import type { WriteBatch } from "../../src/table/write-batch.ts";

/** One sample. Times are milliseconds. */
export interface Sample {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly time: number;
  readonly value: number;
}

const encoder = new TextEncoder();

/** A batch of samples; `dictionary` is kept by whoever plays a connection. */
export function metricBatch(
  samples: readonly Sample[],
  physical: string = DEFAULT_PHYSICAL_TABLE,
  dictionary: SeriesDictionary = new SeriesDictionary(),
): WriteBatch {
  const keys = Uint32Array.from(samples, (sample) => keyOf(sample, dictionary));
  const offsets = Float64Array.from(samples, ({ time }) => time);
  const values = Float64Array.from(samples, ({ value }) => value);
  return {
    dictionary,
    tables: [
      {
        table: physical,
        tablesOfKeys: true,
        rowCount: samples.length,
        keys,
        timeUnit: "millisecond",
        times: { kind: "time", base: 0n, offsets, validity: undefined },
        fields: [{ name: "greptime_value", type: FLOAT64, vector: { kind: "number", values, validity: undefined } }],
      },
    ],
  };
}

/** Series `s` of metric `m` of an exporter: eight labels of 205 names. */
export function exporterSeries(m: number, s: number): Pick<Sample, "metric" | "labels"> {
  const labels = {
    env: "production",
    instance: `10.0.${s >> 4}.${s & 15}:9100`,
    job: `job-${m % 20}`,
    region: `eu-central-${s % 3}`,
    [`label_a${m % 40}`]: `value-${s % 10}`,
    [`label_b${m % 60}`]: "true",
    [`label_c${m % 100}`]: `path/${s % 5}/${m % 7}`,
    version: "1.25.4",
  };
  return { metric: `metric_name_${m}_total`, labels };
}

/** The key of a sample's metric and labels, added if it is new. */
export function keyOf({ metric, labels }: Pick<Sample, "metric" | "labels">, dictionary: SeriesDictionary): number {
  const raw = encoder.encode(JSON.stringify([metric, labels]));
  const hash = fnv1a(raw, 0, raw.length);
  const known = dictionary.find(raw, 0, raw.length, hash);
  const tags = { table: metric, names: Object.keys(labels), values: Object.values(labels) };
  return known >= 0 ? known : dictionary.add(raw, 0, raw.length, hash, tags);
}
