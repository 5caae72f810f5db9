/**
 * The streams of a connection by their numbers: which are open, which a client has not begun, and which were ended here, of which frames
 * may still be on their way.
 */
import { RESET_STREAMS_KEPT } from "./limits.ts";
import type { Http2Stream } from "./stream.ts";

/** See the file header. */
export class StreamTable {
  private readonly streams: Map<number, Http2Stream> = new Map();
  /** The last that the client has begun. */
  private last = 0;
  /** Streams that were ended here while their client may still send; the oldest leave first. */
  private readonly endedHere: Set<number> = new Set();
  private readonly endedRing: number[] = [];
  private endedCount = 0;

  /** How many are open. */
  get size(): number {
    return this.streams.size;
  }

  /** Number of the last that the client has begun; 0: none. */
  get lastBegun(): number {
    return this.last;
  }

  /** An open stream. */
  get(id: number): Http2Stream | undefined {
    return this.streams.get(id);
  }

  /** The open ones; they may be removed meanwhile. */
  all(): IterableIterator<Http2Stream> {
    return this.streams.values();
  }

  /** Whether a client has not begun the stream, nor one after it. */
  isIdle(id: number): boolean {
    return id > this.last || id % 2 === 0;
  }

  /** The client begins a stream. */
  begin(id: number): void {
    this.last = id;
  }

  /** A stream that was begun is open. */
  add(stream: Http2Stream): void {
    this.streams.set(stream.id, stream);
  }

  /** A stream is over. */
  delete(stream: Http2Stream): void {
    this.streams.delete(stream.id);
  }

  /** Whether it was ended here, and lately. */
  wasEndedHere(id: number): boolean {
    return this.endedHere.has(id);
  }

  /** It is ended here. */
  endHere(id: number): void {
    if (this.endedHere.has(id)) return;
    // In a ring, so that the oldest is found without a walk over those that have left.
    const at = this.endedCount++ % RESET_STREAMS_KEPT;
    this.endedHere.delete(this.endedRing[at] ?? 0);
    this.endedRing[at] = id;
    this.endedHere.add(id);
  }
}
