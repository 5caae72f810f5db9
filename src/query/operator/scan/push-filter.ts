/** Conditions above a planned scan that storage can take over. */
import { conjunction, conjunctsOf, mapColumns } from "../../expression/expression.ts";
import type { PlanNode } from "../contract/node.ts";
import { intersect, splitWhere } from "./split-where.ts";

/** A filter right above the scan of a table: what storage can do of it goes into the scan. Any other plan as it is. */
export function pushedIntoScan(node: PlanNode): PlanNode {
  if (node.kind !== "filter" || node.input.kind !== "scan") return node;
  const { input: scan } = node;
  const { schema } = scan.table;
  const positions = scan.columns.map(({ name }) => schema.columns.findIndex((column) => column.name === name));
  if (positions.includes(-1)) return node;
  const conditions = conjunctsOf(node.predicate).map((each) => mapColumns(each, (index) => positions[index] ?? -1));
  const split = splitWhere(conditions, schema);
  const { request } = scan;
  const pushed: PlanNode = {
    ...scan,
    request: {
      ...request,
      timeRange: intersect(request.timeRange, split.timeRange),
      tagPredicates: [...request.tagPredicates, ...split.tagPredicates],
      fieldBounds: [...request.fieldBounds, ...split.fieldBounds],
      fieldConditions: [...(request.fieldConditions ?? []), ...split.fieldConditions],
    },
  };
  const predicate = conjunction(split.residual.map((each) => mapColumns(each, (index) => positions.indexOf(index))));
  return predicate === undefined ? pushed : { ...node, input: pushed, predicate };
}
