/** What may lie between a connection's socket and its messages: compression, which a client and its server agree on as they sign in. */
import type { Incoming } from "./incoming.ts";
import type { ByteSink } from "./outgoing.ts";

/** See the file header. */
export interface WireLayer extends ByteSink {
  /** Bytes that came in and were not unfolded. */
  readonly length: number;
  /** Bytes that there was no room for when `unfold` was called last; 0: it was not that. */
  readonly wanted: number;
  /** Takes what came in. */
  push(chunk: Uint8Array): void;
  /**
   * Hands on some of what came in, as much as belongs together. Called when what was handed on before is read.
   *
   * @returns false when more has to come in, or `wanted` bytes of room are not there
   * @throws FramingError
   */
  unfold(into: Incoming): Promise<boolean>;
  /** Resolves when the socket has all that was written. */
  drained(): Promise<void>;
  /** Gives back what it holds: the connection is gone. */
  close(): void;
}
