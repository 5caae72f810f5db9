/** How many rows a plan gives, as far as a look at it tells. */
import { ALL_TIME } from "../../../table/scan.ts";
import type { PlanNode } from "../contract/node.ts";

/** Most rows that a plan gives, and whether it gives as many. */
export interface RowEstimate {
  readonly rows: number;
  readonly isAll: boolean;
}

/** Most rows that a plan gives; undefined where a look at it does not tell. */
export function estimated(node: PlanNode): RowEstimate | undefined {
  switch (node.kind) {
    case "scan": {
      const { timeRange, tagPredicates, fieldConditions } = node.request;
      const rows = node.table.statistics?.().rowCount;
      if (rows === undefined) return undefined;
      const isAll = timeRange.start === ALL_TIME.start && timeRange.end === ALL_TIME.end;
      return { rows, isAll: isAll && tagPredicates.length === 0 && (fieldConditions ?? []).length === 0 };
    }
    case "project":
      return estimated(node.input);
    case "filter":
    case "aggregate":
    case "first-of-each": {
      const input = estimated(node.input);
      return input === undefined ? undefined : { ...input, isAll: false };
    }
    default:
      return undefined;
  }
}
