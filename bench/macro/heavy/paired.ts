/**
 * Queries in Varve and in DuckDB, in turns: each once, when answers are compared, and then warm. DuckDB runs in this process over a table
 * of its own, Varve is asked over HTTP; one waits while the other works.
 */
import { join } from "node:path";
import { readProcess, resetPeakMemory } from "../process-meter.ts";
import { parseAnswer } from "../sql-client.ts";
import { median } from "../statistics.ts";
import type { RunningTarget } from "../target.ts";
import { type DuckdbSession, duckdbDigest } from "./duckdb-session.ts";
import type { HeavyQuery } from "./heavy-query.ts";
import { varveDigest } from "./heavy-query.ts";
import { drainAnswer, fetchAnswer, largeDifference } from "./large-answer.ts";

/** Answers agree. */
export const RIGHT = "right";
/** No statement may take longer. */
const STATEMENT_SECONDS_MAX = 290;
/** No further run of a query starts after this long. */
const QUERY_MS_MAX = 60_000;

/** What one system took for a query. */
export interface Taken {
  /** Milliseconds of each warm run, until the whole answer was fetched. */
  readonly ms: readonly number[];
  /** Processor seconds of one of them, all threads together. */
  readonly cpuSeconds: number;
}

/** One query's figures. */
export interface PairedResult {
  readonly query: HeavyQuery;
  /** `RIGHT`, or what was wrong: a refusal, or how answers differ. */
  readonly status: string;
  readonly varve: Taken;
  readonly duckdb: Taken;
  /** The server's most resident memory meanwhile, and what it wrote for rows that did not fit. */
  readonly peakBytes: number;
  readonly spilledBytes: number;
}

/** Who is asked, and how often. */
export interface Pair {
  readonly running: RunningTarget;
  readonly duckdb: DuckdbSession;
  /** Warm runs of each query. */
  readonly runs: number;
  /** False: DuckDB gives the answers that are right, and is not timed. */
  readonly timesDuckdb: boolean;
  /** For files that are gone afterwards. */
  readonly directory: string;
}

/** Milliseconds and processor seconds of some runs, being gathered. */
class Meter {
  readonly ms: number[] = [];
  private cpuSeconds = 0;
  private readonly cpuNow: () => number;

  constructor(cpuNow: () => number) {
    this.cpuNow = cpuNow;
  }

  async time(run: () => Promise<unknown>): Promise<void> {
    const before = this.cpuNow();
    const started = performance.now();
    await run();
    this.ms.push(performance.now() - started);
    this.cpuSeconds += this.cpuNow() - before;
  }

  get taken(): Taken {
    return { ms: this.ms, cpuSeconds: this.ms.length === 0 ? Number.NaN : this.cpuSeconds / this.ms.length };
  }
}

/** Asks one query of both. A refusal of Varve's is in the result. @throws Error when the server has died, or DuckDB refuses */
export async function runPaired(pair: Pair, query: HeavyQuery): Promise<PairedResult> {
  const { running, duckdb, runs, timesDuckdb } = pair;
  const { pid } = running.server;
  const ask = (): Promise<number> => drainAnswer(running.baseUrl, query.sql, query.fetchedAs, STATEMENT_SECONDS_MAX);
  const askDuckdb = (): Promise<unknown> => duckdb.run(query.duckdbSql ?? query.sql);
  const own = new Meter(() => readProcess(pid).cpuSeconds);
  const other = new Meter(() => ownCpuSeconds());
  const spilledBefore = await spilledBytes(running);
  resetPeakMemory(pid);
  let status = RIGHT;
  const started = performance.now();
  try {
    status = await difference(pair, query, await fetchAnswer(running.baseUrl, query.sql, query.fetchedAs, STATEMENT_SECONDS_MAX));
    if (status === RIGHT) {
      for (let run = 0; run < runs && (run === 0 || performance.now() - started < QUERY_MS_MAX); run++) {
        await own.time(ask);
        if (timesDuckdb) await other.time(askDuckdb);
      }
    }
  } catch (error) {
    status = error instanceof Error ? error.message : String(error);
  }
  if (!running.server.isRunning()) throw new Error(`the server died of ${query.name}: ${query.sql}`);
  const asked = own.ms.length + 1;
  return {
    query,
    status,
    varve: own.taken,
    duckdb: other.taken,
    peakBytes: readProcess(pid).rssBytesPeak,
    spilledBytes: ((await spilledBytes(running)) - spilledBefore) / asked,
  };
}

/** `RIGHT`, or how Varve's answer differs from DuckDB's. */
async function difference({ duckdb, directory }: Pair, query: HeavyQuery, answer: Uint8Array): Promise<string> {
  const sql = query.duckdbSql ?? query.sql;
  if (query.fetchedAs !== undefined) {
    return (await largeDifference(duckdb, sql, query.fetchedAs, answer, join(directory, "answer"))) ?? RIGHT;
  }
  const own = varveDigest(parseAnswer(answer), query);
  const other = duckdbDigest(await duckdb.run(sql), query);
  if (own.rows === other.rows && own.hash === other.hash) return RIGHT;
  return own.rows === other.rows ? `WRONG: other values in ${own.rows} rows` : `WRONG: ${own.rows} rows, DuckDB ${other.rows}`;
}

/** Of this process, in which DuckDB runs. */
function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

async function spilledBytes({ baseUrl }: RunningTarget): Promise<number> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  return Number(/^varve_query_spilled_bytes_total (\S+)$/m.exec(text)?.[1] ?? 0);
}

/** Varve's time as a multiple of DuckDB's; undefined where one of them has none. */
export function ratioOf({ varve, duckdb }: PairedResult): number | undefined {
  return varve.ms.length === 0 || duckdb.ms.length === 0 ? undefined : median(varve.ms) / median(duckdb.ms);
}
