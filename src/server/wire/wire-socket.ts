/**
 * A client's socket: plain at first, and wrapped into TLS in the middle where the protocol asks for it. `tls.TLSSocket` over the plain
 * socket does that; the runtime's own `upgradeTLS` works for clients only (Bun 1.4.5).
 */
import type { Socket } from "node:net";
import { type SecureContext, TLSSocket } from "node:tls";
import type { ByteSink } from "./outgoing.ts";

/** Who hears of a socket. */
export interface SocketEvents {
  data(chunk: Uint8Array): void;
  /** The other side is gone, or the connection broke. */
  closed(): void;
}

/** See the file header. */
export class WireSocket implements ByteSink {
  /** Address of the client, `host:port`. */
  readonly client: string;
  /** The client's port. */
  readonly port: number;
  private readonly raw: Socket;
  private socket: Socket;
  private events: SocketEvents | undefined;
  private isGone = false;

  constructor(raw: Socket) {
    this.raw = raw;
    this.socket = raw;
    const { remoteAddress = "", remotePort = 0 } = raw;
    this.client = `${remoteAddress.includes(":") ? `[${remoteAddress}]` : remoteAddress}:${remotePort}`;
    this.port = remotePort;
  }

  /** Whether what is sent is encrypted. */
  get isEncrypted(): boolean {
    return this.socket !== this.raw;
  }

  /** Begins to tell of the socket. */
  listen(events: SocketEvents): void {
    this.events = events;
    this.raw.setNoDelay(true);
    // An error is followed by "close", which is told.
    this.raw.on("error", () => this.destroy());
    this.raw.on("close", () => this.closed());
    this.raw.on("data", this.onData);
  }

  /** Finds dead clients, whose machine does not answer. @param millis between probes; 0: no probes */
  keepAlive(millis: number): void {
    if (millis > 0) this.raw.setKeepAlive(true, millis);
  }

  /**
   * Goes on encrypted.
   *
   * @param first bytes of the client that were read already
   * @param protocols names that ALPN offers; empty: it is not asked for
   */
  startTls(secureContext: SecureContext, first: Uint8Array, protocols: readonly string[] = []): void {
    this.raw.off("data", this.onData);
    const alpn = protocols.length === 0 ? {} : { ALPNProtocols: [...protocols] };
    const socket = new TLSSocket(this.raw, { isServer: true, secureContext, ...alpn });
    socket.on("error", () => this.destroy());
    socket.on("close", () => this.destroy());
    socket.on("data", this.onData);
    this.socket = socket;
    if (first.length > 0) this.raw.unshift(first);
  }

  write(bytes: Uint8Array, done: () => void): void {
    if (this.isGone) done();
    else this.socket.write(bytes, () => done());
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  /** Closes once what was written is sent. */
  end(): void {
    this.socket.end();
  }

  /** Closes at once. */
  destroy(): void {
    this.socket.destroy();
    this.raw.destroy();
  }

  private readonly onData = (chunk: Uint8Array): void => this.events?.data(chunk);

  private closed(): void {
    if (this.isGone) return;
    this.isGone = true;
    this.events?.closed();
  }
}
