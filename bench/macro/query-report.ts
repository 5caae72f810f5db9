/** The table of queries. */
import type { EngineFigures, QueryResult } from "./query-bench.ts";
import { ms, table } from "./report.ts";

const MIB = 2 ** 20;

/** The query table. */
export function queriesText(results: readonly QueryResult[]): string {
  const lines = results.map((result) => [
    result.type,
    result.rows.toLocaleString("en-US"),
    ms(result.warmMsP50),
    ms(result.warmMsP95),
    ms(result.firstMsP50),
    ms(result.veryFirstMs),
    ...[result.restedFirstMs, result.firstSightMs].map((value) => (Number.isNaN(value) ? "–" : ms(value))),
    ...compared(result, result.duckdb),
    ...compared(result, result.influxdb),
    (result.rssBytesPeak / MIB).toFixed(0),
  ]);
  const beside = (name: string): string[] => [`${name} p50 ms`, "×", "× restarted"];
  const own = ["type", "rows", "warm p50 ms", "p95 ms", "restarted p50 ms", "first of all ms", "first, rested ms", "first sight ms"];
  return `## Queries

Over HTTP, one client, whole results fetched; Varve is started anew for each type. "Restarted": the first execution of each query, after
"first of all", which is asked as soon as the server is ready; "first, rested" is that of another process whose rehearsal was over;
"first sight" the first of its type in a third, which answered another type as soon as it was ready and then rested.
DuckDB reads Varve's own Parquet files in process, with all cores; InfluxDB has the same rows and is asked over HTTP.
"×": so many times as long as Varve took, warm and restarted. Varve's results and DuckDB's were compared, and
were equal.

${table([...own, ...beside("DuckDB"), ...beside("InfluxDB"), "peak RSS MiB"], lines)}`;
}

function compared(own: QueryResult, other: EngineFigures | undefined): string[] {
  if (other === undefined) return ["–", "–", "–"];
  return [ms(other.warmMsP50), (other.warmMsP50 / own.warmMsP50).toFixed(1), (other.warmMsP50 / own.firstMsP50).toFixed(1)];
}
