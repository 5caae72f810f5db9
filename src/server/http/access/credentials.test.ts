import { describe, expect, test } from "bun:test";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { needsCredentials, readCredentials } from "./credentials.ts";

interface Request {
  readonly path?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const INFLUX = "/v1/influxdb/write";
const SPLUNK = "/v1/splunk/services/collector";

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString("base64")}`;
}

function read(request: Request): { name: string; password: string } {
  return readCredentials(request.path ?? "/v1/sql", request.query ?? "", new Headers(request.headers));
}

function check(request: Request, name: string, password: string): void {
  expect(read(request)).toEqual({ name, password });
}

function checkRefused(request: Request, code: StatusCode, message: string): void {
  try {
    read(request);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(DbError);
    expect(thrown).toMatchObject({ code, message });
    return;
  }
  throw new Error(`accepted ${JSON.stringify(request)}`);
}

describe("which paths need credentials", () => {
  test("everything under /v1/ but the liveness checks", () => {
    for (const path of ["/v1/sql", "/v1/unknown", "/v1/", INFLUX, "/v1/influxdb/query", SPLUNK]) expect(needsCredentials(path)).toBe(true);
    const open = ["/v1/influxdb/ping", "/v1/influxdb/health", "/v1/health", `${SPLUNK}/health`, `${SPLUNK}/health/1.0`];
    for (const path of open) expect(needsCredentials(path)).toBe(false);
  });

  test("the admin pages that show or change the server, unless they are public", () => {
    for (const path of ["/config", "/debug/log_level", "/debug/prof/cpu"]) {
      expect(needsCredentials(path)).toBe(true);
      expect(needsCredentials(path, true)).toBe(false);
    }
    for (const path of ["/", "/health", "/ready", "/status", "/metrics", "/dashboard", "/dashboard/x", "/v1"]) {
      expect(needsCredentials(path)).toBe(false);
    }
    expect(needsCredentials("/v1/sql", true)).toBe(true);
  });
});

describe("generic endpoints", () => {
  test("take Basic in any case, and split at the first colon", () => {
    check({ headers: { authorization: basic("alice:secret") } }, "alice", "secret");
    check({ headers: { authorization: basic("alice:se:cret").replace("Basic", "bASIC") } }, "alice", "se:cret");
    check({ headers: { authorization: basic("ålice:gehëim") } }, "ålice", "gehëim");
    check({ headers: { authorization: basic(":") } }, "", "");
  });

  test("prefer x-greptime-auth", () => {
    check({ headers: { authorization: "Digest x", "x-greptime-auth": basic("alice:secret") } }, "alice", "secret");
  });

  test("refuse a missing or malformed header", () => {
    checkRefused({}, StatusCode.AuthHeaderNotFound, "Not found http or grpc authorization header");
    checkRefused({ query: "u=alice&p=secret" }, StatusCode.AuthHeaderNotFound, "Not found http or grpc authorization header");
    const malformed = ["Basic", basic("alice:secret").replace(" ", "  "), basic("a:b").replace(" ", ""), `${basic("alice:secret")} x`];
    for (const authorization of malformed) {
      checkRefused({ headers: { authorization } }, StatusCode.InvalidAuthHeader, "Invalid http authorization header");
    }
    checkRefused({ headers: { authorization: basic("alice") } }, StatusCode.InvalidAuthHeader, "Invalid http authorization header");
  });

  test("refuse other schemes by their name in lower case", () => {
    const want = "Unsupported http auth scheme, name: ";
    checkRefused({ headers: { authorization: "Digest abc" } }, StatusCode.InvalidAuthHeader, `${want}digest`);
    checkRefused({ headers: { authorization: "Token alice:secret" } }, StatusCode.InvalidAuthHeader, `${want}token`);
  });

  test("never repeat a password that stands where a scheme belongs", () => {
    checkRefused({ headers: { authorization: "alice:secret x" } }, StatusCode.InvalidAuthHeader, "Invalid http authorization header");
  });

  test("refuse bad base64, bytes that are not UTF-8 and headers that are not ASCII", () => {
    const code = StatusCode.InvalidAuthHeader;
    checkRefused({ headers: { authorization: "Basic ab*d" } }, code, "Invalid base64 value: invalid symbol at offset 2");
    checkRefused({ headers: { authorization: "Basic YTpi-_==" } }, code, "Invalid base64 value: invalid symbol at offset 4");
    for (const encoded of ["YTpiYw", "YTpiYw=", "YTpiYx==", "YTpiY"]) {
      checkRefused({ headers: { authorization: `Basic ${encoded}` } }, code, "Invalid base64 value: invalid length or padding");
    }
    checkRefused(
      { headers: { authorization: "Basic /zpi" } },
      code,
      "Invalid utf-8 value: the pair of name and password holds bytes that are not UTF-8",
    );
    checkRefused({ headers: { authorization: "Basic é" } }, code, "Invalid visibility ASCII chars: character 7 of the header");
  });

  test("refuse bearer tokens on every path", () => {
    for (const path of ["/v1/sql", INFLUX, SPLUNK]) {
      for (const header of ["authorization", "x-greptime-auth"]) {
        const headers = { [header]: "bEarer tok" };
        checkRefused({ path, headers }, StatusCode.UserPasswordMismatch, "Unsupported authentication method: bearer token");
      }
    }
    checkRefused({ headers: { authorization: "Bearer " } }, StatusCode.InvalidAuthHeader, "Invalid http authorization header");
  });
});

describe("line protocol endpoints", () => {
  test("take a token of user and password, Basic, or u and p", () => {
    check({ path: INFLUX, headers: { authorization: "token alice:secret" } }, "alice", "secret");
    check({ path: INFLUX, headers: { authorization: "TOKEN alice:se:c ret" } }, "alice", "se:c ret");
    check({ path: INFLUX, headers: { authorization: basic("alice:secret") } }, "alice", "secret");
    check({ path: INFLUX, query: "db=x&u=alice&p=secret" }, "alice", "secret");
    check({ path: "/v1/influxdb/api/v2/write", query: "?p=secret&u=alice" }, "alice", "secret");
    check({ path: "/v1/dashboards/influxdb-x", query: "u=alice&p=secret" }, "alice", "secret");
  });

  test("decode the query before splitting it, and keep a plus", () => {
    check({ path: INFLUX, query: "u=al%20ice&p=a+b%C3%A9" }, "al ice", "a+bé");
    check({ path: INFLUX, query: "u%3Dalice%26p%3Dsecret" }, "alice", "secret");
    check({ path: INFLUX, query: "u=alice&p=50%&x" }, "alice", "50%");
    check({ path: INFLUX, query: "u=alice&p=a%3Db" }, "alice", "a=b");
    checkRefused(
      { path: INFLUX, query: "u=alice&p=%FF" },
      StatusCode.InvalidAuthHeader,
      "Invalid utf-8 value: the query string holds bytes that are not UTF-8",
    );
  });

  test("refuse nothing, half, and other schemes", () => {
    checkRefused({ path: INFLUX }, StatusCode.AuthHeaderNotFound, "Not found influx http authorization info");
    checkRefused(
      { path: INFLUX, headers: { "x-greptime-auth": basic("alice:secret") } },
      StatusCode.AuthHeaderNotFound,
      "Not found influx http authorization info",
    );
    for (const query of ["u=alice", "p=secret", "uu=a&p=b"]) {
      checkRefused(
        { path: INFLUX, query },
        StatusCode.InvalidArguments,
        "Invalid request parameter: influxdb auth: username and password must be provided together",
      );
    }
    const code = StatusCode.InvalidAuthHeader;
    checkRefused({ path: INFLUX, headers: { authorization: "Digest abc" } }, code, "Unsupported http auth scheme, name: Digest");
    for (const authorization of ["Token", "Token alice", "Token  alice:secret"]) {
      checkRefused({ path: INFLUX, headers: { authorization }, query: "u=a&p=b" }, code, "Invalid http authorization header");
    }
  });
});

test("splunk endpoints take Splunk and Basic", () => {
  check({ path: SPLUNK, headers: { authorization: "splunk alice:secret" } }, "alice", "secret");
  check({ path: SPLUNK, headers: { authorization: basic("alice:secret") } }, "alice", "secret");
  checkRefused({ path: SPLUNK }, StatusCode.AuthHeaderNotFound, "Token is required");
  checkRefused(
    { path: SPLUNK, headers: { authorization: "Splunk alice" } },
    StatusCode.InvalidAuthHeader,
    "Invalid http authorization header",
  );
  checkRefused(
    { path: SPLUNK, headers: { authorization: "Token alice:secret" } },
    StatusCode.InvalidAuthHeader,
    "Unsupported http auth scheme, name: Token",
  );
});
