import { afterAll, describe, expect, test } from "bun:test";
import zlib from "node:zlib";
import { compress } from "snappyjs";
import { startFixture } from "../../../../../test/support/http-fixture.ts";
import { bytesField, messageV1, messageV2, textField } from "../../../../../test/support/prometheus/messages.ts";
import { DbError } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";

const { server, url, db } = await startFixture();
const off = await startFixture({
  prometheus: { enabled: false, metricEngine: true, validation: "strict", timeColumn: "t", valueColumn: "v" },
});
afterAll(() => Promise.all([server.stop(50), off.server.stop(50)]));

const V1: Readonly<Record<string, string>> = { "content-type": "application/x-protobuf", "content-encoding": "snappy" };
const V2: Readonly<Record<string, string>> = {
  "content-type": "application/x-protobuf;proto=io.prometheus.write.v2.Request",
  "content-encoding": "snappy",
};
const SERIES = [{ labels: { __name__: "up", job: "a" }, samples: [{ time: 1000, value: 1 }] }];
const BODY_V1 = compress(messageV1(SERIES));
const BODY_V2 = compress(messageV2(SERIES));
const OPTIONS = {
  autoCreate: true,
  physicalTable: "greptime_physical_table",
  tableOptions: {
    comment: "Created on insertion",
    "greptime.semantic.metric.metadata_quality": "inferred",
    "greptime.semantic.signal_type": "metric",
    "greptime.semantic.source": "prometheus",
    "greptime.semantic.source_version": "1.0",
  },
};

async function post(body: Uint8Array, headers: Readonly<Record<string, string>> = V1, query = ""): Promise<Response> {
  return fetch(`${url}/v1/prometheus/write${query}`, { method: "POST", body, headers });
}

/** Posts and compares status and text. */
async function check(
  body: Uint8Array,
  want: readonly [number, string | RegExp],
  headers: Readonly<Record<string, string>> = V1,
  query = "",
): Promise<Response> {
  const response = await post(body, headers, query);
  const text = await response.text();
  expect(response.status).toBe(want[0]);
  if (typeof want[1] === "string") expect(text).toBe(want[1]);
  else expect(text).toMatch(want[1]);
  return response;
}

function counts({ headers }: Response): readonly (string | null)[] {
  return ["samples", "histograms", "exemplars"].map((what) => headers.get(`x-prometheus-remote-write-${what}-written`));
}

describe("version 1", () => {
  test("samples are written to the physical table and answered 204", async () => {
    const response = await check(BODY_V1, [204, ""]);
    expect(counts(response)).toEqual([null, null, null]);
    expect(db.writes.at(-1)).toEqual({ database: "public", rowCount: 1, options: OPTIONS });
    await check(BODY_V1, [204, ""], V1, "?physical_table=other&db=my-db");
    expect(db.writes.at(-1)).toEqual({ database: "my-db", rowCount: 1, options: { ...OPTIONS, physicalTable: "other" } });
  });

  test("a body may be zstd, whatever its header says, and no content type means version 1", async () => {
    const zstd = zlib.zstdCompressSync(messageV1(SERIES));
    for (const headers of [{ "content-encoding": "zstd" }, { "content-encoding": "snappy" }, {}]) {
      await check(zstd, [204, ""], headers);
      await check(BODY_V1, [204, ""], headers);
    }
  });

  test("an empty request is fine", async () => {
    await check(compress(new Uint8Array(0)), [204, ""]);
  });

  test("broken bodies are 400, which makes clients drop them", async () => {
    await check(new Uint8Array(0), [400, /^\{"error":"Failed to decode prometheus remote request: its snappy block is broken/]);
    await check(BODY_V1.subarray(0, 20), [400, /snappy block is broken/]);
    await check(zlib.zstdCompressSync(messageV1(SERIES)).subarray(0, 30), [400, /zstd frames are broken/]);
    await check(compress(Uint8Array.of(0x0a, 50)), [400, /a length of 50 where 0 bytes are left/]);
    await check(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f, 0), [400, /cannot decode to/]);
  });

  test("a body that unfolds beyond the limit is 413", async () => {
    await check(compress(new Uint8Array(2_000_000)), [413, /length limit exceeded/]);
    await check(zlib.zstdCompressSync(new Uint8Array(2_000_000)), [413, /length limit exceeded/]);
  });

  test("labels may name a database, which has to exist", async () => {
    const at = (database: string): Uint8Array => {
      return compress(messageV1([...SERIES, { labels: { __name__: "up", __database__: database }, samples: [{ time: 1, value: 1 }] }]));
    };
    await check(at("my-db"), [204, ""]);
    expect(db.writes.slice(-2).map(({ database, rowCount }) => [database, rowCount])).toEqual([
      ["public", 1],
      ["my-db", 1],
    ]);
    const before = db.writes.length;
    await check(at("nowhere"), [400, '{"error":"Database not found: nowhere"}']);
    expect(db.writes.length).toBe(before);
  });

  test("a pipeline that is not there is refused, not ignored", async () => {
    await check(BODY_V1, [400, /Pipeline not found, name: p, version: latest/], { ...V1, "x-greptime-pipeline-name": "p" });
  });

  test("a server that is short of memory, or of disk, makes clients come again", async () => {
    db.onAdmit = () => Promise.reject(new DbError(StatusCode.RateLimited, "too much", { retryAfterSeconds: 3 }));
    const response = await check(BODY_V1, [429, '{"error":"too much"}']);
    expect(response.headers.get("retry-after")).toBe("3");
    db.onAdmit = () => Promise.resolve();
    db.onWrite = () => Promise.reject(new DbError(StatusCode.StorageUnavailable, "EIO"));
    await check(BODY_V1, [503, '{"error":"EIO"}']);
    db.onWrite = () => Promise.resolve();
  });
});

describe("version 2", () => {
  test("is answered 204 with what was written", async () => {
    const response = await check(BODY_V2, [204, ""], V2);
    expect(counts(response)).toEqual(["1", "0", "0"]);
    expect(db.writes.at(-1)?.options.tableOptions["greptime.semantic.source_version"]).toBe("2.0");
    await check(BODY_V2, [204, ""], { ...V2, "content-type": 'application/x-protobuf; proto="io.prometheus.write.v2.Request"' });
  });

  test("what it declares of a metric becomes options of its table", async () => {
    const symbols = ["", "__name__", "seen_total", "seconds"].flatMap((text) => textField(4, text));
    const series = bytesField(5, [...bytesField(1, [1, 2]), ...bytesField(2, []), ...bytesField(5, [0x08, 1, 0x20, 3])]);
    await check(compress(Uint8Array.from([...symbols, ...series])), [204, ""], V2);
    expect(db.writes.at(-1)?.options.tableOptions).toMatchObject({
      "greptime.semantic.metric.metadata_quality": "declared",
      "greptime.semantic.metric.type": "counter",
      "greptime.semantic.metric.unit": "s",
    });
  });

  test("errors carry the counts, too", async () => {
    expect(counts(await check(compress(Uint8Array.of(0x0a, 50)), [400, /a length of 50/], V2))).toEqual(["0", "0", "0"]);
    const response = await check(BODY_V2, [415, /only snappy and zstd are supported$/], { ...V2, "content-encoding": "gzip" });
    expect(counts(response)).toEqual(["0", "0", "0"]);
  });
});

describe("negotiation", () => {
  test("vmagent is told that it may send zstd", async () => {
    await check(new Uint8Array(0), [200, "1"], {}, "?get_vm_proto_version=1");
  });

  test("other content types are 415", async () => {
    for (const type of ["application/json", "application/x-protobuf;proto=io.prometheus.write.v3.Request", "text/plain"]) {
      const text = `unsupported prometheus remote write content type: ${type}`;
      await check(BODY_V1, [415, text], { ...V1, "content-type": type });
    }
    await check(BODY_V1, [204, ""], { ...V1, "content-type": "application/x-protobuf;proto=prometheus.WriteRequest" });
  });

  test("there is no such path when the protocol is off", async () => {
    expect((await fetch(`${off.url}/v1/prometheus/write`, { method: "POST", body: BODY_V1 })).status).toBe(404);
  });
});
