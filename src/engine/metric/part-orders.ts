/**
 * The orders in which tables of the metric engine have their series where that is not the order of tags: by them what lies in several
 * shards is merged. Parts of so many series that they list them by tags are so merged: around that number rows may be listed in any order.
 */
import type { SeriesView } from "../../table/series-view.ts";
import { compareText } from "../../storage/series/series-ranks.ts";
import type { OrderIn } from "../joined/joined-scan.ts";
import type { JoinedSeries } from "../joined/joined-series.ts";
import type { SeriesOrder } from "../joined/merged-runs.ts";
import type { LogicalTable } from "./logical-table.ts";
import type { PhysicalTable, StoredSet } from "./physical-table.ts";
import { LISTED_BY_HASH_MAX } from "./series-listing.ts";

/** A logical table is listed by `__tsid`. */
export function logicalOrder(parts: readonly LogicalTable[]): OrderIn {
  return (order, series) => (order === "listed" && isShort(series) ? by(series, parts, LISTED_BY, compareKeys) : undefined);
}

/** A physical table is listed by table and `__tsid`, else by table and label set. */
export function physicalOrder(parts: readonly PhysicalTable[]): OrderIn {
  return (order, series) =>
    order === "listed" && isShort(series)
      ? by(series, parts, LISTED_BY, compareKeys)
      : by(series, parts, (part: PhysicalTable, numbers, number) => part.setOf(numbers, number), compareSets);
}

/** Whether all parts list their series by hash. */
function isShort({ parts }: JoinedSeries): boolean {
  return parts.every(({ count }) => count <= LISTED_BY_HASH_MAX);
}

const LISTED_BY = (part: LogicalTable | PhysicalTable, numbers: SeriesView, number: number): bigint => part.listedBy(numbers, number);

function compareKeys(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareSets(a: StoredSet, b: StoredSet): number {
  return a.tableId - b.tableId || compareText(a.labels, b.labels);
}

/** The order of what parts know of their series. */
function by<Part, Key>(
  series: JoinedSeries,
  parts: readonly Part[],
  keyIn: (part: Part, numbers: SeriesView, number: number) => Key,
  compare: (a: Key, b: Key) => number,
): SeriesOrder<unknown> {
  const order: SeriesOrder<Key> = {
    keyOf(joined) {
      const { part, number } = series.placeOf(joined);
      return keyIn(parts[part] as Part, series.parts[part] as SeriesView, number);
    },
    compare,
  };
  return order as SeriesOrder<unknown>;
}
