/**
 * One message after the other out of the bytes of a body, each in a buffer of its own that its bytes go to directly. The buffer grows with
 * what has come, fourfold each time, and never by what the sender claims: a message of 13 MB is copied 1.3 times, one of 256 KiB once. A
 * sender is believed as much as it sent in one message before, so that those of a stream that are alike are copied once (bulk inserts of
 * 8 MB: a tenth less of the main thread).
 */
import { Code, ConnectError } from "@connectrpc/connect";
import type { MemoryAccount } from "../../../base/memory/server-memory.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { errorMetadata } from "../errors.ts";
import { bufferBytes, bufferOf, keepBuffer } from "./kept-buffers.ts";
import { MESSAGE_OVERHEAD_BYTES } from "../limits.ts";

/** Flags and length. */
export const MESSAGE_HEAD_BYTES = 5;
/** A message's first buffer, at most. */
const FIRST_BYTES: number = 256 * 1024;
/** First buffer of a body whose length nobody said. */
const UNKNOWN_BYTES = 16_384;
const GROWTH = 4;

/** Most memory that a message takes while it is gathered, by its length: its buffer, and the one before. */
export const GATHERING_RATIO: number = 1 + 1 / GROWTH;

/** The first buffer, so that the last has the message's length. @param believed bytes that are taken for it unseen */
function firstBytes(length: number, believed: number): number {
  if (length === Number.POSITIVE_INFINITY) return UNKNOWN_BYTES;
  let bytes = length;
  while (bytes > believed) bytes = Math.ceil(bytes / GROWTH);
  return bytes;
}

/** A message that is there whole. */
export interface GatheredMessage {
  readonly message: Uint8Array<ArrayBuffer>;
  /** Memory that is counted for it. */
  readonly counted: number;
  /** Where it lies. */
  readonly buffer: Uint8Array<ArrayBuffer>;
}

const NOTHING: Uint8Array<ArrayBuffer> = new Uint8Array(0);

/** See the file header. */
export class MessageGatherer {
  private readonly isEnveloped: boolean;
  private readonly bytesMax: number;
  private readonly account: Pick<MemoryAccount, "take" | "give">;
  private readonly head: Uint8Array = new Uint8Array(MESSAGE_HEAD_BYTES);
  private headLength = 0;
  /** What the longest message so far had, or `FIRST_BYTES`. */
  private believed = FIRST_BYTES;
  private buffer: Uint8Array<ArrayBuffer> = NOTHING;
  private counted = 0;
  private filled = 0;
  /** Bytes of the whole message, its head included; undefined: its head is not there. */
  private length: number | undefined;

  /** @param bytesMax most bytes of a message @param account where its memory is taken */
  constructor(isEnveloped: boolean, bytesMax: number, account: Pick<MemoryAccount, "take" | "give">) {
    this.isEnveloped = isEnveloped;
    this.bytesMax = bytesMax;
    this.account = account;
    if (!isEnveloped) this.length = Number.POSITIVE_INFINITY;
  }

  /** Whether nothing of a message is there. */
  get isEmpty(): boolean {
    return this.filled === 0 && this.headLength === 0;
  }

  /** Whether a message is there whole, whose end is known. */
  get isWhole(): boolean {
    return this.filled === this.length;
  }

  /** Takes bytes from a place on, of one message at most. @returns how many; none: there is no memory; or why the message is refused */
  take(bytes: Uint8Array, from: number): number | ConnectError {
    if (this.length === undefined) return this.takeHead(bytes, from);
    if (!this.isEnveloped && this.filled + bytes.length - from > this.bytesMax) return this.tooLong(this.filled + bytes.length - from);
    if (this.filled === this.buffer.length && !this.grow(this.length)) return 0;
    const part = bytes.subarray(from, from + Math.min(this.length, this.buffer.length) - this.filled);
    this.buffer.set(part, this.filled);
    this.filled += part.length;
    return part.length;
  }

  /** Hands out what was gathered, and begins with the next. */
  cut(): GatheredMessage {
    const { counted, filled, buffer } = this;
    this.believed = Math.max(this.believed, filled);
    const message = buffer.length === filled ? buffer : buffer.subarray(0, filled);
    this.forget();
    return { message, counted, buffer };
  }

  /** Gives the memory of what was gathered back. */
  drop(): void {
    this.account.give(this.counted);
    this.forget();
  }

  /** Forgets what was gathered: its memory is given back by others. */
  forget(): void {
    this.counted = 0;
    this.buffer = NOTHING;
    this.filled = 0;
    this.headLength = 0;
    if (this.isEnveloped) this.length = undefined;
  }

  private takeHead(bytes: Uint8Array, from: number): number | ConnectError {
    const { head } = this;
    const before = this.headLength;
    const count = Math.min(MESSAGE_HEAD_BYTES - before, bytes.length - from);
    for (let i = 0; i < count; i++) head[before + i] = bytes[from + i] as number;
    this.headLength += count;
    if (this.headLength < MESSAGE_HEAD_BYTES) return count;
    const length = new DataView(head.buffer).getUint32(1);
    if (length > this.bytesMax) return this.tooLong(length);
    this.length = MESSAGE_HEAD_BYTES + length;
    if (!this.grow(this.length)) {
      // Asked again with the same bytes.
      this.headLength = before;
      this.length = undefined;
      return 0;
    }
    this.buffer.set(head);
    this.filled = MESSAGE_HEAD_BYTES;
    return count;
  }

  /** Makes the buffer larger, its memory counted before. @returns whether there was memory */
  private grow(length: number): boolean {
    const wanted = this.buffer.length === 0 ? firstBytes(length, this.believed) : this.buffer.length * GROWTH;
    const size = bufferBytes(Math.min(length, wanted, this.bytesMax + MESSAGE_HEAD_BYTES));
    const counted = size + MESSAGE_OVERHEAD_BYTES;
    if (!this.account.take(counted)) return false;
    const longer = bufferOf(size);
    longer.set(this.buffer.subarray(0, this.filled));
    keepBuffer(this.buffer);
    this.account.give(this.counted);
    this.buffer = longer;
    this.counted = counted;
    return true;
  }

  private tooLong(length: number): ConnectError {
    const why = `cannot take a message of ${length} bytes: at most ${this.bytesMax} are taken (grpc.max_recv_message_size)`;
    return new ConnectError(why, Code.ResourceExhausted, errorMetadata(StatusCode.RuntimeResourcesExhausted, undefined));
  }
}
