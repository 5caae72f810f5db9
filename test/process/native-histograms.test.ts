/** Native histograms of remote write 2.0 through a real server that takes them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { compress } from "snappyjs";
import { bytesField, messageV2, sampleMessage, textField, varint } from "../support/prometheus/messages.ts";
import { TestServer } from "../support/server-process.ts";

const HEADERS = { "content-type": "application/x-protobuf;proto=io.prometheus.write.v2.Request", "content-encoding": "snappy" };
const SYMBOLS = ["", "__name__", "latency", "job", "a"].flatMap((text) => textField(4, text));

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ config: "[prom_store]\nexperimental_enable_prometheus_native_histogram = true\n" });
});
afterAll(() => server.end());

/** A histogram of six observations in three buckets: differences 1, 2, -1. */
function histogram(time: number): number[] {
  const sum = [0x19, 0, 0, 0, 0, 0, 0, 0x29, 0x40]; // 12.5
  return [0x08, 6, ...sum, 0x20, 2, ...bytesField(11, [0x08, 0, 0x10, 3]), ...bytesField(12, [2, 4, 1]), 0x78, ...varint(time)];
}

async function post(message: Uint8Array): Promise<readonly [status: number, samples: string | null, histograms: string | null]> {
  const response = await fetch(`${server.url}/v1/prometheus/write`, { method: "POST", body: compress(message), headers: HEADERS });
  const count = (kind: string): string | null => response.headers.get(`x-prometheus-remote-write-${kind}-written`);
  return [response.status, count("samples"), count("histograms")];
}

async function sql(text: string): Promise<readonly (readonly unknown[])[]> {
  const response = await fetch(`${server.url}/v1/sql?sql=${encodeURIComponent(text)}`);
  const answer = (await response.json()) as { output?: readonly { records?: { rows: readonly (readonly unknown[])[] } }[] };
  expect([response.status, answer]).toEqual([200, expect.anything()]);
  return answer.output?.[0]?.records?.rows ?? [];
}

test("are counted, shown, and there after a restart and a flush", async () => {
  const series = [...bytesField(1, [1, 2, 3, 4]), ...bytesField(3, histogram(1000)), ...bytesField(3, histogram(2000))];
  expect(await post(Uint8Array.from([...SYMBOLS, ...bytesField(5, series)]))).toEqual([204, "0", "2"]);
  const check = async (): Promise<void> => {
    const rows = await sql("SELECT * FROM latency ORDER BY greptime_timestamp");
    expect(rows.map((row) => [row.includes(1000) || row.includes(2000), row.includes("a")])).toEqual([
      [true, true],
      [true, true],
    ]);
    const struct = rows[0]?.find((cell) => typeof cell === "object");
    expect(struct).toMatchObject({ schema: 1, sum: 12.5, count_i64: 6, positive_buckets_i64: [1, 3, 2], count_f64: null });
    const sums = "SELECT greptime_native_histogram['sum'], get_field(greptime_native_histogram, 'positive_buckets_i64') FROM latency";
    expect((await sql(sums))[0]).toEqual([12.5, [1, 3, 2]]);
  };
  await check();
  expect((await sql("DESC TABLE latency"))[0]?.slice(0, 2)).toEqual([
    "greptime_native_histogram",
    expect.stringContaining('Struct<"schema": Int32, "zero_threshold": Float64, "sum": Float64'),
  ]);
  const [[, ddl] = []] = await sql("SHOW CREATE TABLE latency");
  expect(ddl).toContain('"greptime_native_histogram" STRUCT<schema INT, zero_threshold DOUBLE');
  await server.stop();
  await server.restart();
  await check();
  await sql("ADMIN flush_table('greptime_physical_table')");
  await check();
});

test("and numbers cannot share a table", async () => {
  const number = { labels: { __name__: "latency", job: "a" }, samples: [{ time: 3000, value: 1 }] };
  expect(await post(messageV2([number]))).toEqual([400, "0", "0"]);
  const both = [...bytesField(1, [1, 2, 3, 4]), ...bytesField(2, sampleMessage(1, 1)), ...bytesField(3, histogram(1))];
  expect(await post(Uint8Array.from([...SYMBOLS, ...bytesField(5, both)]))).toEqual([400, "0", "0"]);
});

async function promql(query: string, seconds: number): Promise<unknown> {
  const response = await fetch(`${server.url}/v1/prometheus/api/v1/query?query=${encodeURIComponent(query)}&time=${seconds}`);
  return response.json();
}

test("PromQL computes with them", async () => {
  const labels = { job: "a" };
  expect(await promql("latency", 2)).toMatchObject({
    data: {
      resultType: "vector",
      result: [{ metric: { __name__: "latency", ...labels }, histogram: [2, { count: "6", sum: "12.5", buckets: expect.any(Array) }] }],
    },
  });
  expect(await promql("histogram_count(sum(latency))", 2)).toMatchObject({ data: { result: [{ value: [2, "6"] }] } });
  const quantile = await promql("histogram_quantile(0.5, sum_over_time(latency[1m]))", 2);
  expect(quantile).toMatchObject({ data: { result: [{ metric: labels, value: [2, String(2 ** (1 / 3))] }] } });
  const rate = await promql("rate(latency[1m])", 2);
  expect(rate).toMatchObject({ data: { result: [{ metric: labels, histogram: [2, { count: "0", sum: "0" }] }] } });
});

test("remote read says that it has numbers alone", async () => {
  const matcher = bytesField(3, [0x08, 0, ...textField(2, "__name__"), ...textField(3, "latency")]);
  const query = bytesField(1, [0x08, 0, 0x10, ...varint(10_000), ...matcher]);
  const response = await fetch(`${server.url}/v1/prometheus/read`, { method: "POST", body: compress(Uint8Array.from(query)) });
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("greptime_native_histogram")]);
});
