import { afterAll, describe, expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { AssertionError } from "../../base/assert.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import type { UserProvider } from "../../db/auth/user.ts";
import { rawExchange, startFixture } from "../../../test/support/http-fixture.ts";
import { affectedResult, rowsResult } from "../../../test/support/fake-db.ts";
import { STRING } from "../../column/data-type.ts";

const plain = await startFixture();
const provider: UserProvider = {
  authenticate: (name, password) => {
    if (name === "writer") return Promise.resolve({ name, mode: "wo" });
    if (name !== "alice" || password !== "pw") {
      return Promise.reject(new DbError(StatusCode.UserPasswordMismatch, `Username and password does not match, username: ${name}`));
    }
    return Promise.resolve({ name, mode: "ro" });
  },
  describe: () => "static_user_provider:cmd:alice=***",
  close: () => undefined,
};
const logged: object[] = [];
const logger: Logger = { ...silentLogger, warn: (fields, message) => logged.push({ ...fields, message }) };
const guarded = await startFixture({ userProvider: provider, logger });
const listed = await startFixture({ cors: { enabled: true, origins: ["http://a.example"] } });
const anyOrigin = await startFixture({ cors: { enabled: true, origins: ["*"] } });
const closedCors = await startFixture({ cors: { enabled: false, origins: [] } });
const timed = await startFixture({ timeoutMs: 40 });
const api = await startFixture({ surface: "api" });
const narrow = await startFixture({ inFlightBytesMax: 100 });
const all = [plain, guarded, listed, anyOrigin, closedCors, timed, api, narrow];
afterAll(async () => {
  await Promise.all(all.map(({ server }) => server.stop(50)));
});

/** Sends a request and compares status, body and some headers. */
async function check(
  request: Request,
  want: { status: number; body?: string; headers?: Readonly<Record<string, string | null>> },
): Promise<void> {
  const response = await fetch(request);
  const body = await response.text();
  expect(response.status).toBe(want.status);
  if (want.body !== undefined) expect(body).toBe(want.body);
  for (const [name, value] of Object.entries(want.headers ?? {})) expect(response.headers.get(name)).toBe(value);
}

const CORS = { "access-control-allow-origin": null, vary: "origin, access-control-request-method, access-control-request-headers" };

describe("routing", () => {
  test("answers health on three paths, GET and POST, whatever the query", async () => {
    for (const path of ["/health", "/ready", "/v1/health?x=1"]) {
      for (const method of ["GET", "POST"]) {
        const headers = { "content-type": "application/json", ...CORS };
        await check(new Request(plain.url + path, { method }), { status: 200, body: "{}", headers });
      }
    }
  });

  test("an unknown path, a trailing slash and a later release's path are 404 with an empty body", async () => {
    for (const path of ["/nope", "/health/", "/v1/sql/", "/v1/sql/explain", "/dashboards"]) {
      await check(new Request(plain.url + path), { status: 404, body: "", headers: CORS });
    }
  });

  test("a wrong method is 405 and says what is allowed", async () => {
    await check(new Request(`${plain.url}/status`, { method: "POST" }), { status: 405, body: "", headers: { allow: "GET,HEAD" } });
    await check(new Request(`${plain.url}/v1/influxdb/write`), { status: 405, headers: { allow: "POST" } });
    await check(new Request(`${plain.url}/health`, { method: "DELETE" }), { status: 405, headers: { allow: "GET,HEAD,POST" } });
  });

  test("HEAD is answered wherever GET is, without a body", async () => {
    await check(new Request(`${plain.url}/status`, { method: "HEAD" }), { status: 200, body: "" });
    await check(new Request(`${plain.url}/v1/influxdb/write`, { method: "HEAD" }), { status: 405 });
  });

  test("the second listener serves the API only", async () => {
    await check(new Request(`${api.url}/v1/health`), { status: 200 });
    for (const path of ["/health", "/metrics", "/v10/x", "/"]) await check(new Request(api.url + path), { status: 404, body: "" });
  });
});

test("a request of HTTP/1.0 without a Host keeps its path and query", async () => {
  const texts: string[] = [];
  narrow.db.onSql = (text) => {
    texts.push(text);
    return [affectedResult(1)];
  };
  const line = (target: string): string => `GET ${target} HTTP/1.0\r\n\r\n`;
  const { port } = narrow.server;
  expect(await rawExchange(port, line("/v1/sql?sql=SELECT+http%3A%2F%2Fx"))).toContain('"affectedrows":1');
  expect(texts).toEqual(["SELECT http://x"]);
  expect(await rawExchange(port, line("/status?x=a://b/c"))).toContain('"version":"0.1.0"');
  expect(await rawExchange(guarded.server.port, line("/v1/sql?sql=x"))).toStartWith("HTTP/1.1 401");
});

describe("cross-origin", () => {
  test("OPTIONS is answered for any path", async () => {
    const headers = { ...CORS, "access-control-allow-methods": "GET,POST,PUT,DELETE,HEAD", "access-control-allow-headers": "*" };
    await check(new Request(`${guarded.url}/v1/sql`, { method: "OPTIONS" }), { status: 200, body: "", headers });
  });

  test("a listed origin is echoed, another is refused", async () => {
    const from = (origin: string): Request => new Request(`${listed.url}/health`, { headers: { origin } });
    await check(from("http://a.example"), { status: 200, headers: { "access-control-allow-origin": "http://a.example" } });
    const why = "other sites' pages are served only where http.cors_allowed_origins names their origin";
    const refused = `cannot serve \\"http://b.example\\": ${why}`;
    await check(from("http://b.example"), {
      status: 403,
      body: `{"code":7005,"error":"${refused}","execution_time_ms":0}`,
      headers: { "access-control-allow-origin": null, vary: CORS.vary },
    });
  });

  test("a star is any origin, and says so", async () => {
    for (const headers of [{}, { origin: "http://b.example" }])
      await check(new Request(`${anyOrigin.url}/health`, { headers }), { status: 200, headers: { "access-control-allow-origin": "*" } });
  });

  test("a preflight of another site is refused", async () => {
    const headers = { origin: "http://b.example", "access-control-request-method": "POST" };
    await check(new Request(`${plain.url}/v1/sql`, { method: "OPTIONS", headers }), {
      status: 403,
      headers: { "access-control-allow-origin": null, "access-control-allow-methods": null },
    });
  });

  test("debug paths and the second listener are guarded as well", async () => {
    const headers = { origin: "http://b.example" };
    await check(new Request(`${plain.url}/debug/log_level`, { method: "POST", body: "off", headers }), { status: 403 });
    await check(new Request(`${api.url}/v1/health`, { headers }), { status: 403 });
  });

  test("a GET of a browser that does not say where from reads only", async () => {
    plain.db.onSql = (_, { user }) => [rowsResult([["mode", STRING, [user.mode]]])];
    const modeOf = async (headers: Readonly<Record<string, string>>): Promise<unknown> => {
      const response = await fetch(`${plain.url}/v1/sql?sql=x&format=csv`, { headers });
      return (await response.text()).trim();
    };
    expect(await modeOf({ "user-agent": "Mozilla/5.0" })).toBe("ro");
    expect(await modeOf({ "user-agent": "Mozilla/5.0", referer: "http://evil.example/" })).toBe("ro");
    expect(await modeOf({ "user-agent": "Mozilla/5.0", referer: `${plain.url}/` })).toBe("rw");
    expect(await modeOf({ "user-agent": "curl/8" })).toBe("rw");
  });

  test("when off there are no headers and OPTIONS is 405", async () => {
    await check(new Request(`${closedCors.url}/health`), { status: 200, headers: { "access-control-allow-origin": null, vary: null } });
    await check(new Request(`${closedCors.url}/health`, { method: "OPTIONS" }), { status: 405 });
  });

  test("debug paths carry none", async () => {
    await check(new Request(`${plain.url}/debug/prof/mem/status`), {
      status: 200,
      body: '{"active": false}',
      headers: { "access-control-allow-origin": null },
    });
  });
});

describe("credentials", () => {
  const basic = (pair: string): Record<string, string> => ({ authorization: `basic ${btoa(pair)}` });

  test("without any: 401 with the exact body, cross-origin headers, no challenge", async () => {
    await check(new Request(`${guarded.url}/v1/sql?sql=x`), {
      status: 401,
      body: '{"code":7003,"error":"Not found http or grpc authorization header","execution_time_ms":0}',
      headers: {
        ...CORS,
        "x-greptime-err-code": "7003",
        "x-greptime-err-msg": "error: Not found http or grpc authorization header, execution_time_ms: 0",
        "www-authenticate": null,
      },
    });
  });

  test("an unknown path below /v1 is 401 first and 404 with credentials", async () => {
    await check(new Request(`${guarded.url}/v1/xyz`), { status: 401 });
    await check(new Request(`${guarded.url}/v1/xyz`, { headers: basic("alice:pw") }), { status: 404 });
  });

  test("wrong ones are 401 whatever the code, and counted by name", async () => {
    const body = '{"code":7002,"error":"Username and password does not match, username: bob","execution_time_ms":0}';
    await check(new Request(`${guarded.url}/v1/sql?sql=x`, { headers: basic("bob:pw") }), { status: 401, body });
    const metrics = await (await fetch(`${guarded.url}/metrics`)).text();
    expect(metrics).toContain('greptime_servers_auth_failure_count{code="UserPasswordMismatch"} 1');
    expect(metrics).not.toContain('path="/v1/sql"');
  });

  test("wrong ones are logged a few times a minute, with the name and the address and nothing else that was sent", async () => {
    const strange = `a\nb\u202e${"x".repeat(100)}`;
    const headers = { authorization: `Basic ${Buffer.from(`${strange}:hush`).toString("base64")}` };
    logged.length = 0;
    for (let i = 0; i < 30; i++) await fetch(`${guarded.url}/v1/sql?sql=hush&p=hush`, { headers });
    await fetch(`${guarded.url}/v1/influxdb/write?u=alice&p=hush`, { method: "POST", body: "hush" });
    const lines = logged.filter((line) => "message" in line && line.message === "a login failed");
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.length).toBeLessThanOrEqual(10);
    expect(lines[0]).toMatchObject({ client: "127.0.0.1", path: "/v1/sql", code: "UserPasswordMismatch", user: `a?b?${"x".repeat(60)}` });
    expect(JSON.stringify(logged)).not.toContain("hush");
  });

  test("health tells where files lie to those alone who have some", async () => {
    const reason = "log: cannot sync /data/wal/1.log: EIO; disk_space: 1 MiB is free on /data";
    guarded.db.healthNow = { ok: false, reason, parts: ["log", "disk_space"] };
    const said = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> => {
      const answer = await (await fetch(guarded.url + path, { headers })).json();
      return (answer as { readonly reason: unknown }).reason;
    };
    for (const path of ["/health", "/ready", "/v1/health", "/status"]) {
      expect(await said(path)).toBe("log, disk_space (why is told with credentials, and in the log)");
      expect(await said(path, basic("alice:wrong"))).toBe("log, disk_space (why is told with credentials, and in the log)");
      expect(await said(path, basic("alice:pw"))).toBe(reason);
    }
    guarded.db.healthNow = { ok: true, reason: undefined, parts: [] };
  });

  test("right ones give the user to the session", async () => {
    guarded.db.onSql = () => [affectedResult(1)];
    await check(new Request(`${guarded.url}/v1/sql?sql=x`, { headers: basic("alice:pw") }), { status: 200 });
    expect(guarded.db.sessions.at(-1)?.user).toEqual({ name: "alice", mode: "ro" });
  });

  test("a browser's GET has the rights of its account: a write-only one does not come to read", async () => {
    guarded.db.onSql = () => [affectedResult(1)];
    const headers = { authorization: `Basic ${btoa("writer:pw")}`, "user-agent": "Mozilla/5.0" };
    await check(new Request(`${guarded.url}/v1/sql?sql=x`, { headers }), { status: 200 });
    expect(guarded.db.sessions.at(-1)?.user).toEqual({ name: "writer", mode: "wo" });
  });

  test("health, metrics and the index stay open; config and debug do not", async () => {
    for (const path of ["/health", "/metrics", "/status", "/", "/v1/health", "/v1/influxdb/health"]) {
      await check(new Request(guarded.url + path), { status: 200 });
    }
    await check(new Request(`${guarded.url}/config`), { status: 401 });
    await check(new Request(`${guarded.url}/debug/log_level`, { method: "POST", body: "info" }), { status: 401 });
  });

  test("a user who may not write is refused with 403", async () => {
    const request = new Request(`${guarded.url}/v1/influxdb/write`, { method: "POST", body: "a b=1", headers: basic("alice:pw") });
    await check(request, { status: 403, body: '{"error":"User is not authorized to perform this action"}' });
  });
});

describe("limits", () => {
  test("a request that takes too long is 408 with an empty body, and its signal fires", async () => {
    const seen = Promise.withResolvers<AbortSignal>();
    timed.db.onSql = (_, session) => {
      seen.resolve(session.signal);
      return (async function* () {
        await Promise.withResolvers<void>().promise;
        yield affectedResult(1);
      })();
    };
    await check(new Request(`${timed.url}/v1/sql?sql=x`), { status: 408, body: "", headers: CORS });
    expect((await seen.promise).aborted).toBe(true);
  });

  test("x-greptime-timeout overrides the server's timeout", async () => {
    timed.db.onSql = () =>
      (async function* () {
        await Bun.sleep(80);
        yield affectedResult(1);
      })();
    const request = (text: string): Request => new Request(`${timed.url}/v1/sql?sql=x`, { headers: { "x-greptime-timeout": text } });
    await check(request("0s"), { status: 200 });
    await check(request("10s"), { status: 200 });
    await check(request("1ms"), { status: 408 });
    await check(request("nonsense"), { status: 408 });
  });

  test("a streamed answer that is over ends its time: its signal does not fire", async () => {
    const text = "x".repeat(1000);
    timed.db.onSql = () => [rowsResult([["t", STRING, Array.from({ length: 100 }, () => text)]], 30)];
    const response = await fetch(`${timed.url}/v1/sql?sql=x`, { headers: { "x-greptime-timeout": "400ms" } });
    expect((await response.text()).length).toBeGreaterThan(3_000_000);
    await Bun.sleep(500);
    expect(timed.db.sessions.at(-1)?.signal.aborted).toBe(false);
  });

  test("bodies over the in-flight limit are refused", async () => {
    const post = (size: number): Request => new Request(`${narrow.url}/v1/influxdb/write`, { method: "POST", body: "a".repeat(size) });
    await check(post(101), { status: 429, body: "Request body memory limit exceeded: Request memory limit exceeded" });
    await check(post(100), { status: 204 });
  });
});

describe("failures", () => {
  test("an internal error is masked and carries a request id", async () => {
    plain.db.onSql = () => {
      throw new Error("secret path /tmp/x");
    };
    const response = await fetch(`${plain.url}/v1/sql?sql=x`);
    expect(response.status).toBe(500);
    expect(response.headers.get("x-request-id")).toMatch(/^[a-z0-9]+-[a-z0-9]+$/);
    expect(await response.text()).toMatch(/^\{"code":1003,"error":"Internal error: 1003","execution_time_ms":\d+\}$/);
    expect(plain.bugs).toEqual([]);
  });

  test("a broken invariant reaches onBug", async () => {
    plain.db.onSql = () => {
      throw new AssertionError("x; got 1; want 2");
    };
    expect((await fetch(`${plain.url}/v1/sql?sql=x`)).status).toBe(500);
    expect(plain.bugs.map((bug) => bug.message)).toEqual(["x; got 1; want 2"]);
  });

  test("Retry-After follows the error", async () => {
    plain.db.onSql = () => {
      throw new DbError(StatusCode.RateLimited, "over the memory limit", { retryAfterSeconds: 1.2 });
    };
    await check(new Request(`${plain.url}/v1/sql?sql=x`), { status: 429, headers: { "retry-after": "2", "x-greptime-err-code": "6001" } });
  });
});

test("requests are counted by route, status and known database", async () => {
  await fetch(`${plain.url}/health`);
  await fetch(`${plain.url}/v1/influxdb/write?db=nowhere`, { method: "POST", body: "a b=1" });
  const metrics = await (await fetch(`${plain.url}/metrics`)).text();
  expect(metrics).toMatch(/greptime_servers_http_requests_total\{method="GET",path="\/health",code="200",db="public"\} \d+/);
  expect(metrics).toContain('{method="POST",path="/v1/influxdb/write",code="400",db="unknown"} 1');
  expect(metrics).not.toContain("nowhere");
});
