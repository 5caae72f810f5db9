/**
 * Flight SQL behind connect-node's HTTP/2 adapter on a machine in memory, without the gRPC server around it: what its tests and the
 * clients in them talk to.
 */
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type HandlerContext } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { type FlightData, FlightDataSchema, FlightService, HandshakeResponseSchema } from "../../proto/gen/arrow/flight/Flight_pb.js";
import { DbError } from "../../src/base/error.ts";
import { MemoryPool, ServerMemory } from "../../src/base/memory/server-memory.ts";
import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import { StatusCode } from "../../src/base/status-code.ts";
import type { AccessMode } from "../../src/db/auth/user.ts";
import { LocalDb } from "../../src/db/local-db.ts";
import { BearerTokens } from "../../src/server/grpc/bearer-tokens.ts";
import { type PackedMessage, unpacked } from "../../src/server/grpc/flight-sql/any.ts";
import { inputOf } from "../../src/server/grpc/flight-sql/door.ts";
import { PutStream } from "../../src/server/grpc/flight/put-stream.ts";
import type { FlightCaller } from "../../src/server/grpc/flight-sql/caller.ts";
import { FlightSql } from "../../src/server/grpc/flight-sql/flight-sql.ts";
import { Machine } from "../engine/machine.ts";

/** A server of one test. */
export interface FlightSqlServer {
  readonly url: string;
  readonly flightSql: FlightSql;
  readonly machine: Machine;
  /** Bytes that prepared statements hold. */
  keptBytes(): number;
  /** What the server's monotonic clock is ahead. */
  later(millis: number): void;
  /** Names of the calls that came, with what came in them. */
  readonly calls: string[];
  stop(): Promise<void>;
}

const CODES: ReadonlyMap<number, Code> = new Map([
  [StatusCode.Unsupported, Code.Unimplemented],
  [StatusCode.Cancelled, Code.Canceled],
  [StatusCode.TableNotFound, Code.NotFound],
  [StatusCode.DatabaseNotFound, Code.NotFound],
  [StatusCode.TableAlreadyExists, Code.AlreadyExists],
  [StatusCode.RuntimeResourcesExhausted, Code.ResourceExhausted],
  [StatusCode.PermissionDenied, Code.PermissionDenied],
  [StatusCode.Internal, Code.Internal],
]);

/** A failure as gRPC tells it. */
function told(thrown: unknown): ConnectError {
  if (!(thrown instanceof DbError)) return ConnectError.from(thrown);
  return new ConnectError(thrown.message, CODES.get(thrown.code) ?? Code.InvalidArgument);
}

async function telling<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw told(thrown);
  }
}

/** A command out of the bytes of an Any. */
function commandOf(bytes: Uint8Array = new Uint8Array(0)): PackedMessage {
  let command: PackedMessage | undefined;
  try {
    command = unpacked(bytes);
  } catch (thrown) {
    throw told(thrown);
  }
  if (command === undefined) throw new ConnectError("not a command of Flight SQL", Code.Unimplemented);
  return command;
}

/** A login as Basic has it. */
function basicOf(header: string): { readonly name: string; readonly password: string } {
  const [name = "", ...rest] = Buffer.from(header.slice("Basic ".length), "base64").toString().split(":");
  return { name, password: rest.join(":") };
}

/** The caller: its user is that of its token, or the header `x-user`, its mode `x-mode`. */
function callerOf({ requestHeader, responseHeader, signal }: HandlerContext, tokens: BearerTokens): FlightCaller {
  const mode = (requestHeader.get("x-mode") ?? "rw") as AccessMode;
  const bearer = /^Bearer (.+)$/.exec(requestHeader.get("authorization") ?? "")?.[1];
  const signIn = bearer === undefined ? undefined : tokens.open(bearer);
  if (bearer !== undefined && signIn === undefined) throw new ConnectError("the token is over", Code.Unauthenticated);
  const user = { name: signIn?.name ?? requestHeader.get("x-user") ?? "someone", mode };
  return { user, client: "127.0.0.1", signal, database: "public", timeZone: "UTC", requestHeader, responseHeader, signIn: signIn?.id };
}

function routesOf(flightSql: FlightSql, calls: string[]): (router: ConnectRouter) => void {
  const tokens = new BearerTokens(() => Date.now(), 60_000);
  const caller = (context: HandlerContext): FlightCaller => callerOf(context, tokens);
  async function* doPut(stream: AsyncIterable<FlightData>, context: HandlerContext) {
    async function* bytes(): AsyncIterable<Uint8Array> {
      for await (const message of stream) yield toBinary(FlightDataSchema, message);
    }
    const put = await PutStream.begin(bytes()).catch((thrown: unknown) => Promise.reject(told(thrown)));
    if (put === undefined) return;
    const command = commandOf(put.descriptor?.cmd);
    calls.push(`DoPut ${command.name}`);
    yield await telling(() => flightSql.doPut(command, inputOf(put), caller(context)));
  }
  return (router) =>
    void router.service(FlightService, {
      async *handshake(_requests, { requestHeader, responseHeader }) {
        calls.push("Handshake");
        const token = tokens.issue(basicOf(requestHeader.get("authorization") ?? ""));
        responseHeader.set("authorization", `Bearer ${token}`);
        yield create(HandshakeResponseSchema);
      },
      getFlightInfo(descriptor, context) {
        const command = commandOf(descriptor.cmd);
        calls.push(`GetFlightInfo ${command.name}`);
        return telling(() => flightSql.getFlightInfo(command, descriptor, caller(context)));
      },
      async getSchema({ cmd }, context) {
        return { schema: await telling(() => flightSql.getSchema(commandOf(cmd), caller(context))) };
      },
      async *doGet({ ticket }, context) {
        const command = commandOf(ticket);
        calls.push(`DoGet ${command.name}`);
        try {
          yield* flightSql.doGet(command, caller(context));
        } catch (thrown) {
          throw told(thrown);
        }
      },
      doPut,
      async *doAction(action, context) {
        calls.push(`DoAction ${action.type}`);
        if (!flightSql.knowsAction(action.type)) throw new ConnectError("not an action of Flight SQL", Code.Unimplemented);
        yield* await telling(() => flightSql.doAction(action, caller(context)));
      },
      async *listActions() {
        yield* flightSql.listActions();
      },
    });
}

/** Starts one. */
export async function startFlightSqlServer(): Promise<FlightSqlServer> {
  const machine = await Machine.start();
  const serverMemory = new ServerMemory(Number.POSITIVE_INFINITY);
  const pool = new MemoryPool(serverMemory, "queries", 1 << 30);
  const scheduler = new Scheduler();
  const db = new LocalDb(machine.engine, scheduler, { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY, pool });
  const account = new MemoryPool(serverMemory, "connections", 64 * 1024 * 1024);
  const memory = { keep: (bytes: number) => account.take(bytes), release: (bytes: number) => account.give(bytes) };
  let ahead = 0;
  const now = (): number => performance.now() + ahead;
  const flightSql = new FlightSql({ db, memory, scheduler, now, version: "0.0.0" });
  const calls: string[] = [];
  const server: Http2Server = createServer(connectNodeAdapter({ routes: routesOf(flightSql, calls) }));
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    flightSql,
    machine,
    calls,
    keptBytes: () => account.used,
    later: (millis) => void (ahead += millis),
    async stop() {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
