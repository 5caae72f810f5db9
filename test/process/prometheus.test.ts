/** Prometheus' protocols through a real server: tables as the contract shows them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { compress } from "snappyjs";
import { bytesField, messageV1, sampleMessage, type SentSeries, textField, varint } from "../support/prometheus/messages.ts";
import { decodeSnappy } from "../../src/format/snappy/decode.ts";
import { crc32c } from "../../src/ingest/prometheus/read/read-series.ts";
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

/** Bytes of a read request for one metric, all of its time. */
function readRequest(
  metric: string,
  matchers: readonly (readonly [number, string, string])[],
  accepted: readonly number[] = [],
): Uint8Array {
  const all = [[0, "__name__", metric] as const, ...matchers];
  const encoded = all.flatMap(([type, name, value]) => bytesField(3, [0x08, type, ...textField(2, name), ...textField(3, value)]));
  const query = bytesField(1, [0x08, 0, 0x10, ...varint(10_000_000_000_000), ...encoded]);
  return Uint8Array.from([...query, ...(accepted.length === 0 ? [] : bytesField(2, accepted))]);
}

async function read(message: Uint8Array): Promise<Response> {
  return fetch(`${server.url}/v1/prometheus/read`, { method: "POST", body: compress(message) });
}

describe("remote read", () => {
  const stale = [0x02, 0, 0, 0, 0, 0, 0xf0, 0x7f];
  const labels = [
    ...bytesField(1, [...textField(1, "__name__"), ...textField(2, "seen")]),
    ...bytesField(1, [...textField(1, "job"), ...textField(2, "a")]),
  ];
  const samples = [...bytesField(2, sampleMessage(1000, 1.5)), ...bytesField(2, [0x09, ...stale, 0x10, ...varint(2000)])];

  test("samples come back bit by bit, from the log and from a file", async () => {
    await write(Uint8Array.from(bytesField(1, [...labels, ...samples])));
    const want = bytesField(1, bytesField(1, [...labels, ...samples]));
    for (let round = 0; round < 2; round++) {
      const response = await read(readRequest("seen", [[0, "job", "a"]]));
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/x-protobuf"]);
      expect([...decodeSnappy(await response.bytes(), 1 << 20)]).toEqual(want);
      await sql("ADMIN flush_table('greptime_physical_table')");
    }
  });

  test("chunks come in frames", async () => {
    const response = await read(readRequest("seen", [], [1, 0]));
    expect(response.headers.get("content-type")).toBe("application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse");
    const bytes = await response.bytes();
    const size = bytes[0] as number;
    expect(size).toBe(bytes.length - 5);
    expect(new DataView(bytes.buffer, bytes.byteOffset).getUint32(1)).toBe(crc32c(bytes.subarray(5)));
    expect([...bytes.subarray(7, 7 + labels.length)]).toEqual(labels);
  });

  test("an answer of many pieces is one block", async () => {
    const sent = Array.from({ length: 300 }, (_, n) => ({
      labels: { __name__: "many", n: String(n).padStart(3, "0") },
      samples: Array.from({ length: 50 }, (_, i) => ({ time: 1000 * i, value: n * i })),
    }));
    await write(messageV1(sent));
    const response = await read(readRequest("many", []));
    expect(Buffer.compare(decodeSnappy(await response.bytes(), 1 << 24), Uint8Array.from(bytesField(1, messageV1(sent))))).toBe(0);
  });

  test("matchers choose series; what cannot be asked is refused", async () => {
    const count = async (matchers: readonly (readonly [number, string, string])[]): Promise<number> => {
      const response = await read(readRequest("seen", matchers));
      expect(response.status).toBe(200);
      return decodeSnappy(await response.bytes(), 1 << 20).length;
    };
    expect(await count([[2, "job", "^a$"]])).toBeGreaterThan(2);
    expect(await count([[2, "job", "(a+)+$"]])).toBeGreaterThan(2);
    expect(await count([[1, "job", "a"]])).toBe(2);
    expect(await count([[3, "job", "a"]])).toBe(2);
    for (const [message, why] of [
      [readRequest("nowhere", []), "Table not found"],
      [readRequest("seen", [[0, "zone", "a"]]), "Column not found: zone"],
      [readRequest("seen", [[2, "job", "("]]), "regular expression"],
      [readRequest("seen", [[2, "job", "(a)\\1"]]), "regular expression"],
      [readRequest("", []), "__name__"],
      [readRequest("seen", [[2, "__name__", "a"]]), "__name__"],
    ] as const) {
      const response = await read(message);
      expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(why)]);
    }
  });
});
