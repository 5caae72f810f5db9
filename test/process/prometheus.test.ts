/** Prometheus' protocols through a real server: tables as the contract shows them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { compress } from "snappyjs";
import { messageV1, type SentSeries } from "../support/prometheus/messages.ts";
import { TestServer } from "../support/server-process.ts";

let server: TestServer;
let plain: TestServer;
beforeAll(async () => {
  [server, plain] = await Promise.all([TestServer.start({}), TestServer.start({ config: "[prom_store]\nwith_metric_engine = false\n" })]);
});
afterAll(async () => {
  await Promise.all([server.end(), plain.end()]);
});

async function write(message: Uint8Array, base: string = server.url): Promise<void> {
  const response = await fetch(`${base}/v1/prometheus/write`, { method: "POST", body: compress(message) });
  expect([response.status, await response.text()]).toEqual([204, ""]);
}

async function sql(text: string, base: string = server.url): Promise<string> {
  const response = await fetch(`${base}/v1/sql?format=csv&sql=${encodeURIComponent(text)}`);
  const answer = await response.text();
  expect([response.status, answer]).toEqual([200, expect.any(String)]);
  return answer.trim();
}

const SERIES: readonly SentSeries[] = [
  {
    labels: { __name__: "metric2", instance: "test_host1", idc: "z001" },
    samples: [
      { time: 1000, value: 3 },
      { time: 2000, value: 4 },
    ],
  },
];

describe("remote write", () => {
  test("makes logical tables of one physical table, columns in the order of their names", async () => {
    await write(messageV1(SERIES));
    expect(await sql("SELECT * FROM metric2 ORDER BY greptime_timestamp")).toBe("1000,3.0,z001,test_host1\r\n2000,4.0,z001,test_host1");
    expect(await sql("SHOW TABLES")).toContain("greptime_physical_table");
    const ddl = await sql("SHOW CREATE TABLE metric2");
    expect(ddl).toContain("ENGINE=metric");
    expect(ddl).toContain("on_physical_table = 'greptime_physical_table'");
    expect(ddl).toContain("'greptime.semantic.source_version' = '1.0'");
  });

  test("a new label alters the table", async () => {
    await write(messageV1([{ labels: { __name__: "metric2", zone: "b" }, samples: [{ time: 3000, value: 5 }] }]));
    expect(await sql("SELECT zone, idc FROM metric2 WHERE greptime_timestamp = 3000")).toBe("b,");
  });

  test("without the metric engine tables are ordinary, tags in the order of the request", async () => {
    await write(messageV1(SERIES), plain.url);
    const ddl = await sql("SHOW CREATE TABLE metric2", plain.url);
    expect(ddl).toContain("ENGINE=mito");
    expect(ddl).toMatch(/PRIMARY KEY \(""?instance""?, ""?idc""?\)/);
    expect(await sql("SELECT count(*) FROM metric2", plain.url)).toBe("2");
  });
});
