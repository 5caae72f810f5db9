/** Joins, and ASOF joins. */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { expression } from "../../expression/expression-shape.ts";
import { expressionText } from "../../expression/expression-text.ts";
import { bool, list, oneOf, optional, record, whole } from "../../plan-format/shape.ts";
import { type AnyNode, input, listed, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";

/** Two expressions that are equal where rows of two relations belong together: one over each, of one type. NULL equals nothing. */
export interface JoinKey {
  readonly left: TypedExpression;
  readonly right: TypedExpression;
}

/** Which rows a join gives: pairs; pairs and what is left over on the left, on both sides; rows of the left with, or without, a partner. */
export type JoinMode = "inner" | "left" | "full" | "semi" | "anti";

/**
 * The same, and that of `x NOT IN (SELECT y …)`: rows of the left without a partner, unless their key is NULL; none where any key of the
 * right is NULL; all where the right side has no rows. Of `(x, …) NOT IN (SELECT y, …)`: rows of the left that would have no partner
 * whatever the NULLs of both sides were (`null-aware.ts`).
 */
export type PlannedJoinMode = JoinMode | "not-in";

/** Rows of `left` that meet rows of `right`: equal in all keys, and `residual`, over the columns of both, holds. */
export interface JoinNode<N> {
  readonly kind: "join";
  readonly join: PlannedJoinMode;
  readonly left: N;
  readonly right: N;
  readonly columns: readonly ColumnHeader[];
  readonly keys: readonly JoinKey[];
  readonly residual: TypedExpression | undefined;
}

/**
 * Pairs of an ASOF JOIN (`plan/from/asof.ts`). The input's columns are keys, the order, the side, then those of the left and the right
 * side; the side is `isLeftLast` in rows of the left. Columns: those of both sides.
 */
export interface AsofNode<N> {
  readonly kind: "asof";
  readonly join: "inner" | "left";
  readonly input: N;
  readonly columns: readonly ColumnHeader[];
  readonly keyCount: number;
  readonly leftWidth: number;
  readonly isLeftLast: boolean;
}

/**
 * Most keys of NOT IN as a join. Reason: rows are looked for by each set of keys that are not NULL. Beyond, and where it is a value, it is
 * an operator's of its own (`apply/`).
 */
export const NOT_IN_KEYS_MAX = 6;

/** Joins. */
export const JOIN: NodeKind<JoinNode<AnyNode>> = nodeKind<JoinNode<AnyNode>>({
  kind: "join",
  fields: {
    join: oneOf("inner", "left", "full", "semi", "anti", "not-in"),
    left: input,
    right: input,
    keys: list(record<JoinKey>({ left: expression, right: expression })),
    residual: optional(expression),
  },
  explain({ join, keys, residual }) {
    const pairs = keys.map(({ left, right }) => `${expressionText(left)} = ${expressionText(right)}`);
    return `HashJoinExec: ${join}${listed(", on=", pairs)}${residual === undefined ? "" : `, filter=${expressionText(residual)}`}`;
  },
  wrong({ join, left, right, columns, keys, residual }) {
    if (join === "not-in" && (keys.length === 0 || keys.length > NOT_IN_KEYS_MAX || residual !== undefined)) {
      return `NOT IN has one key to ${NOT_IN_KEYS_MAX} and nothing else`;
    }
    const added = join === "semi" || join === "anti" || join === "not-in" ? 0 : right.columns.length;
    return columns.length === left.columns.length + added ? undefined : "its columns are not those of its sides";
  },
});

/** ASOF joins. */
export const ASOF: NodeKind<AsofNode<AnyNode>> = nodeKind<AsofNode<AnyNode>>({
  kind: "asof",
  fields: { join: oneOf("inner", "left"), input, keyCount: whole(0), leftWidth: whole(0), isLeftLast: bool },
  explain: ({ join, keyCount }) => `AsofJoinExec: ${join}, keys=${keyCount}`,
  wrong: (node) =>
    node.input.columns.length === node.keyCount + 2 + node.columns.length && node.leftWidth <= node.columns.length
      ? undefined
      : "its input's columns are not its keys, the order, the side and its own",
});
