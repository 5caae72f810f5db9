/**
 * Decoders of line protocol, one a database, since each learns the series of its database.
 */
import { LINE_DECODERS_MAX } from "./limits.ts";
import type { LineDecoder } from "./options.ts";

/** Keeps the decoders used last. Only databases that exist may be asked for: the caller checks. */
export class LineDecoders {
  private readonly create: () => LineDecoder;
  private readonly decoders = new Map<string, LineDecoder>();

  constructor(create: () => LineDecoder) {
    this.create = create;
  }

  /** The decoder of a database. */
  of(database: string): LineDecoder {
    const kept = this.decoders.get(database);
    if (kept !== undefined) {
      if (this.decoders.size > 1) {
        this.decoders.delete(database); // to the end: a map keeps the order of insertion
        this.decoders.set(database, kept);
      }
      return kept;
    }
    const made = this.create();
    this.decoders.set(database, made);
    if (this.decoders.size > LINE_DECODERS_MAX) {
      for (const oldest of this.decoders.keys()) {
        this.decoders.delete(oldest);
        break;
      }
    }
    return made;
  }
}
