/**
 * What is wrong with a request is its sender's: 4xx, whoever finds it. No statement and no body of these tables may be answered with 5xx,
 * and none may be written down as a failure inside the server.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestServer } from "../support/server-process.ts";

const TEST_MS_MAX = 120_000;
const LONG = "x".repeat(300);
const LONGER = "x".repeat(5000);

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
  await sql("CREATE TABLE t (host STRING, ts TIMESTAMP TIME INDEX, v DOUBLE, s STRING, PRIMARY KEY (host))");
  await sql("INSERT INTO t VALUES ('a', 1000, 1.5, 'x'), ('b', 2000, 2.5, 'y')");
});
afterAll(async () => {
  expect(server.log()).not.toContain("failed inside the server");
  await server.end();
});

async function post(path: string, body: string | Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>>): Promise<string> {
  const response = await fetch(server.url + path, { method: "POST", body, headers });
  return `${response.status} ${(await response.text()).slice(0, 200)}`;
}

async function sql(text: string): Promise<string> {
  return post("/v1/sql", new URLSearchParams({ sql: text }).toString(), { "content-type": "application/x-www-form-urlencoded" });
}

const s3 = (endpoint: string): string =>
  `COPY t TO 's3://b/k' CONNECTION (endpoint = '${endpoint}', region = 'x', access_key_id = 'a', secret_access_key = 'b')`;

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  "names of files": [
    ...[LONG, `${LONG}.parquet`, `/${LONGER}/x`, ".", "..", "", "/", "a\0b"].map((name) => `COPY t TO '${name}'`),
    ...[LONG, LONGER, ".", "file:///etc/passwd", "%00", `${LONG}/`].map((name) => `COPY t FROM '${name}'`),
    `COPY DATABASE public FROM '${LONG}/'`,
    `COPY DATABASE public TO '${LONG}/'`,
    `CREATE EXTERNAL TABLE e WITH (location = '${LONG}', format = 'csv')`,
    `CREATE EXTERNAL TABLE e WITH (location = '/nope/${LONGER}', format = 'parquet')`,
  ],
  endpoints: ["file:///etc/passwd", "::::", "ftp://x", "http://[::1", "data:text/plain,x", "", "http://", LONGER].map(s3),
  "options of COPY": [
    "COPY t FROM 'x' WITH (pattern = '(')",
    "COPY t FROM './' WITH (pattern = '*(')",
    "COPY t TO 'x' WITH (format = 'nope')",
    "COPY t TO 'x.csv' WITH (format = 'csv', compression_type = 'nope')",
  ],
  "regular expressions": [
    ...["(", "[", "*", "a{100000}", "(?P<n", "(".repeat(2000)].map((pattern) => `SELECT s ~ '${pattern}' FROM t`),
    "SELECT regexp_match(s, '(') FROM t",
    "SELECT regexp_replace(s, '[', 'x') FROM t",
    "SELECT s ~ s || '(' FROM t",
  ],
  casts: [
    ...["BIGINT", "TIMESTAMP", "DATE", "BOOLEAN", "INTERVAL", "DECIMAL(99,1)", "NOPE"].map((type) => `SELECT CAST('x' AS ${type})`),
    "SELECT CAST(s AS DOUBLE) FROM t",
    "SELECT CAST(1e300 AS BIGINT)",
    `SELECT '${"9".repeat(1000)}'::BIGINT`,
    "SELECT sum(s) FROM t",
  ],
  times: [
    "SELECT TIMESTAMP '99999-99-99'",
    "SELECT DATE '0000-00-00'",
    "SELECT to_timestamp('x')",
    "SELECT to_timestamp(1e30)",
    "SELECT '2020-01-01 00:00:00+99:99'::TIMESTAMP",
    `SELECT '${"9".repeat(100)}'::TIMESTAMP`,
    "SELECT date_part('nope', ts) FROM t",
    "SELECT date_trunc('nope', ts) FROM t",
    "SELECT date_bin('0 seconds'::interval, ts) FROM t",
    "SELECT date_format(ts, '%Q') FROM t",
    "SELECT to_char(ts, '%') FROM t",
    `SELECT date_format(ts, '${"%Y".repeat(10_000)}') FROM t`,
    `SELECT to_timestamp('x', '${"%f".repeat(1000)}')`,
    "SELECT ts::TIMESTAMP(9) + INTERVAL '400 years' FROM t",
    "SELECT max(v) RANGE '0s' FROM t ALIGN '0s'",
    "SELECT max(v) RANGE '5s' FROM t ALIGN '5s' TO 'zz'",
  ],
  values: [
    "SELECT 1 / 0",
    "SELECT 9223372036854775807 + 1",
    "SELECT repeat('x', 1000000000)",
    "SELECT chr(-1)",
    "SELECT split_part('a', 'b', 0)",
    "SELECT decode('zz', 'hex')",
    "SELECT encode('x', 'nope')",
    "SELECT range(0, 10, 0)",
    "SELECT generate_series(1, 9223372036854775807)",
    "SELECT array_repeat(1, 10000000000)",
    "SELECT map([1], [2, 3])",
    "SELECT parse_json('{')",
    "SELECT json_path_match('{}', '$$[')",
    "SELECT geohash(999, 999, 99)",
    "SELECT vec_dot_product('[1]', '[1,2]')",
    "SELECT (SELECT v FROM t)",
    "SELECT v FROM t LIMIT 99999999999999999999999",
    "SELECT approx_percentile_cont(v, 2) FROM t",
    "SELECT ntile(0) OVER () FROM t",
    "SELECT $1",
  ],
  "names and options of tables": [
    "SELECT * FROM nope",
    `SELECT "${LONGER}" FROM t`,
    `CREATE DATABASE "${LONGER}"`,
    `CREATE TABLE "${LONGER}" (ts TIMESTAMP TIME INDEX)`,
    "CREATE TABLE x (ts TIMESTAMP TIME INDEX) WITH (ttl = 'zzz')",
    "CREATE TABLE x (ts TIMESTAMP TIME INDEX) WITH (nope = '1')",
    "CREATE TABLE x (ts TIMESTAMP TIME INDEX, v INT DEFAULT 'x')",
    "CREATE TABLE x (ts TIMESTAMP TIME INDEX, v STRING FULLTEXT INDEX WITH (analyzer = 'zz'))",
    "ADMIN nope()",
    "SET time_zone = 'Nope'",
    "",
    "'",
    "/*",
  ],
};

test.each(Object.keys(REFUSED))(
  "statements that are wrong in %s are refused with 4xx",
  async (kind) => {
    const answers = await Promise.all((REFUSED[kind] ?? []).map(async (text) => [text.slice(0, 80), await sql(text)] as const));
    expect(answers.filter(([, answer]) => !answer.startsWith("4"))).toEqual([]);
  },
  TEST_MS_MAX,
);

const encoder = new TextEncoder();
const BODIES: readonly (string | Uint8Array<ArrayBuffer>)[] = [
  '"C"',
  '"C"\n"D"',
  "1",
  "null",
  "true",
  "[]",
  "[1]",
  '["a"]',
  "[[]]",
  "{",
  "{}",
  '{"a":',
  '{"a":1e999}',
  '{"__proto__":1}',
  "\0",
  "a,b\n1",
  `"${LONGER}"`,
  `{"${LONGER}":1}`,
  '{"ts":"x"}',
  "9".repeat(100_000),
  "[".repeat(100_000),
  '{"a":'.repeat(50_000),
  new Uint8Array([0xff, 0xfe]),
  encoder.encode("\x1f\x8b\x08"),
];
const JSON_TYPE = { "content-type": "application/json" };
const PROTO = { "content-type": "application/x-protobuf" };
const SPLUNK = { authorization: "Splunk a:b" };
const INGEST = "/v1/ingest?db=public&table=lg&pipeline_name";
const DOORS: readonly (readonly [path: string, headers: Readonly<Record<string, string>>])[] = [
  ...["application/x-ndjson", "application/json", "text/plain"].map(
    (type) => [`${INGEST}=greptime_identity`, { "content-type": type }] as const,
  ),
  [`${INGEST}=nope`, JSON_TYPE],
  [`${INGEST}=${LONGER}`, JSON_TYPE],
  [`${INGEST}=greptime_identity&version=zz`, JSON_TYPE],
  [`${INGEST}=greptime_identity&custom_time_index=ts;datestr;%25`, JSON_TYPE],
  [`/v1/ingest?db=public&table=${LONG}&pipeline_name=greptime_identity`, JSON_TYPE],
  ["/v1/elasticsearch/_bulk", {}],
  ["/v1/elasticsearch/x/_bulk", {}],
  ["/v1/loki/api/v1/push", JSON_TYPE],
  ["/v1/loki/api/v1/push", PROTO],
  ["/v1/opentsdb/api/put", {}],
  ["/v1/opentsdb/api/put?details", {}],
  ["/v1/influxdb/write?db=public", {}],
  ["/v1/influxdb/api/v2/write?bucket=public", {}],
  ...["gzip", "zstd", "br", "deflate"].map((coding) => ["/v1/influxdb/write?db=public", { "content-encoding": coding }] as const),
  ["/v1/prometheus/write", {}],
  ["/v1/prometheus/read", {}],
  ["/v1/prometheus/api/v1/format_query", { "content-type": "application/x-www-form-urlencoded" }],
  ["/v1/prometheus/api/v1/parse_query?query=%5B", { "content-type": "application/x-www-form-urlencoded" }],
  ...["metrics", "logs", "traces"].flatMap((signal) => [
    [`/v1/otlp/v1/${signal}`, JSON_TYPE] as const,
    [`/v1/otlp/v1/${signal}`, PROTO] as const,
  ]),
  ["/v1/otlp/v1/logs", { ...PROTO, "x-greptime-pipeline-name": "greptime_identity" }],
  ["/v1/splunk/services/collector/event", SPLUNK],
  ["/v1/splunk/services/collector/raw", SPLUNK],
  ["/v1/pipelines/x", {}],
  [`/v1/pipelines/${LONG}`, {}],
  ["/v1/pipelines/_dryrun", JSON_TYPE],
  ["/debug/log_level", {}],
];

test(
  "bodies that are none of their door's are never answered with 5xx",
  async () => {
    const wrong: (readonly [string, string, string])[] = [];
    for (const [path, headers] of DOORS) {
      for (const body of BODIES) {
        const answer = await post(path, body, headers);
        if (answer.startsWith("5")) wrong.push([path.slice(0, 80), String(body).slice(0, 30), answer]);
      }
    }
    expect(wrong).toEqual([]);
  },
  TEST_MS_MAX,
);
