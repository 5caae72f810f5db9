/**
 * Rows written to a spill file, in order, and read back block by block. One file may hold several of these; a block belongs to one.
 *
 *   add      batches gather until they are a block, which is written as one piece
 *   finish   writes what is left
 *   read     blocks from the first to the last, or from the last to the first, any number of times; or those of a range of rows
 */
import { assert } from "../../../base/assert.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import type { SpillFile } from "../../../table/spill-space.ts";
import type { ExecBatch } from "../contract/exec-context.ts";
import { bytesOfBatch } from "../rows/held-rows.ts";
import { sliceBatch } from "../../../column/slice.ts";
import { concatBatches } from "./concat-batches.ts";
import { batchesOfBytes, bytesOfBatches } from "./batch-bytes.ts";

/** Counts bytes that were written. */
export interface SpillCounter {
  add(bytes: number): void;
}

interface Block {
  readonly offset: number;
  readonly length: number;
  /** Positions of its first row, and of the one behind its last. */
  readonly from: number;
  readonly to: number;
}

/** See the file header. */
export class SpilledRows {
  rowCount = 0;
  /** Bytes of the rows in memory, about. */
  memoryBytes = 0;
  private pending: ExecBatch[] = [];
  private pendingBytes = 0;
  private writtenRows = 0;
  /** What `readRange` read last: neighbouring ranges share blocks. */
  private recent: { readonly block: Block; readonly batches: readonly ExecBatch[] } | undefined;
  private readonly blocks: Block[] = [];
  private readonly file: SpillFile;
  private readonly headers: readonly ColumnHeader[];
  private readonly blockBytes: number;
  private readonly counter: SpillCounter;

  /** @param blockBytes bytes in memory that make a block */
  constructor(file: SpillFile, headers: readonly ColumnHeader[], blockBytes: number, counter: SpillCounter) {
    this.file = file;
    this.headers = headers;
    this.blockBytes = blockBytes;
    this.counter = counter;
  }

  /** Takes a batch, which is the caller's to forget: it lies on memory of its own. */
  async add(batch: ExecBatch): Promise<void> {
    const bytes = bytesOfBatch(batch);
    this.pending.push(batch);
    this.pendingBytes += bytes;
    this.memoryBytes += bytes;
    this.rowCount += batch.rowCount;
    if (this.pendingBytes >= this.blockBytes) await this.write();
  }

  /** Writes what has gathered. */
  async finish(): Promise<void> {
    if (this.pending.length > 0) await this.write();
  }

  private async write(): Promise<void> {
    const bytes = bytesOfBatches(concatBatches(this.headers, this.pending));
    this.pending = [];
    this.pendingBytes = 0;
    this.counter.add(bytes.length);
    const from = this.writtenRows;
    this.writtenRows = this.rowCount;
    this.blocks.push({ offset: await this.file.append(bytes), length: bytes.length, from, to: this.rowCount });
  }

  /** Rows of each block. */
  get blockRows(): readonly number[] {
    return this.blocks.map(({ from, to }) => to - from);
  }

  /** Leaves the first blocks out of what is read. @returns their rows */
  leaveOut(count: number): number {
    return this.blocks.splice(0, count).reduce((rows, { from, to }) => rows + to - from, 0);
  }

  /** All rows, block by block. Batches are the reader's own. */
  async *read(): AsyncGenerator<ExecBatch> {
    assert(this.pending.length === 0, "rows are read once they are all written");
    for (const block of this.blocks) yield* await this.batchesOf(block);
  }

  /** All rows, the batch written last first; within each they keep their order. */
  async *readBackwards(): AsyncGenerator<ExecBatch> {
    assert(this.pending.length === 0, "rows are read once they are all written");
    for (const block of this.blocks.toReversed()) yield* (await this.batchesOf(block)).toReversed();
  }

  /** Rows `[from, to)`, of every block those that lie in it. Batches are valid until the next call. */
  async *readRange(from: number, to: number): AsyncGenerator<ExecBatch> {
    assert(this.pending.length === 0, "rows are read once they are all written");
    for (let i = this.blockWith(from); i < this.blocks.length; i++) {
      const block = this.blocks[i];
      if (block === undefined || block.from >= to) return;
      if (this.recent?.block !== block) this.recent = { block, batches: await this.batchesOf(block) };
      let at = block.from;
      for (const { rowCount, vectors } of this.recent.batches) {
        const [start, end] = [Math.max(from - at, 0), Math.min(to - at, rowCount)];
        if (start < end) yield sliceBatch({ rowCount, vectors }, start, end);
        at += rowCount;
      }
    }
  }

  /** The first block that ends behind a position. */
  private blockWith(position: number): number {
    let [low, high] = [0, this.blocks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.blocks[middle]?.to ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private async batchesOf({ offset, length }: Pick<Block, "offset" | "length">): Promise<readonly ExecBatch[]> {
    return batchesOfBytes(await this.file.read(offset, length));
  }
}
