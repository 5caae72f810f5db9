/**
 * The listener of the gRPC server: one port for HTTP/2 and HTTP/1.1, plain and encrypted, told apart by the first bytes of a client.
 *
 *   node:net ─► connection limit ─► first byte 0x16? ─► TLS ─┐
 *                                     └──────────────────────┴─► "PRI"? ─► ../http2, else node:http ─► the handler
 *
 * gRPC is HTTP/2; gRPC-web and Connect come by both. `Bun.serve` has no HTTP/2 (Bun 1.4.5); `node:http` takes sockets that were accepted
 * elsewhere.
 *
 *   stop: accepts no more ─► connections take no new calls ─► those at work close when they are done, or after the grace
 */
import { createServer as createHttp1, type IncomingMessage, type Server as Http1Server, type ServerResponse } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Clock } from "../../base/clock.ts";
import { errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { Http2Connection } from "../http2/connection.ts";
import type { Http2Stream } from "../http2/stream.ts";
import { MARK_MS } from "../connections/limits.ts";
import type { ConnectionMarks } from "../connections/marks.ts";
import type { TlsFiles } from "../wire/tls-files.ts";
import { clientOf, Connection, type ConnectionLimits, type EndReason } from "./connections.ts";
import type { Exchange } from "./exchange.ts";
import { Http1Exchange } from "./http1-exchange.ts";
import { Http2Exchange } from "./http2-exchange.ts";
import { HEADER_BYTES_MAX, LOOK_MS } from "./limits.ts";

/** First byte of a TLS handshake. */
const TLS_HANDSHAKE = 0x16;
/** First bytes of HTTP/2. */
const PREFACE = "PRI";

/** What a listener needs. */
export interface GrpcListenerOptions {
  readonly hostname: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Absent: nothing is encrypted. */
  readonly tls: TlsFiles | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly marks: ConnectionMarks | undefined;
  readonly limits: ConnectionLimits;
  /** Hears why the server ended a connection. */
  readonly onEnded: (reason: EndReason) => void;
  /** Answers a request. */
  readonly handle: (exchange: Exchange) => void;
}

/** See the file header. */
export class GrpcListener {
  private readonly options: GrpcListenerOptions;
  private readonly server: Server;
  private readonly http1: Http1Server;
  /** By the client's address. */
  private readonly connections: Map<string, Connection> = new Map();
  private readonly looking: ReturnType<typeof setInterval>;
  private readonly marking: ReturnType<typeof setInterval>;
  private whenEmpty: (() => void) | undefined;

  constructor(options: GrpcListenerOptions) {
    this.options = options;
    this.server = createServer((socket) => this.accept(socket));
    this.http1 = createHttp1({ maxHeaderSize: HEADER_BYTES_MAX }, (request, response) => this.takeRequest(request, response));
    this.looking = setInterval(() => this.look(), LOOK_MS);
    this.looking.unref();
    this.marking = setInterval(() => this.mark(), MARK_MS);
    this.marking.unref();
  }

  /** Connections that are open. */
  get count(): number {
    return this.connections.size;
  }

  /** Begins to accept. @returns the port */
  listen(): Promise<number> {
    const { server, options } = this;
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host: options.hostname, port: options.port }, () => {
        server.off("error", reject);
        // A connection that cannot be accepted, for want of descriptors, is one less: the guard makes room.
        server.on("error", (error) => options.logger.warn({ error: errorText(error) }, "cannot accept a connection"));
        const address = server.address();
        resolve(typeof address === "object" && address !== null ? address.port : options.port);
      });
    });
  }

  /** See the file header. */
  async stop(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const connection of this.connections.values()) connection.finish();
    if (this.connections.size > 0) await this.emptyWithin(graceMs);
    for (const connection of this.connections.values()) this.end(connection, "shutdown");
    this.close();
    await closed;
  }

  /** Ends what looks after connections. */
  close(): void {
    clearInterval(this.looking);
    clearInterval(this.marking);
  }

  private accept(socket: Socket): void {
    const { clock, limits, tls } = this.options;
    const connection = new Connection(socket, clock);
    this.connections.set(connection.client, connection);
    socket.setNoDelay(true);
    socket.on("error", () => connection.drop());
    socket.on("close", () => this.closed(connection));
    if (this.connections.size > limits.connectionsMax) return this.end(connection, "too many connections");
    socket.once("data", (first: Buffer) => {
      if (first[0] !== TLS_HANDSHAKE) {
        // What has to be encrypted is not answered: the client would go on in the open.
        if (tls?.isRequired === true) connection.drop();
        else this.speak(connection, socket, first);
        return;
      }
      if (tls === undefined) return connection.drop();
      const secure = new TLSSocket(socket, { isServer: true, secureContext: tls.context, ALPNProtocols: ["h2", "http/1.1"] });
      secure.on("error", () => connection.drop());
      secure.on("close", () => connection.drop());
      secure.once("data", (chunk: Buffer) => this.speak(connection, secure, chunk));
      socket.unshift(first);
    });
  }

  private speak(connection: Connection, socket: Socket, first: Buffer): void {
    if (first.toString("latin1", 0, PREFACE.length) !== PREFACE) {
      this.http1.emit("connection", socket);
      socket.unshift(first);
      return;
    }
    const { clock, limits, logger } = this.options;
    const isEncrypted = socket instanceof TLSSocket;
    connection.http2 = new Http2Connection(socket, {
      now: () => clock.monotonicMillis(),
      onRequest: (stream) => this.takeStream(connection, stream, isEncrypted),
      onEnded: (reason, why) => {
        logger.debug({ client: connection.client, why }, "a connection of HTTP/2 was ended");
        this.options.onEnded(reason);
      },
      resetsMax: limits.resetsMax,
      writeMsMax: limits.writeMsMax,
    });
    connection.http2.receive(first);
  }

  private takeStream(connection: Connection, stream: Http2Stream, isEncrypted: boolean): void {
    connection.begin();
    this.options.handle(new Http2Exchange(stream, connection.client, isEncrypted, () => connection.end()));
  }

  private takeRequest(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.connectionOf(request.socket);
    connection?.begin();
    response.on("close", () => connection?.end());
    // Who leaves in the middle is told by "close".
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    this.options.handle(new Http1Exchange(request, response, connection?.client ?? "gone"));
  }

  private connectionOf({ remoteAddress = "", remotePort = 0 }: Pick<Socket, "remoteAddress" | "remotePort">): Connection | undefined {
    return this.connections.get(clientOf(remoteAddress, remotePort));
  }

  private look(): void {
    for (const connection of this.connections.values()) {
      const reason = connection.reasonToEnd(this.options.limits);
      if (reason !== undefined) this.end(connection, reason);
    }
  }

  private end(connection: Connection, reason: EndReason): void {
    this.options.onEnded(reason);
    connection.drop();
    this.closed(connection);
  }

  /** Says which connections have a call under way, so that the guard leaves them alone. */
  private mark(): void {
    const { marks, clock } = this.options;
    if (marks?.isWanted !== true) return;
    const now = clock.nowMillis();
    for (const connection of this.connections.values()) if (connection.isAtWork) marks.mark(connection.port, now);
  }

  private closed(connection: Connection): void {
    if (this.connections.get(connection.client) === connection) this.connections.delete(connection.client);
    if (this.connections.size === 0) this.whenEmpty?.();
  }

  private async emptyWithin(millis: number): Promise<void> {
    const late = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => late.resolve(undefined), millis);
    await Promise.race([late.promise, new Promise<void>((resolve) => (this.whenEmpty = resolve))]);
    clearTimeout(timer);
  }
}
