/**
 * One connection of a wire server: messages in, one after the other, answers out. The protocol is a `WireProtocol`, which knows no socket.
 *
 *   socket ─► incoming ─► message ─► protocol ─► outgoing ─► socket
 *              (waits while the protocol works; beyond WAITING_BYTES_MAX the socket is not read)
 *
 * What a client that is signed in sends together has a turn among the queries of all doors (`base/scheduler/query-turns.ts`):
 * without one, 50 clients beside ingest at full rate waited 1 to 4 s at p99, over HTTP 0.2 to 1, and ingest had half as many rows.
 *
 * A layer (`wire-layer.ts`) may lie between the socket and both ends.
 *
 * Answers are handed to the socket when no whole message waits any more, so that a client which sends many at once gets them together.
 */
import { errorText } from "../../base/error.ts";
import type { QueryTurns } from "../../base/scheduler/query-turns.ts";
import type { Clock } from "../../base/clock.ts";
import { FramingError, Incoming, type Framing } from "./incoming.ts";
import { SIGN_IN_BYTES_MAX, TURN_MS_MAX, WAITING_BYTES_MAX } from "./limits.ts";
import { Outgoing } from "./outgoing.ts";
import type { WireLayer } from "./wire-layer.ts";
import type { ConnectionMemory } from "./wire-memory.ts";
import type { WireSocket } from "./wire-socket.ts";

/** Why a server ends a connection by itself. */
export type EndReason =
  | "too many connections"
  | "sign-in took too long"
  | "idle for too long"
  | "shutdown"
  | "malformed message"
  | "out of memory";

/** What a server makes of a connection. */
export interface WireProtocol {
  readonly framing: Framing;
  /** Whether the client has said who it is. */
  readonly isSignedIn: boolean;
  /** Sends what a server says first, if it does. */
  opened(): void;
  /**
   * Handles one message; a promise where it takes longer. The bytes are its own until it is done.
   *
   * @throws anything: the connection is closed without a word, and the listener hears of it
   */
  message(bytes: Uint8Array): Promise<void> | undefined;
  /** Writes the last words of a connection that ends. @param detail what is known of it */
  lastWords(reason: EndReason, detail: string): void;
  /** Ends what runs: nobody waits for it. */
  closed(): void;
}

/** What a connection tells its listener. */
export interface ConnectionEvents {
  closed(connection: WireConnection): void;
  failed(thrown: unknown, connection: WireConnection): void;
}

/** What connections of a listener share. */
export interface ConnectionParts {
  readonly clock: Pick<Clock, "monotonicMillis">;
  /** Those of queries, over HTTP too. */
  readonly turns: Pick<QueryTurns, "take" | "done">;
  readonly events: ConnectionEvents;
}

/** See the file header. */
export class WireConnection {
  readonly socket: WireSocket;
  readonly incoming: Incoming;
  readonly outgoing: Outgoing;
  readonly memory: ConnectionMemory;
  private readonly protocol: WireProtocol;
  private readonly events: ConnectionEvents;
  private readonly clock: Pick<Clock, "monotonicMillis">;
  private readonly turns: ConnectionParts["turns"];
  private readonly openedMs: number;
  private layer: WireLayer | undefined;
  /** Pieces that came in, ever. */
  private arrivals = 0;
  /** When a message was done last. */
  private movedMs: number;
  private isBusy = false;
  /** Set while the protocol at work waits for its client. */
  private whenData: (() => void) | undefined;
  private isPaused = false;
  private isGone = false;
  /** No message is read any more. */
  private isOver = false;
  /** What the client had taken when it was looked at, and since when it has not taken more. */
  private stuck = { takenBytes: 0, sinceMs: 0 };
  private ending: { readonly reason: EndReason; readonly detail: string } | undefined;

  /** @param memory of this connection alone @param open makes the protocol, which may keep the connection */
  constructor(
    socket: WireSocket,
    memory: ConnectionMemory,
    { clock, turns, events }: ConnectionParts,
    open: (connection: WireConnection) => WireProtocol,
  ) {
    this.socket = socket;
    this.events = events;
    this.memory = memory;
    this.clock = clock;
    this.turns = turns;
    this.openedMs = clock.monotonicMillis();
    this.movedMs = this.openedMs;
    this.outgoing = new Outgoing({ write: (bytes, done) => (this.layer ?? socket).write(bytes, done) });
    this.protocol = open(this);
    this.incoming = new Incoming(this.protocol.framing, SIGN_IN_BYTES_MAX, memory);
    socket.listen({ data: (chunk) => this.data(chunk), closed: () => this.closed() });
    this.protocol.opened();
    this.outgoing.send();
  }

  /** Whether the protocol works on a message, and does not wait for the client. */
  get isAtWork(): boolean {
    return this.isBusy && this.whenData === undefined;
  }

  get isSignedIn(): boolean {
    return this.protocol.isSignedIn;
  }

  /** Milliseconds since it was opened. */
  get ageMs(): number {
    return this.clock.monotonicMillis() - this.openedMs;
  }

  /** Milliseconds since it had a message done; 0 while it works on one. */
  get restingMs(): number {
    return this.isAtWork ? 0 : this.clock.monotonicMillis() - this.movedMs;
  }

  /** Milliseconds in which the client took nothing of what waits for it; 0 when nothing waits. Counted from call to call. */
  stuckMs(): number {
    const { isBlocked, takenBytes } = this.outgoing;
    this.watchMemory();
    const now = this.clock.monotonicMillis();
    if (!isBlocked || takenBytes !== this.stuck.takenBytes) this.stuck = { takenBytes, sinceMs: now };
    return now - this.stuck.sinceMs;
  }

  /** Ends the connection with last words: now when it rests, else when the message at work is done. */
  end(reason: EndReason, detail = ""): void {
    if (this.ending !== undefined || this.isGone) return;
    this.ending = { reason, detail };
    if (!this.isAtWork) this.leave();
  }

  /** Ends it at once, whatever runs; what is told is sent where the socket takes it. */
  drop(reason: EndReason): void {
    if (this.isGone) return;
    this.ending ??= { reason, detail: "" };
    this.protocol.closed();
    this.leave();
    this.socket.destroy();
  }

  /**
   * The next message, for a protocol at work that wants more of its client, such as rows to store; undefined when the connection is gone
   * or ends, also because what came makes no message. Valid until the next call. What was written is sent first.
   */
  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      if (this.isGone || this.isOver || this.ending?.reason === "out of memory") return undefined;
      const { arrivals } = this;
      let message: Uint8Array | undefined;
      try {
        const found = this.next();
        message = found instanceof Promise ? await found : found;
      } catch (thrown) {
        this.broken(thrown);
        return undefined;
      }
      if (message !== undefined) return message;
      if (this.wanted > 0) {
        await this.waitForRoom();
        continue;
      }
      await this.outgoing.flush();
      if (this.isPaused) this.resume();
      this.movedMs = this.clock.monotonicMillis();
      if (this.isGone || this.isOver || this.arrivals !== arrivals) continue;
      await new Promise<void>((resolve) => {
        this.whenData = resolve;
      });
    }
  }

  /** Ends it as the client wished: what was written is sent. */
  bye(): void {
    this.isOver = true;
    this.endSocket();
  }

  /** Goes on within a layer: what is written so far goes without it, what comes in from now on lies within it. */
  startLayer(layer: WireLayer): void {
    this.outgoing.send();
    this.layer = layer;
    layer.push(this.incoming.rest());
  }

  /** Goes on encrypted; bytes of the client that were read already belong to the handshake. */
  startTls(context: Parameters<WireSocket["startTls"]>[0], first: Uint8Array, protocols: readonly string[] = []): void {
    this.outgoing.send();
    this.socket.startTls(context, first, protocols);
  }

  private data(chunk: Uint8Array): void {
    if (this.ending !== undefined || this.isOver) return;
    this.arrivals++;
    (this.layer ?? this.incoming).push(chunk);
    this.watchMemory();
    if (!this.isBusy) {
      this.isBusy = true;
      void this.rounds(); // It never rejects.
    } else if (this.whenData !== undefined) this.wake();
    else if (!this.isPaused && this.waitingBytes > WAITING_BYTES_MAX) {
      this.isPaused = true;
      this.socket.pause();
    }
  }

  /** Message after message while there are whole ones. Never rejects. */
  private async rounds(): Promise<void> {
    try {
      for (let arrivals = -1; arrivals !== this.arrivals && this.ending === undefined; ) {
        ({ arrivals } = this);
        await this.handleWhole();
        if (this.isGone || this.isOver) return;
        await this.outgoing.flush(); // While a slow client takes it, more may come in.
      }
    } catch (thrown) {
      this.broken(thrown);
    }
    if (this.isGone || this.isOver) return;
    this.movedMs = this.clock.monotonicMillis();
    this.isBusy = false;
    this.watchMemory();
    if (this.ending !== undefined) this.leave();
    else if (this.isPaused) this.resume();
  }

  /** Handles the messages that are there, in a turn of those of queries. */
  private async handleWhole(): Promise<void> {
    let turnMs: number | undefined;
    try {
      for (;;) {
        const found = this.next();
        const message = found instanceof Promise ? await found : found;
        if (this.hasEnd) return;
        if (message === undefined) {
          if (this.wanted === 0) return;
          await this.waitForRoom();
          continue;
        }
        if (turnMs === undefined && this.protocol.isSignedIn) {
          await this.turns.take();
          turnMs = this.clock.monotonicMillis();
          if (this.hasEnd) return;
        }
        const work = this.protocol.message(message);
        if (work !== undefined) await work;
        if (this.hasEnd) return;
        if (turnMs !== undefined && this.clock.monotonicMillis() - turnMs >= TURN_MS_MAX) {
          this.turns.done();
          turnMs = undefined;
        }
        if (this.outgoing.isFull) await this.outgoing.flush();
        if (this.isPaused && this.waitingBytes <= WAITING_BYTES_MAX) this.resume();
      }
    } finally {
      if (turnMs !== undefined) this.turns.done();
    }
  }

  /** Whether no further message is handled. */
  private get hasEnd(): boolean {
    return this.isGone || this.isOver || this.ending !== undefined;
  }

  private next(): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const message = this.incoming.next();
    return message !== undefined || this.layer === undefined || this.incoming.wanted > 0 ? message : this.unfolded(this.layer);
  }

  private async unfolded(layer: WireLayer): Promise<Uint8Array | undefined> {
    while (!this.isGone && (await layer.unfold(this.incoming))) {
      const message = this.incoming.next();
      if (message !== undefined || this.incoming.wanted > 0) return message;
    }
    return undefined;
  }

  /** Bytes that there was no room for when the next message was looked for; 0: it was not that. */
  private get wanted(): number {
    return this.incoming.wanted > 0 ? this.incoming.wanted : (this.layer?.wanted ?? 0);
  }

  private get waitingBytes(): number {
    return this.incoming.length + (this.layer?.length ?? 0);
  }

  /** Closes the socket once all is sent. */
  private endSocket(): void {
    this.outgoing.send();
    if (this.layer === undefined) this.socket.end();
    else void this.layer.drained().then(() => this.socket.end()); // It never rejects.
  }

  /** Waits until there may be room for the message that comes in; where there is none in time, the connection ends. */
  private async waitForRoom(): Promise<void> {
    const { wanted } = this;
    const began = this.clock.monotonicMillis();
    const lasts = (): boolean => this.clock.monotonicMillis() - began < this.memory.waitMs;
    while (this.memory.couldTake(wanted) && lasts()) {
      if (this.isGone || this.isOver || this.ending !== undefined || this.memory.hasRoom(wanted)) return;
      await Bun.sleep(ROOM_LOOK_MS);
    }
    this.ending ??= {
      reason: "out of memory",
      detail: `there is no room for a message of this length (memory.limit); send less at a time`,
    };
  }

  private watchMemory(): void {
    this.memory.watch(this.waitingBytes + this.outgoing.length);
  }

  private wake(): void {
    const { whenData } = this;
    this.whenData = undefined;
    whenData?.();
  }

  private resume(): void {
    this.isPaused = false;
    this.socket.resume();
  }

  private broken(thrown: unknown): void {
    if (this.isGone) return;
    if (thrown instanceof FramingError) {
      this.ending ??= { reason: "malformed message", detail: thrown.message };
      return;
    }
    this.events.failed(thrown, this);
    this.ending ??= { reason: "malformed message", detail: errorText(thrown) };
  }

  private leave(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.wake();
    if (this.isPaused) this.resume(); // What comes in is dropped; a client that leaves would not be seen.
    const { reason, detail } = this.ending ?? { reason: "shutdown", detail: "" };
    this.protocol.lastWords(reason, detail);
    this.endSocket();
    // A client that neither takes it nor leaves is not waited for.
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
  }

  private closed(): void {
    this.isGone = true;
    this.wake();
    this.outgoing.close();
    this.layer?.close();
    this.protocol.closed();
    this.memory.close();
    this.events.closed(this);
  }
}

/** How often it is looked whether there is room, milliseconds. */
const ROOM_LOOK_MS = 20;
/** Milliseconds for last words to be taken. */
const LINGER_MS = 2000;
