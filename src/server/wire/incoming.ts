/**
 * Messages out of what a socket delivers. Each begins with a header that tells its length; one that lies in a chunk as a whole is a view
 * of it, one that is cut is put together. Lengths are held against the limit before anything is taken for them, and memory is taken as
 * bytes come in, not as a header promises.
 *
 *   chunk │ h message │ h mess│      │age │ h message │
 *                       └── put together ─┘
 */

/** How messages tell their length. */
export interface Framing {
  readonly headerBytes: number;
  /** Bytes of the message at `at`, its header among them; less than `headerBytes` for one that makes no sense. */
  lengthOf(bytes: Uint8Array, at: number): number;
}

/** A message that cannot be: its length makes no sense, or is over the limit. */
export class FramingError extends Error {
  override readonly name = "FramingError";
}

/** Room for messages that are put together. */
export interface MessageRoom {
  /** Takes more bytes, or none and returns false. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

const FIRST_BYTES = 4096;
/** A message of so many bytes needs no room of others: each connection may have one. */
export const FREE_BYTES: number = 64 * 1024;

/** See the file header. */
export class Incoming {
  framing: Framing;
  /** Longest message, its header among them. */
  bytesMax: number;
  private readonly chunks: Uint8Array[] = [];
  /** Where the first chunk goes on. */
  private at = 0;
  private waiting = 0;
  /** A message that is put together, and how much of it there is. */
  private partial: Uint8Array = new Uint8Array(0);
  private have = 0;
  private readonly room: MessageRoom;
  /** What was taken of the room: for the message that is put together, or was handed out last. */
  private taken = 0;
  /** Bytes that there was no room for when `next` was called last; 0: it was not that. */
  wanted = 0;

  constructor(framing: Framing, bytesMax: number, room: MessageRoom) {
    this.framing = framing;
    this.bytesMax = bytesMax;
    this.room = room;
  }

  /** Bytes that came in and were not handed out. */
  get length(): number {
    return this.waiting + this.have;
  }

  /** Takes what came in; it must not change until its messages are handled. */
  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.chunks.push(chunk);
    this.waiting += chunk.length;
  }

  /** All that was not handed out yet, which is let go: for one who takes over the connection. */
  rest(): Uint8Array {
    const bytes = new Uint8Array(this.length);
    bytes.set(this.partial.subarray(0, this.have));
    let to = this.have;
    for (const [i, chunk] of this.chunks.entries()) {
      const part = i === 0 ? chunk.subarray(this.at) : chunk;
      bytes.set(part, to);
      to += part.length;
    }
    this.chunks.length = 0;
    this.at = 0;
    this.waiting = 0;
    this.have = 0;
    this.giveBack();
    return bytes;
  }

  /**
   * The next whole message, header and all; undefined when more has to come in, or `wanted` bytes of room are not there. Valid until the
   * next call.
   *
   * @throws FramingError
   */
  next(): Uint8Array | undefined {
    const { headerBytes } = this.framing;
    this.wanted = 0;
    if (this.have === 0) {
      this.giveBack();
      const [chunk] = this.chunks;
      if (chunk === undefined) return undefined;
      const { at } = this;
      if (chunk.length - at >= headerBytes) {
        const length = this.checked(this.framing.lengthOf(chunk, at));
        if (chunk.length - at >= length) {
          this.skip(length);
          return chunk.subarray(at, at + length);
        }
      }
    }
    if (!this.gather(headerBytes)) return undefined;
    const length = this.checked(this.framing.lengthOf(this.partial, 0));
    if (!this.gather(length)) return undefined;
    const message = this.partial.subarray(0, length);
    this.have = 0;
    this.partial = new Uint8Array(0); // The message is the caller's.
    return message;
  }

  private checked(length: number): number {
    if (length < this.framing.headerBytes) throw new FramingError(`a message says it has ${length} bytes`);
    if (length > this.bytesMax) throw new FramingError(`a message of ${length} bytes is longer than the ${this.bytesMax} allowed`);
    return length;
  }

  /** Puts bytes together until there are `length`; false when more has to come in. */
  private gather(length: number): boolean {
    while (this.have < length) {
      const [chunk] = this.chunks;
      if (chunk === undefined) return false;
      const count = Math.min(length - this.have, chunk.length - this.at);
      if (!this.makeRoom(this.have + count, length)) return false;
      this.partial.set(chunk.subarray(this.at, this.at + count), this.have);
      this.have += count;
      this.skip(count);
    }
    return true;
  }

  private makeRoom(need: number, length: number): boolean {
    if (need <= this.partial.length) return true;
    const bytes = Math.max(need, Math.min(length, Math.max(FIRST_BYTES, 2 * this.partial.length)));
    const more = bytes <= FREE_BYTES ? 0 : bytes - this.taken;
    if (more > 0 && !this.room.take(more)) {
      this.wanted = more;
      return false;
    }
    this.taken += more;
    const longer = new Uint8Array(bytes);
    longer.set(this.partial.subarray(0, this.have));
    this.partial = longer;
    return true;
  }

  private giveBack(): void {
    if (this.taken > 0) this.room.give(this.taken);
    this.taken = 0;
  }

  private skip(count: number): void {
    this.at += count;
    this.waiting -= count;
    if (this.at < (this.chunks[0]?.length ?? 0)) return;
    this.chunks.shift();
    this.at = 0;
  }
}
