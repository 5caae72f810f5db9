/**
 * What this process holds. The runtime reads it from files of the system, and throws while no descriptor is left; who looks from a timer
 * then goes on with what was there last.
 */
let resident = 0;
let heap = 0;

/** Resident bytes of the whole process. */
export function residentBytes(): number {
  resident = orLast(() => process.memoryUsage.rss(), resident);
  return resident;
}

/** Bytes of this thread's heap, buffers included: what is in use, or its blocks where they are more: small new objects lie on them. */
export function heapBytes(): number {
  heap = orLast(() => {
    const { heapUsed, heapTotal, external } = process.memoryUsage();
    return Math.max(heapUsed, heapTotal + external);
  }, heap);
  return heap;
}

function orLast(read: () => number, last: number): number {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error) return last; // "Failed to get memory usage": no more is said.
    throw error;
  }
}
