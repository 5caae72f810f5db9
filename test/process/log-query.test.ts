/** `/v1/logs`: structured queries of logs, compared with the rows that were written. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execute } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

let server: TestServer;
const ROWS = [
  ["00:00:00", "error: disk full", "db", 5, true, '{"user":{"id":7},"path":"/a"}'],
  ["00:00:10", "all is well", "db", 1, false, "{}"],
  ["00:00:20", "100% of a_b", "web", 3, true, "{}"],
  ["00:00:30", "error: it's late", "web", 2, null, "{}"],
  ["00:01:00", null, "web", 9, false, "{}"],
] as const;

beforeAll(async () => {
  server = await TestServer.start({ flags: ["--user-provider", "static_user_provider:cmd:all=pw,writer:wo=pw"] });
  await execute(
    server.url,
    `CREATE TABLE "my logs" (ts TIMESTAMP(3) TIME INDEX, message STRING, host STRING PRIMARY KEY, n BIGINT, ok BOOLEAN, doc STRING)`,
    { headers: ALL },
  );
  const values = ROWS.map(([time, message, host, n, ok, doc]) => {
    const text = message === null ? "NULL" : `'${message.replaceAll("'", "''")}'`;
    return `('2024-12-01 ${time}', ${text}, '${host}', ${n}, ${String(ok).toUpperCase()}, '${doc}')`;
  });
  await execute(server.url, `INSERT INTO "my logs" VALUES ${values.join(", ")}`, { headers: ALL });
}, 30_000);
afterAll(async () => {
  await server.end();
});

const ALL = { authorization: `Basic ${btoa("all:pw")}` };
const JSON_TYPE = { "content-type": "application/json" };
const column = (name: string): object => ({ NamedIdent: name });
const single = (name: string, ...filters: readonly unknown[]): object => ({ Single: { expr: column(name), filters } });

async function ask(query: unknown, headers: Readonly<Record<string, string>> = {}): Promise<readonly [number, Answer]> {
  const body = typeof query === "string" ? query : JSON.stringify(query);
  const response = await fetch(`${server.url}/v1/logs`, { method: "POST", body, headers: { ...JSON_TYPE, ...ALL, ...headers } });
  return [response.status, (await response.json()) as Answer];
}

interface Answer {
  readonly error?: string;
  readonly code?: number;
  readonly output?: readonly { readonly records: { readonly rows: readonly (readonly unknown[])[] } }[];
}

const TABLE = { catalog_name: "greptime", schema_name: "public", table_name: "my logs" };

/** The column `n` of the rows that a query gives, newest first; or what went wrong. */
async function found(query: object): Promise<unknown> {
  const [status, { output, error }] = await ask({ table: TABLE, time_filter: { start: "2024" }, columns: ["n"], ...query });
  return status === 200 ? output?.[0]?.records.rows.map(([n]) => n) : error;
}

async function check(query: object, want: unknown): Promise<void> {
  expect([query, await found(query)]).toEqual([query, want]);
}

test("all of the reference's form is understood", async () => {
  const query = {
    limit: { skip: null, fetch: 1 },
    table: TABLE,
    time_filter: { start: "2024-12-01T00:00:00Z", end: "2024-12-01T00:00:05Z", span: null },
    columns: ["message", "ts"],
    filters: { And: [] },
    context: "None",
    exprs: [],
  };
  const [status, { output }] = await ask(query);
  expect([status, output?.[0]?.records.rows]).toEqual([200, [["error: disk full", 1_733_011_200_000]]]);
  const parameter = new URLSearchParams({ query: JSON.stringify(query) }).toString();
  const response = await fetch(`${server.url}/v1/logs?${parameter}`, { headers: ALL });
  expect(response.headers.get("x-greptime-format")).toBe("greptimedb_v1");
  expect(((await response.json()) as Answer).output?.[0]?.records.rows).toEqual([["error: disk full", 1_733_011_200_000]]);
});

describe("filters", () => {
  test("of content", async () => {
    await check({ filters: single("message", { Contains: "error" }) }, [2, 5]);
    await check({ filters: single("message", { contain: "is" }) }, [1, 5]);
    await check({ filters: single("message", { Exact: "all is well" }) }, [1]);
    await check({ filters: single("message", { Prefix: "error: it's" }) }, [2]);
    await check({ filters: single("message", { Postfix: "full" }) }, [5]);
    await check({ filters: single("message", { Contains: "%" }) }, [3]);
    await check({ filters: single("message", { Contains: "a_" }) }, [3]);
    await check({ filters: single("message", { Contains: "!" }) }, []);
    await check({ filters: single("message", { Regex: "^error: (disk|late)" }) }, [5]);
    await check({ filters: single("message", "Exist") }, [2, 3, 1, 5]);
    await check({ filters: single("message", { Contains: "'); DROP TABLE x; --" }) }, []);
  });

  test("of values", async () => {
    await check({ filters: single("n", { GreatThan: { value: "3", inclusive: true } }) }, [9, 3, 5]);
    await check({ filters: single("n", { LessThan: { value: "3", inclusive: false } }) }, [2, 1]);
    await check({ filters: single("n", { Between: { start: "2", end: "5", start_inclusive: false, end_inclusive: true } }) }, [3, 5]);
    await check({ filters: single("host", { In: ["db", "nowhere"] }) }, [1, 5]);
    await check({ filters: single("host", { In: [] }) }, []);
    await check({ filters: single("n", { Equal: { Int: 9 } }) }, [9]);
    await check({ filters: single("host", { Equal: "web" }) }, [9, 2, 3]);
    await check({ filters: single("ok", "IsTrue") }, [3, 5]);
    await check({ filters: single("ok", "is_false") }, [9, 1]);
    await check({ filters: single("n", { Compound: [[{ Equal: 9 }, { Equal: 1 }], "Or"] }) }, [9, 1]);
  });

  test("of filters", async () => {
    const [error, web] = [single("message", { Contains: "error" }), single("host", { Exact: "web" })];
    await check({ filters: { And: [error, web] } }, [2]);
    await check({ filters: { Or: [error, web] } }, [9, 2, 3, 5]);
    await check({ filters: { Not: web } }, [1, 5]);
    await check({ filters: [{ column_name: "host", filters: [{ Exact: "web" }] }, error] }, [2]);
    await check({ filters: { Or: [error, { And: [] }] } }, [9, 2, 3, 1, 5]);
  });
});

test("times", async () => {
  const times = (time_filter: object, want: unknown): Promise<void> => check({ time_filter }, want);
  await times({ start: "2024-12-01" }, [9, 2, 3, 1, 5]);
  await times({ start: "2024-12" }, [9, 2, 3, 1, 5]);
  await times({ start: "2023" }, []);
  await times({ start: "2024-12-01T00:00:10Z", span: "20" }, [3, 1]);
  await times({ end: "2024-12-01T00:00:10Z", span: "1 week" }, [5]);
  await times({ span: "1 day" }, []);
  await times({}, [9, 2, 3, 1, 5]);
  await times({ start: "2024-12-02", end: "2024-12-01" }, "cannot read the query: time_filter must end after it starts");
  await times({ start: "soon" }, 'cannot read the query: time_filter.start is no time: "soon"');
  await times({ start: "2024-13" }, 'cannot read the query: time_filter.start is no time: "2024-13"');
  await times({ span: "-5 days" }, 'cannot read the query: time_filter.span is no span: "-5 days"');
});

test("pages, and what stands around a match", async () => {
  await check({ limit: { fetch: 2 } }, [9, 2]);
  await check({ limit: { skip: 2, fetch: 2 } }, [3, 1]);
  const full = single("message", { Contains: "100%" });
  await check({ filters: full, context: { Lines: [1, 1] } }, [2, 3, 1]);
  await check({ filters: full, context: { Lines: [2, 0] } }, [3, 1, 5]);
  await check({ filters: full, context: { Seconds: [0, 10] } }, [2, 3]);
  await check({ filters: full, context: { Seconds: [20, 40] } }, [9, 2, 3, 1, 5]);
  await check({ filters: single("message", { Contains: "nothing" }), context: { Lines: [9, 9] } }, []);
});

test("expressions", async () => {
  const rows = async (query: object): Promise<unknown> => {
    const [status, { output, error }] = await ask({ table: TABLE, ...query });
    return status === 200 ? output?.[0]?.records.rows : error;
  };
  const count = { AggrFunc: { name: "count", args: [column("n")], by: [column("host")], range: null, alias: "lines" } };
  const sorted = (value: unknown): unknown => (Array.isArray(value) ? value.toSorted((a, b) => (String(a) < String(b) ? -1 : 1)) : value);
  expect(sorted(await rows({ exprs: [count] }))).toEqual([
    ["db", 2],
    ["web", 3],
  ]);
  expect(await rows({ exprs: [count], columns: ["lines"], filters: single("host", { Exact: "db" }) })).toEqual([[2]]);
  const slices = { AggrFunc: { name: "sum", args: [column("n")], by: [], range: "1 minute", alias: "total" } };
  expect(await rows({ exprs: [slices], columns: ["total"] })).toEqual([[9], [11]]);
  const upper = { ScalarFunc: { name: "upper", args: [column("host")], alias: "HOST" } };
  expect(await rows({ exprs: [upper], columns: ["HOST"], limit: { fetch: 1 } })).toEqual([["WEB"]]);
  const twice = { BinaryOp: { left: column("n"), op: "Plus", right: column("n") } };
  expect(await rows({ exprs: [{ Alias: { expr: twice, alias: "twice" } }], columns: ["twice"], limit: { fetch: 2 } })).toEqual([[18], [4]]);
  const filter = { Filter: { filter: { expr: column("twice"), filters: [{ Equal: 10 }] } } };
  expect(await rows({ exprs: [{ Alias: { expr: twice, alias: "twice" } }, filter], columns: ["n"] })).toEqual([[5]]);
  const decompose = { Decompose: { expr: column("doc"), schema: "JSON", fields: [["path", "string"]] } };
  expect(await rows({ exprs: [decompose], columns: ["path"], filters: single("n", { Equal: 5 }) })).toEqual([["/a"]]);
  expect(await rows({ columns: ["n"], filters: { Single: { expr: { PositionalIdent: 3 }, filters: [{ Equal: 9 }] } } })).toEqual([[9]]);
});

test("what is no query is refused", async () => {
  const refused = async (query: unknown, error: string, code = 1004): Promise<void> => {
    expect([String(query).slice(0, 60), ...(await ask(query))]).toMatchObject([
      String(query).slice(0, 60),
      400,
      { code, error: expect.stringContaining(error) },
    ]);
  };
  await refused("{", "cannot read the query");
  await refused("[".repeat(100_000), "cannot read the query");
  await refused("[]", "the query must be an object");
  await refused({}, "table must be an object");
  await refused({ table: { table_name: "nowhere" } }, "Table not found: greptime.public.nowhere", 4001);
  await refused({ table: { table_name: "x".repeat(8192) } }, "Table not found", 4001);
  await refused({ table: { catalog_name: "other", table_name: "x" } }, 'table.catalog_name must be "greptime"');
  await refused({ table: TABLE, limit: { fetch: 1e9 } }, "limit.fetch must be a whole number from 0 to 1000000");
  await refused({ table: TABLE, limit: { fetch: -1 } }, "limit.fetch must be a whole number");
  await refused({ table: TABLE, filters: single("nothing", "Exist") }, "nothing", 3000);
  await refused({ table: TABLE, filters: { Maybe: [] } }, "filters must be Single, And, Or or Not");
  await refused({ table: TABLE, filters: { And: [], Or: [] } }, "filters must be an object of one member");
  await refused({ table: TABLE, columns: [1] }, "columns must be a text");
  const call = { ScalarFunc: { name: "pg_sleep(1); --", args: [] } };
  await refused({ table: TABLE, exprs: [call] }, "name must be the name of a function");
  const csv = { Decompose: { expr: column("doc"), schema: "CSV", fields: [["a", "int"]] } };
  await refused({ table: TABLE, exprs: [csv] }, "Decompose.schema must be JSON");
  let deep: object = single("n", "Exist");
  for (let i = 0; i < 40; i++) deep = { Not: deep };
  await refused({ table: TABLE, filters: deep }, "nested deeper than 32 levels");
  await refused({ table: TABLE, filters: { And: Array.from({ length: 600 }, () => single("n", "Exist")) } }, "more than 1000 filters");
  const post = async (init: RequestInit): Promise<number> => (await fetch(`${server.url}/v1/logs`, { method: "POST", ...init })).status;
  expect(await post({ body: "{}", headers: { ...ALL, "content-type": "text/plain" } })).toBe(415);
  expect(await post({ body: Uint8Array.of(0xff), headers: { ...ALL, ...JSON_TYPE } })).toBe(400);
  expect(await post({ body: " ".repeat(300_000), headers: { ...ALL, ...JSON_TYPE } })).toBe(413);
  expect(await post({ body: "{}", headers: JSON_TYPE })).toBe(401);
  const writer = { authorization: `Basic ${btoa("writer:pw")}` };
  expect(await post({ body: JSON.stringify({ table: TABLE }), headers: { ...writer, ...JSON_TYPE } })).toBe(403);
  expect((await fetch(`${server.url}/v1/logs`, { headers: ALL })).status).toBe(400);
});
