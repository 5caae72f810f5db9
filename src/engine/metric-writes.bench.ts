/**
 * A thousand metrics through the engine, as a metric protocol writes them: `bun src/engine/metric-writes.bench.ts [series each]`.
 *
 * 1,000 metrics x 100 series x 10 steps of 15 s, requests of 10,000 samples, 8 labels a series of 205 names, counters; log, files and meta
 * store on disk, each request durable before the next. Then: flush, queries of one metric, merge, replay of one step.
 *
 * Measured with Bun 1.4.5 on 2 cores that others use: the step that makes 1,000 tables and 100,000 series 474 ms, further steps 8.7M
 * samples/s (6 to 9), 10 log records a step; flush 756 ms to one file, 1.84 B a sample; a metric's maxima by instance 2.1 ms; merge with
 * another step 2.2 s, 1.80 B a sample.
 */
import { openLocalEngine } from "../../test/engine/local-engine.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engineSql } from "../../test/support/engine-sql.ts";
import { exporterSeries, keyOf } from "../../test/support/metric-batch.ts";
import { FLOAT64 } from "../column/data-type.ts";
import { SeriesDictionary } from "../table/series-dictionary.ts";
import type { Engine } from "./engine.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const METRICS: number = SMALL ? 50 : 1000;
const SERIES: number = SMALL ? 10 : Number(process.argv[2] ?? 100);
const STEPS = 10;
const SAMPLES_A_REQUEST = 10_000;
const STEP_MILLIS = 15_000;
const START = 1_700_000_000_000;
const OPTIONS = { autoCreate: true, tableOptions: {}, physicalTable: "greptime_physical_table" };

const home = await mkdtemp(join(tmpdir(), "varve-metric-bench-"));

function open(): ReturnType<typeof Engine.open> {
  return openLocalEngine(home, { sync: "always", segmentBytes: 128 << 20 }, { pageCacheBytes: 256 << 20 });
}

function say(what: string, millis: number, samples: number): void {
  const rate = samples / millis / 1000;
  process.stdout.write(`${what}: ${millis.toFixed(0)} ms, ${rate.toFixed(2)}M samples/s\n`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Keys of all series: what a decoder has after the first request that names them. */
function allKeys(dictionary: SeriesDictionary): Uint32Array {
  const keys = new Uint32Array(METRICS * SERIES);
  for (let m = 0; m < METRICS; m++) {
    for (let s = 0; s < SERIES; s++) {
      keys[m * SERIES + s] = keyOf(exporterSeries(m, s), dictionary);
    }
  }
  return keys;
}

async function writeSteps(engine: Engine, dictionary: SeriesDictionary, keys: Uint32Array, from: number, to: number): Promise<void> {
  for (let step = from; step < to; step++) {
    for (let at = 0; at < keys.length; at += SAMPLES_A_REQUEST) {
      const part = keys.subarray(at, at + SAMPLES_A_REQUEST);
      const offsets = new Float64Array(part.length).fill(step * STEP_MILLIS);
      const values = Float64Array.from(part, (key) => Math.floor(key * 7.3) + step * (1 + (key % 11)));
      const times = { kind: "time", base: BigInt(START), offsets, validity: undefined } as const;
      const field = { name: "greptime_value", type: FLOAT64, vector: { kind: "number", values, validity: undefined } } as const;
      const write = {
        table: OPTIONS.physicalTable,
        tablesOfKeys: true,
        rowCount: part.length,
        keys: part,
        timeUnit: "millisecond",
      } as const;
      await engine.write("public", { dictionary, tables: [{ ...write, times, fields: [field] }] }, OPTIONS);
    }
  }
}

const dictionary = new SeriesDictionary(1 << 30);
const keys = allKeys(dictionary);
const total = keys.length * STEPS;
let { engine } = await open();
const memoryBefore = process.memoryUsage().rss;
say("first step, all tables, labels and series new", await timed(() => writeSteps(engine, dictionary, keys, 0, 1)), keys.length);
say("further steps", await timed(() => writeSteps(engine, dictionary, keys, 1, STEPS)), total - keys.length);
Bun.gc(true);
const bytesASeries = (process.memoryUsage().rss - memoryBefore) / keys.length;
process.stdout.write(`memory: ${bytesASeries.toFixed(0)} B a series, its samples included\n`);
const metric = `metric_name_${METRICS >> 1}_total`;
const query = `SELECT instance, max(greptime_value) FROM ${metric} GROUP BY instance`;
const inMemory = await timed(() => engineSql(engine, query));
process.stdout.write(`one metric's maxima by instance, from memory: ${inMemory.toFixed(1)} ms, again `);
process.stdout.write(`${(await timed(() => engineSql(engine, query))).toFixed(1)} ms\n`);
say("flush", await timed(() => engine.flushTable("public", metric)), total);
const { fileBytes, fileCount } = engine.table("public", OPTIONS.physicalTable)!.statistics();
process.stdout.write(`${fileCount} file(s), ${(fileBytes / total).toFixed(2)} B a sample\n`);
const opened = await timed(() => engineSql(engine, query));
process.stdout.write(`one metric's maxima by instance, file just opened: ${opened.toFixed(1)} ms, again `);
process.stdout.write(`${(await timed(() => engineSql(engine, query))).toFixed(1)} ms\n`);
await writeSteps(engine, dictionary, keys, STEPS, STEPS + 1);
await engine.flushTable("public", metric);
say("merge of two files", await timed(() => engine.compactTable("public", metric)), total + keys.length);
const merged = engine.table("public", OPTIONS.physicalTable)!.statistics();
process.stdout.write(`${merged.fileCount} file(s), ${(merged.fileBytes / (total + keys.length)).toFixed(2)} B a sample\n`);
await writeSteps(engine, dictionary, keys, STEPS + 1, STEPS + 2);
// The engine is left as a crash would leave it: one step is in the log alone.
const reopened = performance.now();
const second = await open();
say(`start with ${second.recovery.records} log records to replay`, performance.now() - reopened, keys.length);
engine = second.engine;
await engine.close();
await rm(home, { recursive: true });
process.exit(0);
