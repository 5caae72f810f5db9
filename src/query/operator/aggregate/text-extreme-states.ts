/** `min` and `max` of text and other bytes: no string and no object a group or row. */
import { assert } from "../../../base/assert.ts";
import type { DataType } from "../../../column/data-type.ts";
import { isWideDecimal } from "../../../column/decimal.ts";
import type { Validity, Vector } from "../../../column/vector.ts";
import { growth } from "../../function/aggregate/accumulator.ts";
import type { VectorEvaluator } from "../../expression/evaluator.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { Segments } from "../group-keys/group-keys.ts";
import { rowKeys, type TextKey } from "../kernels/row-keys.ts";
import { TextExtremes } from "../kernels/texts/text-extremes.ts";
import type { AggregateState } from "./aggregate-state.ts";

/** Whether values of a type order as their bytes do: those of wide decimals once the sign is flipped. */
export const isOrderedBytes = (type: DataType): boolean =>
  type.kind === "string" || type.kind === "json" || type.kind === "binary" || isWideDecimal(type);

/** What makes bytes of two's complement order as they are. */
const SIGN = 0x80;

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
    const { extremes, type } = this;
    extremes.reach(groupCount);
    const vector = this.evaluator.vector(batch);
    const texts = isWideDecimal(type) ? flipped(vector, batch.rowCount) : textsOf(vector, type, batch.rowCount);
    if (texts === undefined) return; // All NULL.
    extremes.begin(texts);
    if (rowGroups !== undefined) extremes.add(0, batch.rowCount, 0, rowGroups);
    else for (let s = 0; s < count; s++) extremes.add(starts[s] as number, starts[s + 1] as number, groups[s] as number, undefined);
    extremes.keep();
    this.held(extremes.bytesHeld);
  }

  addSummary(): void {
    assert(false, "statistics of pages do not answer extremes of text");
  }

  vector(groupCount: number): Vector {
    const found = this.extremes.texts(groupCount);
    if (isWideDecimal(this.type)) flipSigns(found.bytes, found.offsets, found.validity, groupCount);
    return { kind: "bytes", ...found };
  }
}

function textsOf(vector: Vector, type: DataType, rowCount: number): TextKey | undefined {
  const [key] = rowKeys(vector, type, rowCount, { descending: false, nullsFirst: true });
  return key?.kind === "texts" ? key : undefined;
}

/** A copy of the decimals of rows whose bytes order as the values do. */
function flipped(vector: Vector, rowCount: number): Pick<TextKey, "offsets" | "bytes" | "codes" | "validity"> | undefined {
  if (vector.kind !== "bytes") return undefined;
  const { validity } = vector;
  const first = vector.offsets[0] as number;
  const bytes = vector.bytes.slice(first, vector.offsets[rowCount]);
  const offsets = new Uint32Array(rowCount + 1);
  for (let row = 0; row <= rowCount; row++) offsets[row] = (vector.offsets[row] as number) - first;
  flipSigns(bytes, offsets, validity, rowCount);
  return { offsets, bytes, codes: undefined, validity };
}

function flipSigns(bytes: Uint8Array, offsets: Uint32Array, validity: Validity, rowCount: number): void {
  for (let row = 0; row < rowCount; row++) {
    if (validity !== undefined && validity[row] === 0) continue;
    const at = offsets[row] as number;
    bytes[at] = (bytes[at] as number) ^ SIGN;
  }
}
