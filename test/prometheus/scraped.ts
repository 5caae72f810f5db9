/** What Prometheus scraped, itself and Varve, and what of it arrived in Varve by remote write. */
import { ask, difference } from "./compare.ts";

/** Scrapes that are waited for: more than a range and the lag, as 2.42 treats counters that begin within a range in a way of its own. */
const SCRAPES_MIN = 18;
const WAIT_MS_MAX = 60_000;
/** How long samples may be on their way. */
const LAG_MILLIS = 5000;

const QUERIES: readonly string[] = [
  "up",
  "scrape_samples_scraped",
  'sum by (job) ({job=~"varve|prometheus", __name__=~".+_total"})',
  'count by (job) ({job=~"varve|prometheus"})',
  "rate(prometheus_http_requests_total[8s])",
  "histogram_quantile(0.9, sum by (le) (rate(prometheus_http_request_duration_seconds_bucket[8s])))",
  "prometheus_http_requests_total[1m]",
  'count({job="varve"}) by (__name__)',
  "go_gc_duration_seconds",
];

/** Each query's finding, once enough was scraped. */
export async function scrapedFindings(
  bases: readonly [prometheus: string, varve: string],
): Promise<readonly { readonly what: string; readonly found: string | undefined }[]> {
  const [prometheus, varve] = bases;
  const counted = (base: string): ReturnType<typeof ask> =>
    ask(base, "query", [["query", `min(count_over_time(up[10m])) and on () count(up) == 2`]]);
  for (let waited = 0; ; waited += 500) {
    const answers = await Promise.all([counted(prometheus), counted(varve)]);
    if (answers.every(({ body }) => Number(body.data?.result?.[0]?.value?.[1] ?? 0) >= SCRAPES_MIN)) break;
    if (waited > WAIT_MS_MAX) return [{ what: "remote write of what was scraped", found: `nothing came: ${JSON.stringify(answers)}` }];
    await Bun.sleep(500);
  }
  const at = ((Date.now() - LAG_MILLIS) / 1000).toFixed(3);
  const found = QUERIES.map(async (query) => {
    const parameters = [["query", query] as const, ["time", at] as const];
    const [want, got] = await Promise.all([ask(prometheus, "query", parameters), ask(varve, "query", parameters)]);
    const isEmpty = want.body.data?.result?.length === 0;
    return { what: `scraped: ${query}`, found: isEmpty ? "Prometheus has none of it" : difference(want, got, false) };
  });
  return Promise.all(found);
}
