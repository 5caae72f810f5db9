/** What a query is asked by, for the thread of answers. */
import type { FetchAsk } from "./answer-messages.ts";

/** A statement of SQL. @param limit rows at most; empty: all */
export function sqlAsk(database: string, sql: string, limit: string): Omit<FetchAsk, "headers"> {
  const atMost = limit === "" ? "" : `&limit=${limit}`;
  return { path: `/v1/sql?db=${encodeURIComponent(database)}${atMost}`, body: new URLSearchParams({ sql }).toString(), form: "sql" };
}

/** A query of PromQL over a stretch in milliseconds since 1970, every `step` seconds. */
export function promqlAsk(
  database: string,
  query: string,
  { from, to }: { readonly from: number; readonly to: number },
  step: number,
): Omit<FetchAsk, "headers"> {
  const body = new URLSearchParams({ query, start: String(from / 1000), end: String(to / 1000), step: String(step) });
  return { path: `/v1/prometheus/api/v1/query_range?db=${encodeURIComponent(database)}`, body: body.toString(), form: "prometheus" };
}
