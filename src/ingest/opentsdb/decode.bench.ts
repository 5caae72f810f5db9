/**
 * Points a second of the OpenTSDB decoder, in process, on one thread: `bun src/ingest/opentsdb/decode.bench.ts`.
 *
 * A request has 2,000 points of 50 metrics and 40 hosts with four tags. Each case prints a hash of its decoded values, so that a faster
 * decoder that decodes something else shows.
 */
import { measure } from "mitata";
import { crc32 } from "../../base/bytes/hash.ts";
import { OpenTsdbDecoder, type PutOptions } from "./decode.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const POINTS: number = SMALL ? 100 : 2000;
const BODIES = 4;
const OPTIONS: PutOptions = { database: "public", schemas: { columnOf: () => undefined }, acceptsTable: () => true };

interface Point {
  readonly metric: string;
  readonly timestamp: number;
  readonly value: number;
  readonly tags: Readonly<Record<string, string>>;
}

function pointsOf(body: number): Point[] {
  return Array.from({ length: POINTS }, (_, i) => ({
    metric: `sys.cpu.metric_${i % 50}`,
    timestamp: 1_346_846_400 + body * 10,
    value: ((i * 7919 + body * 31) % 10_000) / 100,
    tags: { host: `web${Math.floor(i / 50)}`, dc: "lga", region: "us-east-1", cpu: String(i % 4) },
  }));
}

function lineOf({ metric, timestamp, value, tags }: Point): string {
  const pairs = Object.entries(tags).map(([name, text]) => `${name}=${text}`);
  return `put ${metric} ${timestamp} ${value} ${pairs.join(" ")}`;
}

const decoder = new OpenTsdbDecoder();
const encoder = new TextEncoder();

function hashOf(): number {
  let hash = 0;
  for (const { rowCount, fields } of decoder.taken().batch.tables) {
    for (const { vector } of fields) {
      if (vector.kind === "number") hash = crc32(new Uint8Array(vector.values.buffer, 0, rowCount * 8), hash);
    }
  }
  return hash >>> 0;
}

async function report(name: string, bytes: number, pass: (body: number) => void): Promise<void> {
  let body = 0;
  pass(0);
  const hash = hashOf().toString(16);
  const { p50 } = SMALL ? { p50: 1 } : await measure(() => pass(body++ % BODIES));
  const rate = SMALL ? "ran once" : `${((POINTS * 1e3) / p50).toFixed(2)} M points/s, ${((bytes * 1e3) / p50).toFixed(0)} MB/s`;
  process.stdout.write(`${name}: ${rate}, hash ${hash}\n`);
}

const json = Array.from({ length: BODIES }, (_, body) => encoder.encode(JSON.stringify(pointsOf(body))));
await report("json", json[0]?.length ?? 0, (body) => void decoder.decode(json[body] as Uint8Array, OPTIONS));

const lines = Array.from({ length: BODIES }, (_, body) => pointsOf(body).map((point) => encoder.encode(lineOf(point))));
const lineBytes = (lines[0] ?? []).reduce((sum, line) => sum + line.length, 0);
await report("lines", lineBytes, (body) => {
  decoder.begin(OPTIONS);
  for (const line of lines[body] as Uint8Array[]) decoder.line(line, 0, line.length);
});
