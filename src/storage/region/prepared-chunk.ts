/** Chunks on their way into the log: built, not yet durable, not yet visible. */
import type { Chunk } from "../memtable/chunk.ts";

/** A chunk that is built and not yet visible. Exactly one of the two calls follows. */
export interface PreparedChunk {
  readonly chunk: Chunk;
  publish(): void;
  abandon(): void;
}

/** Makes all chunks of a record visible, once it is durable. */
export function publishAll(chunks: readonly PreparedChunk[]): void {
  for (const chunk of chunks) chunk.publish();
}

/** Drops all chunks of a record that failed. */
export function abandonAll(chunks: readonly PreparedChunk[]): void {
  for (const chunk of chunks) chunk.abandon();
}
