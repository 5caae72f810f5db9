/** Which conditions of a join are equalities between its sides: a hash join finds partners by them. */
import { mapColumns, operandsOf, type TypedExpression } from "../../expression/expression.ts";
import type { DataType } from "../../../column/data-type.ts";
import { isWideDecimal } from "../../../column/decimal.ts";
import type { JoinKey } from "../../operator/join/node.ts";

/** Which sides of a join an expression reads. */
export function sidesOf(expression: TypedExpression, width: number): "none" | "left" | "right" | "both" {
  return SIDES[sideBits(expression, width)] ?? "none";
}

const [LEFT, RIGHT] = [1, 2];
const SIDES = ["none", "left", "right", "both"] as const;

/** No set of columns is made: of a long chain of joins, each looks at each condition. */
function sideBits(expression: TypedExpression, width: number): number {
  if (expression.kind === "column") return expression.index < width ? LEFT : RIGHT;
  let bits = 0;
  for (const operand of operandsOf(expression)) bits |= sideBits(operand, width);
  return bits;
}

/** Equalities between the sides as keys, and the rest. The first `width` columns are the left side's; a key's `right` counts from 0. */
export function joinKeys(
  conditions: readonly TypedExpression[],
  width: number,
): { readonly keys: readonly JoinKey[]; readonly rest: readonly TypedExpression[] } {
  const keys: JoinKey[] = [];
  const rest: TypedExpression[] = [];
  for (const condition of conditions) {
    const key = joinKey(condition, width);
    if (key === undefined) rest.push(condition);
    else keys.push({ left: key.left, right: mapColumns(key.right, (index) => index - width) });
  }
  return { keys, rest };
}

/** The two sides of `left = right`, when each reads one side of the join. Their columns count as in the condition. */
function joinKey(condition: TypedExpression, width: number): JoinKey | undefined {
  if (condition.kind !== "compare" || condition.operator !== "=") return undefined;
  const [a, b] = [sidesOf(condition.left, width), sidesOf(condition.right, width)];
  // Decimals of several scales are equal without being the same number.
  const [x, y] = [condition.left.type, condition.right.type];
  if (x.kind === "decimal" && y.kind === "decimal" && x.scale !== y.scale) return undefined;
  if (x.kind !== y.kind) return undefined;
  const [first, second] = [ofManyDigits(condition.left, y), ofManyDigits(condition.right, x)];
  if (a === "left" && b === "right") return { left: first, right: second };
  return a === "right" && b === "left" ? { left: second, right: first } : undefined;
}

/** A decimal of few digits as one of many where the other is: they are other bytes. */
function ofManyDigits(expression: TypedExpression, other: DataType): TypedExpression {
  const { type } = expression;
  if (type.kind !== "decimal" || other.kind !== "decimal" || isWideDecimal(type) || !isWideDecimal(other)) return expression;
  return { kind: "cast", type: other, operand: expression, safe: false };
}
