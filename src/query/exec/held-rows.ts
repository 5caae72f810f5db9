/** Rows that an operator keeps past the life of their batches, copied column by column. */
import { countingUp } from "../../base/counting-up.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import type { Vector } from "../../column/vector.ts";
import type { MemoryBudget } from "./memory-budget.ts";
import { concat } from "./kernels/concat.ts";
import { gather } from "./kernels/gather.ts";

/** Bytes of a vector, about. */
function bytesOf(vector: Vector, rowCount: number): number {
  return vector.kind === "bytes" ? (vector.offsets[rowCount] ?? 0) - (vector.offsets[0] ?? 0) + rowCount * 5 : rowCount * 9;
}

/** Rows `selection[0, count)` of a batch as a batch of its own. */
export function gatherBatch(batch: Batch, selection: Uint32Array, count: number): Batch {
  return { rowCount: count, vectors: batch.vectors.map((vector) => gather(vector, selection, count)) };
}

/** A growing list of copied batches. */
export class HeldRows {
  rowCount = 0;
  private parts: Batch[] = [];
  private bytes = 0;
  private readonly headers: readonly ColumnHeader[];
  private readonly budget: MemoryBudget;

  constructor(headers: readonly ColumnHeader[], budget: MemoryBudget) {
    this.headers = headers;
    this.budget = budget;
  }

  /** Copies a batch. @throws DbError RuntimeResourcesExhausted */
  add(batch: Batch): void {
    const bytes = batch.vectors.reduce((sum, vector) => sum + bytesOf(vector, batch.rowCount), 0);
    this.budget.reserve(bytes);
    this.bytes += bytes;
    const all = countingUp(batch.rowCount);
    this.parts.push(gatherBatch(batch, all, batch.rowCount));
    this.rowCount += batch.rowCount;
  }

  /** All rows as one batch. */
  joined(): Batch {
    const [first] = this.parts;
    if (this.parts.length === 1 && first !== undefined) return first;
    const vectors = this.headers.map((header, c) =>
      concat(
        header.type,
        this.parts.flatMap(({ vectors: all, rowCount }) => (all[c] === undefined ? [] : [{ vector: all[c], rowCount }])),
      ),
    );
    const batch = { rowCount: this.rowCount, vectors };
    this.parts = [batch];
    return batch;
  }

  /** Keeps only the rows `order[0, count)`, in that order. */
  keep(order: Uint32Array, count: number): void {
    this.parts = [gatherBatch(this.joined(), order, count)];
    this.rowCount = count;
    this.budget.release(this.bytes);
    this.bytes = this.parts[0]?.vectors.reduce((sum, vector) => sum + bytesOf(vector, count), 0) ?? 0;
    this.budget.reserve(this.bytes);
  }
}
