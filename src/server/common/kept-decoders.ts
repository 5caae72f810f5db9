/**
 * Decoders of a protocol, one a database, since each learns the series of its database. What they learnt is a guess about the next
 * request, so it goes when it was not needed for long, when there is too much of it, and when the server is short of memory.
 */
import type { Clock } from "../../base/clock.ts";
import type { MemoryHolder } from "../../base/memory/server-memory.ts";
import { LINE_DECODER_IDLE_MS, LINE_DECODERS_BYTES_MAX, LINE_DECODERS_MAX } from "./limits.ts";

/** A decoder of any protocol that keeps what it learnt of one database. */
interface KeptDecoder {
  readonly memoryBytes: number;
}

interface Kept<D> {
  readonly decoder: D;
  usedMs: number;
}

/** Keeps the decoders used last. Only databases that exist may be asked for: the caller checks. */
export class KeptDecoders<D extends KeptDecoder> implements MemoryHolder {
  private readonly create: () => D;
  private readonly clock: Clock;
  /** By database, the one used last at the end. */
  private readonly decoders = new Map<string, Kept<D>>();

  constructor(create: () => D, clock: Clock) {
    this.create = create;
    this.clock = clock;
  }

  /** Bytes that all of them keep. */
  bytes(): number {
    let bytes = 0;
    for (const { decoder } of this.decoders.values()) bytes += decoder.memoryBytes;
    return bytes;
  }

  /** Drops those used longest ago until `bytes` are given back. The one used last stays: it works, and would learn the same again. */
  giveBack(bytes: number): void {
    let left = bytes;
    let kept = this.decoders.size;
    for (const [database, { decoder }] of this.decoders) {
      if (left <= 0 || kept === 1) return;
      left -= decoder.memoryBytes;
      kept--;
      this.decoders.delete(database);
    }
  }

  /** Drops those that were not used for long. */
  tidy(): void {
    const before = this.clock.monotonicMillis() - LINE_DECODER_IDLE_MS;
    for (const [database, { usedMs }] of this.decoders) if (usedMs < before) this.decoders.delete(database);
  }

  /** The decoder of a database. */
  of(database: string, create: () => D = this.create): D {
    const now = this.clock.monotonicMillis();
    const kept = this.decoders.get(database);
    if (kept !== undefined) {
      kept.usedMs = now;
      if (this.decoders.size > 1) {
        this.decoders.delete(database); // to the end: a map keeps the order of insertion
        this.decoders.set(database, kept);
        this.giveBack(this.bytes() - LINE_DECODERS_BYTES_MAX);
      }
      return kept.decoder;
    }
    const decoder = create();
    this.decoders.set(database, { decoder, usedMs: now });
    if (this.decoders.size > LINE_DECODERS_MAX) this.dropOldest();
    return decoder;
  }

  private dropOldest(): void {
    for (const oldest of this.decoders.keys()) {
      this.decoders.delete(oldest);
      return;
    }
  }
}
