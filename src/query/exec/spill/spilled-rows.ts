/**
 * Rows written to a spill file, in order, and read back block by block. One file may hold several of these; a block belongs to one.
 *
 *   add      batches gather until they are a block, which is written as one piece
 *   finish   writes what is left
 *   read     blocks from the first to the last, any number of times
 */
import { assert } from "../../../base/assert.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import type { SpillFile } from "../../../table/spill-space.ts";
import type { ExecBatch } from "../exec-context.ts";
import { bytesOfBatch } from "../held-rows.ts";
import { concatBatches } from "./concat-batches.ts";
import { batchesOfBytes, bytesOfBatches } from "./batch-bytes.ts";

/** Counts bytes that were written. */
export interface SpillCounter {
  add(bytes: number): void;
}

interface Block {
  readonly offset: number;
  readonly length: number;
}

/** See the file header. */
export class SpilledRows {
  rowCount = 0;
  /** Bytes of the rows in memory, about. */
  memoryBytes = 0;
  private pending: ExecBatch[] = [];
  private pendingBytes = 0;
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
    this.blocks.push({ offset: await this.file.append(bytes), length: bytes.length });
  }

  /** All rows, block by block. Batches are the reader's own. */
  async *read(): AsyncGenerator<ExecBatch> {
    assert(this.pending.length === 0, "rows are read once they are all written");
    for (const { offset, length } of this.blocks) {
      const bytes = await this.file.read(offset, length);
      yield* batchesOfBytes(bytes);
    }
  }
}
