/** Times queries: every query once, then all of them again, warm. */
import type { ResultDigest } from "./canonical.ts";
import type { Query } from "./queries.ts";

/** What one query took. */
export interface QueryTiming {
  readonly type: string;
  readonly sql: string;
  /** Milliseconds of the first execution after the load. */
  readonly firstMs: number;
  /** Milliseconds of the later ones. */
  readonly warmMs: readonly number[];
  readonly digest: ResultDigest;
}

/** Something that answers queries. */
export interface QueryEngine {
  /** Runs a query and fetches its whole result. This is what is timed. */
  run(sql: string): Promise<unknown>;
  /** Runs a query and digests its result. Not timed. */
  digest(query: Query): Promise<ResultDigest>;
}

/** No further round of a type starts after this long: slow queries have many rows, and vary less. */
const WARM_MS_MAX = 10_000;

/** Times each query once, then `repeats` rounds a type, fewer for slow ones. Results of equal texts are digested once. */
export async function timeQueries(engine: QueryEngine, queries: readonly Query[], repeats: number): Promise<readonly QueryTiming[]> {
  const digests = new Map<string, ResultDigest>();
  const timings: QueryTiming[] = [];
  for (const type of new Set(queries.map((query) => query.type))) {
    const group = queries.filter((query) => query.type === type);
    const first = new Float64Array(group.length);
    for (const [i, query] of group.entries()) first[i] = await timeOne(engine, query.sql);
    const warm: number[][] = group.map(() => []);
    const warmStarted = performance.now();
    for (let round = 0; round < repeats; round++) {
      if (round > 0 && performance.now() - warmStarted > WARM_MS_MAX) break;
      for (const [i, query] of group.entries()) warm[i]!.push(await timeOne(engine, query.sql));
    }
    for (const [i, query] of group.entries()) {
      const digest = digests.get(query.sql) ?? (await engine.digest(query));
      digests.set(query.sql, digest);
      timings.push({ type, sql: query.sql, firstMs: first[i]!, warmMs: warm[i]!, digest });
    }
  }
  return timings;
}

async function timeOne(engine: QueryEngine, sql: string): Promise<number> {
  const started = performance.now();
  await engine.run(sql);
  return performance.now() - started;
}
