import { afterAll, describe, expect, test } from "bun:test";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { compress } from "snappyjs";
import { startFixture, startThreadFixture } from "../../../../test/support/http-fixture.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";

const fixture = await startFixture();
const fixed = await startFixture({ autoCreateTable: false });
const threaded = await startThreadFixture();
afterAll(() => Promise.all([fixture.server.stop(50), fixed.server.stop(50), threaded.stop(50)]));
const { db, url } = fixture;

const PATH = "/v1/loki/api/v1/push";
const JSON_FORM = { "content-type": "application/json" };
const PROTOBUF_FORM = { "content-type": "application/x-protobuf" };
const GOOD = '{"streams":[{"stream":{"app":"x"},"values":[["1731000000000000000","hello"],["1731000000000000001","you"]]}]}';
const OPTIONS = {
  comment: "Created on insertion",
  "greptime.semantic.signal_type": "log",
  "greptime.semantic.source": "loki",
  append_mode: "true",
};

function message(lines: readonly string[]): Uint8Array<ArrayBuffer> {
  const stream = new BinaryWriter().tag(1, 2).string('{app="x"}');
  for (const line of lines) {
    const time = new BinaryWriter().tag(1, 0).int64(1_731_000_000).finish();
    stream.tag(2, 2).bytes(new BinaryWriter().tag(1, 2).bytes(time).tag(2, 2).string(line).finish());
  }
  return new BinaryWriter().tag(1, 2).bytes(stream.finish()).finish();
}

interface Want {
  readonly status: number;
  readonly body?: unknown;
  readonly error?: string | RegExp;
}

async function check(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>>,
  want: Want,
  base = url,
): Promise<void> {
  const response = await fetch(base + PATH, { method: "POST", body, headers });
  const text = await response.text();
  expect([response.status, text]).toEqual([want.status, expect.any(String)]);
  if (want.body !== undefined) expect(JSON.parse(text)).toEqual(want.body);
  if (want.error === undefined) return;
  const { error } = JSON.parse(text) as { error: string };
  if (typeof want.error === "string") expect(error).toBe(want.error);
  else expect(error).toMatch(want.error);
}

function affected(count: number): Want {
  return { status: 200, body: { output: count === 0 ? [] : [{ affectedrows: count }], execution_time_ms: expect.any(Number) } };
}

describe("a push", () => {
  test("in JSON and in protobuf is written and answered with the number of rows", async () => {
    await check(GOOD, JSON_FORM, affected(2));
    expect(db.writes.at(-1)).toEqual({ database: "public", rowCount: 2, options: { autoCreate: true, tableOptions: OPTIONS } });
    const block = new Uint8Array(compress(message(["a", "b", "c"])));
    await check(block, PROTOBUF_FORM, affected(3));
    await check(block, { ...PROTOBUF_FORM, "content-encoding": "snappy" }, affected(3));
    await check(Bun.gzipSync(GOOD), { ...JSON_FORM, "content-encoding": "gzip" }, affected(2));
  });

  test("without entries writes nothing", async () => {
    const before = db.writes.length;
    await check('{"streams":[]}', JSON_FORM, affected(0));
    await check(new Uint8Array(compress(new Uint8Array(0))), PROTOBUF_FORM, affected(0));
    expect(db.writes.length).toBe(before);
  });

  test("goes to the database and the table that its headers name, with its hints", async () => {
    const headers = { ...JSON_FORM, "x-greptime-db-name": "my-db", "x-greptime-log-table-name": "t2", "x-greptime-hint-ttl": "7d" };
    await check(GOOD, headers, affected(2));
    expect(db.writes.at(-1)).toMatchObject({ database: "my-db", options: { tableOptions: { ...OPTIONS, ttl: "7days" } } });
    await check(GOOD, JSON_FORM, affected(2), fixed.url);
    expect(fixed.db.writes.at(-1)?.options.autoCreate).toBe(false);
  });

  test("is served by an ingest thread itself", async () => {
    await check(GOOD, JSON_FORM, affected(2), threaded.threadUrl);
    expect(await threaded.threadMetrics.registry.getSingleMetricAsString("greptime_servers_loki_logs_ingestion_counter")).toContain(
      '{db="public"} 2',
    );
  });

  test("is decoded and written again when a table changed in between", async () => {
    let failures = 2;
    db.onWrite = () => (failures-- > 0 ? Promise.reject(new DbError(StatusCode.RegionBusy, "changed")) : Promise.resolve());
    await check(GOOD, JSON_FORM, affected(2));
    db.onWrite = () => Promise.resolve();
  });
});

describe("a push is refused", () => {
  test("without a content type, or with another one", async () => {
    const response = await fetch(url + PATH, { method: "POST", body: new Blob([GOOD]) });
    expect([response.status, await response.text()]).toEqual([400, "Header of type `content-type` was missing"]);
    for (const type of ["text/plain", "application/json; charset=utf-8", "toString"]) {
      await check(GOOD, { "content-type": type }, { status: 400, error: /^Unsupported content type/ });
    }
  });

  test("when the body is none", async () => {
    for (const body of ["", "[]", "{", '{"streams":1}', "\u0000"])
      await check(body, JSON_FORM, { status: 400, error: /^Invalid Loki JSON request: / });
    const good = new Uint8Array(compress(message(["a"])));
    const bodies = [message(["a"]), new Uint8Array(0), good.slice(0, 20), new Uint8Array(compress(Uint8Array.of(10, 200)))];
    for (const body of bodies) await check(body, PROTOBUF_FORM, { status: 400, error: /^Failed to decode Loki push: / });
  });

  test("when it decodes to more than the limit", async () => {
    await check(new Uint8Array(compress(new Uint8Array(1_000_001))), PROTOBUF_FORM, { status: 413 });
    await check(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f, 0), PROTOBUF_FORM, { status: 413 });
    await check(`{"a":"${"x".repeat(1_000_000)}"}`, JSON_FORM, { status: 413 });
  });

  test("when table, database or pipeline cannot be used", async () => {
    await check(
      GOOD,
      { ...JSON_FORM, "x-greptime-log-table-name": "1\t2" },
      { status: 400, error: "Invalid table name: 1 2: it holds a control character" },
    );
    await check(GOOD, { ...JSON_FORM, "x-greptime-db-name": "nope" }, { status: 400, error: "database not found: nope" });
    await check(
      GOOD,
      { ...JSON_FORM, "x-greptime-pipeline-name": "p" },
      { status: 400, error: "Pipeline not found, name: p, version: latest" },
    );
  });

  test("with the coded shape and the status for a retry when the write fails", async () => {
    db.onWrite = () => Promise.reject(new DbError(StatusCode.StorageUnavailable, "cannot write the log: EIO"));
    await check(GOOD, JSON_FORM, {
      status: 503,
      body: { code: 5000, error: "cannot write the log: EIO", execution_time_ms: expect.any(Number) },
    });
    db.onWrite = () => Promise.resolve();
    db.onAdmit = () => Promise.reject(new DbError(StatusCode.RateLimited, "the memory limit is reached", { retryAfterSeconds: 3 }));
    await check(GOOD, JSON_FORM, { status: 429 });
    db.onAdmit = () => Promise.resolve();
  });
});

test("malformed entries are left out; those out of range are answered with 400 once the others are written", async () => {
  await check('{"streams":[{"stream":{},"values":[["1","a"],[5,"b"]]}]}', JSON_FORM, affected(1));
  const error = "cannot keep 1 of 2 entries (1 are kept): a timestamp lies beyond 64 bits of nanoseconds";
  await check('{"streams":[{"stream":{},"values":[["1","a"],["9999999999999999999","b"]]}]}', JSON_FORM, { status: 400, error });
  expect(db.writes.at(-1)?.rowCount).toBe(1);
});
