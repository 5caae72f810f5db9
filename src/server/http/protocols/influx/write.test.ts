import { afterAll, describe, expect, test } from "bun:test";
import { DbError } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import { startFixture } from "../../../../../test/support/http-fixture.ts";

const { server, url, db, bodies } = await startFixture();
const disabled = await startFixture({
  influx: {
    enabled: false,
    defaultMergeMode: "last_row",
    timeColumn: "ts",
    createDecoder: () => {
      throw new Error("not used");
    },
  },
});
const fixed = await startFixture({ autoCreateTable: false });
afterAll(() => Promise.all([server.stop(50), disabled.server.stop(50), fixed.server.stop(50)]));

const DEFAULT_OPTIONS = {
  comment: "Created on insertion",
  "greptime.semantic.signal_type": "metric",
  "greptime.semantic.source": "influxdb",
  merge_mode: "last_non_null",
};

/** Posts lines and compares the status and the `error` text. */
async function check(
  pathAndQuery: string,
  body: string,
  want: { status: number; error?: string | RegExp },
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const response = await fetch(`${url}/v1/influxdb/${pathAndQuery}`, { method: "POST", body, headers });
  const text = await response.text();
  expect([response.status, text]).toEqual([want.status, want.error === undefined ? "" : expect.any(String)]);
  if (want.error === undefined) return response;
  const error: unknown = JSON.parse(text).error;
  if (typeof want.error === "string") expect(error).toBe(want.error);
  else expect(error).toMatch(want.error);
  return response;
}

describe("write", () => {
  test("good lines are written and answered 204 with an empty body", async () => {
    await check("write", "a b=1\na b=2", { status: 204 });
    expect(db.writes.at(-1)).toEqual({ database: "public", rowCount: 2, options: { autoCreate: true, tableOptions: DEFAULT_OPTIONS } });
  });

  test("an empty body is 204 and writes nothing", async () => {
    const before = db.writes.length;
    await check("write", "", { status: 204 });
    expect(db.writes.length).toBe(before);
  });

  test("good lines are kept, and each bad one is named", async () => {
    const before = db.writes.length;
    const error =
      "Failed to parse InfluxDB line protocol: No fields were provided at line 2: 'oops!'; No fields were provided at line 3: 'again!'" +
      " (partial write: 1 rows were written, unable to parse 2 of 3 lines)";
    await check("write", "a b=1\noops!\nagain!", { status: 400, error });
    expect(db.writes.slice(before).map((write) => write.rowCount)).toEqual([1]);
  });

  test("accept_partial=false writes all or nothing", async () => {
    const before = db.writes.length;
    await check("write?accept_partial=false", "a b=1\noops!", { status: 400, error: /nothing was written\)$/ });
    expect(db.writes.length).toBe(before);
    await check("write?accept_partial=false", "a b=1", { status: 204 });
    expect(db.writes.length).toBe(before + 1);
  });

  test("bad lines are answered only once the good ones are durable", async () => {
    const disk = Promise.withResolvers<void>();
    let answered = false;
    db.onWrite = () => disk.promise;
    const answer = check("write", "a b=1\noops!", { status: 400, error: /partial write/ }).then(() => {
      answered = true;
    });
    await Bun.sleep(30);
    expect(answered).toBe(false);
    disk.resolve();
    await answer;
    db.onWrite = () => Promise.resolve();
  });

  test("a body is decoded only when there is memory for it, and refused with Retry-After when there is none in time", async () => {
    const before = bodies.length;
    const refusal = new DbError(StatusCode.RateLimited, "cannot take the write: the memory limit is reached", { retryAfterSeconds: 3 });
    db.onAdmit = () => Promise.reject(refusal);
    const response = await check("write", "a b=1", { status: 429, error: refusal.message });
    expect(response.headers.get("retry-after")).toBe("3");
    expect(bodies.length).toBe(before);
    db.onAdmit = () => Promise.resolve();
  });

  test("a failed write is answered with its own error, not with the bad lines", async () => {
    db.onWrite = () => Promise.reject(new DbError(StatusCode.StorageUnavailable, "cannot write the log: EIO"));
    await check("write", "a b=1\noops!", { status: 503, error: "cannot write the log: EIO" });
    db.onWrite = () => Promise.resolve();
  });

  test("precisions are those of the contract, others are refused before the body is read", async () => {
    for (const name of ["n", "ns", "u", "us", "ms", "s", "m", "h"]) await check(`write?precision=${name}`, "a b=1", { status: 204 });
    const before = bodies.length;
    for (const name of ["", "d", "toString", "µ"]) {
      const error = `Failed to convert time precision, name: ${name}`;
      await check(`write?precision=${encodeURIComponent(name)}`, "a b=1", { status: 400, error });
    }
    expect(bodies.length).toBe(before);
  });
});

describe("database", () => {
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    ["write", {}, "public"],
    ["write?db=", {}, "public"],
    ["write?db=my-db", {}, "my-db"],
    ["write?db=greptime-public", {}, "public"],
    ["write?db=greptime-my-db", {}, "my-db"],
    ["api/v2/write?bucket=my-db&org=x", {}, "my-db"],
    ["api/v2/write?bucket=my-db&db=public", {}, "public"],
    ["write?bucket=my-db", {}, "public"],
    ["write?db=nowhere", { "x-greptime-db-name": "my-db" }, "my-db"],
    ["write?db=my%2Ddb", {}, "my-db"],
    ["api/v2/write?bucket=my%2ddb", {}, "my-db"],
  ];
  for (const [query, headers, want] of cases) {
    test(`${query} ${JSON.stringify(headers)} writes to ${want}`, async () => {
      await check(query, "a b=1", { status: 204 }, headers);
      expect(db.writes.at(-1)?.database).toBe(want);
    });
  }

  test("one that does not exist is 400 with the words that Telegraf looks for", async () => {
    await check("write?db=nowhere", "a b=1", { status: 400, error: "database not found: nowhere" });
    await check("write?db=other-public", "a b=1", { status: 400, error: "database not found: other-public" });
  });
});

describe("hints", () => {
  const options = async (headers: Readonly<Record<string, string>>): Promise<unknown> => {
    await check("write", "a b=1", { status: 204 }, headers);
    return db.writes.at(-1)?.options;
  };

  test("they become options of new tables, durations as they are shown", async () => {
    expect(await options({ "x-greptime-hints": "ttl = 1d , skip_wal=true,novalue, other=1" })).toEqual({
      autoCreate: true,
      tableOptions: { ...DEFAULT_OPTIONS, ttl: "1day", skip_wal: "true" },
    });
  });

  test("single headers count only without the combined one", async () => {
    expect(await options({ "x-greptime-hint-ttl": "7d" })).toMatchObject({ tableOptions: { ttl: "7days" } });
    expect(await options({ "x-greptime-hint-ttl": "7d", "x-greptime-hints": "merge_mode=last_row" })).toEqual({
      autoCreate: true,
      tableOptions: { ...DEFAULT_OPTIONS, merge_mode: "last_row" },
    });
  });

  test("append mode leaves the merge mode out", async () => {
    const { merge_mode: _, ...rest } = DEFAULT_OPTIONS;
    expect(await options({ "x-greptime-hints": "append_mode=true" })).toEqual({
      autoCreate: true,
      tableOptions: { ...rest, append_mode: "true" },
    });
  });

  test("auto_create_table can be switched off, and not on against the server's setting", async () => {
    expect(await options({ "x-greptime-hints": "auto_create_table=false" })).toMatchObject({ autoCreate: false });
    const headers = { "x-greptime-hints": "auto_create_table=true" };
    await fetch(`${fixed.url}/v1/influxdb/write`, { method: "POST", body: "a b=1", headers });
    expect(fixed.db.writes.at(-1)?.options.autoCreate).toBe(false);
  });

  test("a hint that makes no sense is refused", async () => {
    const rejects: readonly (readonly [string, RegExp])[] = [
      ["auto_create_table=maybe", /^`auto_create_table` hint must be a boolean$/],
      ["ttl=soon", /^cannot use the hint ttl=soon: /],
      ["append_mode=1", /must be true or false$/],
      ["merge_mode=none", /must be last_row or last_non_null$/],
    ];
    for (const [hint, error] of rejects) await check("write", "a b=1", { status: 400, error }, { "x-greptime-hints": hint });
  });
});

describe("other endpoints", () => {
  test("ping is 204, health is 200, both empty", async () => {
    for (const [path, status] of [
      ["ping", 204],
      ["health", 200],
    ] as const) {
      const response = await fetch(`${url}/v1/influxdb/${path}`);
      expect([response.status, await response.text()]).toEqual([status, ""]);
      expect(response.headers.get("x-influxdb-version")).toBeNull();
    }
  });

  test("none exists when the protocol is off", async () => {
    for (const path of ["write", "ping", "query"]) expect((await fetch(`${disabled.url}/v1/influxdb/${path}`)).status).toBe(404);
  });
});

describe("query", () => {
  const ask = async (q: string, method: "GET" | "POST"): Promise<readonly [number, string]> => {
    const form = new URLSearchParams({ q }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const path = `${url}/v1/influxdb/query`;
    const response = await (method === "GET" ? fetch(`${path}?${form}`) : fetch(path, { method: "POST", body: form, headers }));
    return [response.status, await response.text()];
  };

  test("makes a database once and is content the second time, as Telegraf asks", async () => {
    for (const method of ["POST", "GET"] as const) {
      expect(await ask('CREATE DATABASE "tele \\"graf\\"";', method)).toEqual([200, '{"results":[{"statement_id":0}]}']);
    }
    expect(db.names.filter((name) => name === 'tele "graf"')).toHaveLength(1);
  });

  test("shows databases", async () => {
    const [status, text] = await ask("show databases; create database plain", "POST");
    expect(status).toBe(200);
    expect(JSON.parse(text).results).toEqual([
      { statement_id: 0, series: [{ name: "databases", columns: ["name"], values: expect.arrayContaining([["public"], ["my-db"]]) }] },
      { statement_id: 1 },
    ]);
    expect(db.names).toContain("plain");
  });

  test("refuses the rest before anything runs", async () => {
    const rejects = [
      "SELECT * FROM cpu",
      "CREATE DATABASE two words",
      'CREATE DATABASE ""',
      "CREATE DATABASE never; DROP DATABASE public",
      " ",
    ];
    for (const q of rejects) {
      const [status, text] = await ask(q, "POST");
      expect([status, text]).toEqual([400, expect.stringMatching(/^\{"error":"/)]);
    }
    expect(db.names).not.toContain("never");
  });
});
