/** Relations of FROM as a tree, before it is known which columns and rows of them are needed. */
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import type { Table } from "../../table/catalog.ts";
import type { TypedExpression } from "./expression.ts";
import type { JoinMode, PlanNode, PlanParameter } from "./node.ts";

/** A relation. The columns of a join are those of its left side, then, unless it is a semi or anti join, those of its right side. */
export type Relation =
  | { readonly kind: "table"; readonly table: Table; readonly columns: readonly ColumnHeader[] }
  /** Rows that the server computes. */
  | {
      readonly kind: "rows";
      readonly name: string;
      readonly columns: readonly ColumnHeader[];
      readonly batches: () => Iterable<Batch> | AsyncIterable<Batch>;
    }
  /** A query that is planned already. */
  | { readonly kind: "derived"; readonly node: PlanNode }
  | {
      readonly kind: "join";
      readonly join: JoinMode;
      readonly left: Relation;
      readonly right: Relation;
      /** Conditions over the columns of both sides, joined by AND. */
      readonly on: readonly TypedExpression[];
    }
  /** `node` runs for each row of `left`, with values of it as parameters. */
  | {
      readonly kind: "lateral";
      readonly join: "inner" | "left";
      readonly left: Relation;
      readonly node: PlanNode;
      readonly parameters: readonly PlanParameter[];
      readonly on: readonly TypedExpression[];
    };

/** How many columns a relation has. */
export function widthOf(relation: Relation): number {
  switch (relation.kind) {
    case "table":
    case "rows":
      return relation.columns.length;
    case "derived":
      return relation.node.columns.length;
    case "lateral":
      return widthOf(relation.left) + relation.node.columns.length;
    case "join":
      return relation.join === "semi" || relation.join === "anti"
        ? widthOf(relation.left)
        : widthOf(relation.left) + widthOf(relation.right);
  }
}
