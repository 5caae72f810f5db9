/**
 * ASOF JOIN: each row of the left side beside the row of the right side with equal keys that is nearest in an order.
 *
 *   l ASOF JOIN r ON l.host = r.host AND l.time >= r.time       the last row of r that is not after that of l
 *
 * Both sides become one stream, sorted by the keys, the order and the side; one pass over it remembers the last row of the right side
 * (`operator/join/asof.ts`). So it takes what a sort takes, and goes over the disk where a sort does.
 *
 *   asof ◄── sort ◄── union ◄── project (keys, order, side, columns of the left, NULLs) ◄── left
 *                           ◄── project (keys, order, side, NULLs, columns of the right) ◄── right
 */
import type { ColumnHeader } from "../../../column/batch.ts";
import { BOOLEAN } from "../../../column/data-type.ts";
import { unify } from "../bind/coerce.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { literal, mapColumns, type TypedExpression } from "../../expression/expression.ts";
import { sidesOf } from "../common/join-keys.ts";
import type { JoinKey } from "../../operator/join/node.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import { planError } from "../bind/plan-error.ts";
import type { Relation } from "../common/relation.ts";

/** A relation of an ASOF JOIN. */
export type AsofRelation = Extract<Relation, { kind: "asof" }>;

/** How the left side's value stands to the right side's. */
type Inequality = AsofRelation["operator"];

const TURNED: Readonly<Record<Inequality, Inequality>> = { ">=": "<=", ">": "<", "<=": ">=", "<": ">" };

/**
 * What the conditions of an ASOF JOIN, over the columns of both sides, mean.
 *
 * @throws DbError PlanQuery for conditions that are no equality, and not the one inequality
 */
export function asofConditions(
  on: readonly TypedExpression[],
  width: number,
  environment: Environment,
): Pick<AsofRelation, "keys" | "order" | "operator"> {
  const keys: JoinKey[] = [];
  let nearest: { readonly order: JoinKey; readonly operator: Inequality } | undefined;
  for (const condition of on) {
    const compared = condition.kind === "compare" ? condition : undefined;
    const sides = compared && [sidesOf(compared.left, width), sidesOf(compared.right, width)].join(" ");
    if (compared === undefined || compared.operator === "<>" || (sides !== "left right" && sides !== "right left"))
      throw planError("ASOF JOIN takes equalities between the sides, and one of >=, >, <= and < between them, joined by AND");
    const [a = compared.left, b = compared.right] = unify([compared.left, compared.right], "ASOF JOIN", environment);
    const [left, right] = sides === "left right" ? [a, b] : [b, a];
    const pair = { left, right: mapColumns(right, (index) => index - width) };
    if (compared.operator === "=") keys.push(pair);
    else if (nearest !== undefined) throw planError("ASOF JOIN takes one of >=, >, <= and < between the sides, not several");
    else nearest = { order: pair, operator: sides === "left right" ? compared.operator : TURNED[compared.operator] };
  }
  if (nearest === undefined) throw planError("ASOF JOIN needs one of >=, >, <= and < between the sides, e.g. a.ts >= b.ts");
  return { keys, ...nearest };
}

/** The plan of an ASOF JOIN over the plans of its sides, over whose columns keys and order are. */
export function asofPlan(relation: Pick<AsofRelation, "keys" | "order" | "operator" | "join">, left: PlanNode, right: PlanNode): PlanNode {
  const { keys, order, operator, join } = relation;
  const sorted = [...keys, order];
  const columns: readonly ColumnHeader[] = [
    ...sorted.map(({ left: { type } }, i) => ({ name: `key ${i}`, type })),
    { name: "side", type: BOOLEAN },
    ...left.columns,
    ...right.columns,
  ];
  // Of equal values the right row comes first where it counts.
  const isLeftLast = operator === ">=" || operator === "<=";
  const own = (side: PlanNode): readonly TypedExpression[] =>
    side.columns.map(({ name, type }, index): TypedExpression => ({ kind: "column", type, index, name }));
  const nulls = (side: PlanNode): readonly TypedExpression[] => side.columns.map(({ type }) => literal(type, undefined));
  const inputs: readonly PlanNode[] = [
    {
      kind: "project",
      input: left,
      columns,
      expressions: [...sorted.map((key) => key.left), literal(BOOLEAN, isLeftLast), ...own(left), ...nulls(right)],
    },
    {
      kind: "project",
      input: right,
      columns,
      expressions: [...sorted.map((key) => key.right), literal(BOOLEAN, !isLeftLast), ...nulls(left), ...own(right)],
    },
  ];
  const descending = operator === "<=" || operator === "<";
  const items = columns.slice(0, sorted.length + 1).map(({ name, type }, index) => ({
    expression: { kind: "column", type, index, name } as const,
    descending: index === keys.length && descending,
    nullsFirst: false,
  }));
  const union: PlanNode = { kind: "union", inputs, columns };
  return {
    kind: "asof",
    join,
    input: { kind: "sort", input: union, columns, items, keep: undefined },
    columns: [...left.columns, ...right.columns],
    keyCount: keys.length,
    leftWidth: left.columns.length,
    isLeftLast,
  };
}
