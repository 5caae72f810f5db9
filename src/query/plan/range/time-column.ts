/**
 * Which column of a relation is its time: the time index of a table, traced through queries, views and joins.
 * Where no column comes from a time index, an only column of type TIMESTAMP is meant.
 */
import { timeIndexOf } from "../../../table/schema.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import { planError } from "../bind/plan-error.ts";
import { type Relation, widthOf } from "../common/relation.ts";
import type { Source } from "../from/source.ts";

/** Position of the time of a source among its columns. @throws DbError PlanQuery when there is none, or no telling which */
export function timeColumnOf({ relation, columns }: Source): number {
  const traced = columns.findIndex((_, index) => isTimeOf(relation, index));
  if (traced >= 0) return traced;
  const times = columns.flatMap(({ type }, index) => (type.kind === "timestamp" ? [index] : []));
  const [only, second] = times;
  if (only === undefined) throw planError("a range query needs a time index; what it reads has no column of type TIMESTAMP");
  if (second === undefined) return only;
  const names = times.map((index) => columns[index]?.name).join(", ");
  throw planError(`a range query needs a time index; ${names} could be it: select one of them only, or read it from the table as it is`);
}

function isTimeOf(relation: Relation, index: number): boolean {
  switch (relation.kind) {
    case "table":
      return relation.columns[index]?.name === timeIndexOf(relation.table.schema).name;
    case "rows":
      return false;
    case "derived":
      return comesFromTime(relation.node, index);
    case "join":
    case "asof":
    case "lateral": {
      const width = widthOf(relation.left);
      if (index < width) return isTimeOf(relation.left, index);
      return relation.kind !== "lateral" ? isTimeOf(relation.right, index - width) : comesFromTime(relation.node, index - width);
    }
  }
}

/** Whether a column of a plan is a table's time index, or the slots or buckets of one. */
function comesFromTime(node: PlanNode, index: number): boolean {
  switch (node.kind) {
    case "scan":
      return node.columns[index]?.name === timeIndexOf(node.table.schema).name;
    case "project":
      return isTimeExpression(node.expressions[index], node.input);
    case "aggregate": {
      const key = node.keys[index];
      if (key === undefined || key.kind === "series") return false;
      return key.kind === "bucket" || isTimeExpression(key.expression, node.input);
    }
    case "overlap":
      return index === node.input.columns.length || (index < node.input.columns.length && comesFromTime(node.input, index));
    case "fill-slots":
      return index === node.keyCount;
    case "asof":
      return false; // only relations of FROM are asked, which answer for their sides
    case "union":
      return node.inputs.every((input) => comesFromTime(input, index));
    case "join":
    case "set-filter": {
      const width = node.left.columns.length;
      return index < width ? comesFromTime(node.left, index) : comesFromTime(node.right, index - width);
    }
    case "recursive":
      return comesFromTime(node.first, index) && comesFromTime(node.step, index);
    default:
      return "input" in node && index < node.input.columns.length && comesFromTime(node.input, index);
  }
}

/** A column that is a time, or the bucket of one. */
function isTimeExpression(expression: TypedExpression | undefined, input: PlanNode): boolean {
  if (expression?.kind === "column") return comesFromTime(input, expression.index);
  if (expression?.kind !== "call" || !BUCKETS.has(expression.function.name)) return false;
  return isTimeExpression(expression.args[1], input);
}

const BUCKETS: ReadonlySet<string> = new Set(["date_trunc", "datetrunc", "date_bin", "time_bucket"]);
