import { afterAll, beforeAll, expect, test } from "bun:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { ConnectError } from "@connectrpc/connect";
import {
  CommandGetTablesSchema,
  CommandPreparedStatementQuerySchema,
  CommandPreparedStatementUpdateSchema,
  CommandStatementIngestSchema,
  CommandStatementQuerySchema,
} from "../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { anyOf, FlightSqlClient, type SentColumns } from "../../../../test/support/flight-sql-client.ts";
import { type FlightSqlServer, startFlightSqlServer } from "../../../../test/support/flight-sql-server.ts";
import { errorOf, thrownBy } from "../../../../test/support/failure-of.ts";
import { mutated } from "../../../../test/support/mutations.ts";
import { INT64, TIMESTAMP_MILLISECOND } from "../../../column/data-type.ts";
import { unpacked } from "./any.ts";
import { PREPARED_PER_USER_MAX } from "./limits.ts";

let server: FlightSqlServer;
let client: FlightSqlClient;

beforeAll(async () => {
  server = await startFlightSqlServer();
  client = new FlightSqlClient(server.url);
});

afterAll(async () => {
  client.close();
  await server.stop();
});

const any = (typeUrl: string, value: Uint8Array = new Uint8Array(0)): Uint8Array =>
  toBinary(AnySchema, create(AnySchema, { typeUrl, value }));
const isAlive = async (): Promise<void> => expect(await client.sql("SELECT 1")).toEqual([[1]]);

test("what is none of Flight SQL's is told apart", () => {
  for (const bytes of [
    new Uint8Array(0),
    Uint8Array.of(0x0a),
    any("type.googleapis.com/greptime.v1.Query"),
    any(""),
    Uint8Array.of(1, 2, 3),
  ])
    expect(unpacked(bytes)).toBeUndefined();
  expect(unpacked(any("type.googleapis.com/arrow.flight.protocol.sql.CommandGetCatalogs"))).toMatchObject({ name: "CommandGetCatalogs" });
  expect(unpacked(any("elsewhere.example/arrow.flight.protocol.sql.X"))).toMatchObject({ name: "X" });
  const cut = any("type.googleapis.com/arrow.flight.protocol.sql.CommandGetCatalogs", new Uint8Array(9)).slice(0, -3);
  expect(thrownBy(() => unpacked(cut)).message).toContain("cannot read a command of Flight SQL");
});

test("unknown and misplaced commands are refused", async () => {
  const unknown = any("type.googleapis.com/arrow.flight.protocol.sql.CommandNobodyKnows");
  expect((await errorOf(client.info(unknown))).message).toContain("CommandNobodyKnows is not supported in GetFlightInfo");
  expect((await errorOf(client.fetch(unknown))).message).toContain("not supported in DoGet");
  expect((await errorOf(client.put(client.messages(unknown, undefined)))).message).toContain("not supported in DoPut");
  expect((await errorOf(client.fetch(anyOf(CommandStatementQuerySchema, { query: "SELECT 1" })))).message).toContain(
    "not supported in DoGet",
  );
  expect((await errorOf(client.info(Uint8Array.of(1, 2, 3)))).message).toContain("[unimplemented]");
  expect((await errorOf(client.action("CreatePreparedStatement", Uint8Array.of(9)))).message).toContain("its body is no");
});

test("mutated commands and tickets are answered or refused, and nothing else", async () => {
  const { endpoint } = await client.info(anyOf(CommandStatementQuerySchema, { query: "SELECT 1" }));
  const seeds = [
    anyOf(CommandStatementQuerySchema, { query: "SELECT 1" }),
    anyOf(CommandGetTablesSchema, { dbSchemaFilterPattern: "p%", tableTypes: ["TABLE"], includeSchema: true }),
    anyOf(CommandPreparedStatementQuerySchema, { preparedStatementHandle: new Uint8Array(16) }),
    endpoint[0]!.ticket!.ticket,
  ];
  const outcome = async (work: Promise<unknown>): Promise<string> => {
    const [{ status, reason }] = (await Promise.allSettled([work])) as [{ status: string; reason?: unknown }];
    return status === "fulfilled"
      ? "answered"
      : reason instanceof ConnectError && reason.code !== 13 && reason.code !== 2
        ? "refused"
        : String(reason);
  };
  const samples = fc.sample(mutated(fc.constantFrom(...seeds)), { seed: 17, numRuns: 300 });
  const outcomes = await Promise.all(samples.map((bytes, i) => outcome(i % 2 === 0 ? client.info(bytes) : client.fetch(bytes))));
  expect([...new Set(outcomes)].toSorted()).toEqual(["answered", "refused"]);
  await isAlive();
}, 30_000);

test("a user's prepared statements are so many", async () => {
  const hoarder = new FlightSqlClient(server.url, { "x-user": "hoarder" });
  try {
    const errors: Error[] = [];
    for (let done = 0; done <= PREPARED_PER_USER_MAX; done += 128) {
      const some = await Promise.allSettled(Array.from({ length: 128 }, () => hoarder.prepare("SELECT 1")));
      for (const each of some) if (each.status === "rejected") errors.push(each.reason as Error);
    }
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.every(({ message }) => message.includes("[resource_exhausted]") && message.includes("close some"))).toBe(true);
    await isAlive();
    const { preparedStatementHandle } = await client.prepare("SELECT 1");
    await client.closePrepared(preparedStatementHandle);
  } finally {
    hoarder.close();
  }
}, 30_000);

const ROWS: SentColumns = [
  ["ts", TIMESTAMP_MILLISECOND, [1n, 2n]],
  ["n", INT64, [1, 2]],
];
const INGEST = anyOf(CommandStatementIngestSchema, { table: "cut", tableDefinitionOptions: { ifNotExist: 1, ifExists: 2 } });

test("a stream whose client goes away, or that is no Arrow, is over", async () => {
  async function* broken() {
    yield* client.messages(INGEST, ROWS);
    throw new Error("the client is gone");
  }
  await errorOf(client.put(broken()));
  await isAlive();
  const [schema, batch] = client.messages(INGEST, ROWS);
  const garbage = client.put([schema!, { ...batch!, dataHeader: batch!.dataHeader.slice(0, 20) }]);
  expect((await errorOf(garbage)).message).toContain("cannot read Arrow");
  const cutBody = client.put([schema!, { ...batch!, dataBody: batch!.dataBody.slice(0, 8) }]);
  expect((await errorOf(cutBody)).message).toContain("cannot read Arrow");
  expect((await errorOf(client.put([{ ...schema!, dataHeader: batch!.dataHeader }]))).message).toContain("cannot read Arrow");
  const { preparedStatementHandle } = await client.prepare("SELECT ?::BIGINT");
  const command = anyOf(CommandPreparedStatementUpdateSchema, { preparedStatementHandle });
  const [first] = client.messages(command, [["n", INT64, [1]]]);
  expect((await errorOf(client.put([first!, { ...batch!, dataBody: new Uint8Array(0) }]))).message).toContain("cannot read Arrow");
  await client.closePrepared(preparedStatementHandle);
  await isAlive();
});

test("a client that leaves during DoGet ends its query", async () => {
  const { endpoint } = await client.info(
    anyOf(CommandStatementQuerySchema, { query: "SELECT a.number FROM numbers a, numbers b, numbers c, numbers d" }),
  );
  const controller = new AbortController();
  const answer = client.flight.doGet({ ticket: endpoint[0]!.ticket!.ticket }, { signal: controller.signal })[Symbol.asyncIterator]();
  await answer.next();
  await answer.next();
  controller.abort();
  await errorOf((async () => void (await answer.next()))());
  let left = "";
  for (let tries = 0; tries < 200; tries++) {
    left = JSON.stringify(await client.sql("SELECT count(*) FROM information_schema.process_list WHERE query LIKE '%numbers d'"));
    if (left === "[[0]]") break;
    await Bun.sleep(10);
  }
  expect(left).toBe("[[0]]");
});
