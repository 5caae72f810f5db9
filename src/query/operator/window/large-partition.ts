/**
 * One partition that does not fit in memory: its sorted rows on disk, and where its groups of peers begin. Rows are read by position, some
 * thousand at a time (a chunk), as are those that a chunk looks at.
 */
import { assert } from "../../../base/assert.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { FLOAT64 } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { SpillFile } from "../../../table/spill-space.ts";
import type { PlanNode } from "../contract/node.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { Sorter } from "../rows/sorter.ts";
import { oneBatch } from "../spill/concat-batches.ts";
import type { SpillContext } from "../spill/spill-context.ts";
import type { SpilledRows } from "../spill/spilled-rows.ts";
import { constantVector } from "../../expression/vector-values.ts";

type WindowNode = Extract<PlanNode, { kind: "window" }>;

/** Most rows of a partition: positions are 32 bits wide, with one value more for "none". */
const ROWS_MAX = 2 ** 32 - 2;
/** Parts of the operator's share of memory that the rows of one chunk take, and most rows of one: a call looks at all of them in a turn. */
const CHUNKS_PER_SHARE = 16;
const CHUNK_ROWS_MAX = 65_536;

const POSITION: ColumnHeader = { name: "position", type: FLOAT64 };

/** See the file header. To be dropped. */
export class LargePartition {
  readonly columns: readonly ColumnHeader[];
  private readonly file: SpillFile;
  private readonly rows: SpilledRows;
  private readonly starts: SpilledRows;
  private readonly sorter: Sorter;
  private readonly spill: SpillContext;
  private previous: { readonly keys: readonly Vector[]; readonly row: number } | undefined;

  private constructor(node: WindowNode, file: SpillFile, context: ExecContext, spill: SpillContext) {
    this.columns = node.input.columns;
    this.file = file;
    this.spill = spill;
    this.rows = spill.rowsIn(file, this.columns);
    this.starts = spill.rowsIn(file, [POSITION]);
    this.sorter = new Sorter(node.orderBy, this.columns, context);
  }

  static async create(node: WindowNode, context: ExecContext, spill: SpillContext): Promise<LargePartition> {
    return new LargePartition(node, await spill.create(), context, spill);
  }

  get rowCount(): number {
    return this.rows.rowCount;
  }

  /** Groups of peers. */
  get groupCount(): number {
    return this.starts.rowCount;
  }

  /** Rows of a chunk. */
  get chunkRows(): number {
    const rows = Math.floor(this.spill.rowsOf(this.rows.memoryBytes, this.rowCount, CHUNKS_PER_SHARE));
    return Math.max(1, Math.min(CHUNK_ROWS_MAX, rows));
  }

  /** Bytes of some columns of a row in memory, about: their part of all. */
  rowBytes(columns: ReadonlySet<number>): number {
    return (this.rows.memoryBytes / this.rowCount) * (columns.size / Math.max(1, this.columns.length));
  }

  /** Takes the next sorted rows, which are the caller's to forget. */
  async add({ rowCount, vectors }: ExecBatch): Promise<void> {
    if (rowCount === 0) return;
    const keys = this.sorter.keysOf({ rowCount, vectors });
    const starts: number[] = [];
    for (let row = 0; row < rowCount; row++) {
      const { previous } = this;
      if (previous === undefined || this.sorter.compare(previous.keys, previous.row, keys, row) !== 0) starts.push(this.rowCount + row);
      this.previous = { keys, row };
    }
    await this.starts.add({ rowCount: starts.length, vectors: [numbers(starts)] });
    await this.rows.add({ rowCount, vectors });
    assert(this.rowCount <= ROWS_MAX, `at most ${ROWS_MAX} rows have positions; got ${this.rowCount}`);
  }

  /** To be called once all rows are there. */
  async finish(): Promise<void> {
    await this.rows.finish();
    await this.starts.finish();
  }

  /** Rows `[from, to)`. @param columns those that are needed; the others come as NULL */
  async read(from: number, to: number, columns?: ReadonlySet<number>): Promise<ExecBatch> {
    const batches: ExecBatch[] = [];
    for await (const { rowCount, vectors } of this.rows.readRange(from, to)) {
      const kept = vectors.map((vector, c) =>
        columns === undefined || columns.has(c) ? vector : constantVector(this.columns[c]?.type ?? { kind: "null" }, undefined, rowCount),
      );
      batches.push({ rowCount, vectors: kept });
    }
    return oneBatch(this.columns, batches);
  }

  /** Where each of `groups` begins, whose numbers do not fall; the number of rows for the one behind the last. */
  startsOf(groups: ArrayLike<number>): Promise<Uint32Array> {
    return numbersAt(this.starts, groups, this.rowCount);
  }

  /** Numbers by position, of the same life as the rows. */
  newNumbers(): SpilledRows {
    return this.spill.rowsIn(this.file, [POSITION]);
  }

  /** Gives the room back. */
  async drop(): Promise<void> {
    await this.spill.drop(this.file);
  }
}

/** A vector of positions. */
export function numbers(values: readonly number[]): Vector {
  return { kind: "number", values: Float64Array.from(values), validity: undefined };
}

/** Numbers that lie at positions, which do not fall; `behind` at the position behind the last. */
export async function numbersAt(source: SpilledRows, positions: ArrayLike<number>, behind: number): Promise<Uint32Array> {
  const found = new Uint32Array(positions.length).fill(behind);
  let at = 0;
  const first = positions[0] ?? 0;
  const last = Math.min(source.rowCount, (positions[positions.length - 1] ?? 0) + 1);
  let base = first;
  for await (const { rowCount, vectors } of source.readRange(first, last)) {
    const [vector] = vectors;
    assert(vector?.kind === "number", `positions are numbers; got a ${vector?.kind} vector`);
    for (; at < positions.length && (positions[at] ?? 0) < base + rowCount; at++) {
      found[at] = vector.values[(positions[at] ?? 0) - base] ?? 0;
    }
    base += rowCount;
  }
  return found;
}
