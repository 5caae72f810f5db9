/**
 * Prepared statements of a connection: each holds its tree, of 19 to 54 bytes a character (VALUES the least, sums of columns the most), so
 * that a connection with a thousand of a megabyte would hold 50 GB. Their number is limited, and their memory is the connection's.
 */

/** Most prepared statements of a connection. Reason: each holds its tree. */
export const PREPARED_MAX = 1024;

const BYTES_PER_CHARACTER = 64;
const BYTES_PER_STATEMENT = 1024;

/** Memory for what a connection keeps between its statements. */
export interface KeptMemory {
  /** Takes bytes, or none and returns false. */
  keep(bytes: number): boolean;
  release(bytes: number): void;
}

/** Memory that is nobody's: all is taken. */
export const UNCOUNTED: KeptMemory = { keep: () => true, release: () => undefined };

/** Bytes that a statement takes while it is kept. @param text of characters or bytes */
export const bytesOfStatement = (text: { readonly length: number }): number => BYTES_PER_STATEMENT + BYTES_PER_CHARACTER * text.length;

/** See the file header. */
export class KeptStatements<K, V> {
  private readonly memory: KeptMemory;
  private readonly kept: Map<K, { readonly statement: V; readonly bytes: number }> = new Map();

  constructor(memory: KeptMemory) {
    this.memory = memory;
  }

  get size(): number {
    return this.kept.size;
  }

  get(key: K): V | undefined {
    return this.kept.get(key)?.statement;
  }

  has(key: K): boolean {
    return this.kept.has(key);
  }

  /** Keeps a statement, in place of one of that key; false when there is no memory for it. @param text of characters or bytes */
  set(key: K, statement: V, text: { readonly length: number }): boolean {
    const bytes = bytesOfStatement(text);
    this.delete(key);
    if (!this.memory.keep(bytes)) return false;
    this.kept.set(key, { statement, bytes });
    return true;
  }

  /** Lets one go; false when there is none of that key. */
  delete(key: K): boolean {
    const kept = this.kept.get(key);
    if (kept === undefined) return false;
    this.memory.release(kept.bytes);
    return this.kept.delete(key);
  }

  clear(): void {
    for (const key of this.kept.keys()) this.delete(key);
  }
}
