import { afterAll, beforeAll, expect, test } from "bun:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  CancelFlightInfoRequestSchema,
  CancelFlightInfoResultSchema,
  CancelStatus,
  CloseSessionResultSchema,
  FlightInfoSchema,
  GetSessionOptionsResultSchema,
  SetSessionOptionsRequestSchema,
  SetSessionOptionsResultSchema,
} from "../../../../proto/gen/arrow/flight/Flight_pb.js";
import {
  ActionBeginTransactionRequestSchema,
  ActionCancelQueryRequestSchema,
  CommandStatementQuerySchema,
} from "../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { anyOf, FlightSqlClient } from "../../../../test/support/flight-sql-client.ts";
import { type FlightSqlServer, startFlightSqlServer } from "../../../../test/support/flight-sql-server.ts";
import { errorOf } from "../../../../test/support/failure-of.ts";
import { SESSION_IDLE_MS } from "./limits.ts";

let server: FlightSqlServer;
let client: FlightSqlClient;

beforeAll(async () => {
  server = await startFlightSqlServer();
  client = new FlightSqlClient(server.url);
  await client.sql("CREATE DATABASE other");
});

afterAll(async () => {
  client.close();
  await server.stop();
});

const NOTHING = new Uint8Array(0);

test("actions are listed, and those about transactions are refused", async () => {
  const types = (await Array.fromAsync(client.flight.listActions({}))).map(({ type }) => type);
  expect(types).toContain("CreatePreparedStatement");
  expect(types).not.toContain("BeginTransaction");
  const begin = client.action("BeginTransaction", anyOf(ActionBeginTransactionRequestSchema, {}));
  expect((await errorOf(begin)).message).toContain("[unimplemented] BeginTransaction is not supported: there are no transactions");
  expect((await errorOf(client.action("Unheard", NOTHING))).message).toContain("[unimplemented]");
});

/** Sets options by headers, and gives the names that failed and the cookie. */
async function set(
  options: MessageInitShape<typeof SetSessionOptionsRequestSchema>["sessionOptions"],
  headers: Record<string, string> = {},
) {
  let cookie = "";
  const body = toBinary(SetSessionOptionsRequestSchema, create(SetSessionOptionsRequestSchema, { sessionOptions: options ?? {} }));
  const onHeader = (answer: Headers): void => void (cookie = (answer.get("set-cookie") ?? "").split(";")[0] ?? "");
  const [result] = await Array.fromAsync(client.flight.doAction({ type: "SetSessionOptions", body }, { headers, onHeader }));
  return { cookie, failed: Object.keys(fromBinary(SetSessionOptionsResultSchema, result?.body ?? NOTHING).errors) };
}

async function get(of: FlightSqlClient) {
  const [body = NOTHING] = await of.action("GetSessionOptions", NOTHING);
  const { sessionOptions } = fromBinary(GetSessionOptionsResultSchema, body);
  return Object.fromEntries(Object.entries(sessionOptions).map(([name, { optionValue }]) => [name, optionValue.value]));
}

const text = (value: string) => ({ optionValue: { case: "stringValue", value } }) as const;

test("a session keeps database and time zone under its cookie, for its user, until it is closed", async () => {
  const { cookie, failed } = await set({ schema: text("other"), time_zone: text("+02:00"), nonsense: text("x") });
  expect(failed).toEqual(["nonsense"]);
  const own = new FlightSqlClient(server.url, { cookie });
  const foreign = new FlightSqlClient(server.url, { cookie, "x-user": "stranger" });
  try {
    expect(await get(own)).toEqual({ catalog: "greptime", schema: "other", time_zone: "+02:00" });
    expect(await own.sql("SELECT database()")).toEqual([["other"]]);
    expect(await get(foreign)).toEqual({ catalog: "greptime", schema: "public", time_zone: "UTC" });
    await own.sql("USE public");
    expect(await own.sql("SELECT database()")).toEqual([["public"]]);
    const [closed = NOTHING] = await own.action("CloseSession", NOTHING);
    expect(fromBinary(CloseSessionResultSchema, closed).status).toBe(1);
    expect((await get(own))["time_zone"]).toBe("UTC");
  } finally {
    own.close();
    foreign.close();
  }
});

test("options of the wrong value are told by name, and change nothing", async () => {
  const wrong = { schema: text("nowhere"), time_zone: text("Nowhere/Else"), catalog: text("elsewhere") };
  expect((await set(wrong)).failed).toEqual(["schema", "time_zone", "catalog"]);
  expect((await set({ schema: { optionValue: { case: "boolValue", value: true } } })).failed).toEqual(["schema"]);
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`o${i}`, text("x")]));
  expect((await errorOf(set(many))).message).toContain("at most 64");
});

test("a session that nobody uses is forgotten", async () => {
  const { cookie } = await set({ schema: text("other") });
  const own = new FlightSqlClient(server.url, { cookie });
  try {
    expect((await get(own))["schema"]).toBe("other");
    server.later(SESSION_IDLE_MS + 1);
    expect((await get(own))["schema"]).toBe("public");
  } finally {
    own.close();
  }
});

test("clients without cookies have a session by the token of their sign-in", async () => {
  let token = "";
  const basic = `Basic ${Buffer.from("bob:secret").toString("base64")}`;
  const onHeader = (answer: Headers): void => void (token = answer.get("authorization") ?? "");
  async function* nothing() {
    yield {};
  }
  await Array.fromAsync(client.flight.handshake(nothing(), { headers: { authorization: basic }, onHeader }));
  const own = new FlightSqlClient(server.url, { authorization: token });
  try {
    await set({ schema: text("other") }, { authorization: token });
    expect(await own.sql("SELECT database()")).toEqual([["other"]]);
  } finally {
    own.close();
  }
});

test("a query ends when its user cancels it, and for nobody else", async () => {
  const info = await client.info(
    anyOf(CommandStatementQuerySchema, { query: "SELECT a.number FROM numbers a, numbers b, numbers c, numbers d" }),
  );
  const body = toBinary(CancelFlightInfoRequestSchema, create(CancelFlightInfoRequestSchema, { info }));
  expect((await errorOf(client.action("CancelFlightInfo", body))).message).toContain("there is no query to cancel");
  const answer = client.flight.doGet({ ticket: info.endpoint[0]!.ticket!.ticket })[Symbol.asyncIterator]();
  await answer.next(); // the schema: it runs
  const stranger = new FlightSqlClient(server.url, { "x-user": "stranger" });
  try {
    expect((await errorOf(stranger.action("CancelFlightInfo", body))).message).toContain("there is no query to cancel");
    const [result = NOTHING] = await client.action("CancelFlightInfo", body);
    expect(fromBinary(CancelFlightInfoResultSchema, result).status).toBe(CancelStatus.CANCELLED);
    const read = async (): Promise<void> => {
      while ((await answer.next()).done !== true);
    };
    expect((await errorOf(read())).message).toContain("[canceled]");
    const old = anyOf(ActionCancelQueryRequestSchema, { info: toBinary(FlightInfoSchema, info) });
    expect((await errorOf(client.action("CancelQuery", old))).message).toContain("there is no query to cancel");
  } finally {
    stranger.close();
  }
});
