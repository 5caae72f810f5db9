/**
 * Sorted rows of whole partitions, as window calls see them wherever they lie: in memory (`held-partitions.ts`) or on disk
 * (`large-partition.ts`). Calls go through them chunk by chunk and read what else they look at.
 *
 *   rows        0 1 2 3 4 5 6 7 8
 *   partitions  |-------|---------|      partitionStarts = 0 4 9, partitionGroups = 0 3 5
 *   groups      |-|---|-|---|-----|      groups = 0 1 3 4 6
 *   chunks      |-----------|-----|      [0, 6) of groups 0 1 1 2 3 3; [6, 9) of groups 4 4 4
 */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import { columnsOf, type TypedExpression } from "../../expression/expression.ts";
import { VectorEvaluator, vectorsOf } from "../../expression/evaluator.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { PlanNode } from "../contract/node.ts";
import type { FoundPositions, Positions } from "./positions.ts";

/** The operator as a plan has it. */
export type WindowPlan = Extract<PlanNode, { kind: "window" }>;

/** See the file header. Positions count rows, numbers of groups count groups, both from the first of all partitions. */
export interface SortedRows {
  readonly columns: readonly ColumnHeader[];
  readonly rowCount: number;
  /** Ascending, with `rowCount` at the end. */
  readonly partitionStarts: Uint32Array;
  /** The first group of each partition, with the number of groups at the end. */
  readonly partitionGroups: Uint32Array;
  /** Where groups of peers begin; `rowCount` is behind the last. */
  readonly groups: Positions;
  /** Rows of a chunk: what is read and computed at a time. */
  readonly chunkRows: number;
  /** Most rows that are worth reading for fewer values among them. */
  readonly spanRows: number;
  /** Rows `[from, to)`. @param needed columns that are looked at; undefined: all */
  read(from: number, to: number, needed?: ReadonlySet<number>): ExecBatch | Promise<ExecBatch>;
  /** An empty list of positions, of the same life as the rows; `behind` stands for what is behind the last. */
  newPositions(behind: number): FoundPositions;
  /** Counts bytes that a call holds of a frame. @throws DbError RuntimeResourcesExhausted */
  hold(bytes: number, call: string, frameRows: number): void;
}

/** Stands for a column that was not asked for. */
export const UNREAD: Vector = { kind: "number", values: new Float64Array(0), validity: undefined };

/** Rows `[from, to)`. */
export interface Chunk {
  readonly from: number;
  readonly to: number;
  readonly batch: ExecBatch;
  /** The partition of the first row. */
  readonly partition: number;
  /** The group of each row. */
  readonly groups: Uint32Array;
}

/** The chunk behind another, or the first; undefined behind the last. */
export function chunkAfter(rows: SortedRows, before: Chunk | undefined): Promise<Chunk> | Chunk | undefined {
  const { rowCount, chunkRows } = rows;
  const from = before?.to ?? 0;
  if (from >= rowCount) return undefined;
  const to = Math.min(rowCount, from + chunkRows);
  // The group of the row before, and as many behind it as there can be.
  const group = before?.groups.at(-1) ?? 0;
  const starts = rows.groups.at(numbersFrom(group, Math.min(rows.groups.count, group + to - from + 1)));
  if (starts instanceof Promise) return starts.then(async (found) => chunkOf(rows, before, await rows.read(from, to), group, found));
  const batch = rows.read(from, to);
  return batch instanceof Promise
    ? batch.then((read) => chunkOf(rows, before, read, group, starts))
    : chunkOf(rows, before, batch, group, starts);
}

/** The chunk of the rows in `batch`, behind another. @param starts where groups begin, from number `group` on */
function chunkOf(
  { rowCount, partitionStarts }: SortedRows,
  before: Chunk | undefined,
  batch: ExecBatch,
  group: number,
  starts: Uint32Array,
): Chunk {
  const from = before?.to ?? 0;
  const to = from + batch.rowCount;
  const groups = new Uint32Array(to - from);
  let at = 0;
  for (let row = from; row < to; row++) {
    while ((starts[at + 1] ?? rowCount) <= row) at++;
    groups[row - from] = group + at;
  }
  let partition = before?.partition ?? 0;
  while ((partitionStarts[partition + 1] ?? rowCount) <= from) partition++;
  return { from, to, batch, partition, groups };
}

/** The numbers `[from, to)`. */
export function numbersFrom(from: number, to: number): Uint32Array {
  const numbers = new Uint32Array(to - from);
  for (let i = 0; i < numbers.length; i++) numbers[i] = from + i;
  return numbers;
}

/** The values of some expressions over ranges of rows. */
export class RowValues {
  /** Undefined: all of them are columns, those at `places`. */
  private readonly evaluators: readonly VectorEvaluator[] | undefined;
  private readonly places: readonly number[];
  private readonly needed: Set<number> = new Set();
  private readonly rows: SortedRows;

  constructor(expressions: readonly TypedExpression[], rows: SortedRows, context: ExecContext) {
    this.rows = rows;
    for (const expression of expressions) columnsOf(expression, this.needed);
    this.places = expressions.flatMap((expression) => (expression.kind === "column" ? [expression.index] : []));
    if (this.places.length === expressions.length) return;
    this.evaluators = expressions.map((expression) => new VectorEvaluator(expression, rows.columns, context));
  }

  /** A vector for each expression, over rows `[from, to)`. At once where they are columns of rows in memory. */
  over(from: number, to: number): readonly Vector[] | Promise<readonly Vector[]> {
    const read = this.rows.read(from, to, this.needed);
    return read instanceof Promise ? read.then((batch) => this.of(batch)) : this.of(read);
  }

  private of(batch: ExecBatch): readonly Vector[] | Promise<readonly Vector[]> {
    return this.evaluators === undefined ? this.places.map((c) => batch.vectors[c] ?? UNREAD) : vectorsOf(this.evaluators, batch);
  }
}
