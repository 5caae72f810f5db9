/** Pipelines through a real server, as the contract shows tables: names, the built-in one, indexes, version 2, auto-transform. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { KEPT_MS } from "../../src/db/pipelines/limits.ts";
import { IN_CLUSTER } from "../support/cluster/standalone.ts";
import { type Cell, execute, queryRows } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(async () => {
  await server.end();
});

type Headers = Readonly<Record<string, string>>;
const JSON_TYPE = { "content-type": "application/json" };

async function post(path: string, body: string | readonly unknown[], headers: Headers = JSON_TYPE): Promise<readonly [number, unknown]> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`${server.url}/v1/${path}`, { method: "POST", body: text, headers: { ...headers } });
  return [response.status, await response.json()];
}

async function store(name: string, yaml: string): Promise<string> {
  const [status, answer] = await post(`pipelines/${name}`, yaml, { "content-type": "application/x-yaml" });
  expect([name, status, answer]).toEqual([name, 200, expect.anything()]);
  return (answer as { pipelines: { version: string }[] }).pipelines[0]?.version ?? "";
}

function wrote(rows: number): readonly [number, unknown] {
  return [200, { output: [{ affectedrows: rows }], execution_time_ms: expect.any(Number) }];
}

/** Columns of a table with their types, as SHOW CREATE TABLE has them. */
async function columnsOf(table: string): Promise<readonly string[]> {
  const ddl = String((await queryRows(server.url, `SHOW CREATE TABLE "${table}"`)).rows[0]?.[1]);
  return [...ddl.matchAll(/^ {2}"([^"]+)" (.*?)(?: NULL| NOT NULL)/gm)].map(([, name, type]) => `${name} ${type}`);
}

async function checkRows(sql: string, want: readonly (readonly Cell[])[], database = "public"): Promise<void> {
  expect((await queryRows(server.url, sql, { query: { db: database } })).rows).toEqual(want);
}

const TIMED = (type: string): string => `
transform:
  - field: v
    type: ${type}
  - field: ts
    type: epoch, s
    index: timestamp
`;

describe("the name of a pipeline", () => {
  test("comes from the new header, else the old one, else the query", async () => {
    await store("named", TIMED("int32"));
    const rows = [{ v: 1, ts: 1 }];
    const none = "nobody";
    const path = "ingest?table=named_rows";
    expect(await post(path, rows, { ...JSON_TYPE, "x-greptime-pipeline-name": "named" })).toEqual(wrote(1));
    expect(await post(path, rows, { ...JSON_TYPE, "x-greptime-log-pipeline-name": "named" })).toEqual(wrote(1));
    expect(await post(`${path}&pipeline_name=${none}`, rows, { ...JSON_TYPE, "x-greptime-pipeline-name": "named" })).toEqual(wrote(1));
    const both = { ...JSON_TYPE, "x-greptime-pipeline-name": "named", "x-greptime-log-pipeline-name": none };
    expect(await post(path, rows, both)).toEqual(wrote(1));
    expect(await post(`${path}&pipeline_name=named`, rows, { ...JSON_TYPE, "x-greptime-pipeline-name": none })).toEqual([
      400,
      { error: `Pipeline not found, name: ${none}, version: latest` },
    ]);
    expect(await post(path, rows)).toEqual([400, { error: "Invalid request parameter: pipeline_name is required" }]);
    await checkRows("SELECT count(*) FROM named_rows", [[4]]);
  });

  test("is known in every database, until it is removed", async () => {
    await execute(server.url, "CREATE DATABASE elsewhere");
    const version = await store("shared", TIMED("int64"));
    expect(await post("ingest?db=elsewhere&table=t&pipeline_name=shared", [{ v: 1, ts: 1 }])).toEqual(wrote(1));
    await checkRows("SELECT v FROM t", [[1]], "elsewhere");
    await checkRows("SELECT name, content_type FROM greptime_private.pipelines WHERE name = 'shared'", [["shared", "yaml"]]);
    const removed = await fetch(`${server.url}/v1/pipelines/shared?version=${encodeURIComponent(version)}`, { method: "DELETE" });
    expect(removed.status).toBe(200);
    if (IN_CLUSTER) await Bun.sleep(KEPT_MS); // For so long the other frontend believes what it knows.
    expect((await post("ingest?table=t&pipeline_name=shared", [{ v: 1, ts: 1 }]))[0]).toBe(400);
  });
});

describe("the built-in pipeline", () => {
  const ingest = (table: string, rows: readonly unknown[], query = ""): Promise<readonly [number, unknown]> =>
    post(`ingest?pipeline_name=greptime_identity&table=${table}${query}`, rows);

  test("makes columns in the order of their names, those of later rows behind", async () => {
    const rows = [
      { int_val: 42, str_val: "a" },
      { int_val: 2, float_val: 1.5, bool_val: true },
      { str_val: "b", array_val: [1, 2], nested_obj: { key: "x" } },
    ];
    expect(await ingest("unions", rows)).toEqual(wrote(3));
    expect(await columnsOf("unions")).toEqual([
      "greptime_timestamp TIMESTAMP(9)",
      "int_val BIGINT",
      "str_val STRING",
      "bool_val BOOLEAN",
      "float_val DOUBLE",
      "array_val STRING",
      "nested_obj.key STRING",
    ]);
    await checkRows(
      'SELECT int_val, str_val, bool_val, float_val, array_val, "nested_obj.key" FROM unions ORDER BY int_val DESC NULLS LAST',
      [
        [42, "a", null, null, null, null],
        [2, null, true, 1.5, null, null],
        [null, "b", null, null, "[1,2]", "x"],
      ],
    );
  });

  test("keeps a row of nothing but nulls, and makes no column of them", async () => {
    const full = {
      null_col: null,
      int_col: 42,
      float_col: 3.1,
      bool_col: true,
      str_col: "hello",
      array_col: [1, 2, 3],
      obj_col: { nested: "value" },
    };
    expect(await ingest("nulls", [{ null_col: null }, full])).toEqual(wrote(2));
    expect(await columnsOf("nulls")).toEqual([
      "greptime_timestamp TIMESTAMP(9)",
      "array_col STRING",
      "bool_col BOOLEAN",
      "float_col DOUBLE",
      "int_col BIGINT",
      "obj_col.nested STRING",
      "str_col STRING",
    ]);
    await checkRows("SELECT count(*), count(int_col) FROM nulls", [[2, 1]]);
  });

  test("flattens objects as deep as it may, arrays never", async () => {
    const row = { a: { b: { c: 1 } }, list: [{ x: 1 }], d: { e: "f" } };
    expect(await ingest("flat", [row])).toEqual(wrote(1));
    await checkRows('SELECT "a.b.c", list, "d.e" FROM flat', [[1, '[{"x":1}]', "f"]]);
    const path = "ingest?pipeline_name=greptime_identity&table=flat2";
    expect(await post(path, [row], { ...JSON_TYPE, "x-greptime-pipeline-params": "max_nested_levels=2" })).toEqual(wrote(1));
    await checkRows('SELECT "a.b", "d.e" FROM flat2', [['{"c":1}', "f"]]);
  });

  test("takes its time from a field, as a number or as a text", async () => {
    expect(await ingest("by_epoch", [{ ts: 1453809242, v: 1 }], "&custom_time_index=ts;epoch;s")).toEqual(wrote(1));
    expect(await columnsOf("by_epoch")).toEqual(["ts TIMESTAMP(0)", "v BIGINT"]);
    await checkRows("SELECT ts, v FROM by_epoch", [[1453809242, 1]]);
    const text = `&custom_time_index=${encodeURIComponent("ts;datestr;%Y-%m-%d %H:%M:%S%z")}`;
    expect(await ingest("by_text", [{ ts: "2019-01-16 02:42:01+08:00", v: 1 }], text)).toEqual(wrote(1));
    expect(await columnsOf("by_text")).toEqual(["ts TIMESTAMP(9)", "v BIGINT"]);
    await checkRows("SELECT ts FROM by_text", [[1547577721000000000n]]);
    expect((await ingest("by_text", [{ ts: "soon" }], text))[0]).toBe(400);
    expect(await ingest("by_text", [{ ts: "soon", v: 2 }], `${text}&ignore_errors=true`)).toEqual(wrote(1));
    expect(await ingest("t", [{ ts: 1 }], "&custom_time_index=ts;epoch")).toEqual([
      400,
      { error: expect.stringMatching(/^Invalid custom time index config: ts;epoch, reason: /) },
    ]);
  });
});

describe("a stored pipeline", () => {
  test("has its indexes, with their options, in the table that it makes", async () => {
    await store(
      "indexed",
      `
transform:
  - field: type
    type: string
    index: skipping
    tag: true
  - field: log
    type: string
    tag: true
    index:
      type: fulltext
      options:
        analyzer: Chinese
        case_sensitive: true
        backend: bloom
        granularity: 2048
        false_positive_rate: 0.02
  - field: id
    type: int32
    index: inverted
  - field: ts
    type: epoch, ms
    index: timestamp
`,
    );
    expect(await post("ingest?table=indexed&pipeline_name=indexed", [{ type: "I", log: "x", id: 1, ts: 1 }])).toEqual(wrote(1));
    const ddl = String((await queryRows(server.url, "SHOW CREATE TABLE indexed")).rows[0]?.[1]);
    for (const part of [
      `"type" STRING NULL SKIPPING INDEX WITH(false_positive_rate = '0.01', granularity = '10240', type = 'BLOOM')`,
      `"log" STRING NULL FULLTEXT INDEX WITH(analyzer = 'Chinese', backend = 'bloom', case_sensitive = 'true', `,
      "false_positive_rate = '0.02', granularity = '2048')",
      '"id" INT NULL INVERTED INDEX',
      'TIME INDEX ("ts")',
      'PRIMARY KEY ("type", "log")',
      "append_mode = 'true'",
    ]) {
      expect(ddl).toContain(part);
    }
  });

  test("of version 2 keeps the fields that no transform takes", async () => {
    await store("second", `version: 2\n${TIMED("int32").trimStart()}`);
    expect(await post("ingest?table=second&pipeline_name=second", [{ v: 1, ts: 5, id2: "2436", b: true }])).toEqual(wrote(1));
    expect(await columnsOf("second")).toEqual(["v INT", "ts TIMESTAMP(0)", "b BOOLEAN", "id2 STRING"]);
    await checkRows("SELECT v, ts, b, id2 FROM second", [[1, 5, true, "2436"]]);
    await store("first", TIMED("int32"));
    expect(await post("ingest?table=first&pipeline_name=first", [{ v: 1, ts: 5, id2: "2436" }])).toEqual(wrote(1));
    expect(await columnsOf("first")).toEqual(["v INT", "ts TIMESTAMP(0)"]);
  });

  test("without a transform has its time first and the rest by name; select chooses and renames", async () => {
    const date = `
  - date:
      field: ts
      formats:
        - "%Y-%m-%d %H:%M:%S%.3f"
`;
    const dissect = `
processors:
  - dissect:
      field: message
      pattern: '%{+ts} %{+ts} %{http_status_code} %{content}'${date}`;
    await store("auto", dissect);
    const line = "2024-05-25 20:16:37.217 404 hello";
    expect(await post("ingest?table=auto&pipeline_name=auto", line, { "content-type": "text/plain" })).toEqual(wrote(1));
    expect(await columnsOf("auto")).toEqual(["ts TIMESTAMP(9)", "content STRING", "http_status_code STRING", "message STRING"]);
    await checkRows("SELECT * FROM auto", [[1716668197217000000n, "hello", "404", line]]);
    await store(
      "chosen",
      `${dissect}  - select:\n      fields:\n        - ts\n        - key: http_status_code\n          rename_to: code\n`,
    );
    await post("ingest?table=chosen&pipeline_name=chosen", line, { "content-type": "text/plain" });
    expect(await columnsOf("chosen")).toEqual(["ts TIMESTAMP(9)", "code STRING"]);
    await store("left", `${dissect}  - select:\n      type: exclude\n      fields:\n        - message\n        - content\n`);
    await post("ingest?table=left_over&pipeline_name=left", line, { "content-type": "text/plain" });
    expect(await columnsOf("left_over")).toEqual(["ts TIMESTAMP(9)", "http_status_code STRING"]);
  });

  test("leaves out rows that a filter names", async () => {
    await store(
      "filtered",
      `processors:\n  - filter:\n      field: name\n      match_op: in\n      targets:\n        - John${TIMED("int32")}`,
    );
    const rows = [
      { name: "john", v: 1, ts: 1 },
      { name: "jane", v: 2, ts: 2 },
    ];
    expect(await post("ingest?table=filtered&pipeline_name=filtered", rows)).toEqual(wrote(1));
    await checkRows("SELECT v FROM filtered", [[2]]);
  });
});

test("Splunk takes gzip; the fields of later events make the key longer", async () => {
  const send = async (events: string): Promise<unknown> => {
    const response = await fetch(`${server.url}/v1/splunk/services/collector`, {
      method: "POST",
      body: Bun.gzipSync(Buffer.from(events)),
      headers: { "content-encoding": "gzip" },
    });
    return [response.status, await response.json()];
  };
  expect(await send('{"event":"a","host":"h","source":"s","sourcetype":"t","fields":{"env":"prod"},"index":"my index"}')).toEqual([
    200,
    { text: "Success", code: 0 },
  ]);
  expect(await send('{"event":"b","host":"h","fields":{"zone":"z"},"index":"my index"}')).toEqual([200, { text: "Success", code: 0 }]);
  const ddl = String((await queryRows(server.url, "SHOW CREATE TABLE my_index")).rows[0]?.[1]);
  expect(ddl).toContain('PRIMARY KEY ("host", "source", "sourcetype", "env", "zone")');
  await checkRows("SELECT event, env, zone FROM my_index ORDER BY event", [
    ["a", "prod", null],
    ["b", null, "z"],
  ]);
});
