/** Which rows FILTER (WHERE …) keeps. */
import type { TypedExpression } from "../../expression/expression.ts";
import type { VectorOf } from "./frames.ts";

/** One byte a row, 1 where a condition is true. */
export function keptRows(condition: TypedExpression, rowCount: number, vectorOf: VectorOf): Uint8Array {
  const vector = vectorOf(condition);
  const kept = new Uint8Array(rowCount);
  if (vector.kind !== "number") return kept;
  const { values, validity } = vector;
  for (let i = 0; i < rowCount; i++) kept[i] = values[i] !== 0 && validity?.[i] !== 0 ? 1 : 0;
  return kept;
}
