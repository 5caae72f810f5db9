/**
 * The listener of the gRPC server: one port for HTTP/2 and HTTP/1.1, plain and encrypted, told apart by the first bytes that a client sends.
 *
 *   node:net ─► connection limit ─► first byte 0x16? ─► TLS ─┐
 *                                     └──────────────────────┴─► "PRI"? ─► node:http2, else node:http ─► the handler
 *
 * gRPC is HTTP/2; gRPC-web and Connect come by both. `Bun.serve` has no HTTP/2 (Bun 1.4.5), `node:http2` and `node:http` take sockets that
 * were accepted elsewhere.
 *
 *   stop: accepts no more ─► connections take no new calls ─► those at work close when they are done, or after the grace
 */
import { createServer as createHttp1, type IncomingMessage, type Server as Http1Server, type ServerResponse } from "node:http";
import {
  constants,
  createServer as createHttp2,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Clock } from "../../base/clock.ts";
import { errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { MARK_MS } from "../connections/limits.ts";
import type { ConnectionMarks } from "../connections/marks.ts";
import type { TlsFiles } from "../wire/tls-files.ts";
import { clientOf, Connection, type ConnectionLimits, type EndReason } from "./connections.ts";
import { HEADER_BYTES_MAX, LOOK_MS, STREAMS_MAX, WINDOW_BYTES } from "./limits.ts";

/** First byte of a TLS handshake. */
const TLS_HANDSHAKE = 0x16;
/** First bytes of HTTP/2. */
const PREFACE = "PRI";

/** A request of either version. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;
/** Its answer. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

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
  readonly handle: (request: NodeRequest, response: NodeResponse) => void;
}

/** See the file header. */
export class GrpcListener {
  private readonly options: GrpcListenerOptions;
  private readonly server: Server;
  private readonly http2: Http2Server;
  private readonly http1: Http1Server;
  /** By the client's address. */
  private readonly connections: Map<string, Connection> = new Map();
  private readonly looking: ReturnType<typeof setInterval>;
  private readonly marking: ReturnType<typeof setInterval>;
  private whenEmpty: (() => void) | undefined;

  constructor(options: GrpcListenerOptions) {
    this.options = options;
    this.server = createServer((socket) => this.accept(socket));
    const settings = { maxConcurrentStreams: STREAMS_MAX, initialWindowSize: WINDOW_BYTES, maxHeaderListSize: HEADER_BYTES_MAX };
    this.http2 = createHttp2({ settings }, (request, response) => this.take(request, response));
    this.http2.on("session", (session) => this.began(session));
    this.http1 = createHttp1({ maxHeaderSize: HEADER_BYTES_MAX }, (request, response) => this.take(request, response));
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
        else this.speak(socket, first);
        return;
      }
      if (tls === undefined) return connection.drop();
      const secure = new TLSSocket(socket, { isServer: true, secureContext: tls.context, ALPNProtocols: ["h2", "http/1.1"] });
      secure.on("error", () => connection.drop());
      secure.on("close", () => connection.drop());
      secure.once("data", (chunk: Buffer) => this.speak(secure, chunk));
      socket.unshift(first);
    });
  }

  private speak(socket: Socket, first: Buffer): void {
    const isHttp2 = first.toString("latin1", 0, PREFACE.length) === PREFACE;
    (isHttp2 ? this.http2 : this.http1).emit("connection", socket);
    socket.unshift(first);
  }

  private began(session: ServerHttp2Session): void {
    const connection = this.connectionOf(session.socket);
    if (connection !== undefined) connection.session = session;
    session.on("error", () => connection?.drop());
  }

  private take(request: NodeRequest, response: NodeResponse): void {
    const connection = this.connectionOf(request.socket);
    connection?.begin();
    response.on("close", () => {
      const isCancelled = "stream" in response && response.stream?.rstCode === constants.NGHTTP2_CANCEL;
      connection?.end(isCancelled);
    });
    // Who leaves in the middle is told by "close".
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    this.options.handle(request, response);
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
