/**
 * Shared memory for the chunks of one memtable, in slabs that double in size, so that a table with ten rows takes 2 KiB and a busy one
 * makes few allocations. Full-size slabs return to a pool that all tables share: at full ingest the same memory goes round
 * and the process does not grow.
 */
import { align8 } from "./chunk-layout.ts";

const SLAB_BYTES_MIN = 2 * 1024;
const SLAB_BYTES_MAX = 4 * 1024 * 1024;

/** Free slabs of the largest size. Bounded by bytes; what comes on top is left to the garbage collector. */
export class SlabPool {
  private readonly free: SharedArrayBuffer[] = [];
  private readonly slabsMax: number;

  /** @param bytesMax most bytes kept free */
  constructor(bytesMax: number) {
    this.slabsMax = Math.floor(bytesMax / SLAB_BYTES_MAX);
  }

  /** A slab of `bytes`; its content is arbitrary. */
  take(bytes: number): SharedArrayBuffer {
    if (bytes === SLAB_BYTES_MAX) {
      const pooled = this.free.pop();
      if (pooled !== undefined) return pooled;
    }
    return new SharedArrayBuffer(bytes);
  }

  /** Gives slabs back that nobody reads any more. */
  give(slabs: readonly SharedArrayBuffer[]): void {
    for (const slab of slabs) {
      if (slab.byteLength === SLAB_BYTES_MAX && this.free.length < this.slabsMax) this.free.push(slab);
    }
  }
}

/** A piece of shared memory; `offset` is a multiple of 8. */
export interface Allocation {
  readonly buffer: SharedArrayBuffer;
  readonly offset: number;
}

/** The memory of one memtable. Invariant: allocations never overlap until `release`. */
export class Arena {
  private readonly pool: SlabPool;
  private slabs: SharedArrayBuffer[] = [];
  private at = 0;
  /** Bytes of slabs held. */
  bytes = 0;
  /** Bytes given out. */
  usedBytes = 0;

  constructor(pool: SlabPool) {
    this.pool = pool;
  }

  /** Memory for `length` bytes, at least until `release`. */
  allocate(length: number): Allocation {
    const need = align8(length);
    this.usedBytes += need;
    const last = this.slabs.at(-1);
    if (last !== undefined && this.at + need <= last.byteLength) {
      const offset = this.at;
      this.at += need;
      return { buffer: last, offset };
    }
    let size = Math.min(Math.max(SLAB_BYTES_MIN, (last?.byteLength ?? 0) * 2), SLAB_BYTES_MAX);
    while (size < need) size *= 2;
    const slab = this.pool.take(size);
    this.slabs.push(slab);
    this.bytes += slab.byteLength;
    this.at = need;
    return { buffer: slab, offset: 0 };
  }

  /** Gives all memory back. Nothing may read the allocations any more. */
  release(): void {
    this.pool.give(this.slabs);
    this.slabs = [];
    this.bytes = 0;
    this.usedBytes = 0;
    this.at = 0;
  }
}
