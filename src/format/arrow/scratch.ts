/**
 * Memory for what a batch becomes while it is read or written, which the next batch gets again: 65,536 rows take 8 MiB in arrays of
 * 256 KiB, and the system takes as long to hand out fresh pages as the loops that fill them.
 *
 * DoPut of the TSBS cpu schema (flight.bench.ts, Bun 1.4.5), with 64-bit integers as 32 bits where they fit: 0.35 -> 0.22 us of CPU a row
 * with tags as dictionaries, 0.37 -> 0.26 as texts.
 */

/** Most bytes that are kept. Reason: a thread holds them for good. What a batch takes beyond them is memory of its own. */
const KEPT_BYTES_MAX: number = 32 * 1024 * 1024;

const ALIGNMENT = 8;

/** See the file header. What it gives holds whatever was there before. */
export class Scratch {
  private readonly bytesMax: number;
  private kept: ArrayBuffer = new ArrayBuffer(0);
  private used = 0;

  /** @param bytesMax most bytes that are kept; 0: all that it gives is memory of its own */
  constructor(bytesMax = 0) {
    this.bytesMax = bytesMax;
  }

  /** The next batch begins: what was given is given again. */
  begin(): void {
    const wanted = Math.min(this.used, this.bytesMax);
    if (wanted > this.kept.byteLength) this.kept = new ArrayBuffer(wanted);
    this.used = 0;
  }

  /** So many bytes, at a multiple of 8. */
  bytes(length: number): Uint8Array<ArrayBuffer> {
    const at = this.take(length);
    return at < 0 ? new Uint8Array(length) : new Uint8Array(this.kept, at, length);
  }

  words(count: number): Uint32Array<ArrayBuffer> {
    const at = this.take(count * 4);
    return at < 0 ? new Uint32Array(count) : new Uint32Array(this.kept, at, count);
  }

  integers(count: number): Int32Array<ArrayBuffer> {
    const at = this.take(count * 4);
    return at < 0 ? new Int32Array(count) : new Int32Array(this.kept, at, count);
  }

  doubles(count: number): Float64Array<ArrayBuffer> {
    const at = this.take(count * 8);
    return at < 0 ? new Float64Array(count) : new Float64Array(this.kept, at, count);
  }

  /** The bytes at an address that items of a width need: themselves where they lie there, else copied. */
  aligned(bytes: Uint8Array, width: number): Uint8Array {
    if (bytes.byteOffset % width === 0) return bytes;
    const copy = this.bytes(bytes.length);
    copy.set(bytes);
    return copy;
  }

  /** Gives the end of what was given last back, but for so many bytes of it. */
  shorten(given: Uint8Array, length: number): void {
    if (given.buffer === this.kept) this.used = (given.byteOffset + length + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Where so many bytes are; negative: not in what is kept. */
  private take(length: number): number {
    const at = this.used;
    this.used = (at + length + ALIGNMENT - 1) & -ALIGNMENT;
    return this.used > this.kept.byteLength ? -1 : at;
  }
}

/** The thread's: for whoever has done with a batch before anything else runs. */
export const threadScratch: Scratch = new Scratch(KEPT_BYTES_MAX);
