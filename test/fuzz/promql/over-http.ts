/** Fuzzed queries to a real server, some at a time: every answer is one of those that are documented, and the process does not grow. */
import { readFile } from "node:fs/promises";
import { TestServer } from "../../support/server-process.ts";
import { postSql } from "../../support/http-client.ts";
import { dataStatements, FIRST_SECOND, LAST_SECOND } from "./data.ts";
import { fuzzedQueries, type PromqlFuzzOptions, PromqlFuzzReport } from "./report.ts";

const CONFIG = '[query.promql]\ntimeout = "1s"\nsamples = 1000000\n[query]\nmemory_limit = "256MiB"\n';
const AT_ONCE = 4;
/** Bytes that the process may grow after a first part of the queries, which fill its caches. */
const GROWTH_BYTES_MAX = 128 * 1024 * 1024;
const PAGE_BYTES = 4096;
const API = "/v1/prometheus/api/v1";
const RANGE = `start=${FIRST_SECOND}&end=${LAST_SECOND}&step=60`;

/** Where a query is asked, and which statuses are documented there. */
interface Door {
  readonly name: string;
  readonly path: (query: string) => string;
  readonly statuses: readonly number[];
}

const DOORS: readonly Door[] = [
  { name: "query", path: (query) => `${API}/query?time=300&query=${query}`, statuses: [200, 400, 422, 503] },
  { name: "query_range", path: (query) => `${API}/query_range?${RANGE}&query=${query}`, statuses: [200, 400, 422, 503] },
  { name: "format_query", path: (query) => `${API}/format_query?query=${query}`, statuses: [200, 400] },
  { name: "parse_query", path: (query) => `${API}/parse_query?query=${query}`, statuses: [200, 400] },
  { name: "series", path: (query) => `${API}/series?match[]=${query}`, statuses: [200, 400, 422] },
  // 500 is that of a limit, 504 that of time, in the table of codes.
  { name: "promql", path: (query) => `/v1/promql?${RANGE}&query=${query}`, statuses: [200, 400, 500, 504] },
  { name: "TQL", path: (query) => `/v1/sql?sql=TQL%20EVAL%20(0,600,'60s')%20${query}`, statuses: [200, 400, 500, 504] },
];
/** Codes that come with 500. */
const LIMIT_CODES = [6000];

/** Asks all queries. @throws Error when the server does not start */
export async function fuzzOverHttp(options: PromqlFuzzOptions): Promise<PromqlFuzzReport> {
  const report = new PromqlFuzzReport(options);
  const server = await TestServer.start({ config: CONFIG });
  try {
    for (const text of dataStatements()) await postSql(server.url, text);
    let asked = 0;
    let before = 0;
    const warm = Math.floor(options.queries / 3);
    const queries = fuzzedQueries(options);
    const ask = async (): Promise<void> => {
      for (let next = queries.next(); next.done !== true && report.failures.length === 0; next = queries.next()) {
        const number = asked++;
        if (number === warm) before = await residentBytes(server);
        await askOne(server, number, next.value, report);
        if (number % 2000 === 1999) options.say(`${number + 1} queries over HTTP`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
    const grown = (await residentBytes(server)) - before;
    options.say(`the server grew by ${Math.round(grown / 1024 / 1024)} MiB after ${warm} queries`);
    if (grown > GROWTH_BYTES_MAX) report.fail(`the server grew by ${grown} bytes`, "all");
    await checkRest(server, report);
  } catch (error) {
    report.fail(
      `${error instanceof Error ? error.message : String(error)}\n${server.log().split("\n").slice(-15).join("\n")}`,
      "the last ones",
    );
  } finally {
    await server.end();
  }
  return report;
}

async function askOne(server: TestServer, number: number, bytes: Uint8Array, report: PromqlFuzzReport): Promise<void> {
  const door = DOORS[number % DOORS.length];
  if (door === undefined) return;
  const escaped = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  const text = new TextDecoder().decode(bytes);
  const path = door.path(escaped);
  const isPost = number % 2 === 0 && path.startsWith(API);
  const [target = "", form = ""] = path.split("?");
  const began = performance.now();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const response = await (isPost ? fetch(server.url + target, { method: "POST", headers, body: form }) : fetch(server.url + path));
  const body = await response.text();
  report.answered(door.name, String(response.status), performance.now() - began, text);
  if (!door.statuses.includes(response.status)) report.fail(`${door.name} answered ${response.status} ${body.slice(0, 300)}`, text);
  const json = jsonOf(body);
  if (json === undefined) report.fail(`${door.name} answered ${response.status} and no JSON: ${body.slice(0, 300)}`, text);
  else if (response.status === 500 && !LIMIT_CODES.includes(Number(json.code)))
    report.fail(`${door.name} answered 500 ${body.slice(0, 300)}`, text);
}

function jsonOf(text: string): { readonly code?: unknown } | undefined {
  try {
    return JSON.parse(text) as { readonly code?: unknown };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function residentBytes(server: TestServer): Promise<number> {
  const [, pages] = (await readFile(`/proc/${server.running.pid}/statm`, "utf8")).split(" ");
  return Number(pages) * PAGE_BYTES;
}

/** Nothing runs any more, and no memory of queries is held. */
async function checkRest(server: TestServer, report: PromqlFuzzReport): Promise<void> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  for (const line of ['varve_memory_bytes{part="queries"} 0', 'greptime_process_list_count{catalog="greptime"} 0'])
    if (!text.includes(`${line}\n`)) report.fail(`/metrics has no ${line}`, "all");
}
