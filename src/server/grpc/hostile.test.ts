import { afterEach, expect, test } from "bun:test";
import { connect as connectHttp2, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { HealthCheck } from "../../../proto/gen/greptime/v1/health_pb.js";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../proto/gen/grpc/health/v1/health_pb.js";
import { PrometheusGateway, PromqlRequestSchema } from "../../../proto/gen/greptime/v1/prom_pb.js";
import { MemoryPool, ServerMemory } from "../../base/memory/server-memory.ts";
import { type GrpcFixture, GrpcClient, startGrpc } from "../../../test/support/grpc-fixture.ts";
import { RawGrpc } from "../../../test/support/raw-grpc.ts";
import { type GrpcService, grpcService } from "./service.ts";

const servers: GrpcFixture[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function start(...args: Parameters<typeof startGrpc>): Promise<GrpcFixture> {
  const server = await startGrpc(...args);
  servers.push(server);
  return server;
}

/** Answers when its client leaves, or never. */
const stuck = grpcService(PrometheusGateway, {
  handle: (_request, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
});

const ended = (socket: Socket): Promise<void> => new Promise((resolve) => socket.on("close", () => resolve()));

/** Another client is served. */
async function isServed(port: number): Promise<void> {
  using client = new GrpcClient(port);
  await createClient(HealthCheck, client.transport).healthCheck({});
}

async function reasons({ metrics }: GrpcFixture): Promise<string> {
  const text = await metrics.registry.metrics();
  return [...text.matchAll(/varve_grpc_connections_ended_total\{reason="([^"]*)"\} \d+/g)].map(([, reason]) => reason).join();
}

test("a connection that says nothing, half a preface, or no HTTP is closed in time", async () => {
  const server = await start(undefined, { limits: { openingMsMax: 100 } });
  for (const first of ["", "P", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "POST / HTTP/1.1\r\nx: "]) {
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => undefined);
    if (first !== "") socket.write(first);
    await ended(socket.resume());
  }
  expect(await reasons(server)).toBe("opening took too long");
  await isServed(server.port);
});

test("of too many connections the last is closed", async () => {
  const server = await start(undefined, { limits: { connectionsMax: 2 } });
  const sockets = [1, 2, 3].map(() => connect(server.port, "127.0.0.1"));
  for (const socket of sockets) socket.on("error", () => undefined).resume();
  await Promise.race(sockets.map(ended));
  expect(await reasons(server)).toBe("too many connections");
  for (const socket of sockets) socket.destroy();
});

/** Opens calls and cancels them, until the connection is closed. */
async function openAndTakeBack(port: number): Promise<void> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => session.on("close", () => resolve()));
  const headers = { ":method": "POST", ":path": "/greptime.v1.PrometheusGateway/Handle", "content-type": "application/grpc" };
  const timer = setInterval(() => {
    for (let i = 0; i < 20 && !session.closed && !session.destroyed; i++) {
      const stream = session.request(headers);
      stream.on("error", () => undefined);
      stream.write(Buffer.from([0, 0, 0, 0, 0]));
      setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), 5);
    }
  }, 10);
  await closed;
  clearInterval(timer);
}

test("a client that opens calls and takes them back is cut off, and others are served", async () => {
  const server = await start(undefined, { limits: { resetsMax: 50 } }, [stuck]);
  // The runtime may break a connection off before the server does, when frames of a call cross its end.
  for (let tries = 0; tries < 10 && (await reasons(server)) === ""; tries++) await openAndTakeBack(server.port);
  expect(await reasons(server)).toBe("too many cancelled calls");
  await isServed(server.port);
});

test("a message past the limit has its status and our number, and its connection lives on", async () => {
  const pool = new MemoryPool(new ServerMemory(Number.POSITIVE_INFINITY), "request_bodies", 2 ** 26);
  const server = await start(undefined, { room: { pool, bytesMax: 2 ** 20, waitMs: 0 } }, [stuck]);
  using client = new GrpcClient(server.port);
  const query = "x".repeat(3 * 2 ** 20);
  const request = create(PromqlRequestSchema, { promql: { case: "instantQuery", value: { query, time: "", lookback: "" } } });
  const error = await createClient(PrometheusGateway, client.transport)
    .handle(request)
    .then(
      () => undefined,
      (thrown: unknown) => ConnectError.from(thrown),
    );
  expect([error?.code, error?.metadata.get("x-greptime-err-code")]).toEqual([Code.ResourceExhausted, "6000"]);
  await createClient(HealthCheck, client.transport).healthCheck({});
  while (pool.used > 0) await Bun.sleep(5);
});

test("bytes of chance break nothing", async () => {
  const server = await start(undefined, { limits: { openingMsMax: 200 } });
  const sockets = Array.from({ length: 40 }, (_, i) => {
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => undefined);
    const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(2000)));
    socket.write(i % 2 === 0 ? Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), noise]) : noise);
    return ended(socket.resume());
  });
  await Promise.all(sockets);
  await isServed(server.port);
  expect(server.bugs).toEqual([]);
});

test("a stop lets a call end within the grace, and cuts what does not", async () => {
  const server = await startGrpc(undefined, {}, [stuck]);
  using client = new GrpcClient(server.port);
  const answer = createClient(PrometheusGateway, client.transport)
    .handle(create(PromqlRequestSchema))
    .then(
      () => undefined,
      (thrown: unknown) => ConnectError.from(thrown),
    );
  await isServed(server.port);
  await server.stop();
  expect([Code.Canceled, Code.Unavailable, Code.Aborted, Code.Internal, Code.Unknown]).toContain((await answer)?.code as Code);
});

/** Tells whether others are served. */
const answering = grpcService(HealthCheck, { healthCheck: () => ({}) });

/** Sends without end, until its client leaves. */
function endless(left: PromiseWithResolvers<void>): GrpcService {
  return grpcService(Health, {
    watch: async function* (_request, { signal }) {
      signal.addEventListener("abort", () => left.resolve());
      for (;;) {
        yield { status: Status.SERVING };
        if (signal.aborted) throw signal.reason;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  });
}

test("a client that stops reading is cut off, its call ends, and others are served", async () => {
  const left = Promise.withResolvers<void>();
  const server = await start(undefined, { services: [endless(left), answering], limits: { writeMsMax: 300 } });
  const session = connectHttp2(`http://127.0.0.1:${server.port}`, { settings: { initialWindowSize: 1000 } });
  session.on("error", () => undefined);
  const stream = session.request({ ":method": "POST", ":path": "/grpc.health.v1.Health/Watch", "content-type": "application/grpc" });
  stream.on("error", () => undefined);
  stream.end(Buffer.alloc(5));
  stream.pause();
  await left.promise;
  session.destroy();
  await isServed(server.port);
});

test("a message of ever so many fields becomes no objects: it is refused by their number, or its bytes go on", async () => {
  const server = await start();
  using client = new RawGrpc(`127.0.0.1:${server.port}`);
  const fields = Buffer.alloc(2 ** 20, Uint8Array.of(0x78, 1));
  const paths = Buffer.alloc(2 ** 20, Uint8Array.of(0x1a, 0));
  const attempt = async (path: string, message: Uint8Array): Promise<string> => {
    const answers = [];
    for (const packing of ["identity", "gzip", "zstd"] as const) {
      const { status, code, text } = await client.call(path, [message], { packing });
      answers.push(`${status} ${code} ${text}`);
    }
    const [first = ""] = answers;
    if (!path.includes("ealth")) expect(answers).toEqual([first, first, first]);
    return first;
  };
  expect(await attempt("/greptime.v1.HealthCheck/HealthCheck", fields)).toContain(
    "8 6000 cannot take a message of 1048576 bytes: at most 65536",
  );
  expect(await attempt("/greptime.v1.GreptimeDatabase/Handle", fields)).toContain("3 1004 cannot handle the GreptimeRequest: it is empty");
  const tooMany = "it has more than 65536 fields";
  expect(await attempt("/greptime.v1.PrometheusGateway/Handle", fields)).toContain(`3 1004 cannot read PromqlRequest: ${tooMany}`);
  expect(await attempt("/arrow.flight.protocol.FlightService/GetFlightInfo", paths)).toContain(
    `3 1004 cannot read FlightDescriptor: ${tooMany}`,
  );
  expect(await attempt("/opentelemetry.proto.collector.trace.v1.TraceService/Export", fields)).toBe("0  ");
});

test("messages as JSON are small", async () => {
  const server = await start();
  const post = (path: string, length: number): Promise<Response> =>
    fetch(`http://127.0.0.1:${server.port}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"x":"${"y".repeat(length)}"}`,
    });
  expect((await post("/greptime.v1.HealthCheck/HealthCheck", 1000)).status).toBe(200);
  expect((await post("/greptime.v1.HealthCheck/HealthCheck", 70_000)).status).toBe(429);
  expect((await post("/greptime.v1.PrometheusGateway/Handle", 2 ** 20)).status).toBe(429);
});
