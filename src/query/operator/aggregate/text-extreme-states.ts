/** `min` and `max` of text and other bytes: no string and no object a group or row. */
import { assert } from "../../../base/assert.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { growth } from "../../function/aggregate/accumulator.ts";
import type { VectorEvaluator } from "../../expression/evaluator.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { Segments } from "../group-keys/group-keys.ts";
import { rowKeys } from "../kernels/row-keys.ts";
import { TextExtremes } from "../kernels/text-extremes.ts";
import type { AggregateState } from "./aggregate-state.ts";

/** Whether values of a type order as their bytes do. */
export const isOrderedBytes = ({ kind }: DataType): boolean => kind === "string" || kind === "json" || kind === "binary";

/** See the file header. */
export class TextExtremeStates implements AggregateState {
  private readonly extremes: TextExtremes;
  private readonly evaluator: VectorEvaluator;
  private readonly type: DataType;
  private readonly held: (bytes: number) => void;

  constructor(isLargest: boolean, evaluator: VectorEvaluator, type: DataType, { budget }: ExecContext) {
    this.extremes = new TextExtremes(isLargest);
    this.evaluator = evaluator;
    this.type = type;
    this.held = growth(budget.reserve);
  }

  update(batch: ExecBatch, { starts, groups, count, rowGroups }: Segments, groupCount: number): void {
    const { extremes } = this;
    extremes.reach(groupCount);
    const [key] = rowKeys(this.evaluator.vector(batch), this.type, batch.rowCount, { descending: false, nullsFirst: true });
    if (key?.kind !== "texts") return; // All NULL.
    extremes.begin(key);
    if (rowGroups !== undefined) extremes.add(0, batch.rowCount, 0, rowGroups);
    else for (let s = 0; s < count; s++) extremes.add(starts[s] as number, starts[s + 1] as number, groups[s] as number, undefined);
    extremes.keep();
    this.held(extremes.bytesHeld);
  }

  addSummary(): void {
    assert(false, "statistics of pages do not answer extremes of text");
  }

  vector(groupCount: number): Vector {
    return { kind: "bytes", ...this.extremes.texts(groupCount) };
  }
}
