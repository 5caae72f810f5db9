/**
 * One partition that does not fit in memory: its sorted rows on disk, and where its groups of peers begin. Rows are read by position, some
 * thousand at a time (a chunk), as are those that a chunk looks at.
 */
import { assert } from "../../../base/assert.ts";
import { DbError } from "../../../base/error.ts";
import type { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import type { SpillFile } from "../../../table/spill-space.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { type BatchKeys, Sorter } from "../rows/sorter.ts";
import { oneBatch } from "../spill/concat-batches.ts";
import type { SpillContext } from "../spill/spill-context.ts";
import type { SpilledRows } from "../spill/spilled-rows.ts";
import { POSITION, SpilledPositions } from "./positions.ts";
import { type SortedRows, UNREAD, type WindowPlan } from "./sorted-rows.ts";

/** Most rows of a partition: positions are 32 bits wide, with one value more for "none". */
const ROWS_MAX = 2 ** 32 - 2;
/** Parts of the operator's share of memory that the rows of one chunk take, and most rows of one: a call looks at all of them in a turn. */
const CHUNKS_PER_SHARE = 16;
const CHUNK_ROWS_MAX = 65_536;

/** See the file header. To be dropped. */
export class LargePartition implements SortedRows {
  readonly columns: readonly ColumnHeader[];
  private readonly file: SpillFile;
  private readonly rows: SpilledRows;
  readonly groups: SpilledPositions;
  private readonly sorter: Sorter;
  private readonly spill: SpillContext;
  private readonly budget: MemoryBudget;
  private previous: { readonly keys: BatchKeys; readonly row: number } | undefined;

  private constructor(node: WindowPlan, file: SpillFile, context: ExecContext, spill: SpillContext) {
    this.columns = node.input.columns;
    this.file = file;
    this.spill = spill;
    this.rows = spill.rowsIn(file, this.columns);
    this.groups = new SpilledPositions(spill.rowsIn(file, [POSITION]), () => this.rowCount);
    this.budget = context.budget;
    this.sorter = new Sorter(node.orderBy, this.columns, context);
  }

  static async create(node: WindowPlan, context: ExecContext, spill: SpillContext): Promise<LargePartition> {
    return new LargePartition(node, await spill.create(), context, spill);
  }

  get rowCount(): number {
    return this.rows.rowCount;
  }

  /** Rows of a chunk: a small part of what may be held. */
  get chunkRows(): number {
    const rows = Math.floor(this.spill.rowsOf(this.rows.memoryBytes, this.rowCount, CHUNKS_PER_SHARE));
    return Math.max(1, Math.min(CHUNK_ROWS_MAX, rows));
  }

  get spanRows(): number {
    return this.chunkRows * 2;
  }

  get partitionStarts(): Uint32Array {
    return Uint32Array.of(0, this.rowCount);
  }

  get partitionGroups(): Uint32Array {
    return Uint32Array.of(0, this.groups.count);
  }

  /** Takes the next sorted rows, which are the caller's to forget. */
  async add({ rowCount, vectors }: ExecBatch): Promise<void> {
    if (rowCount === 0) return;
    const keys = this.sorter.keysOf({ rowCount, vectors });
    const starts = new Uint32Array(rowCount);
    let count = 0;
    for (let row = 0; row < rowCount; row++) {
      const { previous } = this;
      if (previous === undefined || this.sorter.compare(previous.keys, previous.row, keys, row) !== 0)
        starts[count++] = this.rowCount + row;
      this.previous = { keys, row };
    }
    await this.groups.add(starts.subarray(0, count));
    await this.rows.add({ rowCount, vectors });
    assert(this.rowCount <= ROWS_MAX, `at most ${ROWS_MAX} rows have positions; got ${this.rowCount}`);
  }

  /** To be called once all rows are there. */
  async finish(): Promise<void> {
    await this.rows.finish();
    await this.groups.finish();
  }

  async read(from: number, to: number, needed?: ReadonlySet<number>): Promise<ExecBatch> {
    const batches: ExecBatch[] = [];
    for await (const { rowCount, vectors } of this.rows.readRange(from, to)) {
      batches.push({ rowCount, vectors: vectors.map((vector, c) => (needed?.has(c) === false ? UNREAD : vector)) });
    }
    return oneBatch(this.columns, batches);
  }

  newPositions(behind: number): SpilledPositions {
    return new SpilledPositions(this.spill.rowsIn(this.file, [POSITION]), () => behind);
  }

  hold(bytes: number, call: string, frameRows: number): void {
    if (!this.budget.fits(bytes)) throw this.tooLarge(call, frameRows);
    this.budget.reserve(bytes);
  }

  private tooLarge(call: string, frameRows: number): DbError {
    return new DbError(
      StatusCode.RuntimeResourcesExhausted,
      `cannot run query: a frame of ${call}() OVER holds ${frameRows} rows of a partition of ${this.rowCount}, which do not fit in the ` +
        "memory that query.memory_limit allows; make the frame or the partitions smaller, begin the frame with the partition, " +
        "or raise that limit",
    );
  }

  /** Gives the room back. */
  async drop(): Promise<void> {
    await this.spill.drop(this.file);
  }
}
