/** The memory of what is known of series elsewhere, of all tables: those that were read longest ago are forgotten where it is short. */
import type { MemoryHolder } from "../../base/memory/server-memory.ts";

/** Has series that it can do without. */
export interface SeriesKeeper {
  /** Knows none from now on: readers go on with what they have. */
  forget(): void;
}

/** See the file header. */
export class SeriesMemory implements MemoryHolder {
  /** Bytes by who has them, used longest ago first. */
  private readonly held: Map<SeriesKeeper, number> = new Map();
  private total = 0;

  bytes(): number {
    return this.total;
  }

  giveBack(bytes: number): void {
    const enough = this.total - bytes;
    for (const keeper of this.held.keys()) {
      if (this.total <= enough) return;
      this.drop(keeper);
      keeper.forget();
    }
  }

  /** Says that somebody was read, and what it holds now. */
  note(keeper: SeriesKeeper, bytes: number): void {
    this.drop(keeper);
    this.held.set(keeper, bytes);
    this.total += bytes;
  }

  /** Somebody holds nothing any more. */
  drop(keeper: SeriesKeeper): void {
    this.total -= this.held.get(keeper) ?? 0;
    this.held.delete(keeper);
  }
}
