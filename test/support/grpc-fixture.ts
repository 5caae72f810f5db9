/** A gRPC server over an engine in memory, in this process, on a free port, and clients of it by the transports of connect-node. */
import { Http2SessionManager, createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import type { Transport } from "@connectrpc/connect";
import { MemoryPool, ServerMemory } from "../../src/base/memory/server-memory.ts";
import { type GrpcOptions, startGrpcServer } from "../../src/server/grpc/server.ts";
import type { Settings } from "../../src/config/settings.ts";
import type { GrpcService } from "../../src/server/grpc/service.ts";
import { servicesOf } from "../../src/server/grpc/service-list.ts";
import { startWire, type WireFixture } from "./wire-fixture.ts";

/** The server and what stands behind it. */
export type GrpcFixture = WireFixture;

const WRITING = {
  autoCreateTable: true,
  influx: { defaultMergeMode: "last_non_null", timeColumn: "greptime_timestamp" },
  prometheus: { metricEngine: true },
} as const;

const MESSAGE_BYTES_MAX: number = 16 * 1024 * 1024;

/**
 * Starts it.
 *
 * @param accounts a user provider; undefined: whoever calls may do everything
 * @param others services beside the server's own
 * @param flightCompression the setting of that name
 */
export function startGrpc(
  accounts?: string,
  changes: Partial<GrpcOptions> = {},
  others: readonly GrpcService[] = [],
  flightCompression: Settings["grpc"]["flightCompression"] = "arrow_ipc",
): Promise<GrpcFixture> {
  return startWire("http", accounts, ({ memory: wires, ...shared }) => {
    const memory = new ServerMemory(Number.POSITIVE_INFINITY);
    const own = {
      ...WRITING,
      memory,
      kept: wires.connection(),
      version: "0.0.0",
      flightCompression,
      sendBytesMax: MESSAGE_BYTES_MAX,
    };
    const services = [...servicesOf({ ...shared, ...own }), ...others];
    return startGrpcServer({
      ...shared,
      services,
      room: { pool: new MemoryPool(memory, "request_bodies", 4 * MESSAGE_BYTES_MAX), bytesMax: MESSAGE_BYTES_MAX, waitMs: 100 },
      sendBytesMax: MESSAGE_BYTES_MAX,
      pages: { allowedHosts: [], origins: ["https://ours.example"] },
      ...changes,
    });
  });
}

/** A client's connection of its own. End it. */
export class GrpcClient implements Disposable {
  readonly transport: Transport;
  private readonly session: Http2SessionManager;

  constructor(port: number, headers: Readonly<Record<string, string>> = {}) {
    const baseUrl = `http://127.0.0.1:${port}`;
    this.session = new Http2SessionManager(baseUrl);
    this.transport = createGrpcTransport({ baseUrl, sessionManager: this.session, interceptors: [withHeaders(headers)] });
  }

  [Symbol.dispose](): void {
    this.session.abort();
  }
}

function withHeaders(
  headers: Readonly<Record<string, string>>,
): NonNullable<Parameters<typeof createGrpcTransport>[0]["interceptors"]>[number] {
  return (next) => (request) => {
    for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
    return next(request);
  };
}

/** The transports that come over HTTP/1.1 and by the Connect protocol. */
export function otherTransports(port: number): readonly { readonly name: string; readonly transport: Transport }[] {
  const baseUrl = `http://127.0.0.1:${port}`;
  return [
    { name: "gRPC-web", transport: createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }) },
    { name: "Connect, binary", transport: createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true }) },
    { name: "Connect, JSON", transport: createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }) },
  ];
}
