/**
 * Samples a second of the remote-write decoders, in process, on one thread: `bun src/ingest/prometheus/decode.bench.ts`.
 *
 * 100,000 series of 1,000 metrics with 8 labels, 2,000 samples a request, one a series; the snappy block is decoded, too. "again" sends the
 * series in the order of before, "shuffled" in another one each time. A hash of the rows shows a decoder that is fast and wrong.
 */
import { compress } from "snappyjs";
import { measure } from "mitata";
import { messageV1, messageV2, type SentSeries } from "../../../test/support/prometheus/messages.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { SnappyScratch } from "../../format/snappy/scratch.ts";
import type { RemoteWriteDecoder } from "./decode.ts";
import type { RemoteWriteOptions, RemoteWriteResult } from "./types.ts";
import { RemoteWriteV1Decoder } from "./write-v1.ts";
import { RemoteWriteV2Decoder } from "./write-v2.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const METRICS: number = SMALL ? 20 : 1000;
const INSTANCES: number = SMALL ? 10 : 100;
const SAMPLES_A_REQUEST: number = SMALL ? 50 : 2000;
const OPTIONS: RemoteWriteOptions = {
  validation: "strict",
  metricEngine: true,
  physicalTable: "greptime_physical_table",
  timeColumn: "greptime_timestamp",
  valueColumn: "greptime_value",
  acceptsTable: () => true,
};

function seriesAt(n: number): SentSeries {
  const metric = n % METRICS;
  const instance = Math.floor(n / METRICS);
  return {
    labels: {
      __name__: `metric_name_${metric}_total`,
      env: "production",
      instance: `10.0.${instance >> 4}.${instance & 15}:9100`,
      job: `job-${metric % 20}`,
      [`label_a${metric % 40}`]: `value-${instance % 10}`,
      [`label_b${metric % 60}`]: "true",
      region: `eu-central-${instance % 3}`,
      version: "1.25.4",
    },
    samples: [{ time: 1_700_000_000_000 + n, value: n * 7.3 }],
  };
}

function requests(encode: (series: readonly SentSeries[]) => Uint8Array): readonly Uint8Array[] {
  const all = Array.from({ length: METRICS * INSTANCES }, (_, n) => seriesAt(n));
  const bodies: Uint8Array[] = [];
  for (let at = 0; at < all.length; at += SAMPLES_A_REQUEST) bodies.push(compress(encode(all.slice(at, at + SAMPLES_A_REQUEST))));
  return bodies;
}

function hashOf({ batches }: RemoteWriteResult, seed: number): number {
  let hash = seed;
  for (const { batch } of batches) {
    for (const { keys, times, rowCount } of batch.tables) {
      hash = crc32(new Uint8Array(keys.buffer, 0, 4 * rowCount), hash);
      hash = crc32(new Uint8Array(times.offsets.buffer, 0, 8 * rowCount), hash);
    }
  }
  return hash;
}

const scratch = new SnappyScratch(16 << 20);
for (const [name, decoder, bodies] of [
  ["version 1", new RemoteWriteV1Decoder(OPTIONS) as RemoteWriteDecoder, requests(messageV1)],
  ["version 2", new RemoteWriteV2Decoder(OPTIONS) as RemoteWriteDecoder, requests(messageV2)],
] as const) {
  const decode = (body: Uint8Array): RemoteWriteResult =>
    decoder.decode(decoder.room?.unfold(body, 1 << 28) ?? scratch.decode(body, 1 << 28));
  const started = performance.now();
  let hash = 0;
  for (const body of bodies) hash = hashOf(decode(body), hash);
  const first = performance.now() - started;
  const total = METRICS * INSTANCES;
  process.stdout.write(`${name}: first time ${(total / first / 1000).toFixed(2)}M samples/s, hash ${hash.toString(16)}\n`);
  for (const [order, list] of [
    ["again", bodies],
    ["shuffled", bodies.map((_, i) => bodies[(i * 37) % bodies.length] ?? bodies[0]) as readonly Uint8Array[]],
  ] as const) {
    const stats = await measure(() => {
      for (const body of list) decode(body);
    });
    process.stdout.write(`${name}, ${order}: ${(total / (stats.p50 / 1e9) / 1e6).toFixed(2)}M samples/s\n`);
  }
}
