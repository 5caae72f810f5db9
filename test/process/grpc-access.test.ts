/** Who may do what on the gRPC port: every method with credentials that are missing, wrong, and of accounts that may only read or write. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  FlightDataSchema,
  FlightDescriptor_DescriptorType,
  FlightDescriptorSchema,
  TicketSchema,
} from "../../proto/gen/arrow/flight/Flight_pb.js";
import {
  CommandStatementQuerySchema,
  CommandStatementUpdateSchema,
  TicketStatementQuerySchema,
} from "../../proto/gen/arrow/flight/FlightSql_pb.js";
import { GreptimeRequestSchema } from "../../proto/gen/greptime/v1/database_pb.js";
import { SEEDS, type Seed } from "../fuzz/grpc/seeds.ts";
import { BULK_TABLE } from "../fuzz/grpc/arrow-seeds.ts";
import { anyOf } from "../support/flight-sql-client.ts";
import { postSql, queryRows } from "../support/http-client.ts";
import { RawGrpc } from "../support/raw-grpc.ts";
import { TestServer } from "../support/server-process.ts";

/** What must not be in a log. */
const SECRETS = ["admin-secret", "read-secret", "write-secret", "guessed-secret"];
const ACCOUNTS = "static_user_provider:cmd:admin=admin-secret,reader:ro=read-secret,writer:wo=write-secret";

const basic = (name: string, password: string): string => `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
const ADMIN = { authorization: basic("admin", "admin-secret") };

/** Services that need no credentials, and a list that is the same for all. */
const OPEN = /Health|ServerReflection|ListActions|Handshake/;
/** What is allowed to whom, by the path and what comes with it. */
const isOpen = ({ service, path }: Seed): boolean => OPEN.test(service) || OPEN.test(path);
const isWrite = (seed: Seed): boolean =>
  seed.counted !== undefined ||
  ["MetricsService", "TraceService", "LogsService", "GreptimeDatabase"].includes(seed.service) ||
  isUpdate(seed) ||
  isTicketOfRows(seed);
/** Ingest and an update of Flight SQL; the others of its DoPut bind values. */
const isUpdate = ({ path, messages }: Seed): boolean =>
  path.endsWith("DoPut") && /CommandStatement(?:Ingest|Update)/.test(Buffer.from(messages[0] ?? []).toString("latin1"));

/** A ticket may hold a message of rows, which is no query. */
function isTicketOfRows({ path, messages: [first] }: Seed): boolean {
  if (!path.endsWith("/DoGet") || first === undefined) return false;
  const { ticket } = fromBinary(TicketSchema, first);
  if (Buffer.from(ticket).includes("type.googleapis.com")) return false;
  return fromBinary(GreptimeRequestSchema, ticket).request.case === "rowInserts";
}

let server: TestServer;
let client: RawGrpc;

beforeAll(async () => {
  server = await TestServer.start({ flags: ["--user-provider", ACCOUNTS, "--log-level", "trace"] });
  client = new RawGrpc(server.grpcAddress);
  for (const name of ["counted", "streamed", "loose"]) await sql(`CREATE DATABASE ${name}`, "public");
  for (const name of ["streamed", "loose"]) await sql(BULK_TABLE, name);
  await sql("CREATE TABLE made (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE)", "loose");
  await sql("INSERT INTO made VALUES (1700000000000, 'a', 1)", "loose");
});
afterAll(async () => {
  client[Symbol.dispose]();
  await server.end();
});

async function sql(text: string, db: string): Promise<void> {
  const { status, text: answer } = await postSql(server.url, text, { query: { db }, headers: ADMIN });
  if (status !== 200) throw new Error(`${status} ${answer}`);
}

/** Status and code of each seed's call, by method. */
async function outcomes(seeds: readonly Seed[], headers: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const { path, messages } of seeds) {
    const { status, code } = await client.call(path, messages, { headers: { "x-greptime-db-name": "streamed", ...headers } });
    found.add(`${path.slice(path.lastIndexOf("/") + 1)} ${status} ${code}`);
  }
  return [...found];
}

/** Tables and rows of all databases that calls write to. */
async function kept(): Promise<unknown> {
  const names = await queryRows(
    server.url,
    "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE' ORDER BY 1, 2",
    { headers: ADMIN },
  );
  const counts = [];
  for (const [schema, table] of names.rows) {
    const { rows } = await queryRows(server.url, `SELECT count(*) FROM "${String(schema)}"."${String(table)}"`, { headers: ADMIN });
    counts.push(`${String(schema)}.${String(table)} ${String(rows[0]?.[0])}`);
  }
  return counts;
}

const closed = SEEDS.filter((seed) => !isOpen(seed));

test("without credentials, and with wrong ones, no method but the open ones answers, and nothing is kept", async () => {
  const before = await kept();
  const [missing, wrong] = [{}, { authorization: basic("admin", "guessed-secret") }];
  for (const outcome of await outcomes(closed, missing)) expect(outcome).toMatch(/^\w+ 16 7003$/);
  for (const outcome of await outcomes(closed, wrong)) expect(outcome).toMatch(/^\w+ 16 7002$/);
  for (const authorization of ["Basic", "Basic ???", "Bearer guessed-secret", "Digest x", ""])
    for (const outcome of await outcomes(closed, { authorization })) expect(outcome).toMatch(/^\w+ 16 700[1-4]$/);
  expect(await kept()).toEqual(before);
});

test("who may only read is refused by every method that writes, and nothing is kept", async () => {
  const before = await kept();
  const reader = { authorization: basic("reader", "read-secret") };
  for (const outcome of await outcomes(closed.filter(isWrite), reader)) expect(outcome).toMatch(/^\w+ 7 7006$/);
  expect(await kept()).toEqual(before);
});

/** What a command of metadata is answered with that is the same in every server, or the columns of such an answer alone. */
const CONSTANT = /^GetFlightInfo 0 |Get(?:SqlInfo|XdbcTypeInfo|Catalogs|TableTypes|ImportedKeys|CrossReference)$/;

test("who may only write is refused by every method that reads", async () => {
  const headers = { authorization: basic("writer", "write-secret") };
  const reads = closed.filter((seed) => !isWrite(seed) && /DoGet|GetFlightInfo|GetSchema|ListFlights|Gateway/.test(seed.path));
  for (const seed of reads) {
    const [outcome = ""] = await outcomes([seed], headers);
    const [command = ""] = /Command\w+/.exec(Buffer.from(seed.messages[0] ?? []).toString("latin1")) ?? [];
    if (CONSTANT.test(`${outcome}${command}`)) continue;
    // A command of a statement is no ticket, whoever asks.
    if (command === "CommandStatementQuery" && seed.path.endsWith("DoGet")) expect(outcome).toBe("DoGet 12 1001");
    else expect(`${outcome} ${command}`).toMatch(/^\w+ 7 7006 /);
  }
});

test("a statement that changes something is refused of who may only read, by whichever command of Flight SQL it comes", async () => {
  const before = await kept();
  const headers = { authorization: basic("reader", "read-secret") };
  const query = "INSERT INTO loose.made VALUES (1700000000001, 'b', 2)";
  const cmd = anyOf(CommandStatementQuerySchema, { query });
  const descriptor = toBinary(FlightDescriptorSchema, create(FlightDescriptorSchema, { type: FlightDescriptor_DescriptorType.CMD, cmd }));
  const update = { flightDescriptor: { type: FlightDescriptor_DescriptorType.CMD, cmd: anyOf(CommandStatementUpdateSchema, { query }) } };
  const ticket = anyOf(TicketStatementQuerySchema, { statementHandle: Buffer.concat([Buffer.alloc(16), Buffer.from(query)]) });
  const sent: readonly (readonly [method: string, message: Uint8Array])[] = [
    ["GetFlightInfo", descriptor],
    ["DoPut", toBinary(FlightDataSchema, create(FlightDataSchema, update))],
    ["DoGet", toBinary(TicketSchema, create(TicketSchema, { ticket }))],
  ];
  for (const [method, message] of sent) {
    const { status, code } = await client.call(`/arrow.flight.protocol.FlightService/${method}`, [message], { headers });
    expect([method, status, code]).toEqual([method, 7, "7006"]);
  }
  expect(await kept()).toEqual(before);
});

test("no secret is in the log", () => {
  const log = server.log();
  for (const secret of SECRETS) {
    expect(log).not.toContain(secret);
    for (const name of ["admin", "reader", "writer"]) expect(log).not.toContain(btoa(`${name}:${secret}`));
  }
});
