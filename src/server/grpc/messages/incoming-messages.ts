/**
 * The messages of a call on their way in: each is gathered here and handed on whole, so that its memory is counted before it is taken, a
 * length that its sender claims is not believed, and the transport's library joins no pieces (its time grows with their number squared).
 *
 *   ┌───────┬──────────────┬─────────┐
 *   │ flags │ length (u32) │ message │   enveloped: gRPC, gRPC-web, streams of Connect; one call of Connect is its body, without the head
 *   └───────┴──────────────┴─────────┘
 *
 *   data(bytes) ─► gatherer: the message's own buffer ─► ready ─► next()
 *                     └─ no room in the pool: held, and looked again ─► in vain: RESOURCE_EXHAUSTED, to come back later
 *
 * Bytes are taken as they come, without a promise each; the client sends on as `BodyFlow` says: others of its connection once the memory is
 * counted, this call once the messages before are taken. What finds no room keeps both waiting.
 * A packed message counts as what it says that it unfolds to, as well; more than that is not unfolded (compression.ts).
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import type { MemoryAccount, MemoryPool } from "../../../base/memory/server-memory.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { COMPRESSED, unfoldedBytes } from "./compression.ts";
import { errorMetadata } from "../errors.ts";
import { keepBuffer } from "./kept-buffers.ts";
import { HELD_BYTES_MAX, MESSAGES_A_TURN } from "../limits.ts";
import { type GatheredMessage, GATHERING_RATIO, MESSAGE_HEAD_BYTES, MessageGatherer } from "./message-gatherer.ts";
import { WRAP_BYTES_MAX, wrapped } from "./raw-message.ts";

/** Milliseconds between looks for room. */
const LOOK_MS = 20;
/** What a client that found no room is told to wait, seconds. */
const RETRY_SECONDS = 1;

/** What messages may take. */
export interface MessageRoom {
  readonly pool: MemoryPool;
  /** Most bytes of one, as sent and as it unfolds. */
  readonly bytesMax: number;
  /** Milliseconds that a message waits for room; 0: none. */
  readonly waitMs: number;
}

/** How a call's messages come. */
export interface MessageForms {
  readonly isEnveloped: boolean;
  /** How they are packed, where they are. */
  readonly encoding: string | null;
}

/** Who lets the client send on. */
export interface BodyFlow {
  /** Bytes are counted, or let go. */
  counted(bytes: number): void;
  /** More of this body is wanted. */
  wanted(bytes: number): void;
}

/** How the messages of a call come, by its headers. */
export function formsOf(headers: Headers): MessageForms {
  const type = headers.get("content-type") ?? "";
  const isEnveloped = /^application\/(?:grpc|connect\+)/.test(type);
  const name = type.startsWith("application/grpc") ? "grpc-encoding" : isEnveloped ? "connect-content-encoding" : "content-encoding";
  const encoding = headers.get(name);
  return { isEnveloped, encoding: encoding === "identity" ? null : encoding };
}

/** A message that waits to be taken. */
interface Ready extends GatheredMessage {
  /** Bytes that are wanted once it is taken. */
  readonly late: number;
}

/** A message that did not go through the library. */
export interface AsideMessage {
  readonly bytes: Uint8Array;
  /** Its memory is counted no more. @param isUnread nobody reads it any more, so that its buffer may have another message */
  readonly done: (isUnread: boolean) => void;
}

/** What the library sees of it. */
const EMPTY_MESSAGE: Uint8Array<ArrayBuffer> = new Uint8Array(MESSAGE_HEAD_BYTES);

/** Bytes that all calls hold without room. */
let heldBytes = 0;

/**
 * The messages of a body, one chunk each. The memory of a message is held until the next is asked for; all until `release`.
 *
 * @throws ConnectError RESOURCE_EXHAUSTED for a message that is too long or finds no room, INVALID_ARGUMENT for one that is cut short
 */
export class IncomingMessages implements AsyncIterableIterator<Uint8Array<ArrayBuffer>> {
  private readonly room: MessageRoom;
  private readonly forms: MessageForms;
  private readonly flow: BodyFlow;
  private readonly account: MemoryAccount;
  private readonly gatherer: MessageGatherer;
  private ready: Ready[] = [];
  /** Those of `ready` that were taken. */
  private taken = 0;
  /** Bytes of the message that is being gathered which are wanted later. */
  private late = 0;
  /** Memory of the message that was handed out, and its buffer where the library has a copy of its own. */
  private lent = 0;
  private lentBuffer: Uint8Array<ArrayBuffer> | undefined;
  /** Messages go by the library. */
  private isAside = false;
  private aside: (Ready | undefined)[] = [];
  private held: Uint8Array[] = [];
  private heldHere = 0;
  private handedOn = 0;
  private hasEnded = false;
  private isWhole = false;
  private isOver = false;
  private failure: ConnectError | undefined;
  private wake: (() => void) | undefined;

  constructor(room: MessageRoom, forms: MessageForms, flow: BodyFlow) {
    this.room = room;
    this.forms = forms;
    this.flow = flow;
    this.account = room.pool.account();
    const bytesMax = Math.min(room.bytesMax, Math.floor(room.pool.bytesMax / GATHERING_RATIO));
    this.gatherer = new MessageGatherer(forms.isEnveloped, bytesMax, this.account);
  }

  /** Some of the body, borrowed until it returns. */
  data(bytes: Uint8Array): void {
    if (this.isOver || this.failure !== undefined) return this.letGo(bytes.length);
    if (this.held.length > 0) return this.hold(bytes);
    const count = this.gather(bytes);
    if (count === bytes.length || this.failure !== undefined) return;
    this.hold(bytes.subarray(count));
    if (this.failure === undefined) void this.lookForRoom(); // never rejects
  }

  /** The body is whole. */
  end(): void {
    this.hasEnded = true;
    if (this.held.length === 0) this.finish();
  }

  /** Nothing more comes: what was whole is handed on, then the reason. */
  fail(reason: ConnectError): void {
    if (this.failure !== undefined || this.isOver || this.isWhole) return;
    this.failure = reason;
    this.gatherer.drop();
    this.dropHeld();
    this.flow.wanted(this.late);
    this.late = 0;
    this.wake?.();
  }

  /** Gives all memory back: the call is over. */
  release(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.account.close();
    this.lentBuffer = undefined; // Somebody may still read it.
    this.aside = [];
    this.gatherer.forget();
    this.dropHeld();
    for (const { late } of this.ready.slice(this.taken)) this.late += late;
    this.ready = [];
    this.taken = 0;
    // What still comes is let go, since it takes the window of the connection's other calls.
    this.flow.wanted(this.late);
    this.late = 0;
    this.wake?.();
  }

  /**
   * Lets messages go by the library: it sees an empty one for each, and who works on it takes its bytes here. That saves a copy and a
   * buffer of each message's length. Those that are packed go through it, to be unfolded and wrapped (raw-message.ts), and bodies without
   * heads, wrapped.
   */
  goAside(): void {
    this.isAside = true;
  }

  /** The bytes of the message that the library handed out, until they are done; undefined: it has them itself. */
  takeAside(): AsideMessage | undefined {
    const ready = this.aside.shift();
    if (ready === undefined) return undefined;
    const { message, counted, buffer } = ready;
    const done = (isUnread: boolean): void => {
      if (this.isOver) return;
      this.account.give(counted);
      if (isUnread) keepBuffer(buffer);
    };
    return { bytes: message.subarray(MESSAGE_HEAD_BYTES), done };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next message. See the class. */
  async next(): Promise<IteratorResult<Uint8Array<ArrayBuffer>, undefined>> {
    this.giveLent();
    // Messages that are there already need no turn of the event loop; others shall have theirs.
    if (++this.handedOn % MESSAGES_A_TURN === 0) await nextTurn();
    while (this.taken === this.ready.length && !this.isWhole && this.failure === undefined && !this.isOver) {
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
    const next = this.isOver ? undefined : this.takeReady();
    if (next !== undefined) return { done: false, value: await this.lend(next) };
    const { failure } = this;
    if (failure === undefined) return { done: true, value: undefined };
    this.release(); // now: a stream whose client sends on may live for long
    throw failure;
  }

  /** Nobody asks for more. */
  async return(): Promise<IteratorResult<Uint8Array<ArrayBuffer>, undefined>> {
    this.release();
    return { done: true, value: undefined };
  }

  /** @returns how many bytes found their place */
  private gather(bytes: Uint8Array): number {
    const { gatherer } = this;
    let at = 0;
    while (at < bytes.length) {
      const count = gatherer.take(bytes, at);
      if (typeof count !== "number") {
        this.letGo(bytes.length - at);
        this.fail(count);
        return bytes.length;
      }
      if (count === 0 && !gatherer.isWhole) break;
      at += count;
      this.tookIn(count);
      if (gatherer.isWhole) this.push();
    }
    return at;
  }

  private tookIn(bytes: number): void {
    this.flow.counted(bytes);
    if (this.taken === this.ready.length) this.flow.wanted(bytes);
    else this.late += bytes;
  }

  private push(): void {
    this.ready.push({ ...this.gatherer.cut(), late: this.late });
    this.late = 0;
    this.wake?.();
  }

  private takeReady(): Ready | undefined {
    const next = this.ready[this.taken];
    if (next === undefined) return undefined;
    this.taken++;
    let { late } = next;
    if (this.taken === this.ready.length) {
      this.ready = [];
      this.taken = 0;
      late += this.late;
      this.late = 0;
    }
    this.flow.wanted(late);
    return next;
  }

  /** Hands a message on; when the next is asked for, its memory is given back. */
  private lend(ready: Ready): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>> {
    const { message, counted, buffer } = ready;
    const { encoding, isEnveloped } = this.forms;
    if (this.isAside && isEnveloped) {
      const isPlain = ((message[0] ?? 0) & COMPRESSED) === 0;
      this.aside.push(isPlain ? ready : undefined);
      if (isPlain) return EMPTY_MESSAGE;
    }
    this.lent = counted;
    if (isEnveloped) this.lentBuffer = buffer;
    const head = isEnveloped ? MESSAGE_HEAD_BYTES : 0;
    const isMarked = isEnveloped && ((message[0] ?? 0) & COMPRESSED) !== 0;
    if (isMarked && encoding === null) return this.refuse(unpackable());
    const isPacked = encoding !== null && message.length > head && (!isEnveloped || isMarked);
    if (isPacked) return this.lendCounted(message, () => unfoldedBytes(encoding, message.subarray(head), this.room.bytesMax));
    if (!this.isAside || isEnveloped) return message;
    return this.lendCounted(message, () => message.length + WRAP_BYTES_MAX).then(wrapped);
  }

  private async refuse(why: ConnectError): Promise<never> {
    this.release();
    throw why;
  }

  /** Hands a message on once there is memory for what the library makes of it. @param bytesOf how much; what it throws refuses */
  private async lendCounted(message: Uint8Array<ArrayBuffer>, bytesOf: () => number): Promise<Uint8Array<ArrayBuffer>> {
    try {
      const bytes = bytesOf();
      await this.takeMemory(bytes);
      this.lent += bytes;
      return message;
    } catch (thrown) {
      this.release();
      throw thrown;
    }
  }

  private giveLent(): void {
    if (!this.isOver) this.account.give(this.lent);
    this.lent = 0;
    if (this.lentBuffer !== undefined) keepBuffer(this.lentBuffer);
    this.lentBuffer = undefined;
  }

  private async takeMemory(bytes: number): Promise<void> {
    for (let waited = 0; !this.account.take(bytes); waited += LOOK_MS) {
      if (waited >= this.room.waitMs || this.isOver) throw noRoom();
      await Bun.sleep(LOOK_MS);
    }
    // The call ended while this waited: nobody would give it back.
    if (this.isOver) this.account.close();
  }

  private hold(bytes: Uint8Array): void {
    if (this.room.waitMs === 0 || heldBytes + bytes.length > HELD_BYTES_MAX) {
      this.letGo(bytes.length);
      return this.fail(noRoom());
    }
    heldBytes += bytes.length;
    this.heldHere += bytes.length;
    this.held.push(bytes.slice());
  }

  /** Tries to gather what is held, until there is room or none for too long. */
  private async lookForRoom(): Promise<void> {
    for (let waited = 0; this.held.length > 0; waited += LOOK_MS) {
      if (waited >= this.room.waitMs) return this.fail(noRoom());
      await Bun.sleep(LOOK_MS);
      if (this.gatherHeld() > 0) waited = 0;
    }
    if (this.hasEnded) this.finish();
  }

  /** @returns how many bytes found their place */
  private gatherHeld(): number {
    const before = this.heldHere;
    while (this.failure === undefined) {
      const piece = this.held[0];
      if (piece === undefined) break;
      this.heldHere -= piece.length;
      heldBytes -= piece.length;
      this.held.shift();
      const count = this.gather(piece);
      if (count === piece.length) continue;
      const rest = piece.subarray(count);
      this.held.unshift(rest);
      this.heldHere += rest.length;
      heldBytes += rest.length;
      break;
    }
    return before - this.heldHere;
  }

  private dropHeld(): void {
    this.held = [];
    heldBytes -= this.heldHere;
    this.letGo(this.heldHere);
    this.heldHere = 0;
  }

  private finish(): void {
    if (this.isOver || this.failure !== undefined) return;
    if (this.gatherer.isEmpty) this.isWhole = true;
    else if (this.forms.isEnveloped) this.fail(new ConnectError("cannot read the message: it is cut short", Code.InvalidArgument));
    else {
      this.isWhole = true;
      this.push();
    }
    this.wake?.();
  }

  private letGo(bytes: number): void {
    this.flow.counted(bytes);
    this.flow.wanted(bytes);
  }
}

function noRoom(): ConnectError {
  const metadata = errorMetadata(StatusCode.RateLimited, RETRY_SECONDS);
  return new ConnectError("cannot take the message: messages of others fill the memory; come back later", Code.ResourceExhausted, metadata);
}

/** gRPC wants this status of it (its "compression.md"). */
function unpackable(): ConnectError {
  const why = "cannot read the message: it is marked as packed, and the call does not say how (grpc-encoding)";
  return new ConnectError(why, Code.Internal, errorMetadata(StatusCode.InvalidArguments, undefined));
}
