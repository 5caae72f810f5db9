/**
 * An aggregate of distinct values: rows that bring a value that their group had before are left out, and the state below sees the rest. One
 * table of (group, value) serves all groups.
 *
 * Two counts of 500,000 values in 100 groups, processor time (sort.bench.ts): 1064 ms with a set a group -> 245.
 */
import { assert } from "../../../base/assert.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import { columnsOf, type TypedExpression } from "../../expression/expression.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { Segments } from "../group-keys/group-keys.ts";
import { KeyTable } from "../group-keys/key-table.ts";
import { gather } from "../kernels/gather.ts";
import type { AggregateState } from "./aggregate-state.ts";

/** The state of a call with DISTINCT, above the state of the call without it. */
export class DistinctState implements AggregateState {
  private readonly plain: AggregateState;
  private readonly evaluator: VectorEvaluator;
  private readonly table: KeyTable;
  /** Columns that the argument reads. */
  private readonly read: Set<number> = new Set();
  private groupsOfRows = new Int32Array(0);

  constructor(plain: AggregateState, argument: TypedExpression, headers: readonly ColumnHeader[], context: ExecContext) {
    this.plain = plain;
    this.evaluator = new VectorEvaluator(argument, headers, context);
    this.table = new KeyTable([argument.type], { nullsMatch: false, hasPrefix: true }, context.budget.reserve);
    columnsOf(argument, this.read);
  }

  update(batch: ExecBatch, segments: Segments, groupCount: number): void {
    const { rowCount } = batch;
    const groups = segments.rowGroups ?? this.spread(segments, rowCount);
    const selection = this.table.firsts([this.evaluator.vector(batch)], rowCount, groups);
    const count = selection.length;
    const vectors = batch.vectors.map((vector, c) => (this.read.has(c) ? gather(vector, selection, count) : vector));
    this.plain.update({ rowCount: count, vectors }, rowsOf(groups, selection, segments.ascending), groupCount);
  }

  private spread({ starts, groups, count }: Segments, rowCount: number): Int32Array {
    if (this.groupsOfRows.length < rowCount) this.groupsOfRows = new Int32Array(rowCount);
    for (let s = 0; s < count; s++) this.groupsOfRows.fill(groups[s] as number, starts[s], starts[s + 1]);
    return this.groupsOfRows;
  }

  addSummary(): void {
    assert(false, "statistics of pages do not answer DISTINCT");
  }

  vector(groupCount: number): Vector {
    return this.plain.vector(groupCount);
  }
}

/** Segments of one row each, of some rows. */
function rowsOf(groups: Int32Array, selection: Uint32Array, ascending: boolean): Segments {
  const count = selection.length;
  const rowGroups = new Int32Array(count);
  const starts = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) {
    rowGroups[i] = groups[selection[i] as number] as number;
    starts[i + 1] = i + 1;
  }
  return { count, starts, groups: Uint32Array.from(rowGroups), ascending, rowGroups };
}
