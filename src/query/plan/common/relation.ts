/** Relations of FROM as a tree, before it is known which columns and rows of them are needed. */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { Table } from "../../../table/catalog.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import type { ComputedRows } from "./computed-rows.ts";
import type { JoinKey, JoinMode } from "../../operator/join/node.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import type { PlanParameter } from "../../operator/node-parts/parameter.ts";

/** A relation. The columns of a join are those of its left side, then, unless it is a semi or anti join, those of its right side. */
export type Relation =
  | { readonly kind: "table"; readonly table: Table; readonly columns: readonly ColumnHeader[] }
  /** Rows that the server computes. */
  | ({ readonly kind: "rows"; readonly name: string } & ComputedRows)
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
  /** Each row of `left` with the nearest of `right`. Keys and order are pairs of one type: over `left`, and over `right` alone. */
  | {
      readonly kind: "asof";
      readonly join: "inner" | "left";
      readonly left: Relation;
      readonly right: Relation;
      readonly keys: readonly JoinKey[];
      readonly order: JoinKey;
      readonly operator: ">=" | ">" | "<=" | "<";
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
    case "asof":
      return widthOf(relation.left) + widthOf(relation.right);
    case "join":
      return relation.join === "semi" || relation.join === "anti"
        ? widthOf(relation.left)
        : widthOf(relation.left) + widthOf(relation.right);
  }
}

/** A planned relation, and where its columns went. */
export interface PlannedRelation {
  readonly node: PlanNode;
  /** Position in `node` of a column of the relation; -1 when it was not asked for. */
  readonly place: (index: number) => number;
}

/** What of a relation is wanted. */
export interface Wanted {
  /** Columns of the relation that are read above. */
  readonly columns: ReadonlySet<number>;
  /** Conditions over the relation's columns that its rows must meet, joined by AND. */
  readonly conditions: readonly TypedExpression[];
}
