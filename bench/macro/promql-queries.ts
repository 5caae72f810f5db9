/** What PromQL is measured by: requests to the query API of Prometheus, which all servers take. */

import type { Agreement } from "./promql-answers.ts";

/** The stores: a fleet's metrics, and one metric of very many series. */
export type PromqlStore = "fleet" | "users";

/** One request. */
export interface PromqlQuery {
  readonly name: string;
  readonly store: PromqlStore;
  /** Behind the URL of the server. */
  readonly path: string;
  /** What a server must agree on with Prometheus that computes rates, and keeps names, in its own way. */
  readonly agreement: Agreement;
}

/** When the samples of a store end: seconds since 1970, a multiple of the steps. */
export interface PromqlTimes {
  readonly endSeconds: number;
}

/** Seconds between two steps of a range query, as between two samples. */
const STEP_SECONDS = 15;
/** Of an hour. */
const STEPS = 240;
/** Of the time that the store of many series has. */
const USER_STEPS = 20;

/** All queries, in the order in which they run. */
export function promqlQueries({ endSeconds }: PromqlTimes): readonly PromqlQuery[] {
  const range = (name: string, store: PromqlStore, steps: number, query: string): PromqlQuery => {
    const times = { start: String(endSeconds - (steps - 1) * STEP_SECONDS), end: String(endSeconds), step: String(STEP_SECONDS) };
    return {
      name,
      store,
      path: `/api/v1/query_range?${new URLSearchParams({ query, ...times }).toString()}`,
      agreement: agreementOf(query),
    };
  };
  const instant = (name: string, store: PromqlStore, query: string): PromqlQuery => {
    const path = `/api/v1/query?${new URLSearchParams({ query, time: String(endSeconds) }).toString()}`;
    return { name, store, path, agreement: agreementOf(query) };
  };
  const ofUsers = { start: String(endSeconds - 600), end: String(endSeconds) };
  const users = new URLSearchParams({ "match[]": 'user_events_total{shard="3"}', ...ofUsers });
  return [
    instant("last value of one series", "fleet", 'node_schedstat_item_018_current{instance="10.0.0.0:9100"}'),
    range("rate of 1,000 series", "fleet", STEPS, "rate(shop_requests_total[5m])"),
    range("sum by (l) of rates of 100", "fleet", STEPS, "sum by (job) (rate(node_cpu_item_010_total[5m]))"),
    range(
      "histogram_quantile of 1,200 buckets",
      "fleet",
      STEPS,
      "histogram_quantile(0.99, sum by (le) (rate(shop_request_duration_seconds_bucket[5m])))",
    ),
    range("topk(10) of 1,000 rates", "fleet", STEPS, "topk(10, rate(shop_requests_total[5m]))"),
    instant("max_over_time of an hour, 1,000", "fleet", "max_over_time(shop_requests_total[1h])"),
    range("join of 1,000 with group_left", "fleet", STEPS, "rate(shop_requests_total[5m]) * on (instance) group_left (version) shop_info"),
    instant("count of everything", "fleet", 'count({__name__=~".+"})'),
    range("sum by (l) of rates of 100,000", "users", USER_STEPS, 'sum by (zone) (rate(user_events_total{shard="3"}[5m]))'),
    { name: "label values of 100,000 series", store: "users", path: `/api/v1/label/user/values?${users.toString()}`, agreement: "values" },
  ];
}

/** Which series are the largest depends on their rates. */
function agreementOf(query: string): Agreement {
  if (!query.includes("rate(")) return query.includes("_over_time(") ? "count" : "values";
  return query.includes("topk(") ? "none" : "count";
}
