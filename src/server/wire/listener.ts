/**
 * The listener of a wire server: accepts connections, keeps them within limits, and stops with grace.
 *
 *   node:net ─► connection limit ─► WireConnection ─► protocol
 *                 │                    ▲ every second: signed in? idle? does it take its answers? (limits.ts)
 *                 └─ makes room: the one that has not signed in longest goes
 *
 *   stop: accepts no more ─► those that rest are told and closed ─► those at work when they are done, or after the grace
 */
import { createServer, type Server } from "node:net";
import type { Clock } from "../../base/clock.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import { DbError, errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import type { MetricRegistry } from "../../base/metrics.ts";
import { StatusCode } from "../../base/status-code.ts";
import { MARK_MS } from "../connections/limits.ts";
import type { ConnectionMarks } from "../connections/marks.ts";
import { CONNECTIONS_MAX, IDLE_MS_MAX, LOOK_MS, SIGN_IN_MS_MAX, WRITE_MS_MAX } from "./limits.ts";
import { TlsFiles, type TlsOptions } from "./tls-files.ts";
import { type ConnectionEvents, type EndReason, WireConnection, type WireProtocol } from "./wire-connection.ts";
import type { WireMemory } from "./wire-memory.ts";
import { WireMetrics, type WireName } from "./wire-metrics.ts";
import { WireSocket } from "./wire-socket.ts";

/** What connections may take; tests make it less. */
export interface WireLimits {
  readonly connectionsMax: number;
  readonly signInMsMax: number;
  readonly idleMsMax: number;
  readonly writeMsMax: number;
  readonly lookMs: number;
}

const LIMITS: WireLimits = {
  connectionsMax: CONNECTIONS_MAX,
  signInMsMax: SIGN_IN_MS_MAX,
  idleMsMax: IDLE_MS_MAX,
  writeMsMax: WRITE_MS_MAX,
  lookMs: LOOK_MS,
};

/** What a listener needs, whatever it speaks. */
export interface ListenerOptions {
  readonly hostname: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Absent: nothing is encrypted. */
  readonly tls?: TlsOptions | undefined;
  /** Between probes of whether a client's machine is there; 0 = none. */
  readonly keepAliveMs: number;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  readonly marks?: ConnectionMarks;
  /** Of all wire servers. */
  readonly memory: WireMemory;
  /** Default: those of `limits.ts`. */
  readonly limits?: Partial<WireLimits>;
}

/** What a protocol is made with. */
export interface WireServer {
  readonly metrics: WireMetrics;
  readonly tls: TlsFiles | undefined;
}

/** A protocol of a listener. */
export interface WireSpeech {
  readonly name: WireName;
  /** As people write it. */
  readonly title: string;
  /** Makes what speaks on one connection. */
  open(connection: WireConnection, server: WireServer): WireProtocol;
  /** Hears of what went wrong though the protocol has words for everything that can: a bug. */
  failed(thrown: unknown, client: string): void;
}

/** A running listener. */
export interface WireListener {
  /** The real one when any free port was asked for. */
  readonly port: number;
  /** Reads certificate and key again; false: the old ones stay. Absent: it does not encrypt. */
  readonly reload?: (() => boolean) | undefined;
  /** See the file header. Stop it before the database closes. */
  stop(graceMs: number): Promise<void>;
}

/** Starts a listener. @throws DbError StorageUnavailable when the address cannot be listened on; InvalidArguments for bad TLS files */
export async function startWireListener(options: ListenerOptions, speech: WireSpeech): Promise<WireListener> {
  const { hostname, logger } = options;
  const listener = new Listener(options, speech);
  try {
    const port = await listener.listen();
    logger.info({ address: `${hostname}:${port}` }, `${speech.title} listens`);
    return { port, reload: listener.reload, stop: (graceMs) => listener.stop(graceMs) };
  } catch (cause) {
    listener.close();
    throw cannotListen(hostname, options.port, speech, cause);
  }
}

/**
 * Tries to listen and lets go at once, so that a taken port is told before a long start.
 *
 * @throws DbError StorageUnavailable as `startWireListener` would
 */
export function probeWireAddress(hostname: string, port: number, speech: Pick<WireSpeech, "name" | "title">): void {
  try {
    Bun.listen({ hostname, port, socket: { data: () => undefined } }).stop(true);
  } catch (cause) {
    throw cannotListen(hostname, port, speech, cause);
  }
}

function cannotListen(hostname: string, port: number, { name, title }: Pick<WireSpeech, "name" | "title">, cause: unknown): DbError {
  const instead = `choose another address or set ${name}.enable = false`;
  const why = `cannot listen on ${hostname}:${port} for ${title} (${name}.addr): ${errorText(cause)}; ${instead}`;
  return new DbError(StatusCode.StorageUnavailable, why, { cause });
}

class Listener {
  private readonly options: ListenerOptions;
  private readonly speech: WireSpeech;
  private readonly limits: WireLimits;
  private readonly server: Server;
  private readonly shared: WireServer;
  private readonly connections: Set<WireConnection> = new Set();
  private readonly events: ConnectionEvents;
  private readonly looking: ReturnType<typeof setInterval>;
  private readonly marking: ReturnType<typeof setInterval>;
  private whenEmpty: (() => void) | undefined;

  constructor(options: ListenerOptions, speech: WireSpeech) {
    this.options = options;
    this.speech = speech;
    this.limits = { ...LIMITS, ...options.limits };
    const tls = options.tls === undefined ? undefined : new TlsFiles(options.tls, options.logger);
    const metrics = new WireMetrics(speech.name, options.metrics, () => this.connections.size);
    this.shared = { tls, metrics };
    this.events = {
      closed: (connection) => this.closed(connection),
      failed: (thrown, { socket }) => speech.failed(thrown, socket.client),
    };
    this.server = createServer((raw) => this.accept(new WireSocket(raw)));
    this.looking = setInterval(() => this.look(), this.limits.lookMs);
    this.looking.unref();
    this.marking = setInterval(() => this.mark(), MARK_MS);
    this.marking.unref();
  }

  /** @returns the port */
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

  /** Absent where it does not encrypt. */
  get reload(): (() => boolean) | undefined {
    const { tls } = this.shared;
    return tls && (() => tls.reload());
  }

  async stop(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const connection of this.connections) connection.end("shutdown");
    if (this.connections.size > 0) await this.emptyWithin(graceMs);
    for (const connection of this.connections) connection.drop("shutdown");
    if (this.connections.size > 0) await this.emptyWithin(DROP_MS_MAX);
    this.close();
    await closed;
  }

  /** Ends what looks after connections. */
  close(): void {
    clearInterval(this.looking);
    clearInterval(this.marking);
    this.shared.tls?.close();
  }

  private accept(socket: WireSocket): void {
    const isFull = this.connections.size >= this.limits.connectionsMax && !this.makeRoom();
    socket.keepAlive(this.options.keepAliveMs);
    const { clock, memory, scheduler } = this.options;
    const shared = { clock, turns: scheduler.queries, events: this.events };
    const connection = new WireConnection(socket, memory.connection(), shared, (opened) => this.speech.open(opened, this.shared));
    this.connections.add(connection);
    if (isFull) this.end(connection, "too many connections", `${this.limits.connectionsMax} are open`);
  }

  /** Ends the connection that has not signed in for longest; false when all have. */
  private makeRoom(): boolean {
    // In the order in which they came.
    for (const connection of this.connections) {
      if (connection.isSignedIn) continue;
      this.shared.metrics.ended.inc({ reason: "too many connections" });
      this.connections.delete(connection);
      connection.drop("too many connections");
      return true;
    }
    return false;
  }

  private look(): void {
    const { signInMsMax, idleMsMax, writeMsMax } = this.limits;
    for (const connection of this.connections) {
      if (connection.stuckMs() >= writeMsMax) this.drop(connection);
      else if (!connection.isSignedIn && connection.ageMs >= signInMsMax) {
        // One that is being checked, or sends a byte now and then, is not waited for.
        if (connection.isAtWork) this.drop(connection);
        else this.end(connection, "sign-in took too long", `${signInMsMax / 1000} s`);
      } else if (connection.restingMs >= idleMsMax) this.end(connection, "idle for too long", `${idleMsMax / 1000} s`);
    }
  }

  private end(connection: WireConnection, reason: EndReason, detail: string): void {
    this.shared.metrics.ended.inc({ reason });
    connection.end(reason, detail);
  }

  private drop(connection: WireConnection): void {
    const reason = connection.isSignedIn ? "idle for too long" : "sign-in took too long";
    this.shared.metrics.ended.inc({ reason });
    connection.drop(reason);
  }

  /** Says which connections have a statement under way, so that the guard leaves them alone. */
  private mark(): void {
    const { marks, clock } = this.options;
    if (marks?.isWanted !== true) return;
    const now = clock.nowMillis();
    for (const connection of this.connections) if (connection.isAtWork) marks.mark(connection.socket.port, now);
  }

  private closed(connection: WireConnection): void {
    this.connections.delete(connection);
    if (this.connections.size === 0) this.whenEmpty?.();
  }

  private async emptyWithin(millis: number): Promise<void> {
    const late = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => late.resolve(undefined), millis);
    await Promise.race([late.promise, new Promise<void>((resolve) => (this.whenEmpty = resolve))]);
    clearTimeout(timer);
  }
}

/** Milliseconds in which a connection that is dropped is gone. */
const DROP_MS_MAX = 1000;
