import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:http2";
import { gunzipSync } from "node:zlib";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Client } from "@connectrpc/connect";
import {
  BasicAuthSchema,
  type FlightData,
  FlightDataSchema,
  FlightDescriptor_DescriptorType as DescriptorType,
  FlightService,
  TicketSchema,
} from "../../../../proto/gen/arrow/flight/Flight_pb.js";
import { GreptimeRequestSchema } from "../../../../proto/gen/greptime/v1/database_pb.js";
import { GrpcClient, type GrpcFixture, startGrpc } from "../../../../test/support/grpc-fixture.ts";
import { FLOAT64, INT64, STRING, TIMESTAMP_MILLISECOND } from "../../../column/data-type.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Scalar } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { arrowBatchParts, arrowSchemaParts } from "../../../format/arrow/encode-stream.ts";
import { ArrowReader } from "../../../format/arrow/reading/arrow-reader.ts";
import { FRAME_HEAD_BYTES, newFrame } from "../messages/outgoing-frames.ts";
import { flightFrame } from "./flight-data.ts";

type RequestInit = MessageInitShape<typeof GreptimeRequestSchema>;

/** The frames of an answer, as the transport has them, and how it says that they are packed. */
async function framesOf(port: number, text: string): Promise<{ readonly encoding: unknown; readonly frames: readonly Uint8Array[] }> {
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    const head = { "content-type": "application/grpc", te: "trailers", "grpc-accept-encoding": "identity,deflate,gzip" };
    const call = session.request({ ":method": "POST", ":path": "/arrow.flight.protocol.FlightService/DoGet", ...ALICE, ...head });
    const message = toBinary(TicketSchema, create(TicketSchema, sql(text)));
    const frame = newFrame(message.length);
    frame.set(message, FRAME_HEAD_BYTES);
    call.end(frame);
    const answer = once(call, "response");
    const pieces: Uint8Array[] = [];
    for await (const piece of call) pieces.push(piece as Uint8Array);
    const bytes = Buffer.concat(pieces);
    const frames: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += frames.at(-1)?.length ?? 0) {
      frames.push(bytes.subarray(at, at + FRAME_HEAD_BYTES + bytes.readUInt32BE(at + 1)));
    }
    const [headers] = (await answer) as [Record<string, unknown>];
    return { encoding: headers["grpc-encoding"], frames };
  } finally {
    session.close();
  }
}

let server: GrpcFixture;
let connection: GrpcClient;
let client: Client<typeof FlightService>;

const ACCOUNTS = "static_user_provider:cmd:alice=secret,reader:ro=looks";
const login = (name: string, password: string): string => `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
const ALICE = { authorization: login("alice", "secret") };

beforeAll(async () => {
  server = await startGrpc(ACCOUNTS);
  connection = new GrpcClient(server.port, ALICE);
  client = createClient(FlightService, connection.transport);
});

afterAll(async () => {
  connection[Symbol.dispose]();
  await server.stop();
});

const ticket = (request: RequestInit): { ticket: Uint8Array } => ({
  ticket: toBinary(GreptimeRequestSchema, create(GreptimeRequestSchema, request)),
});

const sql = (text: string): { ticket: Uint8Array } =>
  ticket({ request: { case: "query", value: { query: { case: "sql", value: text } } } });

interface Answer {
  readonly headers: readonly ColumnHeader[];
  readonly rows: readonly (readonly Scalar[])[];
  readonly messages: readonly FlightData[];
}

async function answered(stream: AsyncIterable<FlightData>): Promise<Answer> {
  const reader = new ArrowReader();
  const rows: Scalar[][] = [];
  const messages: FlightData[] = [];
  let headers: readonly ColumnHeader[] = [];
  for await (const message of stream) {
    messages.push(message);
    const read = reader.read(message.dataHeader, message.dataBody);
    if (read.kind === "schema") ({ headers } = read);
    if (read.kind !== "batch") continue;
    const { batch } = read;
    for (let row = 0; row < batch.rowCount; row++) {
      rows.push(headers.map(({ type }, c) => (batch.vectors[c] === undefined ? undefined : scalarAt(batch.vectors[c], type, row))));
    }
  }
  return { headers, rows, messages };
}

const query = (text: string): Promise<Answer> => answered(client.doGet(sql(text)));

async function run(text: string): Promise<void> {
  for await (const _ of client.doGet(sql(text))); // read to its end
}

/** Why a call fails: gRPC's status, our code, and the text. */
async function failureOf(calls: () => AsyncIterable<unknown>): Promise<readonly [Code, string | null, string]> {
  try {
    for await (const _ of calls()); // read to its end
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    return [error.code, error.metadata.get("x-greptime-err-code"), error.rawMessage];
  }
  throw new Error("it was answered");
}

type DataInit = MessageInitShape<typeof FlightDataSchema>;

const COLUMNS: readonly ColumnHeader[] = [
  { name: "host", type: STRING },
  { name: "v", type: FLOAT64 },
  { name: "ts", type: TIMESTAMP_MILLISECOND },
];

function schemaOf(table: string, headers: readonly ColumnHeader[] = COLUMNS): DataInit {
  return { dataHeader: arrowSchemaParts(headers).metadata, flightDescriptor: { type: DescriptorType.PATH, path: [table] } };
}

function batchOf(id: number, rows: readonly (readonly Scalar[])[], headers: readonly ColumnHeader[] = COLUMNS): DataInit {
  const vectors = headers.map(({ type }, c) =>
    vectorOf(
      type,
      rows.map((row) => row[c]),
    ),
  );
  const parts = arrowBatchParts(headers, { rowCount: rows.length, vectors }, undefined);
  const { dataHeader, dataBody } = fromBinary(FlightDataSchema, flightFrame(parts).subarray(FRAME_HEAD_BYTES));
  return { dataHeader, dataBody, appMetadata: new TextEncoder().encode(JSON.stringify({ request_id: id })) };
}

async function* stream(...messages: readonly DataInit[]): AsyncGenerator<DataInit> {
  yield* messages;
}

interface Acknowledged {
  readonly request_id: number;
  readonly affected_rows: number;
  readonly elapsed_secs: number;
}

const read = (metadata: Uint8Array): Acknowledged => JSON.parse(new TextDecoder().decode(metadata)) as Acknowledged;

async function put(...messages: readonly DataInit[]): Promise<readonly Acknowledged[]> {
  const told: Acknowledged[] = [];
  for await (const { appMetadata } of client.doPut(stream(...messages))) told.push(read(appMetadata));
  return told;
}

async function made(table: string, columns = "host STRING, v DOUBLE, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY(host)"): Promise<string> {
  await run(`CREATE TABLE ${table} (${columns})`);
  return table;
}

describe("DoGet", () => {
  test("rows come as a schema and batches, which are compressed; a query without rows sends its schema", async () => {
    const { headers, rows } = await query("SELECT 1 AS a, 'x' AS b, NULL AS c UNION ALL SELECT 2, 'y', NULL ORDER BY a");
    expect(headers.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(rows).toEqual([
      [1, "x", undefined],
      [2, "y", undefined],
    ]);
    const none = await query("SELECT 1 AS a WHERE false");
    expect(none.headers.map(({ name }) => name)).toEqual(["a"]);
    expect(none.messages.length).toBe(1);
  });

  test("a statement without rows says how many it changed", async () => {
    await made("changed");
    const { messages } = await query("INSERT INTO changed VALUES ('a', 1, 1), ('b', 2, 2)");
    expect(messages.map(({ appMetadata, dataBody }) => [[...appMetadata], dataBody.length])).toEqual([[[0x0a, 2, 8, 2], 0]]);
    const created = await query("CREATE DATABASE IF NOT EXISTS other");
    expect([...(created.messages[0]?.appMetadata ?? [])].slice(0, 1)).toEqual([0x0a]);
  });

  test("a range of PromQL", async () => {
    const range = { query: "vector(1)", start: "0", end: "10", step: "5s", lookback: "" };
    const { rows } = await answered(
      client.doGet(ticket({ request: { case: "query", value: { query: { case: "promRangeQuery", value: range } } } })),
    );
    expect(rows.length).toBe(3);
  });

  test("a range of PromQL is one query, whatever stands behind it", async () => {
    await run("CREATE TABLE IF NOT EXISTS untouched (ts TIMESTAMP(3) TIME INDEX, v DOUBLE)");
    for (const [query, start] of [
      ["untouched; DROP TABLE untouched", "0"],
      ["\n;DROP TABLE untouched;", "0"],
      [") untouched; DROP TABLE untouched", "\\"],
      ["untouched # ' \n; DROP TABLE untouched", "'); DROP TABLE untouched; --"],
    ] as const) {
      const range = { query, start, end: "10", step: "5s", lookback: "" };
      const given = ticket({ request: { case: "query", value: { query: { case: "promRangeQuery", value: range } } } });
      expect((await failureOf(() => client.doGet(given)))[0]).toBe(Code.InvalidArgument);
    }
    await run("SELECT * FROM untouched");
  });

  test("the header names database and account, before the metadata", async () => {
    await run("CREATE DATABASE IF NOT EXISTS elsewhere");
    const header = {
      dbname: "elsewhere",
      timezone: "+01:00",
      authorization: { authScheme: { case: "basic", value: { username: "reader", password: "looks" } } },
    } as const;
    const request: RequestInit = {
      header,
      request: { case: "query", value: { query: { case: "sql", value: "SELECT database(), timezone()" } } },
    };
    const { rows } = await answered(client.doGet(ticket(request), { headers: { authorization: "Basic wrong" } }));
    expect(rows).toEqual([["elsewhere", "+01:00"]]);
  });

  test("what is wrong with a ticket", async () => {
    const check = async (given: { ticket: Uint8Array }, want: readonly [Code, string, RegExp]): Promise<void> => {
      const [code, own, text] = await failureOf(() => client.doGet(given));
      expect([code, own]).toEqual([want[0], want[1]]);
      expect(text).toMatch(want[2]);
    };
    await check(sql("SELECT 1; SELECT 2"), [Code.InvalidArgument, "1004", /exactly one statement a ticket; got 2/]);
    await check(sql(""), [Code.InvalidArgument, "1004", /exactly one statement a ticket; got 0/]);
    await check({ ticket: new Uint8Array([0xff, 0xff]) }, [Code.InvalidArgument, "1004", /it is no GreptimeRequest/]);
    await check({ ticket: new Uint8Array(0) }, [Code.InvalidArgument, "1004", /it has no request/]);
    await check(sql("SELECT * FROM missing"), [Code.NotFound, "4001", /missing/]);
    await check(sql("SELECT FROM WHERE"), [Code.InvalidArgument, "2000", /syntax|expected/i]);
    const any = new TextEncoder().encode("\n?type.googleapis.com/arrow.flight.protocol.sql.CommandGetNothing");
    await check({ ticket: any }, [Code.Unimplemented, "1001", /CommandGetNothing/]);
  });

  test("credentials", async () => {
    const check = async (authorization: string | undefined, want: readonly [Code, string]): Promise<void> => {
      using other = new GrpcClient(server.port, authorization === undefined ? {} : { authorization });
      const calls = createClient(FlightService, other.transport);
      expect((await failureOf(() => calls.doGet(sql("SELECT 1")))).slice(0, 2)).toEqual([...want]);
      const [code, , text] = await failureOf(() => calls.doPut(stream(schemaOf("any"))));
      expect([code, text]).toEqual([Code.Unauthenticated, "auth failed"]);
    };
    await check(undefined, [Code.Unauthenticated, "7003"]);
    await check(login("alice", "wrong"), [Code.Unauthenticated, "7002"]);
    using other = new GrpcClient(server.port, { authorization: login("reader", "looks") });
    const calls = createClient(FlightService, other.transport);
    await made("kept");
    expect((await failureOf(() => calls.doGet(sql("INSERT INTO kept VALUES ('a', 1, 1)")))).slice(0, 2)).toEqual([
      Code.PermissionDenied,
      "7006",
    ]);
    expect((await failureOf(() => calls.doPut(stream(schemaOf("kept"))))).slice(0, 2)).toEqual([Code.PermissionDenied, "7006"]);
  });

  test("a client that leaves ends its query", async () => {
    const table = await made("left");
    await put(
      schemaOf(table),
      batchOf(
        1,
        Array.from({ length: 20_000 }, (_, i) => ["a", i, BigInt(i)]),
      ),
    );
    const running = "SELECT count(*) FROM information_schema.process_list WHERE query LIKE '%CROSS JOIN%' AND query NOT LIKE '%process%'";
    const other = new GrpcClient(server.port, ALICE);
    let count = 0;
    for await (const _ of createClient(FlightService, other.transport).doGet(
      sql(`SELECT a.v + b.v FROM ${table} a CROSS JOIN ${table} b`),
    )) {
      if (++count < 3) continue;
      expect((await query(running)).rows).toEqual([[1]]);
      other[Symbol.dispose](); // Its connection ends: Bun 1.4.5 sends no RST_STREAM while answers wait to be read.
      break;
    }
    for (let i = 0; i < 500; i++) {
      if ((await query(running)).rows[0]?.[0] === 0) return;
      await Bun.sleep(10);
    }
    throw new Error("it still runs");
  });
});

describe("DoPut", () => {
  test("a hint makes a table that is not there, by the metadata of its fields", async () => {
    const hints = { headers: { "x-greptime-hints": "auto_create_table=true,append_mode=true" } };
    const hinted = async (...messages: readonly DataInit[]): Promise<void> => {
      for await (const _ of client.doPut(stream(...messages), hints)); // read to its end
    };
    const schema = (table: string, times = ["ts"]): DataInit => {
      const fields = [
        { name: "host", type: STRING, metadata: { "greptime:semantic_type": "tag", other: "x".repeat(10_000) } },
        { name: "j", type: STRING, metadata: { "greptime:semantic_type": "field", "greptime:type": "Json" } },
        ...times.map((name) => ({ name, type: TIMESTAMP_MILLISECOND, metadata: { "greptime:semantic_type": "timestamp" } })),
      ];
      return { dataHeader: arrowSchemaParts(fields).metadata, flightDescriptor: { type: DescriptorType.PATH, path: [table] } };
    };
    const headers: readonly ColumnHeader[] = [
      { name: "host", type: STRING },
      { name: "j", type: STRING },
      { name: "ts", type: TIMESTAMP_MILLISECOND },
    ];
    await hinted(schema("hinted"), batchOf(1, [["a", '{"b":1}', 5n]], headers), batchOf(2, [["a", undefined, 5n]], headers));
    const { rows } = await query("SHOW CREATE TABLE hinted");
    expect(rows[0]?.[1]).toMatch(/"j" JSON NULL[^]*TIME INDEX \("ts"\)[^]*PRIMARY KEY \("host"\)[^]*append_mode = 'true'/);
    expect((await query("SELECT count(*) FROM hinted")).rows).toEqual([[2]]);
    const failed = (times: readonly string[]): Promise<readonly [Code, string | null, string]> =>
      failureOf(() => client.doPut(stream(schema("unhinted", [...times])), hints));
    expect((await failed([]))[2]).toContain("0 columns have greptime:semantic_type=timestamp; exactly one must");
    expect((await failed(["ts", "u"]))[2]).toContain("2 columns have");
    expect((await failureOf(() => client.doPut(stream(schema("unhinted")))))[2]).toContain("Table not found: public.unhinted");
  });

  test("each batch is acknowledged by its number, and its rows are there", async () => {
    const table = await made("put");
    const told = await put(
      schemaOf(table),
      batchOf(7, [
        ["a", 1, 1000n],
        [undefined, undefined, 2000n],
      ]),
      batchOf(9, [["b", 3, 3000n]]),
    );
    expect(told.map(({ request_id, affected_rows }) => [request_id, affected_rows])).toEqual([
      [0, 0],
      [7, 2],
      [9, 1],
    ]);
    for (const { elapsed_secs } of told) expect(elapsed_secs).toBeGreaterThanOrEqual(0);
    expect((await query(`SELECT host, v, ts FROM ${table} ORDER BY ts`)).rows).toEqual([
      ["a", 1, 1000n],
      [undefined, undefined, 2000n],
      ["b", 3, 3000n],
    ]);
  });

  test("columns in any order, and those with a default left out", async () => {
    const table = await made("subset", "host STRING, v DOUBLE DEFAULT 5, n BIGINT, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY(host)");
    const columns = [COLUMNS[2], COLUMNS[0]] as ColumnHeader[];
    await put(schemaOf(table, columns), batchOf(1, [[1n, "a"]], columns));
    expect((await query(`SELECT host, v, n, ts FROM ${table}`)).rows).toEqual([["a", 5, undefined, 1n]]);
  });

  test("JSON as text and vectors as bytes", async () => {
    const table = await made("special", "j JSON, e VECTOR(2), ts TIMESTAMP(3) TIME INDEX");
    const columns: readonly ColumnHeader[] = [
      { name: "j", type: STRING },
      { name: "e", type: { kind: "binary" } },
      { name: "ts", type: TIMESTAMP_MILLISECOND },
    ];
    await put(schemaOf(table, columns), batchOf(1, [['{"a":1}', new Uint8Array(new Float32Array([1, 2]).buffer), 1n]], columns));
    expect((await query(`SELECT json_get_int(j, 'a'), vec_to_string(e) FROM ${table}`)).rows).toEqual([[1, "[1,2]"]]);
  });

  test("a batch of more rows than one write has is acknowledged once", async () => {
    const table = await made("large");
    const rows = Array.from({ length: 140_000 }, (_, i) => [`h${i % 7}`, i, BigInt(i)]);
    expect((await put(schemaOf(table), batchOf(1, rows))).map(({ affected_rows }) => affected_rows)).toEqual([0, 140_000]);
    expect((await query(`SELECT count(*), sum(v) FROM ${table}`)).rows).toEqual([[140_000, (140_000 * 139_999) / 2]]);
  });

  test("what it refuses, with the batches before it kept", async () => {
    const table = await made(
      "refused",
      "host STRING, v DOUBLE, ts TIMESTAMP(3) TIME INDEX, n BIGINT NOT NULL DEFAULT 1, PRIMARY KEY(host)",
    );
    const check = async (messages: readonly DataInit[], want: readonly [Code, string, string | RegExp]): Promise<void> => {
      const [code, own, text] = await failureOf(() => client.doPut(stream(...messages)));
      expect([code, own]).toEqual([want[0], want[1]]);
      expect(text).toMatch(want[2]);
    };
    const [, , time] = COLUMNS as [ColumnHeader, ColumnHeader, ColumnHeader];
    const { flightDescriptor: _, ...bare } = schemaOf(table);
    await check([bare], [Code.FailedPrecondition, "1004", "table to put is not found in flight descriptor"]);
    const noSchema = { flightDescriptor: { type: DescriptorType.PATH, path: [table] } };
    await check([noSchema], [Code.FailedPrecondition, "1004", "first message must be a Schema message"]);
    await check([], [Code.FailedPrecondition, "1004", "table to put is not found in flight descriptor"]);
    await check([schemaOf("absent")], [Code.NotFound, "4001", /absent/]);
    await check([schemaOf(table, [{ name: "w", type: FLOAT64 }, time])], [Code.NotFound, "4002", /Column w/]);
    await check(
      [schemaOf(table, [{ name: "v", type: INT64 }, time])],
      [Code.InvalidArgument, "1004", /For column: v, expected datatype: Float64/],
    );
    await check([schemaOf(table, [time, time])], [Code.InvalidArgument, "1004", /column ts comes twice/]);
    await check([schemaOf(table, COLUMNS.slice(0, 2))], [Code.InvalidArgument, "1004", /no column for its time index/]);
    const good = batchOf(1, [["a", 1, 1n]]);
    await check([schemaOf(table), good, batchOf(2, [["a", 1, undefined]])], [Code.InvalidArgument, "1004", /time index ts is NULL/]);
    const notNull = [...COLUMNS, { name: "n", type: INT64 }];
    await check([schemaOf(table, notNull), batchOf(2, [["z", 1, 9n, undefined]], notNull)], [Code.InvalidArgument, "1004", /not null/]);
    const cut = batchOf(3, [["b", 2, 2n]]);
    await check(
      [schemaOf(table), { ...cut, dataBody: (cut.dataBody ?? new Uint8Array(0)).slice(0, 8) }],
      [Code.InvalidArgument, "1004", /announced/],
    );
    await check([schemaOf(table), { ...cut, appMetadata: new Uint8Array([0x7b]) }], [Code.InvalidArgument, "1004", /no JSON/]);
    expect((await query(`SELECT host FROM ${table}`)).rows).toEqual([["a"]]);
  });

  test("a stream that breaks off keeps what was acknowledged, and no part of a batch", async () => {
    const table = await made("broken");
    using other = new GrpcClient(server.port, ALICE);
    const told: number[] = [];
    async function* halting(): AsyncGenerator<DataInit> {
      yield schemaOf(table);
      for (let id = 1; ; id++) {
        yield batchOf(id, [
          ["a", id, BigInt(2 * id)],
          ["b", id, BigInt(2 * id + 1)],
        ]);
        if (id > 20) await new Promise(() => undefined); // never says that it has ended
      }
    }
    for await (const { appMetadata } of createClient(FlightService, other.transport).doPut(halting())) {
      told.push(read(appMetadata).request_id);
      if (told.length === 8) break;
    }
    const { rows } = await query(`SELECT v, count(*) FROM ${table} GROUP BY v ORDER BY v`);
    expect(rows.every(([, count]) => count === 2)).toBe(true);
    for (const id of told.slice(1)) expect(rows.map(([v]) => v)).toContain(id);
  });
});

test("handshake, flights and their schemas", async () => {
  const payload = toBinary(BasicAuthSchema, create(BasicAuthSchema, { username: "alice", password: "secret" }));
  async function* hello(): AsyncGenerator<{ payload: Uint8Array }> {
    yield { payload };
  }
  const tokens: string[] = [];
  for await (const answer of client.handshake(hello())) tokens.push(new TextDecoder().decode(answer.payload));
  expect(tokens).toEqual([login("alice", "secret").slice("Basic ".length)]);
  await made("flown");
  await run("INSERT INTO flown VALUES ('a', 1, 1)");
  const path = { type: DescriptorType.PATH, path: ["flown"] };
  const info = await client.getFlightInfo(path);
  const [endpoint] = info.endpoint;
  expect((await answered(client.doGet(endpoint?.ticket ?? {}))).rows).toEqual([["a", 1, 1n]]);
  expect((await client.getSchema(path)).schema).toEqual(info.schema);
  const names: string[] = [];
  for await (const { flightDescriptor } of client.listFlights({})) names.push(...(flightDescriptor?.path ?? []));
  expect(names).toContain("flown");
  expect(await failureOf(() => client.doAction({ type: "none" }))).toEqual([Code.Unimplemented, "1001", 'Not supported: action "none"']);
  expect((await failureOf(() => client.doExchange(stream())))[0]).toBe(Code.Unimplemented);
  expect(fromBinary(GreptimeRequestSchema, endpoint?.ticket?.ticket ?? new Uint8Array(0)).header?.authorization).toBeUndefined();
});

test("a handshake by metadata answers with a token in the head, which signs in the calls after it", async () => {
  let token = "";
  const onHeader = (headers: Headers): void => void (token = headers.get("authorization") ?? "");
  async function* nothing(): AsyncGenerator<{ payload: Uint8Array }> {}
  for await (const { payload } of client.handshake(nothing(), { onHeader })) expect(payload.length).toBe(0);
  expect(token).toStartWith("Bearer ");
  using signedIn = new GrpcClient(server.port, { authorization: token });
  expect((await answered(createClient(FlightService, signedIn.transport).doGet(sql("SELECT 1")))).rows).toEqual([[1]]);
});

describe("grpc.flight_compression", () => {
  const TEXT = "SELECT value, 'a text that is the same in all rows' AS t FROM generate_series(1, 5000)";

  for (const [asked, isPacked, isCompressed] of [
    ["none", false, false],
    ["transport", true, false],
    ["arrow_ipc", false, true],
    ["all", true, true],
  ] as const) {
    test(asked, async () => {
      const own = await startGrpc(ACCOUNTS, {}, [], asked);
      try {
        const { frames, encoding } = await framesOf(own.port, TEXT);
        const large = frames.filter((frame) => frame.length > 2000);
        expect(large.length).toBeGreaterThan(0);
        for (const frame of large) expect((frame[0] ?? 0) & 1).toBe(isPacked ? 1 : 0);
        if (isPacked) expect(encoding).toBe("gzip");
        const plain = large.map((frame) => {
          const message = frame.subarray(FRAME_HEAD_BYTES);
          return fromBinary(FlightDataSchema, isPacked ? gunzipSync(message) : message);
        });
        const bodyBytes = plain.reduce((sum, { dataBody }) => sum + dataBody.length, 0);
        expect(bodyBytes < 5000 * 30).toBe(isCompressed);
        using theirs = new GrpcClient(own.port, ALICE);
        const { rows } = await answered(createClient(FlightService, theirs.transport).doGet(sql(TEXT)));
        expect(rows.length).toBe(5000);
        expect(rows[4999]).toEqual([5000, "a text that is the same in all rows"]);
      } finally {
        await own.stop();
      }
    });
  }
});

test("a message that is longer than messages may be ends the call, and says how long they may be", async () => {
  const own = await startGrpc(ACCOUNTS, { sendBytesMax: 2000 });
  try {
    using theirs = new GrpcClient(own.port, ALICE);
    const call = answered(
      createClient(FlightService, theirs.transport).doGet(sql("SELECT repeat('x', 100) || uuid() FROM generate_series(1, 1000)")),
    );
    const failed = ConnectError.from(
      await call.then(
        () => undefined,
        (thrown: unknown) => thrown,
      ),
    );
    expect(failed.code).toBe(Code.ResourceExhausted);
    expect(failed.rawMessage).toContain("at most 2000 are sent (grpc.max_send_message_size)");
  } finally {
    await own.stop();
  }
});
