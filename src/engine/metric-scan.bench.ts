/**
 * What a query of one metric among many costs beside the same query of an ordinary table that holds that metric's rows alone:
 * `bun src/engine/metric-scan.bench.ts [metrics] [series each] [steps in files] [steps in memory]`.
 *
 * Eight labels a series of 205 names, counters a minute apart. The file is opened anew before the first query.
 *
 * Measured with Bun 1.4.5 on 2 cores, 30 samples a series in a file and 10 in memory, metric / ordinary table, ms:
 *
 *   metrics x series              10,000 x 100     200 x 5,000
 *   first query after a start     42 / 26          145 / 56         413 and 1178 when the file's index had no sections
 *   maxima of an hour by label    1.31 / 0.78      10.1 / 7.6
 *   last values                   0.53 / 0.40      4.3 / 4.1
 *   rows of one host              0.47 / 0.28      0.34 / 0.26
 *   averages by 10 minutes        0.82 / 0.56      8.4 / 6.8
 *   count and sum                 0.60 / 0.36      6.8 / 3.9
 *   all rows                      3.39 / 2.68      111 / 105
 *   first query of each metric    1.0              23
 *   count(*) of the carrier       860              720
 */
import { NO_LIMITS } from "../../test/engine/machine.ts";
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
const [METRICS = 1000, SERIES = 100, FILE_STEPS = 30, MEMORY_STEPS = 10]: readonly number[] = SMALL
  ? [20, 10, 5, 2]
  : process.argv.slice(2).map(Number);
const SAMPLES_A_REQUEST = 50_000;
const STEP_MILLIS = 60_000;
const START = 1_700_000_000_000;
const PHYSICAL = "greptime_physical_table";
/** The metric that is asked for, and the ordinary table of its rows. */
const METRIC = `metric_name_${METRICS >> 1}_total`;
const ORDINARY = "ordinary";
const WARM_RUNS = 15;

const home = await mkdtemp(join(tmpdir(), "varve-metric-scan-"));

async function open(): Promise<Engine> {
  const limits = { ...NO_LIMITS, memtableBytes: 2 ** 31, writeBufferBytes: 2 ** 31, logBytesMax: 2 ** 33 };
  const { engine } = await openLocalEngine(home, { sync: "never", segmentBytes: 128 << 20 }, { limits, pageCacheBytes: 256 << 20 });
  return engine;
}

/** Keys of the series of metrics `[from, to)`, under the name of a table where one is given. */
function keysOf(dictionary: SeriesDictionary, from: number, to: number, table?: string): Uint32Array {
  const keys = new Uint32Array((to - from) * SERIES);
  for (let m = from; m < to; m++) {
    for (let s = 0; s < SERIES; s++) {
      const { metric, labels } = exporterSeries(m, s);
      keys[(m - from) * SERIES + s] = keyOf({ metric: table ?? metric, labels }, dictionary);
    }
  }
  return keys;
}

async function writeSteps(engine: Engine, dictionary: SeriesDictionary, keys: Uint32Array, from: number, to: number, ordinary: boolean) {
  const fixed = { autoCreate: true, tableOptions: {} };
  const options = ordinary ? fixed : { ...fixed, physicalTable: PHYSICAL };
  for (let step = from; step < to; step++) {
    for (let at = 0; at < keys.length; at += SAMPLES_A_REQUEST) {
      const part = keys.subarray(at, at + SAMPLES_A_REQUEST);
      const offsets = new Float64Array(part.length).fill(step * STEP_MILLIS);
      const values = Float64Array.from(part, (_, i) => Math.floor(((at + i) % SERIES) * 7.3) + step * (1 + (((at + i) % SERIES) % 11)));
      const times = { kind: "time", base: BigInt(START), offsets, validity: undefined } as const;
      const field = { name: "greptime_value", type: FLOAT64, vector: { kind: "number", values, validity: undefined } } as const;
      const write = { rowCount: part.length, keys: part, timeUnit: "millisecond", times, fields: [field] } as const;
      const table = ordinary ? { ...write, table: ORDINARY } : ({ ...write, table: PHYSICAL, tablesOfKeys: true } as const);
      await engine.write("public", { dictionary, tables: [table] }, options);
    }
  }
}

function queriesOf(table: string): Readonly<Record<string, string>> {
  const hour = `greptime_timestamp >= ${START} AND greptime_timestamp < ${START + 3_600_000}`;
  const host = `10.0.${(SERIES - 1) >> 4}.${(SERIES - 1) & 15}:9100`;
  return {
    "maxima of an hour by label": `SELECT instance, max(greptime_value) FROM ${table} WHERE ${hour} GROUP BY instance`,
    "last values": `SELECT instance, last_value(greptime_value ORDER BY greptime_timestamp) FROM ${table} GROUP BY instance`,
    "rows of one host": `SELECT greptime_timestamp, greptime_value FROM ${table} WHERE instance = '${host}'`,
    "rows but of one region": `SELECT count(*), max(greptime_value) FROM ${table} WHERE region != 'eu-central-0' AND instance LIKE '%.1%'`,
    "averages by 10 minutes": `SELECT date_bin('10 minutes', greptime_timestamp) AS t, avg(greptime_value) FROM ${table} GROUP BY t`,
    "count and sum": `SELECT count(*), sum(greptime_value) FROM ${table}`,
    "few values": `SELECT instance, greptime_value FROM ${table} WHERE greptime_value > ${SERIES * 7.2}`,
    "newest ten rows": `SELECT greptime_timestamp FROM ${table} ORDER BY greptime_timestamp DESC LIMIT 10`,
    "all rows": `SELECT instance, region, greptime_timestamp, greptime_value FROM ${table}`,
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

async function warm(engine: Engine, query: string): Promise<number> {
  const runs: number[] = [];
  for (let i = 0; i < WARM_RUNS; i++) runs.push(await timed(() => engineSql(engine, query)));
  return runs.sort((a, b) => a - b)[WARM_RUNS >> 1] as number;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function megabytes(): string {
  Bun.gc(true);
  return `${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MiB`;
}

async function compare(engine: Engine, where: string): Promise<void> {
  const [logical, ordinary] = [queriesOf(METRIC), queriesOf(ORDINARY)];
  say(`${where}: metric / ordinary table, ms`);
  for (const name of Object.keys(logical)) {
    const [one, other] = [logical[name] as string, ordinary[name] as string];
    const [a, b] = [await engineSql(engine, one), await engineSql(engine, other)];
    if (a.split("\n").sort().join() !== b.split("\n").sort().join())
      throw new Error(`${name} differs: ${a.slice(0, 200)} | ${b.slice(0, 200)}`);
    const [mine, theirs] = [await warm(engine, one), await warm(engine, other)];
    say(`  ${name}: ${mine.toFixed(2)} / ${theirs.toFixed(2)} = ${(mine / theirs).toFixed(2)}`);
  }
}

const first = queriesOf(METRIC)["maxima of an hour by label"] as string;
const firstOrdinary = queriesOf(ORDINARY)["maxima of an hour by label"] as string;
const dictionary = new SeriesDictionary(1 << 30);
const keys = keysOf(dictionary, 0, METRICS);
const own = keysOf(dictionary, METRICS >> 1, (METRICS >> 1) + 1, ORDINARY);
let engine = await open();
say(`${METRICS} metrics of ${SERIES} series, ${FILE_STEPS} samples each in files, ${MEMORY_STEPS} in memory`);
say(`written in ${(await timed(() => writeSteps(engine, dictionary, keys, 0, FILE_STEPS, false))).toFixed(0)} ms`);
await writeSteps(engine, dictionary, own, 0, FILE_STEPS, true);
say(`flushed in ${(await timed(() => engine.flushTable("public", METRIC))).toFixed(0)} ms; ${megabytes()}`);
await engine.flushTable("public", ORDINARY);
await engine.close();
engine = await open();
say(`opened: ${megabytes()}`);
await engineSql(engine, "SELECT 1");
say(`first query: ordinary ${(await timed(() => engineSql(engine, firstOrdinary))).toFixed(1)} ms`);
say(`first query: metric ${(await timed(() => engineSql(engine, first))).toFixed(1)} ms; ${megabytes()}`);
const another = first.replace(METRIC, "metric_name_1_total");
say(`first query of another metric ${(await timed(() => engineSql(engine, another))).toFixed(1)} ms`);
await compare(engine, "in a file");
await writeSteps(engine, dictionary, keys, FILE_STEPS, FILE_STEPS + MEMORY_STEPS, false);
await writeSteps(engine, dictionary, own, FILE_STEPS, FILE_STEPS + MEMORY_STEPS, true);
say(`with rows in memory: ${megabytes()}; first query ${(await timed(() => engineSql(engine, first))).toFixed(1)} ms`);
await compare(engine, "in a file and in memory");
const count = await timed(() => engineSql(engine, `SELECT count(*) FROM ${PHYSICAL}`));
say(
  `count(*) of the physical table: ${count.toFixed(1)} ms, again ${(await warm(engine, `SELECT count(*) FROM ${PHYSICAL}`)).toFixed(1)} ms`,
);
if (METRICS > 10) {
  const all = Array.from({ length: Math.min(METRICS, 1000) }, (_, m) => first.replace(METRIC, `metric_name_${m}_total`));
  const each = await timed(async () => {
    for (const query of all) await engineSql(engine, query);
  });
  say(`first queries of ${all.length} metrics: ${(each / all.length).toFixed(2)} ms each; ${megabytes()}`);
}
await engine.close();
await rm(home, { recursive: true });
process.exit(0);
