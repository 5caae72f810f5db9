import { afterAll, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { DbError } from "../../base/error.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import { INT64, STRING } from "../../column/data-type.ts";
import { affectedResult, rowsResult } from "../../../test/support/fake-db.ts";
import { rawExchange, startThreadFixture, type ThreadFixture } from "../../../test/support/http-fixture.ts";
import { BODY_PACE } from "./limits.ts";
import { InFlightBytes } from "./body/in-flight.ts";
import { forwardTo } from "./forward.ts";

const MIB = 1024 * 1024;
const plain = await startThreadFixture({ bodyBytesMax: 8 * MIB });
afterAll(async () => {
  await plain.stop(100);
});

/** Headers that differ from one answer to the next. */
const VARYING = ["date", "transfer-encoding", "x-greptime-execution-time", "x-greptime-err-msg"];

/** What the owner answers is what the client of the thread gets. */
async function checkSame(path: string, init: BunFetchRequestInit = {}): Promise<void> {
  const seen = async (url: string): Promise<object> => {
    const answer = await fetch(url + path, init);
    const headers = [...answer.headers].filter(([name]) => !VARYING.includes(name));
    return { status: answer.status, headers, body: (await answer.text()).replace(/"execution_time_ms":\d+/, "") };
  };
  expect(await seen(plain.threadUrl)).toEqual(await seen(plain.url));
}

describe("a request to a thread that does not serve it", () => {
  test("is answered as by the owner", async () => {
    plain.db.onSql = () => [rowsResult([["n", INT64, [1, 2]]])];
    for (const path of [
      "/",
      "/health",
      "/status",
      "/config",
      "/nowhere",
      "/v1/sql?sql=x&format=csv",
      "/v1/influxdb/query?q=SHOW%20DATABASES",
    ]) {
      await checkSame(path);
    }
    await checkSame("/health", { method: "HEAD" });
    await checkSame("/health", { method: "DELETE" });
    await checkSame("/v1/sql", { method: "OPTIONS", headers: { origin: "http://there" } });
    await checkSame("/v1/sql", { method: "POST", body: new URLSearchParams({ sql: "x" }) });
    plain.db.onSql = () => {
      throw new DbError(StatusCode.TableNotFound, "no such täble");
    };
    await checkSame("/v1/sql?sql=x");
  });

  test("keeps its path, query and headers; who the client is cannot be made up", async () => {
    const seen: object[] = [];
    const logger: Logger = { ...silentLogger, error: (fields) => seen.push({ ...fields, stack: undefined }) };
    const fixture = await startThreadFixture({ logger });
    fixture.db.onSql = (text, session) => {
      seen.push({ text, database: session.database, zone: session.timeZone });
      throw new Error("bug");
    };
    const headers = { "x-greptime-db-name": "my-db", "x-varve-peer": "6.6.6.6", "x-greptime-timezone": "+01:00" };
    const { status } = await fetch(`${fixture.threadUrl}/v1/sql?sql=a%20%22b%22+c`, { headers });
    expect(status).toBe(500);
    expect(seen[0]).toMatchObject({ text: 'a "b" c', database: "my-db" });
    expect(seen[1]).toMatchObject({ client: "127.0.0.1", path: "/v1/sql" });
    await fixture.stop(100);
  });

  test("may have a body of any length; the owner's limit holds", async () => {
    const lengths: number[] = [];
    plain.db.onSql = (text) => {
      lengths.push(text.length);
      return [affectedResult(1)];
    };
    const post = async (body: string | ReadableStream): Promise<number> => {
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      return (await fetch(`${plain.threadUrl}/v1/sql`, { method: "POST", body, headers })).status;
    };
    expect(await post(`sql=${"x".repeat(100)}`)).toBe(200);
    expect(await post(`sql=${"x".repeat(2 * MIB)}`)).toBe(200);
    expect(await post(streamOf(`sql=${"x".repeat(300_000)}`, 1000))).toBe(200);
    expect(await post(`sql=${"x".repeat(9 * MIB)}`)).toBe(413);
    expect(lengths).toEqual([100, 2 * MIB, 300_000]);
  });

  test("gets compressed answers as they are", async () => {
    plain.db.onSql = () => [rowsResult([["s", STRING, ["text"]]])];
    const packed = await fetch(`${plain.threadUrl}/v1/sql?sql=x&format=csv`, { headers: { "accept-encoding": "gzip" }, decompress: false });
    const bytes = new Uint8Array(await packed.arrayBuffer());
    const text = packed.headers.get("content-encoding") === "gzip" ? gunzipSync(bytes).toString() : new TextDecoder().decode(bytes);
    expect(text).toContain("text");
  });
});

function streamOf(text: string, step: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= text.length) return controller.close();
      controller.enqueue(new TextEncoder().encode(text.slice(at, at + step)));
      at += step;
    },
  });
}

describe("a long answer", () => {
  const many = Array.from({ length: 10_000 }, (_, i) => `${"y".repeat(50)}${i}`);

  test("streams through, whole", async () => {
    plain.db.onSql = () => [rowsResult([["s", STRING, many]], 20)];
    const text = await (await fetch(`${plain.threadUrl}/v1/sql?sql=x&format=csv`)).text();
    expect(text.split("\n").filter((line) => line.startsWith("y")).length).toBe(200_000);
  });

  test("that fails after its start resets the connection: no client takes a part for the whole", async () => {
    plain.db.onSql = () => [
      {
        kind: "rows",
        headers: [{ name: "s", type: STRING }],
        batches: (async function* () {
          const { batches } = rowsResult([["s", STRING, many]], 6) as { readonly batches: AsyncIterable<never> };
          yield* batches;
          throw new DbError(StatusCode.StorageUnavailable, "the disk is gone");
        })(),
      },
    ];
    const raw = await rawExchange(plain.threadPort, "GET /v1/sql?sql=x&format=csv HTTP/1.1\r\nHost: localhost\r\n\r\n", 500);
    expect(raw).toStartWith("HTTP/1.1 200");
    expect(raw).toMatch(/<(closed|reset)>$/);
    expect(raw).not.toContain("\r\n0\r\n\r\n");
  });
});

test("a client that leaves is gone for the owner too", async () => {
  const left = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  plain.db.onSql = (_, session) =>
    (async function* () {
      session.signal.addEventListener("abort", () => left.resolve());
      started.resolve();
      await left.promise;
      yield affectedResult(1);
    })();
  const gone = new AbortController();
  const answer = fetch(`${plain.threadUrl}/v1/sql?sql=x`, { signal: gone.signal }).catch((error: unknown) => (error as Error).name);
  await started.promise;
  gone.abort();
  expect(await answer).toBe("AbortError");
  await left.promise;
});

test("writes are served by the thread itself, compressed or not, with credentials checked there", async () => {
  const asked: string[] = [];
  const userProvider = {
    authenticate: async (name: string, password: string) => {
      asked.push(name);
      if (password !== "good") throw new DbError(StatusCode.UserPasswordMismatch, "wrong");
      return { name, mode: "rw" as const };
    },
    describe: () => "",
    close: () => undefined,
  };
  const fixture = await startThreadFixture({ userProvider });
  const write = async (password: string): Promise<number> => {
    const headers = { authorization: `Basic ${btoa(`ann:${password}`)}`, "content-encoding": "gzip" };
    const body = gzipSync("cpu v=1\nmem v=2");
    return (await fetch(`${fixture.threadUrl}/v1/influxdb/write`, { method: "POST", body, headers })).status;
  };
  expect([await write("good"), await write("bad")]).toEqual([204, 401]);
  expect((await fetch(`${fixture.threadUrl}/v1/influxdb/write`, { method: "PUT" })).status).toBe(401);
  expect((await fetch(`${fixture.threadUrl}/v1/sql?sql=x`)).status).toBe(401);
  expect(fixture.bodies).toEqual(["cpu v=1\nmem v=2"]);
  expect(asked).toEqual(["ann", "ann"]);
  await fixture.stop(100);
});

test("a write whose tables changed under it is decoded again, and given up only after many times", async () => {
  const fixture = await startThreadFixture();
  const outdated = new DbError(StatusCode.RegionBusy, "its tables changed", { retryAfterSeconds: 1 });
  let failures = 3;
  fixture.db.onWrite = () => (failures-- > 0 ? Promise.reject(outdated) : Promise.resolve());
  const write = async (): Promise<Response> => await fetch(`${fixture.threadUrl}/v1/influxdb/write`, { method: "POST", body: "cpu v=1" });
  expect((await write()).status).toBe(204);
  expect(fixture.bodies.length).toBe(4);
  failures = 1000;
  const refused = await write();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(fixture.bodies.length).toBe(12);
  await fixture.stop(100);
});

test("what threads count is part of the owner's metrics, gauges apart", async () => {
  const metrics = plain.threadMetrics;
  await fetch(`${plain.threadUrl}/v1/influxdb/write`, { method: "POST", body: "cpu v=1" });
  await fetch(`${plain.url}/v1/influxdb/write`, { method: "POST", body: "cpu v=1" });
  const fixture: ThreadFixture = plain;
  expect((await metrics.countedHere()).map(({ name }) => name)).not.toContain("greptime_catalog_schema_count");
  const text = await (await fetch(`${fixture.threadUrl}/metrics`)).text();
  expect(text).toContain('path="/v1/influxdb/write",code="204",db="public"} 1');
  fixture.metrics.addThreads(async () => [await metrics.countedHere()]);
  const summed = await (await fetch(`${fixture.threadUrl}/metrics`)).text();
  expect(summed).toContain('greptime_servers_http_requests_total{method="POST",path="/v1/influxdb/write",code="204",db="public"} 2');
  expect(summed).toContain('greptime_servers_http_influxdb_write_elapsed_bucket{le="+Inf",db="public"} 2');
  expect(summed).toContain("greptime_catalog_catalog_count 1\n");
});

test("at most so many requests wait for the owner; the others are told to come back", async () => {
  const forward = forwardTo("/nowhere/threads.sock", 1, 1);
  const share = new InFlightBytes({ bytesMax: 0, waitMs: 0, waitersMax: 0 }).share();
  const listener = { timeout: () => undefined, requestIP: () => null };
  const answer = await forward(new Request("http://x/health"), listener, share, BODY_PACE);
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await answer.text()).toStartWith('{"error":"cannot pass the request on: ');
  expect((await forward(new Request("http://x/health"), listener, share, BODY_PACE)).status).toBe(503); // The permit came back.
});

test("a thread that stops finishes what it passed on, and tells clients to close", async () => {
  const fixture = await startThreadFixture();
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  fixture.db.onSql = () =>
    (async function* () {
      started.resolve();
      await finish.promise;
      yield affectedResult(1);
    })();
  const answer = fetch(`${fixture.threadUrl}/v1/sql?sql=x`);
  await started.promise;
  const stopped = fixture.stop(5000);
  finish.resolve();
  const response = await answer;
  expect([response.status, response.headers.get("connection")]).toEqual([200, "close"]);
  await stopped;
});

test("only the server's own user can open the socket", () => {
  expect(statSync(plain.socket).mode & 0o777).toBe(0o600);
});
