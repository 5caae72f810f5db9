/** One side of a join on disk, or some of it, split by the hash of its keys: parts of both sides meet. */
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { keyHashes } from "../group-keys/key-hashes.ts";
import { gather } from "../kernels/gather.ts";
import { gatherBatch } from "../rows/held-rows.ts";
import { Partitions, SPLIT_LEVELS_MAX } from "../spill/partitions.ts";
import type { SpillContext } from "../spill/spill-context.ts";
import type { SpilledRows } from "../spill/spilled-rows.ts";
import { hasNull, isNullAt, JoinKeys, keyTypesOf } from "./join-keys.ts";
import type { Join, Side } from "./join-sides.ts";
import type { KeptParts } from "./kept-parts.ts";

/** Whether a join is NOT IN by one key: what NULL means is settled before parts of it are joined. */
export const isNotInByOne = (node: Join): boolean => node.join === "not-in" && node.keys.length === 1;

/** One side of a join in parts; in one part where there are no keys, or no bits of the hash left. */
export class PartedRows {
  readonly isSplit: boolean;
  /** Of NOT IN by one key: whether it was NULL. */
  hasNullKey = false;
  private readonly types: readonly DataType[];
  private readonly keys: JoinKeys;
  private readonly isNotIn: boolean;
  private readonly partitions: Partitions;

  private constructor(node: Join, side: Side, context: ExecContext, partitions: Partitions, isSplit: boolean) {
    this.isNotIn = isNotInByOne(node);
    this.types = keyTypesOf(node);
    this.keys = new JoinKeys(node, side, context);
    this.partitions = partitions;
    this.isSplit = isSplit;
  }

  /** @param level how often the rows were split before */
  static async create(node: Join, side: Side, context: ExecContext, spill: SpillContext, level: number): Promise<PartedRows> {
    // To NOT IN by several keys, rows with NULLs may be equal to those of all parts.
    const isSplit = node.keys.length > 0 && level < SPLIT_LEVELS_MAX && (node.join !== "not-in" || node.keys.length === 1);
    const partitions = await Partitions.create(node[side].columns, isSplit ? level : 0, spill, isSplit);
    return new PartedRows(node, side, context, partitions, isSplit);
  }

  /** What is on disk of each part. */
  get parts(): readonly SpilledRows[] {
    return this.partitions.parts;
  }

  /** Rows of all parts on disk. */
  get rowCount(): number {
    return this.parts.reduce((sum, part) => sum + part.rowCount, 0);
  }

  /** Copies the rows of a batch. @param kept the parts of this side that stay in memory */
  async add(given: ExecBatch, kept?: KeptParts): Promise<void> {
    const { batch, hashes } = await this.hashed(given);
    for (const { part, rows } of this.partitions.split(batch, hashes)) {
      if (kept?.isKept(part) === true) await kept.add(part, rows());
      else await this.parts[part]?.add(rows());
    }
  }

  /** Copies the rows that are of no part in memory of the other side. @returns the others */
  async addOthers(given: ExecBatch, kept: KeptParts): Promise<ExecBatch> {
    const { batch, hashes } = await this.hashed(given);
    const isKept = Uint8Array.from(this.parts, (_, part) => (kept.isKept(part) ? 1 : 0));
    for (const { part, rows } of this.partitions.split(batch, hashes)) if (isKept[part] === 0) await this.parts[part]?.add(rows());
    const selection = this.partitions.rowsOf(isKept, hashes, batch.rowCount);
    return selection.length === batch.rowCount ? batch : gatherBatch(batch, selection, selection.length);
  }

  /** The rows that count, and hashes of their keys. */
  private async hashed({ rowCount, vectors }: ExecBatch): Promise<{ readonly batch: ExecBatch; readonly hashes: Uint32Array }> {
    const batch: ExecBatch = { rowCount, vectors }; // Of the left side, runs would tell nothing.
    const keys = (this.isSplit || this.isNotIn) && rowCount > 0 ? await this.keys.of(batch) : [];
    if (!this.isNotIn || !hasNull(keys, rowCount)) return { batch, hashes: this.hashesOf(keys, rowCount) };
    this.hasNullKey = true;
    // Beside rows on the right, a NULL of the left is not among what is not in them.
    const present = presentRows(keys, rowCount);
    const own = keys.map((key) => gather(key, present, present.length));
    return { batch: gatherBatch(batch, present, present.length), hashes: this.hashesOf(own, present.length) };
  }

  private hashesOf(keys: readonly Vector[], rowCount: number): Uint32Array {
    return this.isSplit && rowCount > 0 ? keyHashes(keys, this.types, rowCount) : new Uint32Array(rowCount);
  }

  finish(): Promise<void> {
    return this.partitions.finish();
  }

  drop(): Promise<void> {
    return this.partitions.drop();
  }
}

/** The rows of which no key is NULL. */
function presentRows(keys: readonly Vector[], rowCount: number): Uint32Array {
  const selection = new Uint32Array(rowCount);
  let count = 0;
  for (let row = 0; row < rowCount; row++) if (keys.every((key) => !isNullAt(key, row))) selection[count++] = row;
  return selection.subarray(0, count);
}
