/** Times queries: every query once, then all of them again, warm. */
import type { ResultDigest } from "./canonical.ts";
import { type Query, queryTypesOf } from "./queries.ts";

/** What one query took. */
export interface QueryTiming {
  readonly type: string;
  readonly sql: string;
  /** Milliseconds of the first execution. */
  readonly firstMs: number;
  /** Milliseconds of the later ones. */
  readonly warmMs: readonly number[];
  /** Absent when the results are not compared. */
  readonly digest: ResultDigest | undefined;
}

/** Something that answers queries. */
export interface QueryEngine {
  /** Runs a query and fetches its whole result. This is what is timed. */
  run(query: Query): Promise<unknown>;
  /** Runs a query and digests its result. Not timed. Absent: results are not compared, and slow types run fewer queries. */
  digest?(query: Query): Promise<ResultDigest>;
}

/** No further round of a type starts after this long: slow queries have many rows, and vary less. */
const WARM_MS_MAX = 10_000;
/** How often queries run warm. */
export interface WarmRounds {
  /** Rounds at least, fewer for slow types. */
  readonly repeats: number;
  /** Rounds go on for this long at least. */
  readonly millisMin: number;
}

/** For figures that count: a fast query is in compiled code after some hundred executions, in every engine. */
export const WARM_MILLIS_MIN = 1500;

/** Times the queries type by type. */
export async function timeQueries(engine: QueryEngine, queries: readonly Query[], rounds: WarmRounds): Promise<readonly QueryTiming[]> {
  const timings: QueryTiming[] = [];
  for (const type of queryTypesOf(queries)) {
    timings.push(
      ...(await timeType(
        engine,
        queries.filter((query) => query.type === type),
        rounds,
      )),
    );
  }
  return timings;
}

/** Times each query of one type once, then in warm rounds. Results of equal texts are digested once. */
export async function timeType(engine: QueryEngine, queries: readonly Query[], rounds: WarmRounds): Promise<readonly QueryTiming[]> {
  const firstMs: number[] = [];
  let spentMs = 0;
  for (const query of queries) {
    if (engine.digest === undefined && spentMs > WARM_MS_MAX) break;
    const took = await timeOne(engine, query);
    spentMs += took;
    firstMs.push(took);
  }
  const timed = queries.slice(0, firstMs.length);
  const warmMs: number[][] = timed.map(() => []);
  const started = performance.now();
  for (let round = 0; ; round++) {
    const ms = performance.now() - started;
    if (round > 0 && (ms > WARM_MS_MAX || (round >= rounds.repeats && ms >= rounds.millisMin))) break;
    for (const [i, query] of timed.entries()) warmMs[i]!.push(await timeOne(engine, query));
  }
  const digests = new Map<string, ResultDigest>();
  const timings: QueryTiming[] = [];
  for (const [i, query] of timed.entries()) {
    const digest = digests.get(query.sql) ?? (await engine.digest?.(query));
    if (digest !== undefined) digests.set(query.sql, digest);
    timings.push({ type: query.type, sql: query.sql, firstMs: firstMs[i]!, warmMs: warmMs[i]!, digest });
  }
  return timings;
}

async function timeOne(engine: QueryEngine, query: Query): Promise<number> {
  const started = performance.now();
  await engine.run(query);
  return performance.now() - started;
}
