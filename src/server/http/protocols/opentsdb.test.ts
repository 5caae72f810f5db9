import { afterAll, describe, expect, test } from "bun:test";
import { startFixture, startThreadFixture } from "../../../../test/support/http-fixture.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";

const fixture = await startFixture();
const disabled = await startFixture({ opentsdb: { enabled: false } });
const threaded = await startThreadFixture();
afterAll(() => Promise.all([fixture.server.stop(50), disabled.server.stop(50), threaded.stop(50)]));
const { db, url } = fixture;

const PATH = "/v1/opentsdb/api/put";
const GOOD = '{"metric":"m","timestamp":1346846400,"value":18,"tags":{"host":"web01"}}';
const OPTIONS = { comment: "Created on insertion", "greptime.semantic.signal_type": "metric", "greptime.semantic.source": "opentsdb" };

interface Want {
  readonly status: number;
  readonly body?: unknown;
  readonly error?: string | RegExp;
}

async function check(
  query: string,
  body: string | Uint8Array<ArrayBuffer>,
  want: Want,
  headers: Readonly<Record<string, string>> = {},
  base = url,
): Promise<void> {
  const response = await fetch(base + PATH + query, { method: "POST", body, headers });
  const text = await response.text();
  expect([response.status, text]).toEqual([want.status, want.status === 204 ? "" : expect.any(String)]);
  if (want.body !== undefined) expect(JSON.parse(text)).toEqual(want.body);
  if (want.error === undefined) return;
  const { error } = JSON.parse(text) as { error: string };
  if (typeof want.error === "string") expect(error).toBe(want.error);
  else expect(error).toMatch(want.error);
}

describe("a put", () => {
  test("of one point or of many is written and answered 204", async () => {
    await check("", GOOD, { status: 204 });
    expect(db.writes.at(-1)).toEqual({ database: "public", rowCount: 1, options: { autoCreate: true, tableOptions: OPTIONS } });
    await check("?sync&sync_timeout=100", `[${GOOD},${GOOD}]`, { status: 204 }, { "content-type": "text/plain" });
    expect(db.writes.at(-1)?.rowCount).toBe(2);
    await check("", Bun.gzipSync(`[${GOOD},${GOOD},${GOOD}]`), { status: 204 }, { "content-encoding": "gzip" });
    expect(db.writes.at(-1)?.rowCount).toBe(3);
  });

  test("without points writes nothing", async () => {
    const before = db.writes.length;
    await check("", "[]", { status: 204 });
    await check("?summary", "[]", { status: 200, body: { success: 0, failed: 0 } });
    expect(db.writes.length).toBe(before);
  });

  test("keeps the good points and names the bad ones", async () => {
    const error =
      "Invalid OpenTSDB Json request: data point 2: missing field `metric`; data point 3: a data point must be an object " +
      "(2 of 4 data points are refused, 2 were written)";
    await check("", `[${GOOD},{},5,${GOOD}]`, { status: 400, error });
    expect(db.writes.at(-1)?.rowCount).toBe(2);
  });

  test("with summary or details says what became of the points", async () => {
    const bad = '{"metric":"m","timestamp":"x","value":1,"tags":{}}';
    const long = `{"metric":5,"x":"${"y".repeat(5000)}"}`;
    await check("?summary", `[${GOOD}]`, { status: 200, body: { success: 1, failed: 0 } });
    await check("?details=false", `[${GOOD}]`, { status: 200, body: { success: 1, failed: 0, errors: [] } });
    await check("?summary=1", `[${GOOD},${bad}]`, { status: 400, body: { success: 1, failed: 1 } });
    const errors = [
      { datapoint: JSON.parse(bad), error: "`timestamp` must be a whole number of seconds or milliseconds" },
      { datapoint: `${long.slice(0, 120)}…`, error: "`metric` must be a string" },
    ];
    await check("?summary&details", `[${bad},${GOOD},${long}]`, { status: 400, body: { success: 1, failed: 2, errors } });
  });

  test("is served by an ingest thread itself, and counted there", async () => {
    await check("", GOOD, { status: 204 }, {}, threaded.threadUrl);
    expect(await threaded.threadMetrics.registry.getSingleMetricAsString("greptime_servers_http_opentsdb_points")).toContain(
      '{db="public"} 1',
    );
  });
});

describe("a put is refused", () => {
  test("whole when the body is none, whatever the query says", async () => {
    const before = db.writes.length;
    for (const body of ["", "{", `[${GOOD}`, `${GOOD}${GOOD}`, "null"]) {
      for (const query of ["", "?summary", "?details"])
        await check(query, body, { status: 400, error: /^Invalid OpenTSDB Json request: / });
    }
    expect(db.writes.length).toBe(before);
  });

  test("when it is too long, to an unknown database, or the protocol is off", async () => {
    await check("", `[${GOOD},"${"x".repeat(1_000_000)}"]`, { status: 413 });
    await check("?db=nope", GOOD, { status: 400, error: "database not found: nope" });
    await check("", GOOD, { status: 404 }, {}, disabled.url);
  });

  test("with the error of the write, by which a client knows to come back", async () => {
    db.onWrite = () => Promise.reject(new DbError(StatusCode.StorageUnavailable, "cannot write the log: EIO"));
    for (const query of ["", "?details"]) await check(query, GOOD, { status: 503, error: "cannot write the log: EIO" });
    db.onWrite = () => Promise.resolve();
  });
});
