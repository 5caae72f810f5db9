/** What a sort is of. */
import type { PlanNode } from "../contract/node.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import type { BatchKeys } from "../rows/sorter.ts";

/** See the file header. */
export interface SortOrder {
  readonly items: readonly SortItem[];
  readonly columns: PlanNode["columns"];
  /** Only that many first rows are needed. */
  readonly keep: number | undefined;
  /** So many first rows are left out; none unless it says so. */
  readonly skip?: number;
  /** Whether rows that do not fit are all sorted, however few are wanted; else those few may be looked for (`middle-rows.ts`). */
  readonly isWhole?: boolean;
  /** Is told the keys of a row before which all rows that are still wanted come. */
  readonly onBound?: ((bound: BatchKeys) => void) | undefined;
}
