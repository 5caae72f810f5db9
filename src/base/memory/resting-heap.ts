/**
 * Collects the garbage of a worker's thread when it rests: the collector of the runtime waits until the heap has doubled, so a thread that
 * has nothing to do would keep the garbage of its last work, and what its next work starts with.
 *
 * What a collection leaves is no garbage, and the blocks that small objects lie on stay when most of one is free: a heap that is large for
 * either reason is collected again only when it has grown by half of what may rest. Otherwise it would be collected after every piece of
 * work, in vain, and longer each time the more there is: 120 ms of two cores for each query of 5 rows, on a heap of 66 MiB.
 */
import { heapBytes } from "./process-memory.ts";

/** The heap of this thread. */
export interface OwnHeap {
  /** Its bytes, buffers included. */
  bytes(): number;
  /** Collects its garbage, before it returns. */
  collect(): void;
}

const THIS_THREAD: OwnHeap = { bytes: heapBytes, collect: () => Bun.gc(true) };

/** See the file header. */
export class RestingHeap {
  private readonly bytesMax: number;
  private readonly heap: OwnHeap;
  private least = 0;

  /** @param bytesMax what may lie there while the thread rests, beside what it keeps on purpose */
  constructor(bytesMax: number, heap: OwnHeap = THIS_THREAD) {
    this.bytesMax = bytesMax;
    this.heap = heap;
  }

  /** The thread has nothing to do: collects if there is reason to. @param keptBytes what it keeps on purpose, such as pages */
  rest(keptBytes = 0): void {
    const bytes = this.heap.bytes() - keptBytes;
    this.least = Math.min(this.least, bytes);
    if (bytes <= this.bytesMax || bytes - this.least < this.bytesMax / 2) return;
    this.heap.collect();
    this.least = this.heap.bytes() - keptBytes;
  }
}
