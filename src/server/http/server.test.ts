import { afterAll, describe, expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import { affectedResult } from "../../../test/support/fake-db.ts";
import { rawExchange, startFixture } from "../../../test/support/http-fixture.ts";
import type { HttpServerOptions } from "./options.ts";

describe("listening", () => {
  test("an address in use is one clear line", async () => {
    const first = await startFixture();
    const second = startFixture({ port: first.server.port });
    const error: unknown = await second.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(DbError);
    if (!(error instanceof DbError)) return;
    expect(error.code).toBe(StatusCode.StorageUnavailable);
    expect(error.message).toStartWith(`cannot listen on 127.0.0.1:${first.server.port}: address in use`);
    await first.server.stop(50);
  });
});

describe("stopping", () => {
  test("a request in flight is finished and told to close; idle connections are closed", async () => {
    const { server, url, db } = await startFixture();
    const started = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    db.onSql = () =>
      (async function* () {
        started.resolve();
        await finish.promise;
        yield affectedResult(1);
      })();
    const idle = rawExchange(server.port, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 2000);
    await Bun.sleep(30); // until it was answered and is idle
    const answer = fetch(`${url}/v1/sql?sql=x`);
    await started.promise;
    const stopped = server.stop(5000);
    finish.resolve();
    const response = await answer;
    expect(response.status).toBe(200);
    expect(response.headers.get("connection")).toBe("close");
    await stopped;
    expect(await idle).toEndWith("{}<closed>");
    expect(await rawExchange(server.port, "GET /health HTTP/1.1\r\n\r\n")).toContain("ECONNREFUSED");
  });

  test("a request that does not finish in time is cut off", async () => {
    const { server, db } = await startFixture();
    const started = Promise.withResolvers<AbortSignal>();
    db.onSql = (_, session) =>
      (async function* () {
        started.resolve(session.signal);
        await Promise.withResolvers<void>().promise;
        yield affectedResult(1);
      })();
    const answer = rawExchange(server.port, "GET /v1/sql?sql=x HTTP/1.1\r\nHost: localhost\r\n\r\n", 2000);
    const signal = await started.promise;
    await server.stop(20);
    expect(await answer).toMatch(/^<(closed|reset)>$/);
    expect(signal.aborted).toBe(true);
  });
});

describe("a client that leaves", () => {
  test("fires the session's signal", async () => {
    const { server, db } = await startFixture();
    const aborted = Promise.withResolvers<void>();
    db.onSql = (_, session) =>
      (async function* () {
        session.signal.addEventListener("abort", () => aborted.resolve());
        await aborted.promise;
        yield affectedResult(1);
      })();
    await rawExchange(server.port, "GET /v1/sql?sql=x HTTP/1.1\r\nHost: localhost\r\n\r\n", 100);
    await aborted.promise;
    await server.stop(50);
  });
});

test("a server open to other machines without accounts says so", async () => {
  const warned = async (changes: Partial<HttpServerOptions>): Promise<number> => {
    const said: string[] = [];
    const logger: Logger = { ...silentLogger, warn: (_, text) => said.push(text) };
    const { server } = await startFixture({ ...changes, logger });
    await server.stop(0);
    return said.filter((text) => text.includes("whoever reaches it may read and drop every table")).length;
  };
  const userProvider = { authenticate: () => Promise.reject(new Error("nobody")), describe: () => "", close: () => undefined };
  expect([await warned({ hostname: "0.0.0.0" }), await warned({}), await warned({ hostname: "0.0.0.0", userProvider })]).toEqual([1, 0, 0]);
});

describe("admin", () => {
  const fixture = startFixture();
  afterAll(async () => (await fixture).server.stop(50));

  test("a store whose disk fails is degraded and still there, with the reason", async () => {
    const { url, db } = await fixture;
    db.healthNow = { ok: false, reason: "log: cannot sync the log: EIO", parts: ["log"] };
    for (const path of ["/health", "/ready", "/v1/health"]) {
      const response = await fetch(url + path);
      expect([response.status, await response.text()]).toEqual([200, '{"status":"degraded","reason":"log: cannot sync the log: EIO"}']);
    }
    expect(await (await fetch(`${url}/status`)).json()).toMatchObject({ status: "degraded", reason: "log: cannot sync the log: EIO" });
    db.healthNow = { ok: true, reason: undefined, parts: [] };
  });

  test("status has five keys in order", async () => {
    const { url } = await fixture;
    const want = '{"commit":"0123456789abcdef","branch":"","rustc_version":"bun","hostname":"test","version":"0.1.0"}';
    expect(await (await fetch(`${url}/status`)).text()).toBe(want);
  });

  test("index and config", async () => {
    const { url } = await fixture;
    const index = await fetch(url);
    expect(index.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await index.text()).toContain("<h1>Varve</h1>");
    const config = await fetch(`${url}/config`);
    expect([config.headers.get("content-type"), await config.text()]).toEqual(["text/plain; charset=utf-8", "[http]\n"]);
  });

  test("metrics are sorted, and families without samples are left out", async () => {
    const { url } = await fixture;
    const text = await (await fetch(`${url}/metrics?x=1`)).text();
    expect(text).toContain('greptime_app_version{app="greptime-standalone",short_version="012345678",version="0.1.0"} 1\n');
    expect(text).toContain("\ngreptime_catalog_schema_count 3\n");
    expect(text).not.toContain("greptime_servers_auth_failure_count");
    const families = [...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1] ?? "");
    expect(families).toEqual(families.toSorted());
  });

  test("the log level changes, and a bad filter says why", async () => {
    const { url, logFilter } = await fixture;
    const post = async (body: string): Promise<readonly [number, string]> => {
      const response = await fetch(`${url}/debug/log_level`, { method: "POST", body });
      return [response.status, await response.text()];
    };
    expect(await post("trace,flow=debug")).toEqual([200, "Log Level changed from info to flow=debug,trace"]);
    expect(logFilter().level).toBe("trace");
    const [status, text] = await post("a=b=c");
    expect([status, text]).toEqual([400, expect.stringMatching(/^\{"error":"Invalid request parameter: Invalid filter \\"a=b=c\\": /)]);
    expect(logFilter().level).toBe("trace");
  });
});
