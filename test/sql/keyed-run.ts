/**
 * Cases of random keyed tables with random queries, from seeds. A case that fails is made smaller: first with the failing query alone, then
 * with ever fewer rows, as long as it fails the same way.
 */
import type { Duckdb } from "./duckdb.ts";
import { keyedQuery } from "./keyed-queries.ts";
import { keyedTables, randomBelow, randomChoices } from "./keyed-tables.ts";
import { type Asked, emptyTally, Oracle, type Tally } from "./oracle.ts";
import type { Query } from "./queries.ts";
import type { Rows, Tables } from "./tables.ts";

/** Queries of one case unless the run says otherwise. */
const QUERIES_A_CASE = 48;
/** From one case's seed to the next, and from a case's tables to its queries. */
const SEED_STEP = 7919;
const QUERY_SALT = 0x5bd1e995;
/**
 * Pairs of rows from which on the interpreter, which tests each of them at 0.6 µs, is asked about one join or sub-query in so many.
 * Reason: it took 40 of 57 s of processor time of 240 queries.
 */
const PAIRS_MAX = 100_000;
const INTERPRETED_ONE_IN = 20;
const TESTS_PAIRS = / JOIN |EXISTS|IN \(SELECT/;
/** Memory of runs that have little. */
const LITTLE_BYTES: readonly number[] = [96 * 1024, 256 * 1024, 1024 * 1024];
/** Tables that are tried while a failing case is made smaller. */
const TRIES_MAX = 150;

/** What to run. */
export interface KeyedRun {
  readonly queries: number;
  readonly seed: number;
  /** Most rows of a table. */
  readonly rowsMax: number;
  readonly duckdb: Duckdb | undefined;
  /** Queries about the same tables; `QUERIES_A_CASE` by default. */
  readonly queriesACase?: number;
  /** Is told of a failure; the run goes on when it returns. */
  readonly onFailure: (seed: number, error: Error) => void;
  /** Is told of a failure before it is made smaller, which takes a while. */
  readonly onFirst?: (seed: number, error: Error) => void;
  /** Is told after each case. */
  readonly onCase?: (tally: Tally) => void;
}

/** Runs cases until so many queries were asked. */
export async function runKeyed(run: KeyedRun): Promise<Tally> {
  const tally = emptyTally();
  for (let number = 0; tally.queries < run.queries; number++) {
    await runCase(run, (run.seed + number * SEED_STEP) >>> 0, tally);
    run.onCase?.(tally);
  }
  return tally;
}

async function runCase(run: KeyedRun, seed: number, tally: Tally): Promise<void> {
  const { queries, queriesACase = QUERIES_A_CASE, rowsMax, duckdb, onFirst, onFailure } = run;
  const tables = keyedTables(seed, rowsMax);
  const below = randomBelow(seed ^ QUERY_SALT);
  const oracle = await Oracle.start(tables, duckdb);
  const failed: { query: Query; asked: Asked; error: Error }[] = [];
  const pairs = tables.all[0].rows.length * tables.all[1].rows.length;
  const count = Math.min(queriesACase, queries - tally.queries);
  try {
    for (let i = 0; i < count; i++) {
      const query = keyedQuery(randomChoices(below), tables.isAppend);
      const littleBytes = below(2) === 0 ? LITTLE_BYTES[below(LITTLE_BYTES.length)] : undefined;
      const isInterpreted = pairs <= PAIRS_MAX || !TESTS_PAIRS.test(query.term.text) || below(INTERPRETED_ONE_IN) === 0;
      const asked = { littleBytes, isInterpreted };
      try {
        await oracle.check(query, tally, asked);
      } catch (error) {
        failed.push({ query, asked, error: error instanceof Error ? error : new Error(String(error)) });
      }
    }
  } finally {
    await oracle.close();
  }
  for (const { query, asked, error } of failed) {
    onFirst?.(seed, error);
    onFailure(seed, await smaller(tables, query, asked, duckdb, error));
  }
}

/** The error of the smallest case found that still fails. */
async function smaller(tables: Tables, query: Query, asked: Asked, duckdb: Duckdb | undefined, error: Error): Promise<Error> {
  let [best, found] = [tables, error];
  let tries = 0;
  for (const which of [0, 1] as const) {
    for (let part = Math.ceil(best.all[which].rows.length / 2); part >= 1 && tries < TRIES_MAX; ) {
      const before = best.all[which].rows.length;
      for (let from = 0; from < best.all[which].rows.length && tries < TRIES_MAX; tries++) {
        const tried = without(best, which, from, part);
        const failure = await failureOf(tried, query, asked, duckdb);
        if (failure === undefined) from += part;
        else [best, found] = [tried, failure];
      }
      if (part === 1 && best.all[which].rows.length === before) break;
      part = Math.max(1, part >> 1);
    }
  }
  return found;
}

function without(tables: Tables, which: 0 | 1, from: number, count: number): Tables {
  const cut = (rows: Rows): Rows => ({ ...rows, rows: rows.rows.filter((_, r) => r < from || r >= from + count) });
  const [t, u] = tables.all;
  return { ...tables, all: which === 0 ? [cut(t), u] : [t, cut(u)] };
}

async function failureOf(tables: Tables, query: Query, asked: Asked, duckdb: Duckdb | undefined): Promise<Error | undefined> {
  const oracle = await Oracle.start(tables, duckdb);
  try {
    await oracle.check(query, emptyTally(), asked);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    await oracle.close();
  }
}
