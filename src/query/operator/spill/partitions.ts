/**
 * Rows split by hash into files' worth of partitions: equal keys meet in one partition, so that each can be worked on alone. A partition
 * that is still too large is split again by further bits of the same hash.
 */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { SpillFile } from "../../../table/spill-space.ts";
import type { ExecBatch } from "../contract/exec-context.ts";
import { gatherBatch } from "../rows/held-rows.ts";
import { gatherRuns } from "../kernels/gather.ts";
import type { SpillContext } from "./spill-context.ts";
import type { SpilledRows } from "./spilled-rows.ts";

/** Bits of the hash that tell the partitions of one level apart. */
const LEVEL_BITS = 5;
const PARTITIONS = 1 << LEVEL_BITS;

/** How often partitions are split: then the hash has no bits left. */
export const SPLIT_LEVELS_MAX: number = Math.floor(32 / LEVEL_BITS);

/** See the file header. */
export class Partitions {
  readonly parts: readonly SpilledRows[];
  private readonly file: SpillFile;
  private readonly spill: SpillContext;
  private readonly shift: number;
  private readonly mask: number;

  private constructor(file: SpillFile, headers: readonly ColumnHeader[], level: number, spill: SpillContext, isSplit: boolean) {
    this.file = file;
    this.spill = spill;
    this.shift = level * LEVEL_BITS;
    this.mask = isSplit ? PARTITIONS - 1 : 0;
    this.parts = Array.from({ length: this.mask + 1 }, () => spill.rowsIn(file, headers));
  }

  /**
   * Begins partitions of a level, counted from 0, below `SPLIT_LEVELS_MAX`.
   *
   * @param isSplit false: all rows go to one partition
   */
  static async create(headers: readonly ColumnHeader[], level: number, spill: SpillContext, isSplit = true): Promise<Partitions> {
    return new Partitions(await spill.create(), headers, level, spill, isSplit);
  }

  /** Copies each row to the partition of its hash: `hashes.length >= batch.rowCount`. */
  async add(batch: ExecBatch, hashes: Uint32Array): Promise<void> {
    for (const { part, rows } of this.split(batch, hashes)) await this.parts[part]?.add(rows());
  }

  /** The rows of each partition that has some: `rows` copies them. */
  *split(batch: ExecBatch, hashes: Uint32Array): Iterable<{ readonly part: number; readonly rows: () => ExecBatch }> {
    const { rowCount, runs } = batch;
    const { order, ends } = this.byPartition(hashes, rowCount);
    let from = 0;
    for (const part of this.parts.keys()) {
      const to = ends[part] as number;
      const selection = order.subarray(from, to);
      const count = to - from;
      from = to;
      if (count === 0) continue;
      const rows = (): ExecBatch => ({
        ...gatherBatch(batch, selection, count),
        runs: runs === undefined ? undefined : gatherRuns(runs, selection, count),
      });
      yield { part, rows };
    }
  }

  /** Positions of the rows of some partitions, ascending. @param isWanted 1 for each of these */
  rowsOf(isWanted: Uint8Array, hashes: Uint32Array, rowCount: number): Uint32Array {
    const selection = new Uint32Array(rowCount);
    let count = 0;
    for (let row = 0; row < rowCount; row++) {
      selection[count] = row;
      count += isWanted[this.partitionOf(hashes[row] as number)] as number;
    }
    return selection.subarray(0, count);
  }

  /** Puts a batch, which is the caller's to forget, into the partition of one hash: statistics that stand for rows. */
  async addWhole(batch: ExecBatch, hash: number): Promise<void> {
    await this.parts[this.partitionOf(hash)]?.add(batch);
  }

  /** Writes what has gathered. To be called before partitions are read. */
  async finish(): Promise<void> {
    for (const part of this.parts) await part.finish();
  }

  /** Gives the room back. */
  async drop(): Promise<void> {
    await this.spill.drop(this.file);
  }

  private partitionOf(hash: number): number {
    return (hash >>> this.shift) & this.mask;
  }

  /** Row positions, partition by partition, ascending in each; and where each partition ends in them. */
  private byPartition(hashes: Uint32Array, rowCount: number): { readonly order: Uint32Array; readonly ends: Uint32Array } {
    const ends = new Uint32Array(PARTITIONS);
    for (let row = 0; row < rowCount; row++) {
      const p = this.partitionOf(hashes[row] as number);
      ends[p] = (ends[p] as number) + 1;
    }
    let total = 0;
    for (let p = 0; p < PARTITIONS; p++) {
      const count = ends[p] as number;
      ends[p] = total;
      total += count;
    }
    const order = new Uint32Array(rowCount);
    for (let row = 0; row < rowCount; row++) {
      const p = this.partitionOf(hashes[row] as number);
      const at = ends[p] as number;
      order[at] = row;
      ends[p] = at + 1;
    }
    return { order, ends };
  }
}
