/**
 * Measures the fifteen query types on a loaded and flushed Varve, started anew for each of them unless the run is a smoke test, beside
 * DuckDB on the very same Parquet files and InfluxDB with the same rows.
 */
import { join } from "node:path";
import { type CanonicalCell, type CellKind, columnOrder, digestRows, type ResultDigest } from "./canonical.ts";
import { runProgram } from "./child.ts";
import type { DuckdbRequest } from "./duckdb.ts";
import { influxQueryUrl } from "./peers.ts";
import { readProcess, waitUntilIdle } from "./process-meter.ts";
import type { Progress } from "./progress.ts";
import { type Query, queryTypesOf } from "./queries.ts";
import { type QueryTiming, timeQueries, timeType, type WarmRounds } from "./query-timing.ts";
import { type Cell, type ResultColumn, parseAnswer, sqlBody } from "./sql-client.ts";
import { percentile } from "./statistics.ts";
import type { Target } from "./target.ts";

/** Milliseconds of one type in one engine. */
export interface EngineFigures {
  readonly warmMsP50: number;
  readonly warmMsP95: number;
}

/** One query type's figures. */
export interface QueryResult extends EngineFigures {
  readonly type: string;
  /** Rows of the largest result. */
  readonly rows: number;
  /** Milliseconds of the very first query of a process, and the median of the first execution of each query. */
  readonly veryFirstMs: number;
  /** The same of another process, whose server had rested: what it does by itself after a start was over. NaN where none was started. */
  readonly restedFirstMs: number;
  /** The first of this type of a third process, which answered another type as soon as it was ready, and has rested since; NaN as above. */
  readonly firstSightMs: number;
  readonly firstMsP50: number;
  readonly rssBytesPeak: number;
  /** The same rows elsewhere; `undefined` when it was not asked. */
  readonly duckdb: EngineFigures | undefined;
  readonly influxdb: EngineFigures | undefined;
}

/** A stopped store and what serves it. */
export interface QueryStore {
  readonly target: Target;
  readonly directory: string;
}

/** What to measure. */
export interface QueryPlan {
  readonly varve: QueryStore;
  readonly influxdb: QueryStore | undefined;
  readonly queries: readonly Query[];
  readonly rounds: WarmRounds;
  readonly withDuckdb: boolean;
  /** Starts Varve anew for each type, so that each has a first query of a process. */
  readonly startsAnew: boolean;
  readonly progress: Progress;
}

/** Times all queries in every engine. Two never run at once. @throws Error when Varve and DuckDB disagree on a result */
export async function runQueries(plan: QueryPlan): Promise<readonly QueryResult[]> {
  const own: OwnTimings[] = [];
  const types = queryTypesOf(plan.queries);
  for (const some of plan.startsAnew ? types.map((type) => [type]) : [types]) {
    plan.progress(`${some.join(", ")}: Varve, started anew`);
    own.push(...(await timeInVarve(plan, some)));
  }
  const timings = own.flatMap((type) => type.timings);
  const duckdb = plan.withDuckdb ? await timeInDuckdb(plan) : undefined;
  if (duckdb !== undefined) {
    const different = differences(timings, duckdb);
    if (different.length > 0) throw new Error(`Varve and DuckDB disagree on ${different.length} queries:\n${different.join("\n")}`);
  }
  const influxdb = plan.influxdb === undefined ? undefined : await timeInInfluxdb(plan.influxdb, plan);
  return own.map((type) => summarize(type, figuresOf(duckdb, type.type), figuresOf(influxdb, type.type)));
}

/** What the queries of one type took in one process of Varve. */
export interface TypeTimings {
  readonly type: string;
  readonly timings: readonly QueryTiming[];
  readonly rssBytesPeak: number;
}

/** The same with first queries of other processes. */
interface OwnTimings extends TypeTimings {
  readonly restedFirstMs: number;
  readonly firstSightMs: number;
}

/** A server goes on with what it does by itself when nobody has asked for a second. */
const QUIET_MS = 1500;

/** Milliseconds of the first query of a process that has rested, after another that was asked at once, if one is given. */
async function firstRested({ target, directory }: QueryStore, query: Query, before?: Query): Promise<number> {
  const { baseUrl, server } = await target.start(directory);
  if (before !== undefined) {
    await sqlBody(baseUrl, before.sql);
    await Bun.sleep(QUIET_MS);
  }
  await waitUntilIdle(server.pid);
  const started = performance.now();
  await sqlBody(baseUrl, query.sql);
  const took = performance.now() - started;
  await server.stop();
  return took;
}

/** Types in one process, and the first queries of others. */
async function timeInVarve({ varve, queries, rounds, startsAnew }: QueryPlan, types: readonly string[]): Promise<readonly OwnTimings[]> {
  const found = await timeStarted(varve, queries, rounds, types);
  const first = queries.find((query) => query.type === types[0]);
  if (!startsAnew || first === undefined) return found.map((type) => ({ ...type, restedFirstMs: Number.NaN, firstSightMs: Number.NaN }));
  const restedFirstMs = await firstRested(varve, first);
  const other = queries.find((query) => query.type !== first.type);
  const firstSightMs = other === undefined ? Number.NaN : await firstRested(varve, first, other);
  return found.map((type) => ({ ...type, restedFirstMs, firstSightMs }));
}

/** Starts Varve on a stopped store, asks the queries of these types as soon as it is ready, and stops it. */
export async function timeStarted(
  { target, directory }: QueryStore,
  queries: readonly Query[],
  rounds: WarmRounds,
  types: readonly string[],
): Promise<readonly TypeTimings[]> {
  const { baseUrl, server } = await target.start(directory);
  const engine = { run: (query: Query) => sqlBody(baseUrl, query.sql), digest: (query: Query) => digest(baseUrl, query) };
  const found: TypeTimings[] = [];
  for (const type of types) {
    const timings = await timeType(
      engine,
      queries.filter((query) => query.type === type),
      rounds,
    );
    const { rssBytesPeak } = readProcess(server.pid);
    found.push({ type, timings, rssBytesPeak });
  }
  await server.stop();
  return found;
}

async function timeInDuckdb({ varve, queries, rounds, progress }: QueryPlan): Promise<readonly QueryTiming[]> {
  progress("the same queries in DuckDB");
  const request: DuckdbRequest = { glob: join(varve.directory, "**", "*.parquet"), queries, rounds };
  return await runProgram<readonly QueryTiming[]>(new URL("./duckdb.ts", import.meta.url), [], JSON.stringify(request));
}

async function timeInInfluxdb(
  { target, directory }: QueryStore,
  { queries, rounds, progress }: QueryPlan,
): Promise<readonly QueryTiming[]> {
  progress(`the same queries in ${target.name}`);
  const running = await target.start(directory);
  const run = async ({ influxQl }: Query): Promise<void> => {
    const response = await fetch(influxQueryUrl(running.baseUrl, influxQl));
    const bytes = await response.bytes();
    const start = new TextDecoder().decode(bytes.subarray(0, 300));
    if (response.status !== 200 || start.includes('"error"')) throw new Error(`cannot run ${influxQl}: ${response.status} ${start}`);
  };
  const timings = await timeQueries({ run }, queries, rounds);
  await running.server.stop();
  return timings;
}

/** The queries whose results are not the same multiset of rows, one line each. @param name of the other engine */
export function differences(own: readonly QueryTiming[], other: readonly QueryTiming[], name = "DuckDB"): string[] {
  const found: string[] = [];
  for (const [i, timing] of own.entries()) {
    const digestOther = other[i]?.digest;
    if (timing.digest !== undefined && digestOther?.hash === timing.digest.hash && digestOther.rows === timing.digest.rows) continue;
    found.push(`${timing.type}: ${timing.digest?.rows ?? "no"} rows, ${name} ${digestOther?.rows ?? "none"}: ${timing.sql}`);
  }
  return found;
}

async function digest(baseUrl: string, query: Query): Promise<ResultDigest> {
  const table = parseAnswer(await sqlBody(baseUrl, query.sql));
  const order = columnOrder(
    query.sql,
    table.columns.map((column) => column.name),
  );
  const scales = table.columns.map(nanosPerUnit);
  const kinds = table.columns.map(kindOf);
  const inNanos = (row: readonly Cell[]): readonly CanonicalCell[] =>
    row.map((cell, column) => (scales[column] === undefined || cell === null ? cell : BigInt(cell) * scales[column]));
  const rows = scales.some((scale) => scale !== undefined) ? table.rows.map(inNanos) : table.rows;
  return digestRows(rows, kinds, order, query.isOrdered);
}

function kindOf(column: ResultColumn): CellKind {
  if (column.type === "String") return "text";
  return column.type.startsWith("Float") ? "float" : "integer";
}

function nanosPerUnit(column: ResultColumn): bigint | undefined {
  switch (column.type) {
    case "TimestampSecond":
      return 1_000_000_000n;
    case "TimestampMillisecond":
      return 1_000_000n;
    case "TimestampMicrosecond":
      return 1000n;
    case "TimestampNanosecond":
      return 1n;
    default:
      return undefined;
  }
}

function summarize(
  { type, timings, restedFirstMs, firstSightMs, rssBytesPeak }: OwnTimings,
  duckdb: EngineFigures | undefined,
  influxdb: EngineFigures | undefined,
): QueryResult {
  const firsts = timings.map((timing) => timing.firstMs);
  return {
    type,
    rows: Math.max(...timings.map((timing) => timing.digest?.rows ?? 0)),
    veryFirstMs: firsts[0] ?? Number.NaN,
    restedFirstMs,
    firstSightMs,
    firstMsP50: percentile(firsts, 0.5),
    ...warmFigures(timings),
    rssBytesPeak,
    duckdb,
    influxdb,
  };
}

function figuresOf(timings: readonly QueryTiming[] | undefined, type: string): EngineFigures | undefined {
  const own = timings?.filter((timing) => timing.type === type) ?? [];
  return own.length === 0 ? undefined : warmFigures(own);
}

function warmFigures(timings: readonly QueryTiming[]): EngineFigures {
  const warm = timings.flatMap((timing) => timing.warmMs);
  return { warmMsP50: percentile(warm, 0.5), warmMsP95: percentile(warm, 0.95) };
}
