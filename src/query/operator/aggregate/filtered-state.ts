/**
 * An aggregate with FILTER (WHERE …) that runs in loops: the rows that pass become a batch of their own, the segments shrink to them, and
 * the state below sees nothing of the rest. Arguments are computed for the rows that pass alone.
 *
 * Measured (aggregate.bench.ts, `max and avg by ranges of unequal length`): 254 → 45 ns/row against one accumulator object a group.
 */
import { assert } from "../../../base/assert.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import { columnsOf } from "../../expression/expression.ts";
import type { AggregateCall } from "../node-parts/aggregate-call.ts";
import type { AggregateState } from "./aggregate-state.ts";
import { FilterEvaluator } from "../../expression/evaluator.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { Segments } from "../group-keys/group-keys.ts";
import { gather } from "../kernels/gather.ts";

/** The state of a call with a filter, above the state of the call without it. */
export class FilteredState implements AggregateState {
  private readonly plain: AggregateState;
  private readonly filter: FilterEvaluator;
  /** Columns that the arguments read. */
  private readonly read: ReadonlySet<number>;
  private starts = new Uint32Array(0);
  private groups = new Uint32Array(0);

  constructor(plain: AggregateState, call: AggregateCall, headers: readonly ColumnHeader[], context: ExecContext) {
    assert(call.filter !== undefined, "a filtered state has a filter");
    this.plain = plain;
    this.filter = new FilterEvaluator(call.filter, headers, context);
    const read = new Set<number>();
    for (const argument of call.args) columnsOf(argument, read);
    this.read = read;
  }

  update(batch: ExecBatch, segments: Segments, groupCount: number): void {
    const { selection, count } = this.filter.select(batch);
    if (count === batch.rowCount) {
      this.plain.update(batch, segments, groupCount);
      return;
    }
    const kept = this.shrunk(segments, selection, count);
    const vectors = batch.vectors.map((vector, c) => (this.read.has(c) ? gather(vector, selection, count) : vector));
    this.plain.update({ rowCount: count, vectors }, kept, groupCount);
  }

  /** The segments of the rows `selection[0, count)`, which ascend, by their new positions. */
  private shrunk({ starts, groups, count: before, ascending }: Segments, selection: Uint32Array, count: number): Segments {
    if (this.starts.length < before + 1) {
      this.starts = new Uint32Array(before + 1);
      this.groups = new Uint32Array(before + 1);
    }
    let kept = 0;
    let at = 0;
    for (let s = 0; s < before && at < count; s++) {
      const end = starts[s + 1] as number;
      const from = at;
      while (at < count && (selection[at] as number) < end) at++;
      if (at === from) continue;
      this.starts[kept] = from;
      this.groups[kept++] = groups[s] as number;
    }
    this.starts[kept] = count;
    return { count: kept, starts: this.starts, groups: this.groups, ascending };
  }

  addSummary(): void {
    assert(false, "statistics of pages do not answer FILTER");
  }

  vector(groupCount: number): Vector {
    return this.plain.vector(groupCount);
  }
}
