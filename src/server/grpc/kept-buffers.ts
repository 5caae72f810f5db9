/**
 * Buffers of messages that were worked on, for the next ones, as a fresh one costs more than to fill it: 106 KB into a fresh one 8 us, into
 * a kept one 1.9 us (Bun 1.4.5, November 2026). What was in them is overwritten before it is read.
 */
import { KEPT_BUFFER_BYTES_MAX, KEPT_BUFFER_BYTES_MIN, KEPT_BUFFERS_BYTES_MAX } from "./limits.ts";

/** By their length. */
const kept: Map<number, Uint8Array<ArrayBuffer>[]> = new Map();
let keptBytes = 0;

/** Length of the buffer that is used for a message. */
export function bufferBytes(length: number): number {
  return length < KEPT_BUFFER_BYTES_MIN || length > KEPT_BUFFER_BYTES_MAX ? length : 2 ** (32 - Math.clz32(length - 1));
}

/** A buffer of a length that `bufferBytes` said. */
export function bufferOf(bytes: number): Uint8Array<ArrayBuffer> {
  const found = kept.get(bytes)?.pop();
  if (found === undefined) return new Uint8Array(bytes);
  keptBytes -= bytes;
  return found;
}

/** Keeps a buffer that nobody reads any more. */
export function keepBuffer(buffer: Uint8Array<ArrayBuffer>): void {
  const bytes = buffer.length;
  if (bytes < KEPT_BUFFER_BYTES_MIN || bytes > KEPT_BUFFER_BYTES_MAX || keptBytes + bytes > KEPT_BUFFERS_BYTES_MAX) return;
  const same = kept.get(bytes);
  if (same === undefined) kept.set(bytes, [buffer]);
  else same.push(buffer);
  keptBytes += bytes;
}
