/** Tables that OTLP metrics go to besides those of the metric engine: ordinary ones, and ones of the older way. */
import { expect, test } from "bun:test";
import { execute, queryRows, send } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

const POINT = { timeUnixNano: "1731000000000000005", asDouble: 2.5, attributes: [{ key: "host.name", value: { stringValue: "h" } }] };

function gauges(...names: readonly string[]): string {
  const metrics = names.map((name) => ({ name, unit: "s", gauge: { dataPoints: [POINT] } }));
  return JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] });
}

function post(server: TestServer, body: string): ReturnType<typeof send> {
  return send(`${server.url}/v1/otlp/v1/metrics`, { method: "POST", body, headers: { "content-type": "application/json" } });
}

test("without the metric engine each metric is an ordinary table", async () => {
  const server = await TestServer.start({ config: "[prom_store]\nwith_metric_engine = false\n" });
  try {
    expect(await post(server, gauges("a.b", "c"))).toMatchObject({ status: 200, text: "{}" });
    expect(await post(server, gauges("a.b", "c"))).toMatchObject({ status: 200, text: "{}" });
    for (const table of ["a_b_seconds", "c_seconds"]) {
      const { columns, rows } = await queryRows(server.url, `SELECT * FROM ${table}`);
      expect([[...columns].sort(), rows.length]).toEqual([["greptime_timestamp", "greptime_value", "host_name"], 1]);
    }
    const { rows } = await queryRows(server.url, "SHOW CREATE TABLE a_b_seconds");
    expect(String(rows[0]?.[1])).toContain("ENGINE=mito");
    expect(String(rows[0]?.[1])).toContain("'greptime.semantic.metric.unit' = 's'");
  } finally {
    await server.end();
  }
});

test("a table of the older way is written that way, and not together with others", async () => {
  const server = await TestServer.start();
  try {
    await execute(
      server.url,
      "CREATE TABLE old_one (greptime_timestamp TIMESTAMP(9) TIME INDEX, host_name STRING PRIMARY KEY, greptime_value DOUBLE)",
    );
    expect(await post(server, gauges("Old.One", "new.one"))).toMatchObject({ status: 200, text: "{}" });
    for (const table of ["old_one", "new_one"]) {
      const { rows } = await queryRows(server.url, `SELECT greptime_timestamp, host_name, greptime_value FROM ${table}`);
      expect(rows).toEqual([[1731000000000000005n, "h", 2.5]]);
    }
    expect(await post(server, gauges("newer"))).toMatchObject({ status: 200 });
    const { rows } = await queryRows(server.url, "SELECT greptime_timestamp FROM newer_seconds");
    expect(rows).toEqual([[1731000000000]]);
    await execute(
      server.url,
      "CREATE TABLE both (greptime_timestamp TIMESTAMP TIME INDEX, greptime_value DOUBLE) WITH ('otlp_metric_compat' = 'prom')",
    );
    const answer = await post(server, gauges("old.one", "both"));
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("send them apart")]);
  } finally {
    await server.end();
  }
});
