import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect as connectHttp2 } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { HealthCheck } from "../../../proto/gen/greptime/v1/health_pb.js";
import { PrometheusGateway, PromqlRequestSchema } from "../../../proto/gen/greptime/v1/prom_pb.js";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../proto/gen/grpc/health/v1/health_pb.js";
import { Pusher } from "../../../proto/gen/logproto/push_pb.js";
import { assert } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type GrpcFixture, GrpcClient, otherTransports, startGrpc } from "../../../test/support/grpc-fixture.ts";
import { grpcService, raw } from "./service.ts";

let server: GrpcFixture;
let received: Uint8Array | undefined;

/** Answers with what it got; some databases make it fail. */
const echo = grpcService(PrometheusGateway, {
  handle: raw(async (bytes, call) => {
    received = bytes.slice();
    const { database } = call;
    if (database === "none") throw new DbError(StatusCode.DatabaseNotFound, "database not found: none");
    if (database === "busy") throw new DbError(StatusCode.RateLimited, "come back later", { retryAfterSeconds: 2 });
    if (database === "broken") assert(false, "what; got x; want y");
    if (database === "slow") {
      await new Promise((resolve) => call.signal.addEventListener("abort", resolve));
      throw call.signal.reason;
    }
    const { name } = await call.user();
    return { body: new TextEncoder().encode(`${name}@${database}`) };
  }),
});

beforeAll(async () => {
  server = await startGrpc("static_user_provider:cmd:alice=secret", {}, [echo]);
});

afterAll(async () => {
  await server.stop();
});

const request = create(PromqlRequestSchema, { promql: { case: "instantQuery", value: { query: "up", time: "1", lookback: "" } } });

async function failureOf(headers: Record<string, string>, timeoutMs?: number): Promise<ConnectError> {
  using client = new GrpcClient(server.port);
  try {
    await createClient(PrometheusGateway, client.transport).handle(request, { headers, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("it was answered");
}

const basic = Buffer.from("alice:secret").toString("base64");

test("health is answered by gRPC, gRPC-web and Connect on one port, without credentials", async () => {
  using client = new GrpcClient(server.port);
  for (const { transport } of [client, ...otherTransports(server.port)]) {
    await createClient(HealthCheck, transport).healthCheck({});
    expect((await createClient(Health, transport).check({ service: "" })).status).toBe(Status.SERVING);
    expect((await createClient(Health, transport).check({ service: "greptime.v1.HealthCheck" })).status).toBe(Status.SERVING);
    for await (const { status } of createClient(Health, transport).watch({ service: "x" })) {
      expect(status).toBe(Status.SERVICE_UNKNOWN);
      break;
    }
  }
});

test("a raw method gets the bytes of its message, whichever form it came in, and credentials in each place", async () => {
  using client = new GrpcClient(server.port);
  const headers: readonly Record<string, string>[] = [
    { authorization: `Basic ${basic}` },
    { authorization: basic },
    { authorization: "Digest x", "x-greptime-auth": `basic ${basic}` },
  ];
  for (const { transport } of [client, ...otherTransports(server.port)])
    for (const header of headers) {
      const { body } = await createClient(PrometheusGateway, transport).handle(request, { headers: header });
      expect(new TextDecoder().decode(body)).toBe("alice@public");
      expect(received).toEqual(toBinary(PromqlRequestSchema, request));
    }
});

test("failures carry the status, our number and whether to try again", async () => {
  const check = async (headers: Record<string, string>, code: Code, ours: number, hint: string, message: string): Promise<void> => {
    const error = await failureOf(headers);
    expect([error.code, error.rawMessage]).toEqual([code, message]);
    expect(error.metadata.get("x-greptime-err-code")).toBe(String(ours));
    expect(error.metadata.get("x-greptime-err-retry-hint")).toBe(hint);
  };
  await check({ "x-greptime-db-name": "none" }, Code.NotFound, 4004, "non_retryable", "database not found: none");
  await check({ "x-greptime-db-name": "busy" }, Code.ResourceExhausted, 6001, "retryable", "come back later");
  await check({}, Code.Unauthenticated, 7003, "non_retryable", "Not found http or grpc authorization header");
  const wrong = { authorization: `Basic ${Buffer.from("alice:wrong").toString("base64")}` };
  expect((await failureOf(wrong)).code).toBe(Code.Unauthenticated);
  expect((await failureOf({ "x-greptime-db-name": "busy" })).metadata.get("grpc-retry-pushback-ms")).toBe("2000");
});

test("a broken invariant is masked, told with a number of the request, and passed on", async () => {
  const error = await failureOf({ "x-greptime-db-name": "broken" });
  expect([error.code, error.rawMessage]).toEqual([Code.Internal, "Internal error: 1003"]);
  expect(error.metadata.get("x-request-id")).not.toBeNull();
  expect(server.bugs.map(({ message }) => message)).toEqual(["what; got x; want y"]);
});

test("a deadline ends a call with its status", async () => {
  const late = await failureOf({ "x-greptime-db-name": "slow" }, 50);
  expect(late.code).toBe(Code.DeadlineExceeded);
});

test("methods that are not there, and those of no service", async () => {
  const response = await fetch(`http://127.0.0.1:${server.port}/none.Service/Method`, { method: "POST" });
  expect(response.status).toBe(404);
  using client = new GrpcClient(server.port);
  const error = await createClient(Pusher, client.transport)
    .push({})
    .catch((thrown: unknown) => ConnectError.from(thrown));
  expect(error).toMatchObject({ code: Code.Unimplemented });
});

test("pages of other sites and foreign names are refused, and programs are not", async () => {
  const check = async (headers: Record<string, string>, status: number): Promise<void> => {
    const path = "greptime.v1.HealthCheck/HealthCheck";
    const response = await fetch(`http://127.0.0.1:${server.port}/${path}`, {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json", ...headers },
    });
    await response.text();
    expect([headers, response.status]).toEqual([headers, status]);
  };
  await check({}, 200);
  await check({ origin: "https://ours.example" }, 200);
  await check({ origin: "https://evil.example" }, 403);
  await check({ "sec-fetch-site": "cross-site" }, 403);
  await check({ host: "rebound.example" }, 403);
  const web = await fetch(`http://127.0.0.1:${server.port}/grpc.health.v1.Health/Check`, {
    method: "POST",
    headers: { "content-type": "application/grpc-web+proto", origin: "https://evil.example" },
  });
  expect([web.headers.get("grpc-status"), web.headers.get("x-greptime-err-code")]).toEqual(["7", "7005"]);
});

/** More than wait to be accepted by a server at work (511), and fewer than it takes. */
const BURST = 600;

test("none of many clients that come while the thread works is refused", async () => {
  const address = `http://127.0.0.1:${server.port}`;
  const clients = Array.from({ length: BURST }, () => connectHttp2(address));
  const lost: string[] = [];
  for (const client of clients) client.on("error", (error: Error) => lost.push(error.message));
  const until = performance.now() + 200;
  while (performance.now() < until); // The thread works: nothing is accepted.
  const pings = clients.map((client) => new Promise<boolean>((resolve) => client.ping((error) => resolve(error === null))));
  expect((await Promise.all(pings)).filter((isAnswered) => !isAnswered).length).toBe(0);
  for (const client of clients) client.destroy();
  expect(lost).toEqual([]);
});
