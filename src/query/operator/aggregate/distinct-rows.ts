/** DISTINCT as a grouping. */
import type { PlanNode } from "../contract/node.ts";
import type { GroupKey } from "./node.ts";

/** One of each distinct row: a grouping by all columns. */
export function distinct(input: PlanNode): PlanNode {
  const { columns } = input;
  const keys = columns.map(({ name, type }, index): GroupKey => ({ kind: "row", type, expression: { kind: "column", type, index, name } }));
  return { kind: "aggregate", input, columns, keys, aggregates: [], table: undefined };
}
