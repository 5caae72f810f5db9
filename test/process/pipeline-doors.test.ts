/** Pipelines behind every door that takes them: what a header names is what happens to the rows, and SQL reads the outcome back. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { compress } from "snappyjs";
import { type Cell, queryRows } from "../support/http-client.ts";
import { messageV1 } from "../support/prometheus/messages.ts";
import { TestServer } from "../support/server-process.ts";

const JSON_TYPE = { "content-type": "application/json" };
const YAML = { "content-type": "application/x-yaml" };

const LOKI = `
processors:
  - dissect:
      field: loki_line
      pattern: '%{level} %{text}'
transform:
  - field: level
    type: string
    tag: true
  - fields: [text, "loki_label_app, app", "loki_metadata_trace, trace"]
    type: string
`;
const SAMPLES = `
processors:
  - filter:
      field: job
      targets: [dropped]
transform:
  - fields: [job, host]
    type: string
    tag: true
  - field: greptime_value, reading
    type: float64
  - field: greptime_timestamp, at
    type: time, ms
    index: timestamp
`;
const DOCUMENTS = `
version: 2
processors:
  - epoch:
      field: at
      resolution: s
transform:
  - field: at
    type: time, s
    index: timestamp
  - field: code
    type: int32
    on_failure: default
`;

let server: TestServer;
beforeAll(async () => {
  // Two threads, so that requests also arrive where the store is not.
  server = await TestServer.start({ config: "[ingest]\nthreads = 2\n" });
  for (const [name, text] of Object.entries({ loki: LOKI, samples: SAMPLES, documents: DOCUMENTS })) {
    expect((await post(`pipelines/${name}`, text, YAML))[0]).toBe(200);
  }
});
afterAll(async () => {
  await server.end();
});

async function post(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>>,
): Promise<readonly [number, string]> {
  const response = await fetch(`${server.url}/v1/${path}`, { method: "POST", body, headers: { ...headers, connection: "close" } });
  return [response.status, await response.text()];
}

async function check(sql: string, want: readonly (readonly Cell[])[]): Promise<void> {
  expect((await queryRows(server.url, sql)).rows).toEqual(want);
}

async function ddlOf(table: string): Promise<string> {
  const [[, ddl] = []] = (await queryRows(server.url, `SHOW CREATE TABLE ${table}`)).rows;
  return String(ddl);
}

describe("Loki", () => {
  const push = "loki/api/v1/push";
  const nanos = "1731000000000000001";
  const body = JSON.stringify({
    streams: [
      {
        stream: { app: "shop", line: "metro" },
        values: [
          [nanos, "warn slow query", { trace: "t1" }],
          [nanos, "info started"],
        ],
      },
    ],
  });

  function protobuf(line: string): Uint8Array<ArrayBuffer> {
    const time = new BinaryWriter().tag(1, 0).int64(1_731_000_000).tag(2, 0).int32(1).finish();
    const pair = new BinaryWriter().tag(1, 2).string("trace").tag(2, 2).string("t2").finish();
    const entry = new BinaryWriter().tag(1, 2).bytes(time).tag(2, 2).string(line).tag(3, 2).bytes(pair).finish();
    const stream = new BinaryWriter().tag(1, 2).string('{app="shop"}').tag(2, 2).bytes(entry).finish();
    return new Uint8Array(compress(new BinaryWriter().tag(1, 2).bytes(stream).finish()));
  }

  test("a pipeline takes lines, labels and metadata of both forms, and keeps their time", async () => {
    const headers = { "x-greptime-log-table-name": "loki_piped", "x-greptime-pipeline-name": "loki" };
    const [status, answer] = await post(push, body, { ...JSON_TYPE, ...headers });
    expect([status, JSON.parse(answer)]).toEqual([200, { output: [{ affectedrows: 2 }], execution_time_ms: expect.any(Number) }]);
    expect((await post(push, protobuf("warn again"), { "content-type": "application/x-protobuf", ...headers }))[0]).toBe(200);
    await check("SELECT level, text, app, trace, greptime_timestamp FROM loki_piped ORDER BY text", [
      ["warn", "again", "shop", "t2", 1731000000000000001n],
      ["warn", "slow query", "shop", "t1", 1731000000000000001n],
      ["info", "started", "shop", null, 1731000000000000001n],
    ]);
    expect(await ddlOf("loki_piped")).toContain("'greptime.semantic.source' = 'loki'");
  });

  test("the built-in pipeline makes a column of everything, and the older header wins", async () => {
    const headers = {
      "x-greptime-log-table-name": "loki_found",
      "x-greptime-log-pipeline-name": "greptime_identity",
      "x-greptime-pipeline-name": "nobody",
    };
    expect((await post(push, body, { ...JSON_TYPE, ...headers }))[0]).toBe(200);
    await check(
      "SELECT greptime_timestamp, loki_line, loki_label_app, loki_label_line, loki_metadata_trace FROM loki_found ORDER BY loki_line",
      [
        [1731000000000000001n, "info started", "shop", "metro", null],
        [1731000000000000001n, "warn slow query", "shop", "metro", "t1"],
      ],
    );
  });

  test("what fails is told, and skip_error leaves it out", async () => {
    const bad = JSON.stringify({
      streams: [
        {
          stream: {},
          values: [
            [nanos, "nospace"],
            [nanos, "a b"],
          ],
        },
      ],
    });
    const headers = { ...JSON_TYPE, "x-greptime-log-table-name": "loki_bad", "x-greptime-pipeline-name": "loki" };
    expect(await post(push, bad, headers)).toEqual([400, '{"error":"No matching pattern found"}']);
    const [status, answer] = await post(push, bad, { ...headers, "x-greptime-pipeline-params": "skip_error=true" });
    expect([status, JSON.parse(answer)]).toMatchObject([200, { output: [{ affectedrows: 1 }] }]);
    const missing = { ...headers, "x-greptime-pipeline-name": "nobody" };
    expect(await post(push, bad, missing)).toEqual([400, '{"error":"Pipeline not found, name: nobody, version: latest"}']);
    const version = { ...headers, "x-greptime-pipeline-version": "2001-01-01 00:00:00" };
    expect(await post(push, bad, version)).toEqual([400, expect.stringContaining("Pipeline not found, name: loki, version: 2001-01-01")]);
    expect((await post(push, "[]", headers))[1]).toContain("Invalid Loki JSON request");
  });
});

describe("remote write", () => {
  const sent = (labels: Readonly<Record<string, string>>, ...values: readonly number[]): Parameters<typeof messageV1>[0][number] => ({
    labels,
    samples: values.map((value, i) => ({ time: 1_731_000_000_000 + i, value })),
  });
  const message = (): Uint8Array<ArrayBuffer> =>
    new Uint8Array(
      compress(
        messageV1([
          sent({ __name__: "piped_a", job: "x", host: "h" }, 1, Number.NaN, 3),
          sent({ __name__: "piped_b", job: "x" }, 7),
          sent({ __name__: "piped_b", job: "dropped" }, 8),
        ]),
      ),
    );

  test("a pipeline takes samples, a table a metric; NaN is left out", async () => {
    expect(await post("prometheus/write", message(), { "x-greptime-pipeline-name": "samples" })).toEqual([204, ""]);
    await check("SELECT job, host, reading, at FROM piped_a ORDER BY at", [
      ["x", "h", 1, 1731000000000],
      ["x", "h", 3, 1731000000002],
    ]);
    await check("SELECT job, host, reading FROM piped_b", [["x", null, 7]]);
    expect(await ddlOf("piped_b")).toContain("append_mode = 'true'");
  });

  test("the built-in pipeline writes them as they are", async () => {
    const labels = { __name__: "found_a", job: "x" };
    const body = new Uint8Array(compress(messageV1([sent(labels, 1, Number.NaN, 3)])));
    expect(await post("prometheus/write", body, { "x-greptime-pipeline-name": "greptime_identity" })).toEqual([204, ""]);
    await check("SELECT job, greptime_value FROM found_a ORDER BY greptime_value", [
      ["x", 1],
      ["x", 3],
    ]);
    expect(await ddlOf("found_a")).toContain("ENGINE=metric");
  });

  test("a pipeline that is not there, or a row that fails, refuses the request for good", async () => {
    expect((await post("prometheus/write", message(), { "x-greptime-pipeline-name": "nobody" }))[0]).toBe(400);
    expect(await post("prometheus/write", message(), { "x-greptime-pipeline-name": "loki" })).toEqual([
      400,
      '{"error":"Processor dissect: missing field: loki_line"}',
    ]);
  });
});

describe("Elasticsearch and Splunk", () => {
  test("a bulk goes through the pipeline of the query or the header", async () => {
    const bulk = (at: number): string => `{"create":{"_index":"bulked"}}\n{"at":${at},"code":"x","extra":1.5}\n`;
    expect((await post("elasticsearch/_bulk?pipeline_name=documents", bulk(1), JSON_TYPE))[0]).toBe(200);
    expect((await post("elasticsearch/_bulk", bulk(2), { ...JSON_TYPE, "x-greptime-pipeline-name": "documents" }))[0]).toBe(200);
    await check("SELECT at, code, extra FROM bulked ORDER BY at", [
      [1, 0, 1.5],
      [2, 0, 1.5],
    ]);
    const [status, answer] = await post("elasticsearch/bulked/_bulk?pipeline_name=nobody", bulk(3), JSON_TYPE);
    expect([status, JSON.parse(answer)]).toMatchObject([
      400,
      { errors: true, items: [{ create: { error: { reason: expect.stringContaining("nobody") } } }] },
    ]);
  });

  test("events go through the pipeline of the query or the header", async () => {
    const event = (at: number): string => `{"event":"e","fields":{"at":${at},"code":7}}`;
    const path = "splunk/services/collector/event?table=evented";
    expect((await post(`${path}&pipeline_name=documents`, event(1), {}))[0]).toBe(200);
    expect((await post(path, event(2), { "x-greptime-pipeline-name": "documents" }))[0]).toBe(200);
    await check("SELECT at, code, event FROM evented ORDER BY at", [
      [1, 7, "e"],
      [2, 7, "e"],
    ]);
    expect((await post(`${path}&pipeline_name=loki`, event(3), {}))[0]).toBe(400);
  });
});
