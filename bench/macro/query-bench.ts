/** Measures the fifteen query types on a loaded and flushed Varve, beside DuckDB on the very same Parquet files. */
import { join } from "node:path";
import { type CanonicalCell, type CellKind, columnOrder, digestRows, type ResultDigest } from "./canonical.ts";
import { runProgram } from "./child.ts";
import type { DuckdbRequest } from "./duckdb.ts";
import type { Progress } from "./progress.ts";
import type { Query } from "./queries.ts";
import { type QueryTiming, timeQueries } from "./query-timing.ts";
import { type Cell, type ResultColumn, parseAnswer, sqlBody } from "./sql-client.ts";
import { percentile } from "./statistics.ts";
import type { RunningTarget } from "./target.ts";

/** One query type's figures; milliseconds. */
export interface QueryResult {
  readonly type: string;
  /** Rows of the largest result. */
  readonly rows: number;
  readonly firstMsP50: number;
  readonly warmMsP50: number;
  readonly warmMsP95: number;
  /** The same of DuckDB; `undefined` when it was not asked. */
  readonly duckdb: { readonly warmMsP50: number; readonly warmMsP95: number } | undefined;
}

/** Times all queries. @throws Error when the two databases disagree on a result */
export async function runQueries(
  running: RunningTarget,
  queries: readonly Query[],
  repeats: number,
  withDuckdb: boolean,
  progress: Progress,
): Promise<readonly QueryResult[]> {
  progress(`${queries.length} queries, ${repeats + 1} times each`);
  const engine = { run: (sql: string) => sqlBody(running.baseUrl, sql), digest: (query: Query) => digest(running.baseUrl, query) };
  const own = await timeQueries(engine, queries, repeats);
  if (!withDuckdb) return summarize(own, undefined);
  progress("the same queries in DuckDB");
  const request: DuckdbRequest = { glob: join(running.dataDirectory, "**", "*.parquet"), queries, repeats };
  const duckdb = await runProgram<readonly QueryTiming[]>(new URL("./duckdb.ts", import.meta.url), [], JSON.stringify(request));
  const different = differences(own, duckdb);
  if (different.length > 0) throw new Error(`Varve and DuckDB disagree on ${different.length} queries:\n${different.join("\n")}`);
  return summarize(own, duckdb);
}

/** The queries whose results are not the same multiset of rows, one line each. */
function differences(own: readonly QueryTiming[], other: readonly QueryTiming[]): string[] {
  const found: string[] = [];
  for (const [i, timing] of own.entries()) {
    const digestOther = other[i]?.digest;
    if (digestOther?.hash === timing.digest.hash && digestOther.rows === timing.digest.rows) continue;
    found.push(`${timing.type}: ${timing.digest.rows} rows, DuckDB ${digestOther?.rows ?? "none"}: ${timing.sql}`);
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

function summarize(own: readonly QueryTiming[], duckdb: readonly QueryTiming[] | undefined): readonly QueryResult[] {
  return [...new Set(own.map((timing) => timing.type))].map((type) => {
    const timings = own.filter((timing) => timing.type === type);
    const warm = timings.flatMap((timing) => timing.warmMs);
    const other = duckdb?.filter((timing) => timing.type === type).flatMap((timing) => timing.warmMs);
    return {
      type,
      rows: Math.max(...timings.map((timing) => timing.digest.rows)),
      firstMsP50: percentile(
        timings.map((timing) => timing.firstMs),
        0.5,
      ),
      warmMsP50: percentile(warm, 0.5),
      warmMsP95: percentile(warm, 0.95),
      duckdb: other === undefined ? undefined : { warmMsP50: percentile(other, 0.5), warmMsP95: percentile(other, 0.95) },
    };
  });
}
