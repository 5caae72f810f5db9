/** Memory that another thread owns and that memtables of this one read. Its owner gets it back once it is unused and given up. */
export interface MemoryLease {
  /** Adds a memtable that reads it. */
  retain(): void;
  /** Takes one away. Each `retain` is followed by exactly one. */
  release(): void;
}
