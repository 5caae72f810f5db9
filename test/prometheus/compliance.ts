/**
 * Asks Varve and a real Prometheus the same, and compares the answers:
 *
 *   bun test/prometheus/compliance.ts <queries.yml> [--seed <number>] [--random <count>] [--verbose]
 *
 * Both are started on fresh folders and filled with the same samples by remote write; Varve writes half of them into files. The file is
 * the query list of the PromQL compliance project; queries of our own and random ones come after it. Each is asked as a range query and
 * as an instant one. Then come the other endpoints, and what Prometheus scraped itself and sent on.
 */
import { parseArgs } from "node:util";
import { TestServer } from "../support/server-process.ts";
import { API_REQUESTS, apiDifference } from "./api-requests.ts";
import { ask, difference, isSameText } from "./compare.ts";
import { demoSeries } from "./demo-data.ts";
import { knownDifference } from "./known-differences.ts";
import { OWN_INSTANTS, OWN_QUERIES } from "./own-queries.ts";
import { PrometheusServer } from "./prometheus-server.ts";
import { sendSeries } from "./remote-write.ts";
import { scrapedFindings } from "./scraped.ts";
import { randomQueries } from "./random-queries.ts";
import { type ListedQuery, queriesOf } from "./templates.ts";

const MINUTE_MILLIS = 60_000;
/** Of demo data. Reason: ranges of an hour, at moments ten minutes apart, ten minutes back. */
const DATA_MILLIS = 90 * MINUTE_MILLIS;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: "string", default: "1" }, random: { type: "string", default: "300" }, verbose: { type: "boolean" } },
});
const [file] = positionals;
if (file === undefined) {
  process.stderr.write("usage: bun test/prometheus/compliance.ts <queries.yml> [--seed <number>] [--random <count>] [--verbose]\n");
  process.exit(2);
}

/** How two answers stand to each other. */
class Count {
  agree = 0;
  /** Of those that agree: to the last digit. */
  exact = 0;
  differ = 0;
  readonly notComparable = new Map<string, number>();

  take(what: string, found: string | undefined, known: string | undefined): void {
    if (known !== undefined && found !== undefined) {
      this.notComparable.set(known, (this.notComparable.get(known) ?? 0) + 1);
      if (values.verbose === true) process.stdout.write(`not comparable: ${what}\n  ${found}\n`);
    } else if (found === undefined) this.agree++;
    else {
      this.differ++;
      process.stdout.write(`${what}\n  ${found}\n`);
    }
  }

  print(what: string): void {
    const others = [...this.notComparable.values()].reduce((sum, count) => sum + count, 0);
    process.stdout.write(`${what}: ${this.agree} agree, ${this.differ} differ, ${others} not comparable\n`);
    if (this.exact > 0) process.stdout.write(`  ${this.exact} to the last digit\n`);
    for (const [why, count] of this.notComparable) process.stdout.write(`  ${count} not comparable: ${why}\n`);
  }
}

const endMillis = Math.floor((Date.now() - 5 * MINUTE_MILLIS) / MINUTE_MILLIS) * MINUTE_MILLIS;
const startMillis = endMillis - DATA_MILLIS;
const varve = await TestServer.start();
let prometheus: PrometheusServer | undefined;
try {
  prometheus = await PrometheusServer.start(varve.url);
  await fill(prometheus.url, varve.url);
  const bases = [prometheus.url, `${varve.url}/v1/prometheus`] as const;
  const total = [await queries(bases, queriesOf(await Bun.file(file).text())), await others(bases), await scraped(bases)];
  const sum = (of: (count: Count) => number): number => total.reduce((all, count) => all + of(count), 0);
  const outside = sum(({ notComparable }) => [...notComparable.values()].reduce((all, count) => all + count, 0));
  process.stdout.write(`${sum(({ agree }) => agree)} agree, ${sum(({ differ }) => differ)} differ, ${outside} not comparable\n`);
  process.exitCode = sum(({ differ }) => differ) === 0 ? 0 : 1;
} finally {
  await prometheus?.end();
  await varve.end();
}

/** The same samples for both; in Varve the first half is flushed, then a quarter more, the rest stays in memory. */
async function fill(prometheusUrl: string, varveUrl: string): Promise<void> {
  const all = demoSeries(startMillis, endMillis, Number(values.seed));
  let from = startMillis;
  for (const part of [0.5, 0.75, 1]) {
    const to = startMillis + DATA_MILLIS * part;
    const cut = all.map(({ labels, samples }) => ({ labels, samples: samples.filter(({ time }) => time >= from && time < to) }));
    await sendSeries(`${prometheusUrl}/api/v1/write`, cut);
    await sendSeries(`${varveUrl}/v1/prometheus/write`, cut);
    from = to;
    if (part === 1) break;
    const sql = encodeURIComponent("ADMIN flush_table('greptime_physical_table')");
    const response = await fetch(`${varveUrl}/v1/sql?sql=${sql}`);
    if (!response.ok) throw new Error(`the flush was answered ${response.status}: ${await response.text()}`);
  }
}

type Bases = readonly [prometheus: string, varve: string];

async function queries(bases: Bases, listed: readonly ListedQuery[]): Promise<Count> {
  const count = new Count();
  // Neither steps nor those of queries in queries fall on the ends of ranges: see demo-data.ts.
  const range = (query: string): readonly (readonly [string, string])[] => [
    ["query", query],
    ["start", seconds(endMillis - 16 * MINUTE_MILLIS + 3217)],
    ["end", seconds(endMillis - 6 * MINUTE_MILLIS + 3217)],
    ["step", "10s"],
  ];
  const instant = (query: string, backMillis: number): readonly (readonly [string, string])[] => [
    ["query", query],
    ["time", seconds(endMillis - backMillis + 4611)],
  ];
  const random = randomQueries(Number(values.random), Number(values.seed)).map((query) => ({ query, fails: false }));
  const both = [...listed, ...OWN_QUERIES, ...random];
  for (const [index, each] of both.entries()) {
    const method = index % 2 === 0 ? "GET" : "POST";
    await compare(count, bases, "query_range", each, range(each.query), method);
    await compare(count, bases, "query", each, instant(each.query, 11 * MINUTE_MILLIS), method);
  }
  for (const each of OWN_INSTANTS)
    for (const back of [8, 21]) await compare(count, bases, "query", each, instant(each.query, back * MINUTE_MILLIS), "POST");
  count.print(`queries (${both.length + OWN_INSTANTS.length})`);
  return count;
}

async function compare(
  count: Count,
  bases: Bases,
  path: string,
  { query, fails }: ListedQuery,
  parameters: readonly (readonly [string, string])[],
  method: "GET" | "POST",
): Promise<void> {
  const [want, got] = await Promise.all(bases.map((base) => ask(base, path, parameters, method)));
  if (want === undefined || got === undefined) throw new Error("two servers are asked");
  if (isSameText(want, got)) count.exact++;
  const isOrdered = path === "query" && /^(?:sort|topk|bottomk)/.test(query);
  const found = difference(want, got, isOrdered);
  const unlike = fails && want.status === 200 ? "Prometheus answers what the list says to fail" : undefined;
  count.take(`${path} ${query}`, found, unlike ?? knownDifference(query, got, found));
}

async function others(bases: Bases): Promise<Count> {
  const count = new Count();
  const first = seconds(startMillis);
  const last = seconds(endMillis);
  for (const request of API_REQUESTS(first, last)) {
    const found = await apiDifference(bases, request);
    count.take(`${request.method ?? "GET"} ${request.path} ${JSON.stringify(request.parameters)}`, found, request.otherwise);
  }
  count.print("other endpoints and refusals");
  return count;
}

async function scraped(bases: Bases): Promise<Count> {
  const count = new Count();
  for (const { what, found } of await scrapedFindings(bases)) count.take(what, found, undefined);
  count.print("what Prometheus scraped and sent on");
  return count;
}

function seconds(millis: number): string {
  return (millis / 1000).toFixed(3);
}
