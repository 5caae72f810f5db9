/**
 * The connections of the gRPC server: how many there are, what each is doing, and when one has to go.
 *
 *   a socket ─► opened ─► calls begin and end ─► looked at every second: opened in time? idle? ─► told to go, or dropped
 */
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import type { Http2Connection } from "../http2/connection.ts";
import type { Http2End } from "../http2/options.ts";

/** What connections may take; tests make it less. */
export interface ConnectionLimits {
  readonly connectionsMax: number;
  readonly openingMsMax: number;
  readonly idleMsMax: number;
  readonly resetsMax: number;
  /** Milliseconds in which a client of HTTP/2 must take some of what it is sent. */
  readonly writeMsMax: number;
}

/** Why the server ended a connection. */
export type EndReason = "too many connections" | "opening took too long" | "idle for too long" | "shutdown" | Http2End;

/** One connection. */
export class Connection {
  /** Address of the client, `host:port`. */
  readonly client: string;
  /** The client's port. */
  readonly port: number;
  /** Of HTTP/2, once it has begun. */
  http2: Http2Connection | undefined;
  private readonly socket: Socket;
  private readonly clock: Clock;
  private calls = 0;
  private hasCalled = false;
  private since: number;

  constructor(socket: Socket, clock: Clock) {
    const { remoteAddress = "", remotePort = 0 } = socket;
    this.client = clientOf(remoteAddress, remotePort);
    this.port = remotePort;
    this.socket = socket;
    this.clock = clock;
    this.since = clock.monotonicMillis();
  }

  /** Whether a call is under way. */
  get isAtWork(): boolean {
    return this.calls > 0;
  }

  /** A call begins. */
  begin(): void {
    this.calls++;
    this.hasCalled = true;
  }

  /** It has ended. */
  end(): void {
    this.calls--;
    this.since = this.clock.monotonicMillis();
  }

  /** Why it has to go now; undefined: it may stay. */
  reasonToEnd({ openingMsMax, idleMsMax }: ConnectionLimits): EndReason | undefined {
    this.http2?.look();
    if (this.calls > 0) return undefined;
    const rested = this.clock.monotonicMillis() - this.since;
    if (!this.hasCalled) return rested >= openingMsMax ? "opening took too long" : undefined;
    return rested >= idleMsMax ? "idle for too long" : undefined;
  }

  /** Takes no more calls, and closes when those under way have ended. */
  finish(): void {
    if (this.http2 !== undefined) this.http2.finish();
    else if (this.calls === 0) this.drop();
  }

  /** Closes at once. */
  drop(): void {
    this.http2?.destroy();
    this.socket.destroy();
  }
}

/** Address of a client as logs and metadata of calls show it. */
export function clientOf(address: string, port: number): string {
  return `${address.includes(":") ? `[${address}]` : address}:${port}`;
}
