/**
 * What data files in an S3 store cost queries: the same rows in a server with local files and in one over versitygw, both flushed and
 * merged; then each query type of `queries.ts`, in a process of its own each time:
 *
 *   local files ─► warm          store, cache emptied ─► first (fetches) ─► warm          store, a cache smaller than the data ─► warm
 *
 * Nothing merges while queries are asked. All results are compared.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Dataset } from "./dataset.ts";
import { diskUsage } from "./disk-usage.ts";
import { isLoaded, loadStore, type StoreLoad } from "./loaded-store.ts";
import type { Progress } from "./progress.ts";
import { type Query, queryTypesOf } from "./queries.ts";
import { differences, timeStarted, type TypeTimings } from "./query-bench.ts";
import type { WarmRounds } from "./query-timing.ts";
import { type S3Place, s3Settings, startGateway } from "./s3-gateway.ts";
import { percentile } from "./statistics.ts";
import type { Target } from "./target.ts";

/** What to measure. */
export interface S3Plan {
  /** Makes Varve with settings, `section.key` to TOML text. */
  readonly target: (settings: ReadonlyMap<string, string>) => Target;
  /** The program of versitygw. */
  readonly program: string;
  readonly dataset: Dataset;
  readonly input: StoreLoad["input"];
  readonly shape: StoreLoad["shape"];
  readonly queries: readonly Query[];
  readonly rounds: WarmRounds;
  /** Starts the servers anew for each type, so that each has a first query of a process. */
  readonly startsAnew: boolean;
  readonly workDirectory: string;
  readonly progress: Progress;
}

/** Milliseconds of one type. */
export interface S3QueryResult {
  readonly type: string;
  readonly localWarmMsP50: number;
  readonly warmMsP50: number;
  /** The very first of a process: with local files, and with a cache that holds nothing. */
  readonly localFirstMs: number;
  readonly coldFirstMs: number;
  readonly smallCacheWarmMsP50: number;
}

/** Everything that was measured. */
export interface S3Result {
  readonly rows: number;
  /** Bytes of data files. */
  readonly dataBytes: number;
  readonly smallCacheBytes: number;
  readonly types: readonly S3QueryResult[];
}

const MIB = 2 ** 20;
/** A small cache is so much of the data, and no less than the server takes. */
const SMALL_CACHE_PART = 1 / 2;
const SMALL_CACHE_BYTES_MIN = MIB;
/** Where the server's files are in the bucket. */
const ROOT = "bench";
/** Queries are measured beside nothing else. */
const AT_REST = new Map([["storage.compaction", "false"]]);

/** Runs it. @throws Error when a row is missing, or an answer over the store is another than that over local files */
export async function runS3(plan: S3Plan): Promise<S3Result> {
  const { workDirectory, dataset, program, progress } = plan;
  const local = join(workDirectory, "s3-local");
  const elsewhere = join(workDirectory, "s3-varve");
  const objects = join(workDirectory, "s3-store");
  const loader = plan.target(new Map());
  if (!(await isLoaded(loader, elsewhere, dataset, true))) await rm(objects, { recursive: true, force: true }); // Of another directory.
  const load = { ...plan, isMerged: true };
  await loadStore(loader, local, load);
  const gateway = await startGateway(program, objects);
  try {
    const { place } = gateway;
    await loadStore(named(plan.target(settingsOf(place)), loader.name), elsewhere, load);
    const dataBytes = (await diskUsage(dataFolder(local))).bytes;
    const smallCacheBytes = Math.max(SMALL_CACHE_BYTES_MIN, Math.floor((dataBytes * SMALL_CACHE_PART) / MIB) * MIB);
    const stores: readonly MeasuredStore[] = [
      { target: plan.target(AT_REST), directory: local },
      { target: plan.target(new Map([...settingsOf(place), ...AT_REST])), directory: elsewhere, isEmptied: true },
      { target: plan.target(new Map([...settingsOf(place, smallCacheBytes), ...AT_REST])), directory: elsewhere, isEmptied: true },
    ];
    const all = queryTypesOf(plan.queries);
    const types: S3QueryResult[] = [];
    for (const some of plan.startsAnew ? all.map((type) => [type]) : [all]) {
      progress(`${some.join(", ")}: local files, then the store`);
      types.push(...(await measureTypes(plan, some, stores)));
    }
    return { rows: dataset.rows, dataBytes, smallCacheBytes, types };
  } finally {
    await gateway.server.kill();
  }
}

/** A stopped store. `isEmptied`: its cache is, before each start. */
interface MeasuredStore {
  readonly target: Target;
  readonly directory: string;
  readonly isEmptied?: boolean;
}

/** Types in one process a store. */
async function measureTypes(
  { queries, rounds }: S3Plan,
  types: readonly string[],
  stores: readonly MeasuredStore[],
): Promise<readonly S3QueryResult[]> {
  const found: (readonly TypeTimings[])[] = [];
  for (const { target, directory, isEmptied = false } of stores) {
    if (isEmptied) await rm(dataFolder(directory), { recursive: true, force: true });
    found.push(await timeStarted({ target, directory }, queries, rounds, types));
  }
  return types.map((type, i) =>
    resultOf(
      type,
      found.map((timings) => timings[i]),
    ),
  );
}

/** @throws Error when an answer is another than that over local files */
function resultOf(type: string, [local, cached, small]: readonly (TypeTimings | undefined)[]): S3QueryResult {
  if (local === undefined || cached === undefined || small === undefined) throw new Error(`${type} was not measured`);
  for (const other of [cached, small]) {
    const different = differences(local.timings, other.timings, "the server over the store");
    if (different.length > 0)
      throw new Error(`local files and the store disagree on ${different.length} queries:\n${different.join("\n")}`);
  }
  return {
    type,
    localWarmMsP50: warmMsP50(local),
    warmMsP50: warmMsP50(cached),
    localFirstMs: local.timings[0]?.firstMs ?? Number.NaN,
    coldFirstMs: cached.timings[0]?.firstMs ?? Number.NaN,
    smallCacheWarmMsP50: warmMsP50(small),
  };
}

function warmMsP50({ timings }: TypeTimings): number {
  return percentile(
    timings.flatMap(({ warmMs }) => warmMs),
    0.5,
  );
}

/** Files of a server, or the copies of them. */
const dataFolder = (directory: string): string => join(directory, "data", "data");

function settingsOf(place: S3Place, cacheBytes?: number): ReadonlyMap<string, string> {
  const keys = Object.entries(s3Settings(place, ROOT)).map(([key, value]): [string, string] => [`storage.${key}`, value]);
  return new Map(cacheBytes === undefined ? keys : [...keys, ["storage.cache_capacity", `"${cacheBytes / MIB}MiB"`]]);
}

/** The address of the store, another one in each run, is not what a loaded store is known by. */
function named(target: Target, name: string): Target {
  return { ...target, name };
}
