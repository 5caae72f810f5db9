/** What pipelines decide about rows and tables, through a running server: dispatch, names of tables, hints, programs, versions, errors. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { KEPT_MS } from "../../src/db/pipelines/limits.ts";
import { IN_CLUSTER } from "../support/cluster/standalone.ts";
import { type Cell, queryRows } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

const JSON_TYPE = { "content-type": "application/json" };
const NDJSON = { "content-type": "application/x-ndjson" };
const TEXT = { "content-type": "text/plain" };
const YAML = { "content-type": "application/x-yaml" };
const MIB = 1024 * 1024;

const EPOCH = `
processors:
  - epoch:
      field: at
      resolution: ms
`;
const AT = `
  - field: at
    type: time, ms
    index: timestamp
`;

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({});
});
afterAll(async () => {
  await server.end();
});

async function post(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>>,
): Promise<readonly [number, unknown]> {
  const response = await fetch(`${server.url}/v1/${path}`, { method: "POST", body, headers });
  const text = await response.text();
  return [response.status, text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text];
}

async function store(name: string, yaml: string): Promise<string> {
  const [status, answer] = await post(`pipelines/${name}`, yaml, YAML);
  expect([status, answer]).toMatchObject([200, { pipelines: [{ name }] }]);
  return (answer as { pipelines: { version: string }[] }).pipelines[0]?.version ?? "";
}

/** Sends rows through a pipeline; they make `affected` rows, a number a set of hints. */
async function ingest(table: string, pipeline: string, rows: readonly object[], affected: readonly number[], query = ""): Promise<void> {
  const [status, answer] = await post(`ingest?table=${table}&pipeline_name=${pipeline}${query}`, JSON.stringify(rows), JSON_TYPE);
  expect([status, answer]).toMatchObject([200, { output: affected.map((affectedrows) => ({ affectedrows })) }]);
}

async function check(sql: string, want: readonly (readonly Cell[])[]): Promise<void> {
  expect((await queryRows(server.url, sql)).rows).toEqual(want);
}

async function ddlOf(table: string): Promise<string> {
  const [[, ddl] = []] = (await queryRows(server.url, `SHOW CREATE TABLE ${table}`)).rows;
  return String(ddl);
}

describe("tables", () => {
  test("a dispatcher sends rows by a typed value to another table, with another pipeline or the built-in one", async () => {
    await store("http_rows", `${EPOCH}transform:\n  - field: status\n    type: int32\n${AT}`);
    await store(
      "sorted",
      `${EPOCH}
dispatcher:
  field: kind
  rules:
    - value: http
      table_suffix: _http
      pipeline: http_rows
    - value: 1
      table_suffix: _one
transform:
  - field: kind
    type: string
${AT}`,
    );
    const rows = [{ at: 1, kind: "http", status: "200" }, { at: 2, kind: 1, extra: true }, { at: 3, kind: "1" }, { at: 4 }];
    await ingest("events", "sorted", rows, [4]);
    await check("SELECT status, at FROM events_http", [[200, 1]]);
    await check("SELECT kind, extra FROM events_one", [[1, true]]);
    await check("SELECT kind, at FROM events ORDER BY at", [
      ["1", 3],
      [null, 4],
    ]);
    await store("lost", `${EPOCH}dispatcher:\n  field: k\n  rules:\n    - value: a\n      table_suffix: _a\n      pipeline: nobody\n`);
    expect((await post("ingest?table=events&pipeline_name=lost", '{"at":1,"k":"a"}', JSON_TYPE))[0]).toBe(400);
  });

  test("a suffix takes texts and integers of the row; without one of them there is none", async () => {
    await store("suffixed", `${EPOCH}table_suffix: "_\${app}_\${shard}"\ntransform:\n  - field: app\n    type: string\n${AT}`);
    await ingest(
      "parts",
      "suffixed",
      [
        { at: 1, app: "web", shard: 7 },
        { at: 2, app: "web" },
        { at: 3, app: "db", shard: 1.5 },
      ],
      [3],
    );
    await check("SELECT app FROM parts_web_7", [["web"]]);
    await check("SELECT app, at FROM parts ORDER BY at", [
      ["web", 2],
      ["db", 3],
    ]);
    const bad = JSON.stringify({ at: 1, app: "no\ttable", shard: 1 });
    expect(await post("ingest?table=parts&pipeline_name=suffixed", bad, JSON_TYPE)).toEqual([
      400,
      { error: "Invalid table name: parts_no table_1: it holds a control character" },
    ]);
  });

  test("rows with hints are groups of their own, and a program may set them", async () => {
    await store(
      "hinted",
      `processors:
  - vrl:
      source: |
        .at = from_unix_timestamp!(to_int!(.at), unit: "milliseconds")
        if .app == "short" { .greptime_ttl = "1d" }
        if .app == "other" { .greptime_table_suffix = "_other" }
        .
transform:
  - field: app
    type: string
${AT}`,
    );
    await ingest(
      "hints",
      "hinted",
      [
        { at: 1, app: "other" },
        { at: 2, app: "plain" },
      ],
      [2],
    );
    await ingest("ttls", "hinted", [{ at: 1, app: "short" }], [1]);
    await check("SELECT app FROM hints_other", [["other"]]);
    expect(await ddlOf("ttls")).toContain("ttl = '1day'");
    expect(await ddlOf("hints")).not.toContain("ttl");
    await ingest(
      "mixed",
      "greptime_identity",
      [{ a: 1 }, { a: 2, greptime_skip_wal: "false" }, { a: 3 }, { a: 4, greptime_table_suffix: "_x" }],
      [3, 1],
    );
    await check("SELECT a FROM mixed ORDER BY a", [[1], [2], [3], [4]]);
    const [status, answer] = await post(
      "ingest?table=nowhere&pipeline_name=greptime_identity",
      '{"a":1,"greptime_auto_create_table":"false"}',
      JSON_TYPE,
    );
    expect([status, answer]).toMatchObject([400, { error: expect.stringContaining("nowhere") }]);
  });
});

describe("programs", () => {
  test("make several rows of one, filter rows, and fail them", async () => {
    await store(
      "programs",
      `processors:
  - vrl:
      source: |
        if .drop == true {
          . = null
        } else {
          . = map_values(array!(.values)) -> |value| { {"n": value, "at": from_unix_timestamp!(1, unit: "seconds")} }
        }
        .
transform:
  - field: n
    type: int64
  - field: at
    type: time, s
    index: timestamp
`,
    );
    await ingest("programmed", "programs", [{ values: [1, 2] }, { drop: true }, { values: [] }, { values: [3] }], [3]);
    await check("SELECT n FROM programmed ORDER BY n", [[1], [2], [3]]);
    await ingest("programmed", "programs", [{ values: 5 }, { values: [4] }], [1], "&skip_error=true");
    await check("SELECT count(*) FROM programmed", [[4]]);
    expect((await post("ingest?table=programmed&pipeline_name=programs", '{"values":5}', JSON_TYPE))[0]).toBe(400);
    const [status, answer] = await post("pipelines/nonsense", "processors:\n  - vrl:\n      source: '. = nofunction(.)'\n", YAML);
    expect([status, answer]).toEqual([400, { error: expect.stringMatching(/^Failed to compile VRL/) }]);
  });
});

test("each version stays usable, in each way of writing it", async () => {
  const first = await store("versions", `${EPOCH}transform:\n  - field: a\n    type: int32\n${AT}`);
  const second = await store("versions", `${EPOCH}transform:\n  - field: b\n    type: int32\n${AT}`);
  expect(first < second).toBe(true);
  if (IN_CLUSTER) await Bun.sleep(KEPT_MS); // For so long the other frontend believes that it knows the newest.
  const rows = [{ at: 1, a: 1, b: 2 }];
  await ingest("v_new", "versions", rows, [1]);
  for (const [index, text] of [first, first.replace(" ", "T"), `${first}Z`, `${first}+00:00`, `${first}+0000`].entries()) {
    await ingest(`v_old${index}`, "versions", rows, [1], `&version=${encodeURIComponent(text)}`);
    await check(`SELECT * FROM v_old${index}`, [[1, 1]]);
  }
  await check("SELECT b FROM v_new", [[2]]);
});

describe("the dry run", () => {
  const PATHS = ["pipelines/_dryrun", "pipelines/dryrun", "events/pipelines/dryrun", "events/pipelines/_dryrun"];
  const dispatcher = "dispatcher:\n  field: k\n  rules:\n    - value: a\n      table_suffix: _a\n";
  const yaml = `${EPOCH}${dispatcher}transform:\n  - field: n\n    type: float64\n${AT}`;

  test.each(PATHS)("POST /v1/%s takes both forms, every type of data, and shows dispatched rows", async (path) => {
    const name = `trial_${PATHS.indexOf(path)}`;
    await store(name, yaml);
    const line = '{"at":5,"n":1}';
    const number = { name: "n", data_type: "FLOAT64", column_type: "FIELD", fulltext: false };
    const want = [{ schema: expect.arrayContaining([number]), rows: [expect.any(Array)], table_name: "dry_run" }];
    for (const data_type of ["application/json", "application/x-ndjson"]) {
      for (const form of [{ pipeline: yaml }, { pipeline_name: name }]) {
        expect(await post(path, JSON.stringify({ ...form, data_type, data: line }), JSON_TYPE)).toEqual([200, want]);
      }
    }
    expect(await post(`${path}?pipeline_name=${name}`, line, NDJSON)).toEqual([200, want]);
    const both = await post(`${path}?pipeline_name=${name}`, `[${line},{"at":6,"k":"a"}]`, JSON_TYPE);
    expect(both).toMatchObject([200, [{ table_name: "dry_run" }, { table_name: "dry_run_a" }]]);
    expect(await post(path, line, JSON_TYPE)).toEqual([400, { error: "Invalid request parameter: pipeline_name is required" }]);
    const [status, failed] = await post(path, JSON.stringify({ pipeline: yaml, data: '{"at":"soon"}' }), JSON_TYPE);
    expect([status, failed]).toEqual([400, { error: expect.stringMatching(/^Failed to exec pipeline: /) }]);
  });

  test("wrote nothing", async () => {
    await check("SELECT count(*) FROM information_schema.tables WHERE table_name LIKE 'dry_run%'", [[0]]);
  });
});

describe("input that would hurt", () => {
  const path = "ingest?table=hurt&pipeline_name=greptime_identity";

  test("a pattern that backtracks for ever elsewhere is linear here, or refused when it is too large", async () => {
    await store(
      "greedy",
      `${EPOCH.trimEnd()}
  - regex:
      field: text
      pattern: '^(?<all>(a+)+)$'
transform:
  - field: text_all
    type: string
${AT}`,
    );
    await ingest(
      "greedy",
      "greedy",
      [
        { at: 1, text: `${"a".repeat(20_000)}!` },
        { at: 2, text: "aaa" },
      ],
      [2],
    );
    await check("SELECT text_all FROM greedy ORDER BY at", [[null], ["aaa"]]);
    const [status, answer] = await post(
      "pipelines/huge",
      "processors:\n  - gsub:\n      field: f\n      pattern: '((a{1,99}){1,99}){1,99}'\n      replacement: x\n",
      YAML,
    );
    expect([status, answer]).toEqual([400, { error: expect.stringContaining("pattern") }]);
  });

  test("a field that rows lack is named", async () => {
    await store("wanting", EPOCH);
    expect(await post("ingest?table=hurt&pipeline_name=wanting", '{"other":1}', JSON_TYPE)).toEqual([
      400,
      { error: "Processor epoch: missing field: at" },
    ]);
    expect(await post("ingest?table=hurt&pipeline_name=wanting&skip_error=true", '{"other":1}', JSON_TYPE)).toMatchObject([
      200,
      { output: [] },
    ]);
  });

  test("lines that no column holds", async () => {
    const [line, longer] = ["x".repeat(17 * MIB), "x".repeat(63 * MIB)];
    for (const [body, type] of [
      [longer, TEXT],
      [`{"a":"${line}"}`, NDJSON],
      [`{"a":"${line}"}`, JSON_TYPE],
    ] as const) {
      expect(await post(path, body, type)).toEqual([400, { error: expect.stringMatching(/at most 16777216/) }]);
    }
    expect(await post(`${path}&ignore_errors=true`, `${line}\nshort`, TEXT)).toMatchObject([200, { output: [{ affectedrows: 1 }] }]);
    await check("SELECT message FROM hurt", [["short"]]);
  }, 30_000);

  test.each([
    ["objects", '{"a":', "1", "}"],
    ["arrays", "[", "", "]"],
  ])("1,000 levels of %s", async (_name, open, inside, close) => {
    const deep = `{"flat":1}\n{"x":${open.repeat(1000)}${inside}${close.repeat(1000)}}`;
    for (const type of [NDJSON, JSON_TYPE]) {
      expect(await post(path, deep, type)).toEqual([400, { error: expect.stringContaining("nested deeper than 128 levels") }]);
    }
    expect(await post(path, deep.replace("\n", ""), JSON_TYPE)).toMatchObject([400, { error: expect.any(String) }]);
  });

  test("the server still answers", async () => {
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  });
});
