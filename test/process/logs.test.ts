/** Logs through a running server: pipelines are stored and used, bodies of every kind become rows, and SQL reads them back. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Cell, queryRows } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

const USER = "client";
const PASSWORD = "s3cret";
const AUTHORIZATION = `Basic ${btoa(`${USER}:${PASSWORD}`)}`;
const HEADERS = { authorization: AUTHORIZATION };

const DISSECT = `
processors:
  - dissect:
      fields:
        - message
      patterns:
        - '%{+ts} %{+ts} %{http_status_code} %{content}'
  - date:
      fields:
        - ts
      formats:
        - "%Y-%m-%d %H:%M:%S%.3f"
`;
const TRANSFORM = `
processors:
  - date:
      field: time
      formats:
        - "%Y-%m-%d %H:%M:%S%.3f"
      ignore_missing: true
transform:
  - fields:
      - id1
      - id2
    type: int32
  - field: type
    type: string
    index: skipping
    tag: true
  - field: log
    type: string
    index: fulltext
    tag: true
  - field: time
    type: time
    index: timestamp
`;

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ flags: ["--user-provider", `static_user_provider:cmd:${USER}=${PASSWORD}`] });
});
afterAll(async () => {
  await server.end();
});

async function post(path: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<readonly [number, unknown]> {
  const response = await fetch(`${server.url}/v1/${path}`, { method: "POST", body, headers: { ...HEADERS, ...headers } });
  return [response.status, parsed(await response.text())];
}

async function request(method: string, path: string): Promise<readonly [number, unknown]> {
  const response = await fetch(`${server.url}/v1/${path}`, { method, headers: HEADERS });
  return [response.status, parsed(await response.text())];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const JSON_TYPE = { "content-type": "application/json" };
const YAML = { "content-type": "application/x-yaml" };
const TEXT = { "content-type": "text/plain" };

async function store(name: string, yaml: string): Promise<string> {
  const [status, answer] = await post(`pipelines/${name}`, yaml, YAML);
  expect([status, answer]).toEqual([200, { pipelines: [{ name, version: expect.any(String) }], execution_time_ms: expect.any(Number) }]);
  return (answer as { pipelines: { version: string }[] }).pipelines[0]?.version ?? "";
}

async function check(sql: string, want: readonly (readonly Cell[])[]): Promise<void> {
  expect((await queryRows(server.url, sql, { headers: HEADERS })).rows).toEqual(want);
}

function wrote(...rows: readonly number[]): readonly [number, unknown] {
  return [200, { output: rows.map((affectedrows) => ({ affectedrows })), execution_time_ms: expect.any(Number) }];
}

describe("/v1/ingest", () => {
  test("the identity makes a column of every field, in JSON, NDJSON and text", async () => {
    const rows = '[{"int_val":1,"str_val":"a"},{"int_val":2,"float_val":1.5,"bool_val":true}]{"nested":{"key":"x"},"list":[1,2]}';
    expect(await post("ingest?table=identity&pipeline_name=greptime_identity", rows, JSON_TYPE)).toEqual(wrote(3));
    await check('SELECT int_val, str_val, bool_val, float_val, list, "nested.key" FROM identity ORDER BY int_val', [
      [1, "a", null, null, null, null],
      [2, null, true, 1.5, null, null],
      [null, null, null, null, "[1,2]", "x"],
    ]);
    const lines = '{"a":1}\n\n{"a":2}\r\n';
    expect(
      await post("events/logs?table=lines&pipeline_name=greptime_identity", lines, { "content-type": "application/x-ndjson" }),
    ).toEqual(wrote(2));
    expect(await post("ingest?table=texts", "one\n\ntwo", { ...TEXT, "x-greptime-pipeline-name": "greptime_identity" })).toEqual(wrote(2));
    await check("SELECT message FROM texts ORDER BY message", [["one"], ["two"]]);
  });

  test("a pipeline is stored, shown, used by version, and removed", async () => {
    const version = await store("life", DISSECT);
    expect(version).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.(?:\d{3}){1,3})?$/);
    const [, shown] = await request("GET", "pipelines/life");
    expect(shown).toMatchObject({ pipelines: [{ name: "life", version, pipeline: DISSECT }] });
    expect(
      await post(
        "ingest?table=dissected&pipeline_name=life",
        "2024-05-25 20:16:37.217 404 hello\n2024-05-25 20:16:38.217 200 hello world",
        TEXT,
      ),
    ).toEqual(wrote(2));
    await check("SELECT ts, content, http_status_code FROM dissected ORDER BY ts", [
      [1716668197217000000n, "hello", "404"],
      [1716668198217000000n, "hello world", "200"],
    ]);
    await store("life", TRANSFORM);
    const at = encodeURIComponent(version);
    expect(await post(`ingest?table=dissected&pipeline_name=life&version=${at}`, "2024-05-25 20:16:39.217 500 x", TEXT)).toEqual(wrote(1));
    expect(await request("DELETE", `pipelines/life?version=${at}`)).toMatchObject([200, { pipelines: [{ name: "life", version }] }]);
    expect(await request("DELETE", `pipelines/life?version=${at}`)).toMatchObject([200, { pipelines: [] }]);
    expect(await request("GET", `pipelines/life?version=${at}`)).toEqual([
      400,
      { error: `Pipeline not found, name: life, version: ${version}` },
    ]);
    expect(await request("GET", "pipelines/life")).toMatchObject([200, { pipelines: [{ pipeline: TRANSFORM }] }]);
    expect(await request("DELETE", "pipelines/life")).toEqual([400, { error: "Invalid request parameter: version is required" }]);
    expect(await request("GET", "pipelines/life?version=soon")).toEqual([400, { error: "Invalid pipeline version format: soon" }]);
  });

  test("skip_error keeps the good rows, without it nothing is written", async () => {
    await store("skipping", TRANSFORM);
    const rows = JSON.stringify([
      { id1: 1, id2: 2, type: "I", log: "good", time: "2024-05-25 20:16:37.217" },
      { id1: 1, id2: 2, type: "I", log: "bad", time: "2024-05-25" },
      { id1: 1, id2: 2, type: "I", log: "none" },
    ]);
    const path = "ingest?table=skipped&pipeline_name=skipping";
    expect((await post(path, rows, JSON_TYPE))[0]).toBe(400);
    expect(await post(`${path}&skip_error=true`, rows, JSON_TYPE)).toEqual(wrote(1));
    expect((await post(`${path}&skip_error=true`, rows, { ...JSON_TYPE, "x-greptime-pipeline-params": "skip_error=false" }))[0]).toBe(400);
    expect(await post(path, rows, { ...JSON_TYPE, "x-greptime-pipeline-params": "skip_error=true" })).toEqual(wrote(1));
    await check("SELECT count(*) FROM skipped", [[2]]);
    const [, ddl] = await request("GET", "pipelines/skipping/ddl?table=fresh");
    const { sql } = (ddl as { sql: { sql: string; message?: string } }).sql as unknown as { sql: string };
    expect(sql).toContain("CREATE TABLE IF NOT EXISTS `fresh` (\n  `id1` INT NULL,\n");
    expect(sql).toContain("PRIMARY KEY (`type`, `log`)");
    expect(sql).toContain("append_mode = 'true'");
    const [, again] = await request("GET", "pipelines/skipping/ddl?table=skipped");
    expect(again).toMatchObject({ sql: { message: "table already exists, the CREATE TABLE SQL may be different" } });
  });

  test.each([
    ["ingest?pipeline_name=greptime_identity", "{}", JSON_TYPE, 400, "Invalid request parameter: table is required"],
    ["ingest?table=t", "{}", JSON_TYPE, 400, "Invalid request parameter: pipeline_name is required"],
    ["ingest?table=t&pipeline_name=nobody", "{}", JSON_TYPE, 400, "Pipeline not found, name: nobody, version: latest"],
    ["ingest?table=t&pipeline_name=greptime_identity", "1", JSON_TYPE, 400, /json format error/],
    ["ingest?table=t&pipeline_name=greptime_identity", '{"a":', JSON_TYPE, 400, /^Failed to parse payload as json: .* at line 1 column 6$/],
    ["ingest?table=t&pipeline_name=greptime_identity", '{"a":'.repeat(1000), JSON_TYPE, 400, /nested deeper than 128 levels/],
    [
      "ingest?table=t&pipeline_name=greptime_identity",
      "{}",
      { "content-type": "text/csv" },
      400,
      /invalid content type: text\/csv, expected: one of/,
    ],
    [
      "ingest?table=a%0Ab&pipeline_name=greptime_identity",
      '{"a":1}',
      JSON_TYPE,
      400,
      "Invalid table name: a b: it holds a control character",
    ],
    ["pipelines/greptime_x", DISSECT, YAML, 400, "Invalid request parameter: pipeline_name cannot start with greptime_"],
    ["pipelines/empty", "", YAML, 400, "Invalid request parameter: pipeline is required in body"],
    ["pipelines/broken", "processors: [", YAML, 400, /^Yaml load error\./],
  ] as const)("refuses POST /v1/%s of %p", async (path, body, headers, status, error) => {
    const [got, answer] = await post(path, body, headers);
    expect([got, answer]).toEqual([status, { error: typeof error === "string" ? error : expect.stringMatching(error) }]);
  });
});

describe("the dry run", () => {
  const data = '{"id1":"1","id2":2,"type":"I","log":"x","time":"2024-05-25 20:16:37.217"}';
  const time = { value: 1716668197217000000, key: "time", semantic_type: "TIMESTAMP", data_type: "TIMESTAMP_NANOSECOND" };

  test("takes a stored pipeline or one in the body, and writes nothing", async () => {
    await store("trial", TRANSFORM);
    const want = [
      {
        schema: expect.arrayContaining([
          { name: "id1", data_type: "INT32", column_type: "FIELD", fulltext: false },
          { name: "log", data_type: "STRING", column_type: "TAG", fulltext: true },
        ]),
        rows: [expect.arrayContaining([{ value: 1, key: "id1", semantic_type: "FIELD", data_type: "INT32" }, time])],
        table_name: "dry_run",
      },
    ];
    const inline = JSON.stringify({ pipeline: TRANSFORM, data });
    for (const path of ["pipelines/_dryrun", "pipelines/dryrun", "events/pipelines/dryrun"])
      expect(await post(path, inline, JSON_TYPE)).toEqual([200, want]);
    expect(await post("pipelines/_dryrun", JSON.stringify({ pipeline_name: "trial", data }), JSON_TYPE)).toEqual([200, want]);
    expect(await post("pipelines/_dryrun?pipeline_name=trial", data, JSON_TYPE)).toEqual([200, want]);
  });

  test("says which step of an inline pipeline failed", async () => {
    const [status, broken] = await post("pipelines/_dryrun", JSON.stringify({ pipeline: "processors: [", data }), JSON_TYPE);
    expect([status, broken]).toEqual([400, { error: expect.stringMatching(/^Failed to build pipeline: /) }]);
    const [, failed] = await post("pipelines/_dryrun", JSON.stringify({ pipeline: TRANSFORM, data: '{"time":"x"}' }), JSON_TYPE);
    expect(failed).toEqual({ error: expect.stringMatching(/^Failed to exec pipeline: /) });
    const list = JSON.stringify({ pipeline: TRANSFORM, data: [1] });
    expect(await post("pipelines/_dryrun", list, JSON_TYPE)).toEqual([
      400,
      { error: "Invalid request parameter: pipeline_name is required" },
    ]);
    expect((await post("pipelines/_dryrun?pipeline_name=trial", `${data}\n`.repeat(11), JSON_TYPE))[0]).toBe(400);
  });
});

describe("Splunk", () => {
  const splunk = { authorization: `Splunk ${USER}:${PASSWORD}` };

  test("health is public, the rest needs a token", async () => {
    const health = await fetch(`${server.url}/v1/splunk/services/collector/health/1.0?x=1`);
    expect([health.status, await health.json()]).toEqual([200, { text: "HEC is healthy", code: 17 }]);
    const bare = await fetch(`${server.url}/v1/splunk/services/collector/event`, { method: "POST", body: "{}" });
    expect([bare.status, await bare.json()]).toEqual([401, { text: "Token is required", code: 2 }]);
    const path = "splunk/services/collector/event";
    expect(await post(path, "{}", { authorization: "Splunk a:b" })).toEqual([403, { text: "Invalid token", code: 4 }]);
  });

  test("events become rows with host, source and sourcetype as the key", async () => {
    const body =
      '{"event":"one","time":1700000000.5,"host":"h","source":"s","sourcetype":"t","fields":{"env":"prod"}}' +
      '{"event":{"a":1},"time":"1700000001000","host":"i"}';
    expect(await post("splunk/services/collector/event", body, splunk)).toEqual([200, { text: "Success", code: 0 }]);
    await check('SELECT greptime_timestamp, host, source, sourcetype, env, event, "event.a" FROM splunk_logs ORDER BY host', [
      [1700000000500000000n, "h", "s", "t", "prod", "one", null],
      [1700000001000000000n, "i", null, null, null, null, 1],
    ]);
    const [[, ddl] = []] = (await queryRows(server.url, "SHOW CREATE TABLE splunk_logs", { headers: HEADERS })).rows;
    expect(ddl).toContain('PRIMARY KEY ("host", "source", "sourcetype", "env")');
  });

  test("raw text is one event, or one a piece", async () => {
    const raw = "splunk/services/collector/raw?host=h&table=raw_logs";
    expect(await post(raw, "a\nb", splunk)).toEqual([200, { text: "Success", code: 0 }]);
    expect(await post(`${raw}&linebreaker=%0A&time=1`, "c\n\nd\n", splunk)).toEqual([200, { text: "Success", code: 0 }]);
    await check("SELECT message, host FROM raw_logs ORDER BY message", [
      ["a\nb", "h"],
      ["c", "h"],
      ["d", "h"],
    ]);
  });

  test.each([
    ["event", "", 5],
    ["event", "{", 6],
    ["event", "[1]", 6],
    ["event", '{"host":"h"}', 12],
    ["event", '{"event":" "}', 13],
    ["event", '{"event":"x","time":"soon"}', 6],
    ["event?table=a%0Ab", '{"event":"x"}', 7],
    ["raw", "\n", 5],
  ])("POST %s of %p is refused with code %d", async (path, body, code) => {
    expect(await post(`splunk/services/collector/${path}`, body, splunk)).toEqual([400, { text: expect.any(String), code }]);
  });
});
