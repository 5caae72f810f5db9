/**
 * The server's own services by every transport of `@connectrpc/connect-web`, which goes by fetch as pages do, and of
 * `@connectrpc/connect-node`: gRPC, gRPC-web and Connect, binary and JSON, over HTTP/1.1 and HTTP/2.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import * as node from "@connectrpc/connect-node";
import * as web from "@connectrpc/connect-web";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { FlightService } from "../../../proto/gen/arrow/flight/Flight_pb.js";
import { GreptimeDatabase, GreptimeRequestSchema, type GreptimeResponse } from "../../../proto/gen/greptime/v1/database_pb.js";
import { HealthCheck } from "../../../proto/gen/greptime/v1/health_pb.js";
import { PrometheusGateway } from "../../../proto/gen/greptime/v1/prom_pb.js";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../proto/gen/grpc/health/v1/health_pb.js";
import { type GrpcFixture, startGrpc } from "../../../test/support/grpc-fixture.ts";

let server: GrpcFixture;
const sessions: node.Http2SessionManager[] = [];

beforeAll(async () => {
  server = await startGrpc("static_user_provider:cmd:alice=secret");
});
afterAll(async () => {
  for (const session of sessions) session.abort();
  await server.stop();
});

const baseUrl = (): string => `http://127.0.0.1:${server.port}`;

/** A connection of HTTP/2 that is closed in the end. */
function http2(): { readonly baseUrl: string; readonly httpVersion: "2"; readonly sessionManager: node.Http2SessionManager } {
  const sessionManager = new node.Http2SessionManager(baseUrl());
  sessions.push(sessionManager);
  return { baseUrl: baseUrl(), httpVersion: "2", sessionManager };
}

interface Way {
  readonly name: string;
  /** Whether a client can send a stream of messages: fetch of a page cannot. */
  readonly streams: boolean;
  readonly make: () => Transport;
}

const FORMS = [true, false].map((useBinaryFormat) => ({ useBinaryFormat, form: useBinaryFormat ? "binary" : "JSON" }));
const WAYS: readonly Way[] = FORMS.flatMap(({ form, useBinaryFormat }): readonly Way[] => {
  const options = { useBinaryFormat };
  const http1 = { httpVersion: "1.1", ...options } as const;
  return [
    { name: `web: gRPC-web, ${form}`, streams: false, make: () => web.createGrpcWebTransport({ baseUrl: baseUrl(), ...options }) },
    { name: `web: Connect, ${form}`, streams: false, make: () => web.createConnectTransport({ baseUrl: baseUrl(), ...options }) },
    { name: `node: gRPC, ${form}`, streams: true, make: () => node.createGrpcTransport({ ...http2(), ...options }) },
    { name: `node: gRPC-web over HTTP/2, ${form}`, streams: true, make: () => node.createGrpcWebTransport({ ...http2(), ...options }) },
    { name: `node: Connect over HTTP/2, ${form}`, streams: true, make: () => node.createConnectTransport({ ...http2(), ...options }) },
    {
      name: `node: gRPC-web over HTTP/1.1, ${form}`,
      streams: true,
      make: () => node.createGrpcWebTransport({ baseUrl: baseUrl(), ...http1 }),
    },
    {
      name: `node: Connect over HTTP/1.1, ${form}`,
      streams: true,
      make: () => node.createConnectTransport({ baseUrl: baseUrl(), ...http1 }),
    },
  ];
});

const headers = { authorization: `Basic ${btoa("alice:secret")}` };
type Init = MessageInitShape<typeof GreptimeRequestSchema>;

/** Rows into a table of tag, time and number. */
function insert(tableName: string, from: number, count: number, tag = "a"): Init {
  const schema = [
    { columnName: "host", datatype: 12, semanticType: 0 },
    { columnName: "ts", datatype: 16, semanticType: 2 },
    { columnName: "x", datatype: 10, semanticType: 1 },
  ];
  const rows = Array.from({ length: count }, (_, i) => ({
    values: [
      { valueData: { case: "stringValue" as const, value: tag } },
      { valueData: { case: "timestampMillisecondValue" as const, value: BigInt((from + i) * 1000) } },
      (from + i) % 3 === 2 ? {} : { valueData: { case: "f64Value" as const, value: from + i + 0.5 } },
    ],
  }));
  return { request: { case: "rowInserts", value: { inserts: [{ tableName, rows: { schema, rows } }] } } };
}

/** How many rows an answer tells of. */
const rowsOf = ({ case: kind, value }: GreptimeResponse["response"]): number | undefined =>
  kind === "affectedRows" ? value.value : undefined;

/** The failure of a call. */
async function failureOf(work: Promise<unknown>): Promise<ConnectError> {
  return ConnectError.from(
    await work.then(
      () => new Error("it was answered"),
      (thrown: unknown) => thrown,
    ),
  );
}

async function promqlOf(transport: Transport, query: string): Promise<unknown> {
  const promql = { case: "rangeQuery" as const, value: { query, start: "0", end: "3", step: "1s", lookback: "1s" } };
  const { body } = await createClient(PrometheusGateway, transport).handle({ promql }, { headers });
  return JSON.parse(new TextDecoder().decode(body));
}

describe.each(WAYS)("$name", ({ name, streams, make }) => {
  const table = name.replaceAll(/[^A-Za-z0-9]/g, "_").toLowerCase();

  test("rows are written and read back by PromQL, with heads and trailers", async () => {
    const transport = make();
    let head: Headers | undefined;
    const { response, header } = await createClient(GreptimeDatabase, transport).handle(insert(table, 0, 4, "ü, :%"), {
      headers,
      onHeader: (each) => void (head = each),
    });
    expect([rowsOf(response), header?.status?.statusCode]).toEqual([4, 0]);
    expect(head?.get("content-type")).toMatch(/^application\//);
    expect(await promqlOf(transport, table)).toEqual({
      status: "success",
      data: {
        resultType: "matrix",
        result: [
          {
            metric: { __name__: table, host: "ü, :%" },
            // The third is NULL; a value is looked back for over less than a second.
            values: [
              [0, "0.5"],
              [1, "1.5"],
              [3, "3.5"],
            ],
          },
        ],
      },
    });
  });

  test("health is told once, and as it changes", async () => {
    const transport = make();
    await createClient(HealthCheck, transport).healthCheck({});
    expect((await createClient(Health, transport).check({ service: "greptime.v1.GreptimeDatabase" })).status).toBe(Status.SERVING);
    const unknown = await failureOf(createClient(Health, transport).check({ service: "no.Such" }));
    expect(unknown.code).toBe(Code.NotFound);
    const leave = new AbortController();
    const seen: Status[] = [];
    const watch = async (): Promise<void> => {
      for await (const { status } of createClient(Health, transport).watch({ service: "no.Such" }, { signal: leave.signal })) {
        seen.push(status);
        leave.abort();
      }
    };
    expect((await failureOf(watch())).code).toBe(Code.Canceled);
    expect(seen).toEqual([Status.SERVICE_UNKNOWN]);
  });

  test("failures have the code, our number and the retry hint", async () => {
    const transport = make();
    const database = createClient(GreptimeDatabase, transport);
    const check = async (request: Init, sent: Readonly<Record<string, string>>, code: Code, ours: string, text: string): Promise<void> => {
      const failure = await failureOf(database.handle(request, { headers: { ...sent } }));
      expect([failure.code, failure.metadata.get("x-greptime-err-code")]).toEqual([code, ours]);
      expect(failure.metadata.get("x-greptime-err-retry-hint")).toBe("non_retryable");
      expect(failure.rawMessage).toContain(text);
    };
    await check(insert(table, 0, 1), {}, Code.Unauthenticated, "7003", "authorization header");
    const wrong = { authorization: `Basic ${btoa("alice:wrong")}` };
    await check(insert(table, 0, 1), wrong, Code.Unauthenticated, "7002", "Username and password does not match, username: alice");
    await check(insert(table, 0, 1), { ...headers, "x-greptime-db-name": "nö" }, Code.NotFound, "4004", "database not found: nö");
    await check(
      { request: { case: "query", value: { query: { case: "sql", value: "SELECT 1" } } } },
      headers,
      Code.Unimplemented,
      "1001",
      "",
    );
    const other = { columnName: "host", datatype: 3, semanticType: 0 };
    const typed = insert(table, 0, 1);
    Object.assign((typed.request as { value: { inserts: { rows: { schema: unknown[] } }[] } }).value.inserts[0]!.rows.schema, [other]);
    await check(typed, headers, Code.InvalidArgument, "1004", "host");
    const query = createClient(PrometheusGateway, transport);
    expect((await failureOf(query.handle({}, {}))).code).toBe(Code.Unauthenticated);
  });

  test("answers that are streams come in order, and what fails at once has its code", async () => {
    const flight = createClient(FlightService, make());
    const ticketOf = (sql: string): Uint8Array<ArrayBuffer> => {
      const request = { request: { case: "query" as const, value: { query: { case: "sql" as const, value: sql } } } };
      return toBinary(GreptimeRequestSchema, create(GreptimeRequestSchema, request));
    };
    let messages = 0;
    let trailer: Headers | undefined;
    const options = { headers, onTrailer: (each: Headers) => void (trailer = each) };
    for await (const { dataHeader } of flight.doGet({ ticket: ticketOf("SELECT * FROM generate_series(1, 200000)") }, options)) {
      expect(dataHeader.length).toBeGreaterThan(0);
      messages++;
    }
    expect(messages).toBeGreaterThan(3);
    expect(trailer).toBeDefined();
    const none = async (): Promise<void> => {
      for await (const _ of flight.doGet({ ticket: ticketOf("SELECT * FROM nowhere") }, { headers }));
    };
    const failure = await failureOf(none());
    expect([failure.code, failure.metadata.get("x-greptime-err-code")]).toEqual([Code.NotFound, "4001"]);
    expect(failure.rawMessage).toContain("nowhere");
  });

  test(streams ? "streams of rows are one answer" : "fetch sends no streams", async () => {
    async function* requests(): AsyncGenerator<Init> {
      for (let i = 0; i < 20; i++) yield insert(`${table}_stream`, i * 50, 50);
    }
    const sent = createClient(GreptimeDatabase, make()).handleRequests(requests(), { headers });
    if (streams) expect(rowsOf((await sent).response)).toBe(1000);
    else expect((await failureOf(sent)).message).toContain("fetch API does not support streaming request bodies");
  });
});
