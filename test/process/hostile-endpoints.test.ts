/**
 * What no client of the endpoints that read and administer should send: deep and long texts, names of 8 KiB, numbers beyond all bounds,
 * bytes that are no UTF-8, other content types, requests that went wrong on their way. Each is answered soon, with the client's fault
 * and never the server's, and others are served after it. More: `VARVE_MUTATIONS=5000 bun test test/process/hostile-endpoints.test.ts`.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { queryRows, writeLines } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
  await writeLines(server.url, "m,host=a v=1 1");
}, 30_000);
afterAll(async () => {
  await server.end();
});

/** A path, and a body that it takes with its content type. */
interface Endpoint {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly type?: string;
  readonly body?: string;
}

const FORM = "application/x-www-form-urlencoded";
const LOG_QUERY = JSON.stringify({
  table: { schema_name: "public", table_name: "m" },
  time_filter: { start: "2024-01-01", span: "1 day" },
  limit: { skip: 0, fetch: 10 },
  filters: { And: [{ Single: { expr: { NamedIdent: "host" }, filters: [{ Contains: "a" }] } }] },
  context: { Lines: [1, 1] },
  exprs: [{ AggrFunc: { name: "count", args: [], by: [{ NamedIdent: "host" }] } }],
});
const ENDPOINTS: readonly Endpoint[] = [
  { method: "GET", path: "/v1/jaeger/api/traces?service=a&operation=b&tags=%7B%22a%22%3A%22b%22%7D&start=1&end=2&minDuration=1ms&limit=5" },
  { method: "GET", path: "/v1/jaeger/api/traces/4bf92f3577b34da6a3ce929d0e0e4736" },
  { method: "GET", path: "/v1/jaeger/api/services/a/operations" },
  { method: "GET", path: "/v1/jaeger/api/operations?service=a&spanKind=server" },
  { method: "POST", path: "/v1/logs", type: "application/json", body: LOG_QUERY },
  { method: "POST", path: "/v1/sql/parse", type: FORM, body: "sql=SELECT+1+AS+a%2C+max(v)+FROM+m+WHERE+host+%3D+'a'" },
  { method: "POST", path: "/v1/sql/format", type: FORM, body: "sql=SELECT+1+AS+a%2C+max(v)+FROM+m+WHERE+host+%3D+'a'" },
  { method: "POST", path: "/v1/sql/analyze/stream", type: FORM, body: "sql=EXPLAIN+ANALYZE+VERBOSE+SELECT+1&snapshot_interval_ms=1000" },
  { method: "POST", path: "/v1/dashboards/a%20b", type: "text/plain", body: '{"panels":[]}' },
  { method: "DELETE", path: "/v1/dashboards/a%20b" },
  { method: "GET", path: "/debug/prof/mem?output=text" },
  { method: "GET", path: "/debug/prof/cpu?seconds=301&frequency=99&output=proto" },
  { method: "POST", path: "/debug/enable_trace", body: "maybe" },
  { method: "POST", path: "/debug/prof/mem/gdump", type: FORM, body: "activate=maybe" },
];

const LONG = "x".repeat(8192);
const DEEP = `${'{"And":['.repeat(20_000)}${"]}".repeat(20_000)}`;
/** What stands in the place of a value, in a query or a body. */
const VALUES: readonly string[] = [
  "",
  LONG,
  "%ff%fe",
  "%00",
  "-1",
  "99999999999999999999999999",
  "1e400",
  "NaN",
  "'; DROP TABLE m; --",
  "[".repeat(5000),
  "__proto__",
  "\u202e",
];
const BODIES: readonly (string | Uint8Array<ArrayBuffer>)[] = [
  "",
  "null",
  "[]",
  "{}",
  DEEP,
  "[".repeat(200_000),
  `"${LONG.repeat(20)}"`,
  `{"table":{"table_name":"${LONG}"}}`,
  '{"table":{"table_name":"m"},"limit":{"skip":1e308,"fetch":-1}}',
  Uint8Array.of(0xff, 0xfe, 0x00, 0x80),
  `sql=${"(".repeat(20_000)}`,
  `sql=${LONG}`,
  `sql=%ff`,
];
const TYPES = ["application/json", FORM, "text/plain", "application/x-protobuf", "x".repeat(8000)];
/** Longest that an answer may take on a busy machine. */
const ANSWER_MS_MAX = 10_000;

async function send({ method, path, type }: Endpoint, body: string | Uint8Array<ArrayBuffer> | undefined): Promise<void> {
  const init = { method, headers: type === undefined ? {} : { "content-type": type }, signal: AbortSignal.timeout(ANSWER_MS_MAX) };
  const response = await fetch(server.url + path, method === "POST" && body !== undefined ? { ...init, body } : init);
  const text = await response.text();
  expect([method, path.slice(0, 100), String(body).slice(0, 100), response.status < 500, text.slice(0, 200)]).toEqual([
    method,
    path.slice(0, 100),
    String(body).slice(0, 100),
    true,
    text.slice(0, 200),
  ]);
}

async function stillServes(): Promise<void> {
  expect((await queryRows(server.url, "SELECT v FROM m")).rows).toEqual([[1]]);
}

test("values, bodies and content types that no client should send", async () => {
  for (const endpoint of ENDPOINTS) {
    await send(endpoint, endpoint.body);
    const [path = "", query = ""] = endpoint.path.split("?");
    for (const value of VALUES) {
      for (const pair of query === "" ? [] : query.split("&")) {
        const changed = query.replace(pair, () => `${pair.split("=")[0]}=${encodeURI(value)}`);
        await send({ ...endpoint, path: `${path}?${changed}` }, endpoint.body);
      }
    }
    if (endpoint.method === "POST") {
      for (const body of BODIES) await send(endpoint, body);
      for (const type of TYPES) await send({ ...endpoint, type }, endpoint.body);
    }
    await stillServes();
  }
}, 120_000);

test("names of 8 KiB, and of bytes that are no text", async () => {
  for (const name of [LONG, "%ff", "%00", "..%2f..", "%e2%80%ae"]) {
    for (const path of ["/v1/jaeger/api/traces/NAME", "/v1/jaeger/api/services/NAME/operations", "/v1/dashboards/NAME"]) {
      for (const method of ["GET", "POST", "DELETE"] as const) await send({ method, path: path.replace("NAME", () => name) }, "x");
    }
  }
  await stillServes();
}, 60_000);

test("requests that went wrong on their way", async () => {
  const random = randomFrom(Number(process.env["VARVE_SEED"] ?? 11));
  const count = Number(process.env["VARVE_MUTATIONS"] ?? 300);
  const quick = ENDPOINTS.filter(({ path }) => !path.startsWith("/debug/prof/cpu")); // which a change may make a profile of five seconds
  for (let done = 0; done < count; done++) {
    const endpoint = quick[random(quick.length)];
    if (endpoint === undefined) continue;
    const [path = "", query = ""] = endpoint.path.split("?");
    const bytes = Buffer.from(endpoint.body ?? "");
    for (let changes = random(4); changes > 0 && bytes.length > 0; changes--) bytes[random(bytes.length)] = random(256);
    const cut = random(3) === 0 ? bytes.subarray(0, random(bytes.length + 1)) : bytes;
    const from = random(query.length + 1);
    const changed = query.slice(0, from) + encodeURIComponent(String.fromCharCode(32 + random(400))) + query.slice(from + random(3));
    await send({ ...endpoint, path: query === "" ? path : `${path}?${changed}` }, new Uint8Array(cut));
  }
  await stillServes();
}, 120_000);

/** Whole numbers in `[0, below)`, the same for the same seed. */
function randomFrom(start: number): (below: number) => number {
  let seed = start;
  return (below) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
}
