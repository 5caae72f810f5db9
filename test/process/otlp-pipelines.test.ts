/** OTLP logs through pipelines, with ingest threads: stored pipelines run on the main thread, and no client sees which. */
import { expect, test } from "bun:test";
import { queryRows, send } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

const PIPELINE = `
version: 2
processors:
  - vrl:
      source: |
        .line = .Body
        .route = .LogAttributes.route
        .service = .ResourceAttributes."service.name"
        .
  - select:
      fields: [Timestamp, TraceId, SeverityNumber, ScopeName, line, route, service]
transform:
  - field: SeverityNumber, n
    type: int32
    on_failure: ignore
  - field: service
    type: string
    tag: true
  - field: Timestamp
    type: time, ns
    index: time
`;

function logs(body: unknown): string {
  const record = {
    timeUnixNano: "1731000000000000005",
    severityNumber: 9,
    traceId: "0af7651916cd43dd8448eb211c80319c",
    body,
    attributes: [
      { key: "route", value: { stringValue: "/items" } },
      { key: "size", value: { doubleValue: 2 } },
    ],
  };
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] };
  return JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ scope: { name: "lib" }, logRecords: [record, record] }] }] });
}

test("records are rows of the pipeline that the request names", async () => {
  const server = await TestServer.start({ config: "[ingest]\nthreads = 2\n" });
  try {
    const post = (headers: Readonly<Record<string, string>>, body: string): ReturnType<typeof send> =>
      send(`${server.url}/v1/otlp/v1/logs`, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
    const stored = await send(`${server.url}/v1/pipelines/shop`, {
      method: "POST",
      body: PIPELINE,
      headers: { "content-type": "application/yaml" },
    });
    expect([stored.status, stored.text]).toEqual([200, expect.stringContaining('"name":"shop"')]);
    const shop = { "x-greptime-pipeline-name": "shop", "x-greptime-log-table-name": "shop_logs" };
    for (let i = 0; i < 6; i++) expect(await post(shop, logs({ stringValue: "hello" }))).toMatchObject({ status: 200, text: "{}" });
    const { columns, rows } = await queryRows(server.url, "SELECT * FROM shop_logs");
    expect(rows.length).toBe(12);
    const row = Object.fromEntries(columns.map((name, i) => [name, rows[0]?.[i]]));
    expect(row).toMatchObject({ Timestamp: 1731000000000000005n, line: "hello", route: "/items", service: "shop", ScopeName: "lib" });

    // The older header wins over the newer one, as it does for this endpoint alone.
    const both = { "x-greptime-log-pipeline-name": "greptime_identity", ...shop, "x-greptime-log-table-name": "plain" };
    expect(await post(both, logs({ kvlistValue: { values: [{ key: "a", value: { intValue: 1 } }] } }))).toMatchObject({ status: 200 });
    const plain = await queryRows(
      server.url,
      'SELECT "Body", "LogAttributes.route", "LogAttributes.size", "ResourceAttributes.service.name", "TraceId" FROM plain LIMIT 1',
    );
    expect(plain.rows).toEqual([['{"a":1}', "/items", 2, "shop", "0af7651916cd43dd8448eb211c80319c"]]);
    expect(plain.types[2]).toBe("Float64");

    const refused = async (headers: Readonly<Record<string, string>>, want: string): Promise<void> => {
      const answer = await post(headers, logs({ stringValue: "x" }));
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(want)]);
    };
    await refused({ "x-greptime-pipeline-name": "nowhere" }, "Pipeline not found, name: nowhere, version: latest");
    await refused({ ...shop, "x-greptime-pipeline-version": "never" }, "Invalid pipeline version format: never");
    await refused({ "x-greptime-pipeline-name": "greptime_trace_v1" }, "Unsupported pipeline for logs.");
    const broken = await post(shop, "[]");
    expect([broken.status, broken.text]).toEqual([400, expect.stringContaining("Failed to decode OTLP request")]);
  } finally {
    await server.end();
  }
});
