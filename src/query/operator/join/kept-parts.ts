/**
 * Parts of a held side that stay in memory when not all of it fits: rows of the other side that meet them are answered as they stream past,
 * and only the rest of both sides goes to disk.
 *
 *   held rows ─► part by hash of keys ─► kept? ─► memory ── full ─► the largest part goes to disk, and what comes for it after
 *                                          └────► disk
 */
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { HeldRows } from "../rows/held-rows.ts";
import type { SpilledRows } from "../spill/spilled-rows.ts";

/** Rows of one part. */
interface KeptPart {
  readonly batches: Set<ExecBatch>;
  rowCount: number;
}

/** See the file header. */
export class KeptParts {
  /** The rows of all parts that are kept, in no order. */
  readonly rows: HeldRows;
  private readonly kept: (KeptPart | undefined)[];
  private readonly spilled: readonly SpilledRows[];
  private readonly fits: (bytes: number) => boolean;
  private readonly context: ExecContext;

  /**
   * @param rows no rows yet
   * @param spilled where the rows of each part go that is not kept
   * @param fits whether so many bytes more may be held
   */
  constructor(rows: HeldRows, spilled: readonly SpilledRows[], fits: (bytes: number) => boolean, context: ExecContext) {
    this.context = context;
    this.rows = rows;
    this.spilled = spilled;
    this.fits = fits;
    this.kept = spilled.map(() => ({ batches: new Set(), rowCount: 0 }));
  }

  /** Whether the rows of a part are in memory. */
  isKept(part: number): boolean {
    return this.kept[part] !== undefined;
  }

  /** Takes rows of a part, on memory of their own: into memory while there is room. */
  async add(part: number, batch: ExecBatch): Promise<void> {
    while (this.isKept(part) && !this.fits(this.rows.costOf(batch))) await this.evict(this.largest(part));
    const own = this.kept[part];
    if (own === undefined) {
      await this.spilled[part]?.add(batch);
      return;
    }
    this.rows.addOwn(batch);
    own.batches.add(batch);
    own.rowCount += batch.rowCount;
  }

  /** The part that has the most rows, at least as many as one that is kept. */
  private largest(than: number): number {
    let [found, most] = [than, this.kept[than]?.rowCount ?? 0];
    for (const [p, part] of this.kept.entries()) {
      if (part !== undefined && part.rowCount > most) [found, most] = [p, part.rowCount];
    }
    return found;
  }

  /** Writes a part to disk. */
  private async evict(part: number): Promise<void> {
    const batches = this.kept[part]?.batches ?? new Set();
    this.kept[part] = undefined;
    for (const batch of batches) {
      checkCancelled(this.context);
      await this.spilled[part]?.add(batch);
      await this.context.pace.turn();
    }
    this.rows.remove(batches);
  }
}
