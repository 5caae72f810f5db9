/** The server traces itself, into another server: requests of all threads, statements, flushes, one trace from client to statement. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { IN_CLUSTER } from "../support/cluster/standalone.ts";
import { execute, queryRows, writeLines } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

let keeper: TestServer;
let server: TestServer;
beforeAll(async () => {
  keeper = await TestServer.start();
  const endpoint = `${keeper.url}/v1/otlp/v1/traces`;
  server = await TestServer.start({ config: `[ingest]\nthreads = 2\n[logging]\notlp_endpoint = "${endpoint}"\n` });
}, 60_000);
afterAll(async () => {
  await server.end();
  await keeper.end();
});

async function switched(body: string): Promise<readonly [number, string]> {
  const response = await fetch(`${server.processUrl}/debug/enable_trace`, { method: "POST", body });
  return [response.status, await response.text()];
}

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const ask = (sql: string, flags: string, trace = TRACE): Promise<Response> =>
  fetch(`${server.processUrl}/v1/sql?${new URLSearchParams({ sql }).toString()}`, {
    headers: { traceparent: `00-${trace}-${CLIENT_SPAN}-${flags}`, connection: "close" },
  });

interface Span {
  readonly spanID: string;
  readonly operationName: string;
  readonly references: readonly { readonly spanID: string }[];
  readonly tags: readonly { readonly key: string; readonly value: unknown }[];
}

const CLIENT_SPAN = "00f067aa0ba902b7";
const isFirst = ({ references }: Span): boolean => references[0]?.spanID === CLIENT_SPAN;

/** The spans of a trace once the keeper has its statement and the request of the client: threads send on their own. */
async function spansOf(trace: string): Promise<readonly Span[]> {
  for (const until = Date.now() + 15_000; ; await Bun.sleep(100)) {
    const response = await fetch(`${keeper.url}/v1/jaeger/api/traces/${trace}`);
    const { data } = (await response.json()) as { readonly data: readonly { readonly spans: readonly Span[] }[] | null };
    const spans = data?.[0]?.spans ?? [];
    const isWhole = spans.some(isFirst) && spans.some(({ operationName }) => operationName === "select");
    if (isWhole || Date.now() > until) return spans;
  }
}

test("is switched by the words of the contract", async () => {
  expect(await switched("false")).toEqual([200, "trace disabled"]);
  expect(await switched("true\n")).toEqual([400, '{"error":"Invalid request parameter: Invalid parameter \\"enable\\": ParseBoolError"}']);
  expect((await ask("SELECT 1", "01")).headers.get("traceresponse")).toBeNull();
  expect(await switched("true")).toEqual([200, "trace enabled"]);
});

test("a client's trace goes on down to the statement, through the thread that it is connected to", async () => {
  await writeLines(server.processUrl, "m v=1 1");
  let passedOn = 0;
  for (let i = 0; i < 20 && passedOn < 1; i++) {
    const trace = TRACE.slice(0, -2) + i.toString(16).padStart(2, "0");
    const response = await ask("SELECT v FROM m", "01", trace);
    expect(response.headers.get("traceresponse")).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
    const spans = await spansOf(trace);
    const byName = (name: string): readonly Span[] => spans.filter(({ operationName }) => operationName === name);
    const [statement] = byName("select");
    const requests = byName("GET");
    const own = requests.find(({ spanID }) => spanID === statement?.references[0]?.spanID);
    expect(own?.tags).toContainEqual(expect.objectContaining({ key: "http.route", value: "/v1/sql" }));
    expect(statement?.tags).toContainEqual(expect.objectContaining({ key: "db.query.text", value: "SELECT v FROM m" }));
    expect(statement?.tags).toContainEqual(expect.objectContaining({ key: "db.response.returned_rows", value: 1 }));
    const first = requests.filter(isFirst);
    expect(first.length).toBe(1);
    // A cluster's frontends have one thread.
    if (requests.length === (IN_CLUSTER ? 1 : 2)) {
      passedOn++;
      expect(own?.references[0]?.spanID).toBe(IN_CLUSTER ? CLIENT_SPAN : (first[0]?.spanID ?? ""));
    }
  }
  expect(passedOn).toBe(1);
}, 60_000);

test("a call of gRPC has a span that its statement belongs to, and wires say theirs in a comment", async () => {
  const trace = "22222222222222222222222222222222";
  const parent = `00-${trace}-${CLIENT_SPAN}-01`;
  const method = "greptime.v1.PrometheusGateway/Handle";
  const response = await fetch(`http://${server.grpcAddress}/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json", "connect-protocol-version": "1", traceparent: parent },
    body: JSON.stringify({ instantQuery: { query: "1 + 1", time: "1" } }),
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("traceresponse")).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
  await using postgres = new Bun.SQL(`postgres://u@${server.postgresAddress}/public`);
  await postgres.unsafe(`SELECT 2 /*traceparent='${parent}'*/`).simple();
  const spans = await spansOf(trace);
  const call = spans.find(({ operationName }) => operationName === method);
  expect(call?.references[0]?.spanID).toBe(CLIENT_SPAN);
  expect(call?.tags).toContainEqual(expect.objectContaining({ key: "rpc.response.status_code", value: "OK" }));
  expect(spans.find(({ operationName }) => operationName === "promql")?.references[0]?.spanID).toBe(call?.spanID ?? "");
  expect(spans.find(({ operationName }) => operationName === "select")?.references[0]?.spanID).toBe(CLIENT_SPAN);
}, 30_000);

test("what a client does not record is not recorded", async () => {
  const trace = "11111111111111111111111111111111";
  const response = await ask("SELECT 1", "00", trace);
  expect([response.status, response.headers.get("traceresponse")]).toEqual([200, null]);
  await Bun.sleep(2500);
  expect(await (await fetch(`${keeper.url}/v1/jaeger/api/traces/${trace}`)).json()).toMatchObject({ data: null });
}, 20_000);

test("flushes and writes are there, and metrics count what was sent", async () => {
  await execute(server.processUrl, "ADMIN flush_table('m')");
  const wanted = ["POST", "admin", ...(IN_CLUSTER ? [] : ["flush"])]; // Data nodes flush; they trace where their configuration says so.
  let names: readonly unknown[] = [];
  for (const until = Date.now() + 15_000; Date.now() < until && !wanted.every((name) => names.includes(name)); await Bun.sleep(100)) {
    const sql = "SELECT DISTINCT span_name FROM opentelemetry_traces WHERE service_name = 'varve'";
    names = (await queryRows(keeper.url, sql)).rows.map(([name]) => name);
  }
  expect(names).toEqual(expect.arrayContaining(wanted));
  const metrics = await (await fetch(`${server.processUrl}/metrics`)).text();
  expect(Number(/^varve_trace_spans_sent_total (\d+)/m.exec(metrics)?.[1])).toBeGreaterThan(5);
  expect(await switched("false")).toEqual([200, "trace disabled"]);
}, 30_000);
