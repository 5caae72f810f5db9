/** What /metrics tells of each protocol's rows, bytes and failures, of all threads together; docs/metrics.md names every family. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { SQL } from "bun";
import mysql from "mysql2/promise";
import { MetricsReading } from "../../src/dashboard/pages/live/metrics-text.ts";
import type { Batch } from "../crash/batch.ts";
import { DOORS } from "../crash/doors/doors.ts";
import { standalone } from "../support/cluster/standalone.ts";
import { TestServer } from "../support/server-process.ts";

const SEATS = 7;
const BATCH: Batch = { writer: 1, number: 1, kind: "fresh", origin: 1, seats: SEATS };
let server: TestServer;

beforeAll(async () => {
  const config = '[ingest]\nthreads = 2\n[opentsdb]\naddr = "127.0.0.1:0"\n';
  server = await TestServer.start({ config });
});
afterAll(() => server.end());

async function reading(): Promise<MetricsReading> {
  return new MetricsReading(await (await fetch(`${server.processUrl}/metrics`)).text(), 0);
}

type Figures = Readonly<Record<"rows" | "bytes" | "errors", number>>;

async function figures(protocol: string): Promise<Figures> {
  const now = await reading();
  const of = (figure: string): number => now.sum(`varve_ingest_${figure}_total`, (labels) => labels["protocol"] === protocol);
  return { rows: of("rows"), bytes: of("bytes"), errors: of("errors") };
}

/** What `work` adds to a protocol's figures. */
async function added(protocol: string, work: () => Promise<unknown>): Promise<Figures> {
  const before = await figures(protocol);
  await work();
  const after = await figures(protocol);
  return { rows: after.rows - before.rows, bytes: after.bytes - before.bytes, errors: after.errors - before.errors };
}

/** One more is enough: rows come in one batch, and some doors count samples of two fields. */
async function check(protocol: string, work: () => Promise<unknown>, want: Partial<Figures>): Promise<void> {
  const found = await added(protocol, work);
  expect({ protocol, ...found, bytes: found.bytes > 0 }).toEqual({ protocol, rows: 0, errors: 0, ...want, bytes: want.bytes !== 0 });
}

async function post(path: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const response = await fetch(server.processUrl + path, { method: "POST", body, headers });
  await response.text();
  return response.status;
}

const PROTOCOL_OF: Readonly<Record<string, string>> = {
  line: "influxdb_v1",
  "remote-write": "prometheus",
  loki: "loki",
  pipeline: "logs",
  otlp: "otlp_logs",
  native: "grpc_rows",
  "native-stream": "grpc_rows",
  "native-columns": "grpc_columns",
  doput: "flight_put",
  "flight-sql-ingest": "flight_sql",
  "otlp-grpc-metrics": "otlp_metrics",
  "otlp-grpc-logs": "otlp_logs",
};

test.each(DOORS.map((door) => [door.name, door] as const))("a batch by %s", async (name, door) => {
  const { setUp } = door;
  if (setUp !== undefined) {
    const { path, headers, body } = setUp;
    const answer = await fetch(server.processUrl + path, { method: "POST", body, ...(headers === undefined ? {} : { headers }) });
    expect(await answer.text().then(() => answer.status)).toBe(setUp.goodStatus);
  }
  const found = await added(PROTOCOL_OF[name] ?? name, async () => {
    const request = door.request(BATCH);
    if ("call" in request) return expect(await request.call(`http://${server.grpcAddress}`)).toBe("good");
    const { path, headers, body } = request;
    const answer = await fetch(server.processUrl + path, { method: "POST", body, ...(headers === undefined ? {} : { headers }) });
    expect(await answer.text().then(() => answer.status)).toBe(request.goodStatus);
  });
  expect(found.errors).toBe(0);
  expect(found.bytes).toBeGreaterThan(0);
  expect([found.rows % SEATS, found.rows > 0]).toEqual([0, true]);
});

test("other protocols of HTTP: what is kept, and what is refused", async () => {
  const line = "/v1/influxdb/write?db=public";
  await check("influxdb_v1", () => post(line, "m f=1 1\nm f=2 2"), { rows: 2 });
  await check("influxdb_v1", () => post(line, "m f=1 1\nm f=x y z"), { rows: 1, errors: 1 });
  await check("influxdb_v2", () => post("/v1/influxdb/api/v2/write?bucket=public", "m f=3 3"), { rows: 1 });
  await check("opentsdb", () => post("/v1/opentsdb/api/put", '{"metric":"o","timestamp":1,"value":1,"tags":{"a":"b"}}'), { rows: 1 });
  await check("opentsdb", () => post("/v1/opentsdb/api/put", "{"), { errors: 1 });
  const bulk = '{"create":{"_index":"docs"}}\n{"message":"a"}\n';
  const ndjson = { "content-type": "application/x-ndjson" };
  await check("elasticsearch", () => post("/v1/elasticsearch/_bulk", bulk, ndjson), { rows: 1 });
  await check("elasticsearch", () => post("/v1/elasticsearch/_bulk", "{", ndjson), { errors: 1 });
  await check("splunk", () => post("/v1/splunk/services/collector/event", '{"event":"a"}'), { rows: 1 });
  const span = {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    name: "x",
    startTimeUnixNano: "1",
    endTimeUnixNano: "2",
  };
  const spans = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
  const json = { "content-type": "application/json" };
  expect((await added("otlp_traces", () => post("/v1/otlp/v1/traces", spans, json))).rows).toBeGreaterThan(0);
  const refused = JSON.stringify({
    resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: "e", exponentialHistogram: { dataPoints: [{}] } }] }] }],
  });
  await check("otlp_metrics", () => post("/v1/otlp/v1/metrics", refused, json), { errors: 1 });
});

test("lines over telnet", async () => {
  await check(
    "opentsdb_telnet",
    async () => {
      const socket = net.connect(await server.telnetPort(), "127.0.0.1");
      socket.write("put t 1 1 a=b\nput t 2 x a=b\nversion\n");
      for await (const chunk of socket) if (String(chunk).includes("varve")) break;
      socket.destroy();
    },
    { rows: 1, errors: 1 },
  );
});

test("INSERT by each protocol of SQL, prepared too; what reads brings no rows", async () => {
  const sql = (text: string): Promise<number> =>
    post("/v1/sql", `sql=${encodeURIComponent(text)}`, { "content-type": "application/x-www-form-urlencoded" });
  await sql("CREATE TABLE s (t TIMESTAMP(3) TIME INDEX, v DOUBLE)");
  await check("sql_http", () => sql("INSERT INTO s VALUES (1, 1), (2, 2)"), { rows: 2 });
  await check("sql_http", () => sql("INSERT INTO nothing VALUES (1, 1)"), { errors: 1 });
  await check("sql_http", () => sql("SELECT count(*) FROM s"), { bytes: 0 });
  const [host = "", port = ""] = server.mysqlAddress.split(":");
  const my = await mysql.createConnection({ host, port: Number(port), database: "public" });
  await check("sql_mysql", () => my.query("INSERT INTO s VALUES (3, 3)"), { rows: 1 });
  await check("sql_mysql", () => my.execute("INSERT INTO s VALUES (?, ?)", [4, 4]), { rows: 1 });
  await my.end();
  const pg = new SQL(`postgres://any@${server.postgresAddress}/public`, { max: 1 });
  await check("sql_postgres", async () => await pg`INSERT INTO s VALUES (5, ${5.5})`, { rows: 1 });
  await pg.end();
  const now = await reading();
  expect(now.sum("greptime_table_operator_ingest_rows")).toBe(now.sum("varve_ingest_rows_total"));
  expect(now.sum("greptime_table_operator_delete_rows")).toBe(0);
  await sql("DELETE FROM s WHERE t = 1::TIMESTAMP(3)");
  expect((await reading()).sum("greptime_table_operator_delete_rows")).toBe(1);
});

standalone("its log, and ingest threads").test("the log and the event loops tell how long they take", async () => {
  const now = await reading();
  expect(now.sum("varve_log_sync_seconds_count")).toBeGreaterThan(0);
  expect(now.sum("varve_log_group_records_count")).toBeGreaterThan(0);
  expect(now.sum("varve_log_group_bytes_sum")).toBeGreaterThan(0);
  const threads = new Set(now.of("varve_event_loop_delay_seconds_count").map(({ labels }) => labels["thread"]));
  expect([...threads].toSorted((a = "", b = "") => (a < b ? -1 : 1))).toEqual(["ingest-1", "main"]);
});

test("docs/metrics.md names every family, and none that is not there", async () => {
  const text = await (await fetch(`${server.processUrl}/metrics`)).text();
  const shown = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = ""]) => name).filter((name) => !name.startsWith("nodejs_"));
  const rows = readFileSync(join(import.meta.dir, "../../docs/metrics.md"), "utf8").split("\n");
  const named = rows.flatMap((row) => (row.startsWith("| `") ? [...(row.split(" | ")[0] ?? "").matchAll(/`(\w+)`/g)] : []));
  const documented = new Set(named.map(([, name = ""]) => name));
  expect(shown.filter((name) => !documented.has(name))).toEqual([]);
  const glob = new Bun.Glob("src/**/*.ts");
  const sources: string[] = [];
  for await (const path of glob.scan(join(import.meta.dir, "../..")))
    sources.push(readFileSync(join(import.meta.dir, "../..", path), "utf8"));
  const all = sources.join("\n") + text;
  const made = /^greptime_(?:servers_(?:mysql|postgres)_|frontend_otlp_|servers_http_otlp_)|^varve_(?:mysql|postgres)_/;
  expect([...documented].filter((name) => !made.test(name) && !all.includes(name))).toEqual([]);
});
