/**
 * Clients of the gRPC port that do harm on purpose: what they claim, hold open, send for ever. Each ends in a status or a closed
 * connection; another client is served meanwhile, and nothing of them is held in the end.
 */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { type ClientHttp2Session, connect as connectHttp2, constants } from "node:http2";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { TicketSchema } from "../../proto/gen/arrow/flight/Flight_pb.js";
import { GreptimeRequestSchema } from "../../proto/gen/greptime/v1/database_pb.js";
import { BULK_TABLE, bulkMessages } from "../fuzz/grpc/arrow-seeds.ts";
import { SEEDS } from "../fuzz/grpc/seeds.ts";
import { postSql, queryRows } from "../support/http-client.ts";
import { framed, GRPC, RawGrpc } from "../support/raw-grpc.ts";
import { ACK, addressOf, END_HEADERS, END_STREAM, FRAME, frame, FrameReader, headerBlock, PREFACE } from "../support/raw-http2.ts";
import { TestServer } from "../support/server-process.ts";

const MIB: number = 1024 * 1024;
const TEST_MS_MAX = 60_000;
const PAGE_BYTES = 4096;
/** Memory that hostile clients may cost beside that of the process at rest: garbage, and what limits allow. */
const GROWTH_BYTES_MAX: number = 300 * MIB;

const HEALTH = "/greptime.v1.HealthCheck/HealthCheck";
const HANDLE = "/greptime.v1.GreptimeDatabase/Handle";
const DO_PUT = "/arrow.flight.protocol.FlightService/DoPut";
const DO_GET = "/arrow.flight.protocol.FlightService/DoGet";

let server: TestServer;
let client: RawGrpc;
let restBytes = 0;

beforeAll(async () => {
  server = await TestServer.start({ config: '[grpc]\nmax_recv_message_size = "16MiB"\n' });
  client = new RawGrpc(server.grpcAddress);
  await postSql(server.url, BULK_TABLE);
  for (let i = 0; i < 50; i++) await client.call(HEALTH, [new Uint8Array(0)]);
  restBytes = await residentBytes();
}, TEST_MS_MAX);
afterAll(async () => {
  client[Symbol.dispose]();
  await server.end();
});

/** Others are served, no memory of calls is held, and the process has not grown. */
afterEach(async () => {
  expect((await client.call(HEALTH, [new Uint8Array(0)])).status).toBe(GRPC.ok);
  await settled(async () => /^varve_memory_bytes\{part="request_bodies"\} 0$/m.test(await metrics()));
  expect((await residentBytes()) - restBytes).toBeLessThan(GROWTH_BYTES_MAX);
  expect(server.log()).not.toContain('"level":"fatal"');
}, TEST_MS_MAX);

async function residentBytes(): Promise<number> {
  const [, pages] = (await readFile(`/proc/${server.running.pid}/statm`, "utf8")).split(" ");
  return Number(pages) * PAGE_BYTES;
}

async function metrics(): Promise<string> {
  return await (await fetch(`${server.processUrl}/metrics`)).text();
}

async function settled(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(20);
}

/** Calls of the connection that has many; 10,000 in the long form. */
const STREAMS = Number(process.env["VARVE_STREAMS"] ?? 1000);

/** A connection whose errors are nobody's. */
function connection(): ClientHttp2Session {
  const session = connectHttp2(`http://${server.grpcAddress}`);
  session.on("error", () => undefined);
  return session;
}

function headersOf(path: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers", ...more };
}

const rowMessage = SEEDS.find(({ path }) => path === HANDLE)?.messages[0] ?? new Uint8Array(0);
const query = (text: string): Uint8Array => {
  const request = { request: { case: "query" as const, value: { query: { case: "sql" as const, value: text } } } };
  const ticket = toBinary(GreptimeRequestSchema, create(GreptimeRequestSchema, request));
  return toBinary(TicketSchema, create(TicketSchema, { ticket }));
};

test(
  "lengths that are claimed and not sent, sent and too long, or cut short",
  async () => {
    const head = (length: number): Buffer => framed(new Uint8Array(0), "identity", length);
    for (const { path } of SEEDS) {
      const over = await client.send(path, [head(0xffff_ffff)]);
      expect([path, over.status, over.code]).toEqual([path, GRPC.resourceExhausted, "6000"]);
      const short = await client.send(path, [head(1000), Buffer.alloc(999)]);
      expect([path, short.status, short.code]).toEqual([path, GRPC.invalidArgument, "1004"]);
    }
    const long = await client.call(HANDLE, [Buffer.alloc(17 * MIB)]);
    expect([long.status, long.code]).toEqual([GRPC.resourceExhausted, "6000"]);
  },
  TEST_MS_MAX,
);

test(
  "bombs are refused before they unfold, those that lie about their length too",
  async () => {
    const zeros = Buffer.alloc(256 * MIB);
    const bombs = { gzip: gzipSync(zeros, { level: 1 }), zstd: zstdCompressSync(zeros) };
    for (const [packing, bomb] of Object.entries(bombs)) {
      const piece = Buffer.concat([framed(bomb), new Uint8Array(0)]);
      piece[0] = 1;
      for (const path of [HANDLE, DO_PUT]) {
        const { status, code } = await client.send(path, [piece], { headers: { "grpc-encoding": packing } });
        expect([packing, status, code]).toEqual([packing, GRPC.resourceExhausted, "6000"]);
      }
    }
    const lie = Buffer.from(bombs.gzip);
    lie.writeUInt32LE(100, lie.length - 4);
    const piece = framed(lie);
    piece[0] = 1;
    const { status, code } = await client.send(HANDLE, [piece], { headers: { "grpc-encoding": "gzip" } });
    expect([status, code]).toEqual([GRPC.invalidArgument, "1004"]);
  },
  TEST_MS_MAX,
);

test(
  "a client that reads nothing of a large answer holds some of it and no more, until it leaves",
  async () => {
    const before = await residentBytes();
    const session = connection();
    const rows =
      "SELECT a.value, b.value, 'some text that makes a row longer than its number is' AS t " +
      "FROM generate_series(1, 4000) a, generate_series(1, 4000) b";
    const streams = Array.from({ length: 4 }, () => {
      const stream = session.request(headersOf(DO_GET));
      stream.on("error", () => undefined);
      stream.end(framed(query(rows)));
      return stream;
    });
    await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once("response", resolve))));
    for (const stream of streams) stream.pause();
    // As much is produced as anybody may wait for.
    let grown = 0;
    for (let i = 0; i < 30; i++) {
      await Bun.sleep(50);
      grown = Math.max(grown, (await residentBytes()) - before);
      if (i % 10 === 0) expect((await client.call(HEALTH, [new Uint8Array(0)])).status).toBe(GRPC.ok);
    }
    expect(grown).toBeLessThan(GROWTH_BYTES_MAX);
    expect(await metrics()).toMatch(/^greptime_process_list_count\{catalog="greptime"\} 4$/m);
    session.destroy();
    await settled(async () => /^greptime_process_list_count\{catalog="greptime"\} 0$/m.test(await metrics()));
  },
  TEST_MS_MAX,
);

test(
  "streams that are half open on many connections: others write, and rows of what was whole stay",
  async () => {
    const sessions = Array.from({ length: 20 }, connection);
    for (const session of sessions) {
      for (let i = 0; i < 50; i++) {
        const stream = session.request(headersOf("/greptime.v1.GreptimeDatabase/HandleRequests"));
        stream.on("error", () => undefined);
        stream.write(framed(new Uint8Array(0), "identity", 5000).subarray(0, 3));
      }
    }
    const { status } = await client.call(HANDLE, [rowMessage], { headers: { "x-greptime-db-name": "public" } });
    expect([GRPC.ok, GRPC.notFound]).toContain(status as 0);
    for (const session of sessions) session.destroy();
  },
  TEST_MS_MAX,
);

test(
  "a stream that is cut keeps what was acknowledged, and of a batch all or nothing",
  async () => {
    const [schema, first, second] = bulkMessages("bulk");
    for (let round = 0; round < 10; round++) {
      const session = connection();
      const stream = session.request(headersOf(DO_PUT));
      stream.on("error", () => undefined);
      stream.write(framed(schema ?? rowMessage));
      await new Promise((resolve) => stream.once("data", resolve));
      stream.write(framed(first ?? rowMessage));
      if (round % 2 === 0) await new Promise((resolve) => stream.once("data", resolve));
      stream.write(framed(second ?? rowMessage).subarray(0, 100));
      if (round % 3 === 0) stream.close(constants.NGHTTP2_CANCEL);
      session.destroy();
    }
    await settled(async () => /^varve_memory_bytes\{part="request_bodies"\} 0$/m.test(await metrics()));
    const { rows } = await queryRows(server.url, "SELECT count(*) FROM bulk");
    const count = Number(rows[0]?.[0]);
    expect(count % 3).toBe(0);
    expect(count).toBeGreaterThanOrEqual(15);
  },
  TEST_MS_MAX,
);

test(
  "thousands of calls on one connection, by frames of its own",
  async () => {
    const { host, port } = addressOf(server.grpcAddress);
    const socket = connect(port, host);
    let [ended, opened] = [0, 0];
    const frames = new FrameReader(({ type, flags }) => {
      if (type === FRAME.headers && (flags & END_STREAM) !== 0) ended++;
      if (type === FRAME.settings && (flags & ACK) === 0) socket.write(frame(FRAME.settings, ACK, 0, Buffer.alloc(0)));
    });
    socket.on("data", (chunk: Buffer) => frames.add(chunk));
    const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
    socket.write(Buffer.concat([Buffer.from(PREFACE), frame(FRAME.settings, 0, 0, Buffer.alloc(0))]));
    for (; opened < STREAMS; opened++) {
      while (opened - ended >= 200) await Bun.sleep(1);
      const id = 1 + 2 * opened;
      const headers = frame(FRAME.headers, END_HEADERS, id, headerBlock(HEALTH));
      socket.write(Buffer.concat([headers, frame(FRAME.data, END_STREAM, id, framed(new Uint8Array(0)))]));
    }
    while (ended < opened) await Bun.sleep(5);
    socket.destroy();
    await closed;
    expect(ended).toBe(STREAMS);
  },
  TEST_MS_MAX,
);

test(
  "calls that are taken back at once",
  async () => {
    for (let round = 0; round < 2; round++) {
      const session = connection();
      for (let i = 0; i < 500 && !session.destroyed && !session.closed; i++) {
        const stream = session.request(headersOf(DO_GET));
        stream.on("error", () => undefined);
        stream.end(framed(query("SELECT count(*) FROM generate_series(1, 100000)")));
        stream.close(constants.NGHTTP2_CANCEL);
        if (i % 50 === 49) await Bun.sleep(1);
      }
      session.destroy();
    }
    await settled(async () => /^greptime_process_list_count\{catalog="greptime"\} 0$/m.test(await metrics()));
  },
  TEST_MS_MAX,
);

test(
  "headers without end: many, and long ones",
  async () => {
    const floods = [
      Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`x-flood-${i}`, "a value of some characters"])),
      { "x-flood": "x".repeat(300_000) },
    ];
    for (const flood of floods) {
      using flooding = new RawGrpc(server.grpcAddress);
      const { status } = await flooding.call(HEALTH, [new Uint8Array(0)], { headers: flood, waitMs: 5000 });
      expect(status).not.toBe(GRPC.ok);
    }
  },
  TEST_MS_MAX,
);
