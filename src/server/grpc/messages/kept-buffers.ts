/**
 * Buffers of messages that were worked on, for the next ones, as a fresh one costs more than to fill it: 106 KB into a fresh one 8 us, into
 * a kept one 1.9 us (Bun 1.4.5, November 2026). What was in them is overwritten before it is read.
 *
 * Short ones have a power of two and stay; long ones, those of bulk inserts, have any length and are let go when none came for a while.
 */
import {
  KEPT_BUFFER_BYTES_MAX,
  KEPT_BUFFER_BYTES_MIN,
  KEPT_BUFFERS_BYTES_MAX,
  LONG_BUFFER_BYTES_MAX,
  LONG_BUFFERS_BYTES_MAX,
  LONG_BUFFERS_MS,
} from "../limits.ts";

/** By their length. */
const kept: Map<number, Uint8Array<ArrayBuffer>[]> = new Map();
let keptBytes = 0;

/** The longest wait first. */
let long: Uint8Array<ArrayBuffer>[] = [];
let longBytes = 0;
let lettingGo: Timer | undefined;

/** A long one may be so much longer than what is asked for: a sixteenth. */
const LONG_SPARE = 16;

/** Length of the buffer that is used for a message. */
export function bufferBytes(length: number): number {
  return length < KEPT_BUFFER_BYTES_MIN || length > KEPT_BUFFER_BYTES_MAX ? length : 2 ** (32 - Math.clz32(length - 1));
}

/** A buffer of a length that `bufferBytes` said. */
export function bufferOf(bytes: number): Uint8Array<ArrayBuffer> {
  if (bytes > KEPT_BUFFER_BYTES_MAX) return longBufferOf(bytes);
  const found = kept.get(bytes)?.pop();
  if (found === undefined) return new Uint8Array(bytes);
  keptBytes -= bytes;
  return found;
}

/** Keeps a buffer that nobody reads any more. */
export function keepBuffer(buffer: Uint8Array<ArrayBuffer>): void {
  const bytes = buffer.length;
  if (bytes > KEPT_BUFFER_BYTES_MAX) return keepLongBuffer(new Uint8Array(buffer.buffer));
  if (bytes < KEPT_BUFFER_BYTES_MIN || keptBytes + bytes > KEPT_BUFFERS_BYTES_MAX) return;
  const same = kept.get(bytes);
  if (same === undefined) kept.set(bytes, [buffer]);
  else same.push(buffer);
  keptBytes += bytes;
}

function longBufferOf(bytes: number): Uint8Array<ArrayBuffer> {
  const place = long.findIndex(({ length }) => length >= bytes && length - bytes <= bytes / LONG_SPARE);
  const [found] = place < 0 ? [] : long.splice(place, 1);
  if (found === undefined) return new Uint8Array(bytes);
  longBytes -= found.length;
  return found.subarray(0, bytes);
}

function keepLongBuffer(buffer: Uint8Array<ArrayBuffer>): void {
  if (buffer.length > LONG_BUFFER_BYTES_MAX || longBytes + buffer.length > LONG_BUFFERS_BYTES_MAX) return;
  long.push(buffer);
  longBytes += buffer.length;
  lettingGo?.refresh();
  lettingGo ??= setTimeout(() => {
    [long, longBytes, lettingGo] = [[], 0, undefined];
  }, LONG_BUFFERS_MS).unref();
}
