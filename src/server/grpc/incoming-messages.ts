/**
 * The messages of a call on their way in: each is gathered here and handed on whole, so that its memory is counted as it comes, a length
 * that its sender claims is not believed, and the transport's library joins no pieces (its time grows with their number squared).
 *
 *   ┌───────┬──────────────┬─────────┐
 *   │ flags │ length (u32) │ message │   enveloped: gRPC, gRPC-web, streams of Connect; one call of Connect is its body, without the head
 *   └───────┴──────────────┴─────────┘
 *
 * A packed message counts as what it says that it unfolds to, as well; more than that is not unfolded (compression.ts).
 * What finds no room waits, and the client with it, by HTTP/2's windows; in vain: RESOURCE_EXHAUSTED, to come back later.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import type { MemoryAccount, MemoryPool } from "../../base/memory/server-memory.ts";
import { StatusCode } from "../../base/status-code.ts";
import { unfoldedBytes } from "./compression.ts";
import { errorMetadata } from "./errors.ts";
import { wrapBytes, writeWrap } from "./raw-message.ts";

/** Flags and length. */
const HEAD_BYTES = 5;
const COMPRESSED = 1;
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
  /** Whether the library gets them in a field of another message: all but JSON (raw-message.ts). */
  readonly isWrapped: boolean;
  /** How they are packed, where they are. */
  readonly encoding: string | null;
  readonly signal: AbortSignal;
}

/** How the messages of a call come, by its headers. */
export function formsOf(headers: Headers, signal: AbortSignal): MessageForms {
  const type = headers.get("content-type") ?? "";
  const isEnveloped = /^application\/(?:grpc|connect\+)/.test(type);
  const name = type.startsWith("application/grpc") ? "grpc-encoding" : isEnveloped ? "connect-content-encoding" : "content-encoding";
  const encoding = headers.get(name);
  return { isEnveloped, isWrapped: !type.includes("json"), encoding: encoding === "identity" ? null : encoding, signal };
}

/** A message as it is handed on. */
interface Received {
  readonly message: Uint8Array<ArrayBuffer>;
  /** Bytes of it that came, its head included. */
  readonly sentBytes: number;
  /** What is to be unfolded; undefined: nothing. */
  readonly packed: Uint8Array | undefined;
}

/**
 * The messages of a body, one chunk each. The memory of a message is held until the next is asked for; all until `release`.
 *
 * @throws ConnectError RESOURCE_EXHAUSTED for a message that is too long or finds no room, INVALID_ARGUMENT for one that is cut short
 */
export class IncomingMessages {
  private readonly room: MessageRoom;
  private readonly forms: MessageForms;
  private readonly account: MemoryAccount;
  private chunks: Uint8Array[] = [];
  private waiting = 0;
  private isOver = false;

  constructor(room: MessageRoom, forms: MessageForms) {
    this.room = room;
    this.forms = forms;
    this.account = room.pool.account();
  }

  /** Gives all memory back: the call is over. */
  release(): void {
    this.isOver = true;
    this.account.close();
    this.chunks = [];
  }

  /** See the class. */
  async *read(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    // Not `for await`: leaving it would reset the stream before its status is sent.
    const source = body[Symbol.asyncIterator]();
    try {
      yield* this.messagesOf(source);
    } catch (thrown) {
      this.release(); // now: a stream whose client sends on may live for long
      throw thrown;
    } finally {
      // What still comes is let go, since it takes the window of the connection's other calls.
      void drained(source);
    }
  }

  private async *messagesOf(source: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (let next = await source.next(); next.done !== true; next = await source.next()) {
      const chunk = next.value;
      await this.take(chunk.length);
      this.chunks.push(chunk);
      this.waiting += chunk.length;
      if (!this.forms.isEnveloped) this.checkLength(this.waiting);
      for (let message = this.next(); message !== undefined; message = this.next()) yield* this.lent(message);
    }
    if (this.waiting === 0) return;
    if (this.forms.isEnveloped) throw new ConnectError("cannot read the message: it is cut short", Code.InvalidArgument);
    yield* this.lent(this.whole());
  }

  /** Hands a message on; when the next is asked for, its memory is given back. */
  private async *lent({ message, sentBytes, packed }: Received): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const { encoding } = this.forms;
    const unfolded = packed === undefined || encoding === null ? 0 : unfoldedBytes(encoding, packed, this.room.bytesMax);
    await this.take(unfolded);
    yield message;
    this.give(sentBytes + unfolded);
  }

  /** The next message that is there whole, with its head. */
  private next(): Received | undefined {
    if (!this.forms.isEnveloped || this.waiting < HEAD_BYTES) return undefined;
    const peeked = this.headOf();
    const length = new DataView(peeked.buffer, peeked.byteOffset).getUint32(1);
    this.checkLength(length);
    if (this.waiting < HEAD_BYTES + length) return undefined;
    const head = this.cut(HEAD_BYTES);
    const isPacked = ((head[0] ?? 0) & COMPRESSED) !== 0;
    if (isPacked && this.forms.encoding === null) throw unpackable();
    const wrap = isPacked || !this.forms.isWrapped ? 0 : wrapBytes(length);
    const message = this.cut(length, HEAD_BYTES + wrap);
    message.set(head);
    if (wrap > 0) {
      new DataView(message.buffer).setUint32(1, wrap + length);
      writeWrap(message, HEAD_BYTES, length);
    }
    const packed = isPacked && length > 0 ? message.subarray(HEAD_BYTES) : undefined;
    return { message, sentBytes: HEAD_BYTES + length, packed };
  }

  /** A body that is one message. */
  private whole(): Received {
    const length = this.waiting;
    const isPacked = this.forms.encoding !== null;
    const wrap = isPacked || !this.forms.isWrapped ? 0 : wrapBytes(length);
    const message = this.cut(length, wrap);
    if (wrap > 0) writeWrap(message, 0, length);
    return { message, sentBytes: length, packed: isPacked ? message : undefined };
  }

  /** The first bytes that wait. */
  private headOf(): Uint8Array {
    const first = this.chunks[0];
    if (first !== undefined && first.length >= HEAD_BYTES) return first;
    const head = this.cut(HEAD_BYTES);
    this.chunks.unshift(head);
    this.waiting += HEAD_BYTES;
    return head;
  }

  /** Takes so many bytes, which are there, off the chunks that wait. @param before bytes that are left free in front of them */
  private cut(count: number, before = 0): Uint8Array<ArrayBuffer> {
    const out = new Uint8Array(before + count);
    let taken = 0;
    let at = 0;
    for (; taken < count; at++) {
      const chunk = this.chunks[at];
      if (chunk === undefined) break;
      const part = chunk.subarray(0, count - taken);
      out.set(part, before + taken);
      taken += part.length;
      if (part.length === chunk.length) continue;
      this.chunks[at] = chunk.subarray(part.length);
      break;
    }
    this.chunks.splice(0, at);
    this.waiting -= count;
    return out;
  }

  private checkLength(length: number): void {
    const { room } = this;
    const bytesMax = Math.min(room.bytesMax, room.pool.bytesMax);
    if (length <= bytesMax) return;
    const why = `cannot take a message of ${length} bytes: at most ${bytesMax} are taken (grpc.max_recv_message_size)`;
    throw new ConnectError(why, Code.ResourceExhausted, errorMetadata(StatusCode.RuntimeResourcesExhausted, undefined));
  }

  private async take(bytes: number): Promise<void> {
    const { room, account, forms } = this;
    for (let waited = 0; !account.take(bytes); waited += LOOK_MS) {
      if (waited >= room.waitMs || forms.signal.aborted || this.isOver) throw noRoom();
      await Bun.sleep(LOOK_MS);
    }
    // The call ended while this waited: nobody would give it back.
    if (this.isOver) account.close();
  }

  private give(bytes: number): void {
    if (!this.isOver) this.account.give(bytes);
  }
}

/** gRPC wants this status of it (its "compression.md"). */
function unpackable(): ConnectError {
  const why = "cannot read the message: it is marked as packed, and the call does not say how (grpc-encoding)";
  return new ConnectError(why, Code.Internal, errorMetadata(StatusCode.InvalidArguments, undefined));
}

/** Reads to the end and keeps nothing. */
async function drained(source: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    while ((await source.next()).done !== true);
  } catch {
    // The client left, which ends the stream too.
  }
}

function noRoom(): ConnectError {
  const metadata = errorMetadata(StatusCode.RateLimited, RETRY_SECONDS);
  return new ConnectError("cannot take the message: messages of others fill the memory; come back later", Code.ResourceExhausted, metadata);
}
