/**
 * The same requests by both ways: a path alone is answered in unary-calls.ts, one that asks for something (`?`) by the library. Clients
 * must not be able to tell which.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ClientHttp2Stream, constants } from "node:http2";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { PrometheusGateway, PromqlRequestSchema } from "../../../proto/gen/greptime/v1/prom_pb.js";
import { type GrpcFixture, startGrpc } from "../../../test/support/grpc-fixture.ts";
import { framed, RawGrpc } from "../../../test/support/raw-grpc.ts";
import { DbError } from "../../base/error.ts";
import { MemoryPool, ServerMemory } from "../../base/memory/server-memory.ts";
import { StatusCode } from "../../base/status-code.ts";
import { rowsBody } from "../../../bench/macro/native-bodies.ts";
import type { Call } from "./call.ts";
import { GrpcStatusError } from "./errors.ts";
import { type GrpcService, grpcService } from "./service.ts";

const HANDLE = "/greptime.v1.GreptimeDatabase/Handle";
const EXPORT = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
/** Does what its query says. */
const ODD = "/greptime.v1.PrometheusGateway/Handle";
const SEND_BYTES_MAX = 64 * 1024;
const BY_LIBRARY = "?";

const ways: string[] = [];
const ended: string[] = [];

const odd = grpcService(PrometheusGateway, {
  handle: async ({ promql }, call) => {
    ways.push((new Error().stack ?? "").includes("unary-calls.ts") ? "here" : "library");
    const ask = promql.case === "instantQuery" ? promql.value.query : "";
    return { body: new Uint8Array((await ODD_ANSWERS[ask]?.(call)) ?? 3) };
  },
});

/** How long the answer is. */
const ODD_ANSWERS: Readonly<Record<string, (call: Call) => number | Promise<number>>> = {
  long: () => 5000,
  "too long": () => SEND_BYTES_MAX + 1,
  headers: ({ answerHeaders }) => {
    answerHeaders.set("x-more", "yes");
    answerHeaders.append("x-more", "and more");
    return 1;
  },
  refuse: () => {
    throw new DbError(StatusCode.TableNotFound, "no table 100%, naïve: 表\n");
  },
  later: () => {
    throw new DbError(StatusCode.RateLimited, "later", { retryAfterSeconds: 2 });
  },
  status: () => {
    throw new GrpcStatusError(Code.FailedPrecondition, StatusCode.Unsupported, "not now");
  },
  transport: () => {
    throw new ConnectError("of the transport", Code.OutOfRange, { "x-own": "1" });
  },
  fail: () => {
    throw new TypeError("a secret");
  },
  wait: ({ signal }) =>
    new Promise((_resolve, reject) => {
      const end = (): void => {
        ended.push(String(signal.reason));
        reject(new Error("another reason"));
      };
      if (signal.aborted) end();
      else signal.addEventListener("abort", end);
    }),
};

const asked = (query: string): Uint8Array =>
  toBinary(PromqlRequestSchema, create(PromqlRequestSchema, { promql: { case: "instantQuery", value: { query } } }));

let server: GrpcFixture;
let client: RawGrpc;

const pool = new MemoryPool(new ServerMemory(Number.POSITIVE_INFINITY), "request_bodies", 64 * 1024 * 1024);
const room = { pool, bytesMax: 16 * 1024 * 1024, waitMs: 100 };

const start = (): Promise<GrpcFixture> =>
  startGrpc("static_user_provider:cmd:writer:wo=w,reader:ro=r", { sendBytesMax: SEND_BYTES_MAX, room }, [odd as GrpcService]);

beforeAll(async () => {
  server = await start();
  client = new RawGrpc(`127.0.0.1:${server.port}`);
});

afterAll(async () => {
  client[Symbol.dispose]();
  await server.stop();
});

/** A request. */
interface Ask {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces: readonly Uint8Array[];
  /** Default: ends the body. */
  readonly act?: (stream: ClientHttp2Stream) => void | Promise<void>;
}

const who = (name: string): Record<string, string> => ({ authorization: `Basic ${Buffer.from(name).toString("base64")}` });
const WRITER = who("writer:w");

/** All that a client sees of an answer. */
async function seen({ path = ODD, headers = {}, pieces, act }: Ask, way: string): Promise<unknown> {
  const stream = client.open(path + way, { headers });
  const all: unknown[] = [];
  const chunks: Buffer[] = [];
  stream.on("response", (head) => all.push(["head", ...Object.entries(head)]));
  stream.on("trailers", (trailers) => all.push(["trailers", ...Object.entries(trailers)]));
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  const closed = new Promise<void>((resolve) => stream.on("close", () => resolve()));
  for (const piece of pieces) stream.write(piece);
  if (act === undefined) stream.end();
  else await act(stream);
  await closed;
  const text = JSON.stringify([...all, Buffer.concat(chunks).toString("base64"), stream.rstCode]);
  return JSON.parse(text.replace(/("x-request-id",")[^"]*/, "$1some"));
}

/** What was counted. */
async function counted(): Promise<ReadonlyMap<string, number>> {
  const text = await server.metrics.registry.metrics();
  const lines = text.matchAll(/^(greptime_servers_grpc_requests_total\{.*\}|.*auth_failure.*\}|.*_error.*\}) (\d+)$/gm);
  return new Map([...lines].map(([, name, value]) => [name ?? "", Number(value)]));
}

async function countedBy(work: () => Promise<unknown>): Promise<unknown> {
  const before = await counted();
  const answer = await work();
  await Bun.sleep(2); // A client may hear of an end before it is counted.
  const more = [...(await counted())].map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const);
  return { answer, counted: more.filter(([, value]) => value > 0) };
}

async function check(ask: Ask): Promise<string> {
  const own = await countedBy(() => seen(ask, ""));
  const library = await countedBy(() => seen(ask, BY_LIBRARY));
  expect(own).toEqual(library as object);
  return JSON.stringify(own);
}

const request = (member: number, body: Uint8Array): Buffer => {
  const head = Buffer.from([(member << 3) | 2, (body.length & 127) | 128, (body.length >> 7) & 127]);
  return Buffer.concat([head, body]);
};
const flagged = (message: Uint8Array, flags: number): Buffer => {
  const frame = framed(message);
  frame[0] = flags;
  return frame;
};

const RIGHT = framed(asked("right"));
const ROWS = framed(request(6, rowsBody(1, 10)));

const CASES: Readonly<Record<string, Ask>> = {
  rows: { path: HANDLE, headers: WRITER, pieces: [ROWS] },
  "rows in pieces": { path: HANDLE, headers: WRITER, pieces: [ROWS.subarray(0, 3), ROWS.subarray(3, 100), ROWS.subarray(100)] },
  "rows of no credentials": { path: HANDLE, pieces: [ROWS] },
  "rows of a wrong password": { path: HANDLE, headers: who("writer:x"), pieces: [ROWS] },
  "rows of who may not write": { path: HANDLE, headers: who("reader:r"), pieces: [ROWS] },
  "credentials that are none": { path: HANDLE, headers: { authorization: "Digest x" }, pieces: [ROWS] },
  "an unknown database": { path: HANDLE, headers: { ...WRITER, "x-greptime-db-name": "nowhere" }, pieces: [ROWS] },
  "an empty message": { path: HANDLE, headers: WRITER, pieces: [framed(new Uint8Array(0))] },
  "an empty export": { path: EXPORT, headers: WRITER, pieces: [framed(new Uint8Array(0))] },
  "bytes that are no message": { path: EXPORT, headers: WRITER, pieces: [framed(Buffer.from("no message"))] },
  "bytes that are no message of a read method": { pieces: [framed(Buffer.from("no message"))] },
  "a message": { pieces: [RIGHT] },
  "+proto": { headers: { "content-type": "application/grpc+proto" }, pieces: [RIGHT] },
  "+json": { headers: { "content-type": "application/grpc+json" }, pieces: [framed(Buffer.from("{}"))] },
  "+thrift": { headers: { "content-type": "application/grpc+thrift" }, pieces: [RIGHT] },
  text: { headers: { "content-type": "text/plain" }, pieces: [RIGHT] },
  "gRPC-web": { headers: { "content-type": "application/grpc-web+proto" }, pieces: [RIGHT] },
  GET: { headers: { ":method": "GET" }, pieces: [] },
  "an unknown method": { path: "/greptime.v1.PrometheusGateway/Nothing", pieces: [RIGHT] },
  "a page of another site": { headers: { origin: "https://elsewhere.example" }, pieces: [RIGHT] },
  "no message": { pieces: [] },
  "half a head": { pieces: [RIGHT.subarray(0, 3)] },
  "a message cut short": { pieces: [RIGHT.subarray(0, RIGHT.length - 1)] },
  "two messages": { pieces: [RIGHT, RIGHT] },
  "three messages": { pieces: [RIGHT, RIGHT, RIGHT] },
  "a message and half of one": { pieces: [RIGHT, RIGHT.subarray(0, 7)] },
  "a message and a packed one that is none": {
    headers: { "grpc-encoding": "gzip" },
    pieces: [RIGHT, flagged(Buffer.from("no gzip, it is not"), 1)],
  },
  "a message and one that is too long": { pieces: [RIGHT, framed(new Uint8Array(1), "identity", 2 ** 25)] },
  "a message that is too long": { pieces: [framed(new Uint8Array(1), "identity", 2 ** 25)] },
  "a message of 4 GiB": { pieces: [framed(new Uint8Array(1), "identity", 2 ** 32 - 1)] },
  gzip: { headers: { "grpc-encoding": "gzip" }, pieces: [framed(asked("long"), "gzip")] },
  "gzip of rows": { path: HANDLE, headers: { ...WRITER, "grpc-encoding": "gzip" }, pieces: [flagged(gzipSync(ROWS.subarray(5)), 1)] },
  zstd: { headers: { "grpc-encoding": "zstd" }, pieces: [flagged(zstdCompressSync(asked("long")), 1)] },
  "gzip, and a message that is not packed": { headers: { "grpc-encoding": "gzip" }, pieces: [RIGHT] },
  "gzip, and an empty packed message": { headers: { "grpc-encoding": "gzip" }, pieces: [flagged(new Uint8Array(0), 1)] },
  "gzip that is none": { headers: { "grpc-encoding": "gzip" }, pieces: [flagged(Buffer.from("no gzip, it is not"), 1)] },
  "gzip that is cut": { headers: { "grpc-encoding": "gzip" }, pieces: [flagged(gzipSync(asked("long")).subarray(0, -1), 1)] },
  "gzip that tells of too much": { headers: { "grpc-encoding": "gzip" }, pieces: [flagged(gzipSync(new Uint8Array(2 ** 24 + 1)), 1)] },
  "a packed message, unsaid": { pieces: [flagged(gzipSync(asked("long")), 1)] },
  "a packed message, said to be none": { headers: { "grpc-encoding": "identity" }, pieces: [flagged(gzipSync(asked("long")), 1)] },
  "an unknown packing": { headers: { "grpc-encoding": "snappy" }, pieces: [RIGHT] },
  "an unknown packing and deadline": { headers: { "grpc-encoding": "snappy", "grpc-timeout": "x" }, pieces: [RIGHT] },
  "flags that nobody knows": { pieces: [flagged(asked("right"), 0x82)] },
  "flags that nobody knows, packed": { headers: { "grpc-encoding": "gzip" }, pieces: [flagged(gzipSync(asked("long")), 0x83)] },
  "an answer in gzip": { headers: { "grpc-accept-encoding": "deflate, gzip, zstd" }, pieces: [framed(asked("long"))] },
  "an answer in zstd": { headers: { "grpc-accept-encoding": "zstd" }, pieces: [framed(asked("long"))] },
  "a short answer in zstd": { headers: { "grpc-accept-encoding": "zstd" }, pieces: [RIGHT] },
  "an answer in what nobody knows": { headers: { "grpc-accept-encoding": "br,identity" }, pieces: [framed(asked("long"))] },
  "a failure in gzip": { headers: { "grpc-accept-encoding": "gzip" }, pieces: [framed(asked("refuse"))] },
  "an answer that is too long": { pieces: [framed(asked("too long"))] },
  "metadata of the answer": { pieces: [framed(asked("headers"))] },
  "metadata of a packed answer": { headers: { "grpc-accept-encoding": "gzip" }, pieces: [framed(asked("headers"))] },
  "a refusal": { pieces: [framed(asked("refuse"))] },
  "a refusal with a time": { pieces: [framed(asked("later"))] },
  "a refusal with a status": { pieces: [framed(asked("status"))] },
  "a failure of the transport": { pieces: [framed(asked("transport"))] },
  "a failure of the server": { pieces: [framed(asked("fail"))] },
  "a deadline": { headers: { "grpc-timeout": "10S" }, pieces: [RIGHT] },
  "a deadline that passes": { headers: { "grpc-timeout": "20m" }, pieces: [framed(asked("wait"))] },
  "a deadline that has passed": { headers: { "grpc-timeout": "0n" }, pieces: [framed(asked("wait"))] },
  "a deadline that has passed, of rows": { path: HANDLE, headers: { ...WRITER, "grpc-timeout": "0S" }, pieces: [ROWS] },
  "a deadline that is none": { headers: { "grpc-timeout": "soon" }, pieces: [RIGHT] },
  "a deadline without a unit": { headers: { "grpc-timeout": "10" }, pieces: [RIGHT] },
  "a deadline in a thousand years": { headers: { "grpc-timeout": "9000000H" }, pieces: [RIGHT] },
  "a body of the length that is said": { headers: { "content-length": String(RIGHT.length) }, pieces: [RIGHT] },
  trailers: {
    pieces: [RIGHT],
    act: (stream) => {
      stream.on("wantTrailers", () => stream.sendTrailers({ "x-checksum": "1" }));
      stream.end();
    },
  },
  "a client that leaves": {
    pieces: [framed(asked("wait"))],
    act: async (stream) => {
      stream.end();
      await Bun.sleep(20);
      stream.close(constants.NGHTTP2_CANCEL);
    },
  },
  "a client that leaves in its message": {
    pieces: [RIGHT.subarray(0, 7)],
    act: async (stream) => {
      await Bun.sleep(20);
      stream.close(constants.NGHTTP2_CANCEL);
    },
  },
  "a client that breaks in its call": {
    pieces: [framed(asked("wait"))],
    act: async (stream) => {
      stream.end();
      await Bun.sleep(20);
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    },
  },
};

for (const [name, ask] of Object.entries(CASES)) {
  test(name, async () => {
    const before = ended.length;
    await check(ask);
    const [own, library] = ended.slice(before);
    expect(own).toBe(library);
    expect(pool.used).toBe(0);
  });
}

test("both ways are taken", async () => {
  ways.length = 0;
  await check({ pieces: [RIGHT] });
  expect(ways).toEqual(["here", "library"]);
});

test("a failure that a client may see keeps its text, its code and its metadata", async () => {
  expect(await check({ pieces: [framed(asked("refuse"))] })).toContain('["grpc-message","no table 100%25, na%C3%AFve: %E8%A1%A8%0A"]');
  expect(await check({ pieces: [framed(asked("later"))] })).toContain('["grpc-retry-pushback-ms","2000"]');
  expect(await check({ pieces: [framed(asked("transport"))] })).toContain('["x-greptime-err-code","1004"]');
});

test("calls under way end when the server stops", async () => {
  const other = await start();
  using caller = new RawGrpc(`127.0.0.1:${other.port}`);
  const calls = ["", BY_LIBRARY].map((way) => caller.call(ODD + way, [asked("wait")]));
  await Bun.sleep(50);
  await other.stop();
  const [own, library] = await Promise.all(calls);
  expect(own).toEqual(library as typeof own & object);
});
