/**
 * The connections of the gRPC server: how many there are, what each is doing, and when one has to go.
 *
 *   a socket ─► opened ─► calls begin and end ─► looked at every second: idle? cancels too much? ─► told to go, or dropped
 */
import type { Http2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";

/** What connections may take; tests make it less. */
export interface ConnectionLimits {
  readonly connectionsMax: number;
  readonly openingMsMax: number;
  readonly idleMsMax: number;
  readonly resetsMax: number;
}

/** Why the server ended a connection. */
export type EndReason = "too many connections" | "opening took too long" | "idle for too long" | "too many cancelled calls" | "shutdown";

/** One connection. */
export class Connection {
  /** Address of the client, `host:port`. */
  readonly client: string;
  /** The client's port. */
  readonly port: number;
  /** Of HTTP/2, once it has begun. */
  session: Http2Session | undefined;
  private readonly socket: Socket;
  private readonly clock: Clock;
  private calls = 0;
  private hasCalled = false;
  private since: number;
  private resets = 0;

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

  /** It has ended. @param isCancelled whether its client took it back */
  end(isCancelled: boolean): void {
    this.calls--;
    if (isCancelled) this.resets++;
    this.since = this.clock.monotonicMillis();
  }

  /** Why it has to go now; undefined: it may stay. Looks at what came since the last look. */
  reasonToEnd({ openingMsMax, idleMsMax, resetsMax }: ConnectionLimits): EndReason | undefined {
    const { resets } = this;
    this.resets = 0;
    if (resets > resetsMax) return "too many cancelled calls";
    if (this.calls > 0) return undefined;
    const rested = this.clock.monotonicMillis() - this.since;
    if (!this.hasCalled) return rested >= openingMsMax ? "opening took too long" : undefined;
    return rested >= idleMsMax ? "idle for too long" : undefined;
  }

  /** Takes no more calls, and closes when those under way have ended. */
  finish(): void {
    if (this.session !== undefined) this.session.close();
    else if (this.calls === 0) this.drop();
  }

  /** Closes at once. */
  drop(): void {
    this.session?.destroy();
    this.socket.destroy();
  }
}

/** Address of a client as logs and metadata of calls show it. */
export function clientOf(address: string, port: number): string {
  return `${address.includes(":") ? `[${address}]` : address}:${port}`;
}
