/** GreptimeDatabase as a client of it sees it: connect-node's, over an engine in memory. */
import { createClient, ConnectError } from "@connectrpc/connect";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ColumnDataType as Type, SemanticType } from "../../../../proto/gen/greptime/v1/common_pb.js";
import { GreptimeDatabase, GreptimeRequestSchema } from "../../../../proto/gen/greptime/v1/database_pb.js";
import type { RowsSchema } from "../../../../proto/gen/greptime/v1/row_pb.js";
import { GrpcClient } from "../../../../test/support/grpc-fixture.ts";
import { startWire, type WireFixture } from "../../../../test/support/wire-fixture.ts";
import { MemoryPool, ServerMemory } from "../../../base/memory/server-memory.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { AccessMode } from "../../../db/auth/user.ts";
import { startGrpcServer } from "../server.ts";
import { greptimeDatabase, type GreptimeDatabaseParts } from "./greptime-database.ts";

/** What makes a request; cast where it is handed over, since spreads of the library's types are none of them. */
type Request = object;
type Init = MessageInitShape<typeof GreptimeRequestSchema>;
type Rows = MessageInitShape<typeof RowsSchema>;
type Value = NonNullable<NonNullable<NonNullable<Rows["rows"]>[number]["values"]>[number]>;

/** Starts a server of its own. */
function start(accounts?: string, changes: Partial<GreptimeDatabaseParts> = {}): Promise<WireFixture> {
  return startWire("http", accounts, ({ memory: _wires, ...shared }) => {
    const { db, clock, scheduler } = shared;
    const writing = { autoCreateTable: true, influx: { defaultMergeMode: "last_non_null" } };
    const memory = new ServerMemory(Number.POSITIVE_INFINITY);
    const services = [greptimeDatabase({ db, clock, scheduler, memory, ...writing, ...changes }).service];
    const bytesMax = 16 * 1024 * 1024;
    const room = { pool: new MemoryPool(memory, "request_bodies", 4 * bytesMax), bytesMax, waitMs: 100 };
    return startGrpcServer({ ...shared, services, room, sendBytesMax: bytesMax, pages: { allowedHosts: [], origins: [] } });
  });
}

let server: WireFixture;
beforeAll(async () => {
  server = await start();
});
afterAll(() => server.stop());

/** Cells of all rows of an answer, `|` between them, rows in lines. */
async function sql(text: string, { db }: WireFixture = server): Promise<string> {
  const session = {
    database: "public",
    timeZone: "UTC",
    user: { name: "x", mode: "rw" as AccessMode },
    signal: new AbortController().signal,
  };
  const lines: string[] = [];
  for await (const result of db.sql(text, session)) {
    if (result.kind === "affected") continue;
    for await (const { rowCount, vectors } of result.batches) {
      for (let row = 0; row < rowCount; row++)
        lines.push(vectors.map((vector, c) => String(scalarAt(vector, result.headers[c]!.type, row))).join("|"));
    }
  }
  return lines.join("\n");
}

/** Affected rows, or `code of ours, code of gRPC: text`. */
async function handle(
  request: Request | readonly Request[],
  headers: Record<string, string> = {},
  { port }: WireFixture = server,
): Promise<number | string> {
  using client = new GrpcClient(port);
  const database = createClient(GreptimeDatabase, client.transport);
  try {
    const answer = Array.isArray(request)
      ? await database.handleRequests(each(request as readonly Init[]), { headers })
      : await database.handle(request as Init, { headers });
    return answer.response.case === "affectedRows" ? answer.response.value.value : "nothing";
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    return `${error.metadata.get("x-greptime-err-code")}, ${error.code}: ${error.rawMessage}`;
  }
}

async function* each(requests: readonly Init[]): AsyncGenerator<Init> {
  yield* requests;
}

const HOST = { columnName: "host", datatype: Type.STRING, semanticType: SemanticType.TAG };
const TS = { columnName: "ts", datatype: Type.TIMESTAMP_MILLISECOND, semanticType: SemanticType.TIMESTAMP };
const field = (columnName: string, datatype: Type): typeof HOST => ({ columnName, datatype, semanticType: SemanticType.FIELD });
const NULL: Value = {};
const text = (value: string): Value => ({ valueData: { case: "stringValue", value } });
const ms = (value: number): Value => ({ valueData: { case: "timestampMillisecondValue", value: BigInt(value) } });
const double = (value: number): Value => ({ valueData: { case: "f64Value", value } });
const int = (value: number): Value => ({ valueData: { case: "i64Value", value: BigInt(value) } });

function inserted(tableName: string, schema: readonly object[], ...rows: readonly (readonly Value[])[]): object {
  return { tableName, rows: { schema, rows: rows.map((values) => ({ values })) } };
}

const insert = (...inserts: readonly object[]): Request => ({ request: { case: "rowInserts", value: { inserts } } });
const SCHEMA = [HOST, TS, field("v", Type.FLOAT64)];

describe("writes", () => {
  test("make tables and columns, several tables a request, NULLs left out", async () => {
    const first = inserted("made", SCHEMA, [text("a"), ms(1), double(1)], [text("b"), ms(2), NULL], [NULL, ms(3), double(3)]);
    const second = inserted("other", [TS, field("n", Type.INT64)], [ms(1), int(9)]);
    expect(await handle(insert(first, second))).toBe(4);
    const more = inserted("made", [...SCHEMA, { ...HOST, columnName: "id", datatype: Type.INT64 }], [text("a"), ms(4), double(4), int(7)]);
    expect(await handle(insert(more))).toBe(1);
    expect(await sql("SELECT host, ts, v, id FROM made ORDER BY ts")).toBe(
      "a|1|1|undefined\nb|2|undefined|undefined\nundefined|3|3|undefined\na|4|4|7",
    );
    const shown = await sql("SHOW CREATE TABLE made");
    expect(shown).toContain('PRIMARY KEY ("host", "id")');
    expect(shown).toContain('"id" BIGINT NULL');
    expect(shown).toContain("'comment' = 'Created on insertion'");
    expect(await sql("SELECT n FROM other")).toBe("9");
  });

  test("as columns with null masks", async () => {
    const column = (base: object, values: object, nullMask?: Uint8Array): object => ({ ...base, values, ...(nullMask && { nullMask }) });
    const columns = [
      column(HOST, { stringValues: ["a", "b"] }),
      column(TS, { timestampMillisecondValues: [1n, 2n] }),
      column(field("v", Type.FLOAT64), { f64Values: [5] }, new Uint8Array([1])),
    ];
    const value = { inserts: [{ tableName: "columns", columns, rowCount: 2 }] };
    expect(await handle({ request: { case: "inserts", value } })).toBe(2);
    expect(await sql("SELECT host, ts, v FROM columns ORDER BY ts")).toBe("a|1|undefined\nb|2|5");
    const keys = { deletes: [{ tableName: "columns", keyColumns: columns.slice(0, 2), rowCount: 2 }] };
    expect(await handle({ request: { case: "deletes", value: keys } })).toBe(2);
    expect(await sql("SELECT count(*) FROM columns")).toBe("0");
  });

  test("are deleted by tags and time, and written again", async () => {
    await handle(insert(inserted("gone", SCHEMA, [text("a"), ms(1), double(1)], [text("b"), ms(1), double(2)])));
    const deletes = [inserted("gone", [HOST, TS], [text("a"), ms(1)])];
    expect(await handle({ request: { case: "rowDeletes", value: { deletes } } })).toBe(1);
    expect(await sql("SELECT host FROM gone")).toBe("b");
    expect(await handle(insert(inserted("gone", SCHEMA, [text("a"), ms(1), double(3)])))).toBe(1);
    expect(await sql("SELECT host, v FROM gone ORDER BY host")).toBe("a|3\nb|2");
    const unknown = [inserted("never", [HOST, TS], [text("a"), ms(1)])];
    expect(await handle({ request: { case: "rowDeletes", value: { deletes: unknown } } })).toStartWith("4001, 5:");
  });

  test("go by hints, of which headers of their own count only alone", async () => {
    const rows = (table: string): Request => insert(inserted(table, SCHEMA, [text("a"), ms(Date.UTC(2200)), double(1)]));
    expect(await handle(rows("hinted"), { "x-greptime-hints": "ttl=7d, append_mode=true" })).toBe(1);
    expect(await sql("SHOW CREATE TABLE hinted")).toMatch(/append_mode = 'true'[^]*ttl = '7days'/);
    expect(await handle(rows("merged"), { "x-greptime-hint-merge_mode": "last_non_null" })).toBe(1);
    expect(await sql("SHOW CREATE TABLE merged")).toContain("merge_mode = 'last_non_null'");
    const off = { "x-greptime-hint-auto_create_table": "false" };
    const said = "`auto_create_table` hint is disabled";
    expect(await handle(rows("absent"), off)).toContain(
      `1004, 3: Invalid InsertRequest, reason: Table \`absent\` does not exist, and ${said}`,
    );
    const wide = insert(inserted("hinted", [...SCHEMA, field("w", Type.INT64)], [text("a"), ms(Date.UTC(2200)), double(1), int(1)]));
    expect(await handle(wide, off)).toStartWith("4002, 5:");
    expect(await handle(rows("absent"), { "x-greptime-hints": "auto_create_table=maybe" })).toContain("hint must be a boolean");
    expect(await handle(rows("absent"), { "x-greptime-hints": "physical_table=p" })).toContain("cannot use the hint physical_table");
  });

  test("are refused whole: roles, types, and times", async () => {
    await handle(insert(inserted("roles", SCHEMA, [text("a"), ms(1), double(1)])));
    const swapped = [{ ...HOST, semanticType: SemanticType.FIELD }, TS];
    const good = inserted("roles", SCHEMA, [text("z"), ms(9), double(1)]);
    expect(await handle(insert(good, inserted("roles", swapped, [text("a"), ms(1)])))).toContain(
      "1004, 3: cannot write to table roles: column host: semantic_type incompatible, expected: TAG, actual: FIELD",
    );
    expect(await handle(insert(good, inserted("roles", [HOST, TS, field("v", Type.INT64)], [text("a"), ms(1), int(1)])))).toContain(
      "column v: datatype incompatible, expected: Float64, actual: Int64",
    );
    const times = [TS, { ...TS, columnName: "more" }];
    expect(await handle(insert(inserted("roles", times, [ms(1), ms(2)])))).toContain("column more: it is a second TIMESTAMP column");
    expect(await sql("SELECT count(*) FROM roles")).toBe("1");
  });

  test("in a stream are counted at its end; a failure ends it, and what was durable stays", async () => {
    const row = (time: number, value: Value = double(time)): Request => insert(inserted("streamed", SCHEMA, [text("a"), ms(time), value]));
    expect(await handle([row(1), row(2), row(3)])).toBe(3);
    expect(await handle([row(4), row(5, int(5)), row(6)])).toContain("1004, 3: cannot write to table streamed: column v, row 0");
    expect(await sql("SELECT count(*), max(v) FROM streamed")).toBe("4|4");
  });
});

describe("requests", () => {
  test("that are no writes: queries are refused, DDL runs, nothing is nothing", async () => {
    const query = { case: "sql", value: "SELECT 1" } as const;
    expect(await handle({ request: { case: "query", value: { query } } })).toContain("1001, 12: cannot run the QueryRequest");
    const expr = { case: "createDatabase", value: { schemaName: "d" } } as const;
    expect(await handle({ request: { case: "ddl", value: { expr } } })).toBe(1);
    expect(await handle({})).toContain("1004, 3: cannot handle the GreptimeRequest: it is empty");
    const rows = insert(inserted("t", SCHEMA, [text("a"), ms(1), double(1)]));
    expect(await handle({ ...rows, header: { dbname: "d" } })).toBe(1);
    expect(await handle({ ...rows, header: { dbname: "greptime-d", schema: "none" } })).toBe(1);
    expect(await handle({ ...rows, header: { catalog: "greptime", schema: "D" } })).toBe(1);
    expect(await handle({ ...rows, header: { dbname: "none" } })).toStartWith("4004, 5:");
    expect(await handle({ ...rows, header: { timezone: "Nowhere/Land" } })).toContain("1004, 3:");
    expect(await sql("SELECT count(*) FROM d.t")).toBe("1");
  });

  test("that are damaged get a status, and the server goes on", async () => {
    const good = toBinary(
      GreptimeRequestSchema,
      create(GreptimeRequestSchema, insert(inserted("hurt", SCHEMA, [text("a"), ms(1), double(1)]))),
    );
    const codes = new Set<string>();
    for (let i = 0; i < good.length; i += 3) {
      const bad = good.slice();
      bad[i] = 0xff;
      codes.add(String(await sendBytes(bad)).slice(0, 4));
    }
    expect([...codes].filter((code) => !["1004", "1", "0", "4004"].includes(code))).toEqual([]);
    expect(server.bugs).toEqual([]);
  });
});

/** Sends bytes as they are, as a message of one row may be: the frame is right, what is in it is not. */
async function sendBytes(bytes: Uint8Array): Promise<number | string> {
  using client = new GrpcClient(server.port);
  const transport: typeof client.transport = client.transport;
  try {
    const raw = { ...create(GreptimeRequestSchema), $unknown: [] };
    const message = Object.assign(raw, { $unknown: unknownOf(bytes) });
    const answer = await createClient(GreptimeDatabase, transport).handle(message);
    return answer.response.case === "affectedRows" ? answer.response.value.value : "nothing";
  } catch (thrown) {
    return ConnectError.from(thrown).metadata.get("x-greptime-err-code") ?? "none";
  }
}

/** The whole of a request as one unknown field, as the library writes such. */
function unknownOf(bytes: Uint8Array): { no: number; wireType: number; data: Uint8Array }[] {
  return [{ no: 6, wireType: 2, data: bytes.subarray(1) }];
}

describe("credentials", () => {
  const rows = insert(inserted("t", SCHEMA, [text("a"), ms(1), double(1)]));
  const as = (username: string, password: string): Request => ({
    ...rows,
    header: { authorization: { authScheme: { case: "basic", value: { username, password } } } },
  });

  test("of the message or of the metadata, and what they may", async () => {
    const guarded = await start("static_user_provider:cmd:alice=secret,reader:ro=secret,writer:wo=secret");
    const of = (request: Request, headers: Record<string, string> = {}): Promise<number | string> => handle(request, headers, guarded);
    try {
      expect(await of(as("alice", "secret"))).toBe(1);
      expect(await of(as("writer", "secret"))).toBe(1);
      expect(await of(rows, { authorization: `Basic ${Buffer.from("alice:secret").toString("base64")}` })).toBe(1);
      expect(await of(rows)).toStartWith("7003, 16:");
      expect(await of(as("alice", "wrong"))).toStartWith("7002, 16:");
      expect(await of(as("nobody", "secret"))).toStartWith("7002, 16:");
      expect(await of(as("reader", "secret"))).toStartWith("7006, 7:");
      const expr = { case: "dropTable", value: { tableName: "t" } } as const;
      expect(await of({ ...as("reader", "secret"), request: { case: "ddl", value: { expr } } })).toStartWith("7006, 7:");
      const token = { authScheme: { case: "token", value: { token: "x" } } } as const;
      expect(await of({ ...rows, header: { authorization: token } })).toContain("7004, 16: Unsupported http auth scheme");
      const mixed = await handle([as("alice", "secret"), as("alice", "wrong")], {}, guarded);
      expect(mixed).toStartWith("7002, 16:");
      expect(await sql("SELECT count(*) FROM t", guarded)).toBe("1");
    } finally {
      await guarded.stop();
    }
  });

  test("tables that settings do not let writes make", async () => {
    const settings = { autoCreateTable: false, influx: { defaultMergeMode: "last_row" } };
    const strict = await start(undefined, settings);
    try {
      expect(await handle(rows, {}, strict)).toContain("does not exist, and auto-create table is disabled by frontend config");
    } finally {
      await strict.stop();
    }
  });
});

test("requests are timed by database, kind and code; databases that are none have no name", async () => {
  const fresh = await start();
  try {
    const query = { request: { case: "query", value: { query: { case: "sql", value: "SELECT 1" } } } };
    await handle(query, {}, fresh);
    await handle({ ...query, header: { dbname: "made_up" } }, {}, fresh);
    const text = await fresh.metrics.registry.metrics();
    const counts = text.split("\n").filter((line) => line.startsWith("greptime_servers_grpc_db_request_elapsed_count"));
    expect(counts.map((line) => line.slice(line.indexOf("{")))).toEqual([
      '{db="public",type="query",code="1001"} 1',
      '{db="",type="query",code="1001"} 1',
    ]);
  } finally {
    await fresh.stop();
  }
});
