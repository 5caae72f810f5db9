/**
 * The orders in which shards give series of tables of the metric engine where that is not the order of tags: as
 * `engine/metric/part-orders.ts`, from what is known of series here.
 */
import type { OrderIn } from "../../engine/joined/joined-scan.ts";
import type { JoinedSeries } from "../../engine/joined/joined-series.ts";
import type { SeriesOrder } from "../../engine/joined/merged-runs.ts";
import type { StoredSet } from "../../engine/metric/physical-table.ts";
import { LISTED_BY_HASH_MAX } from "../../engine/metric/series-listing.ts";
import { compareText } from "../../storage/series/series-ranks.ts";
import type { SeriesView } from "../../table/series-view.ts";
import { LabelHashes, type RemoteSeries } from "./remote-series.ts";
import type { RemoteTable } from "./remote-table.ts";

/** A logical table is listed by `__tsid`. */
export function remoteLogicalOrder(parts: readonly RemoteTable[]): OrderIn {
  return (order, series) => {
    if (order !== "listed" || !areShort(parts, series)) return undefined;
    const hashes = new LabelHashes((parts[0] as RemoteTable).schema);
    return by(series, (_, view, number) => hashes.hashOf(view, number), compareKeys);
  };
}

/** A physical table is listed by table and `__tsid`, else by table and label set. */
export function remotePhysicalOrder(parts: readonly RemoteTable[]): OrderIn {
  return (order, series) => {
    const own = series.parts.map((view, part) => (parts[part] as RemoteTable).seriesOf(view));
    const setOf = (part: number, number: number): StoredSet => (own[part] as RemoteSeries).setOf?.(number) as StoredSet;
    if (order !== "listed" || !areShort(parts, series)) return by(series, (part, _, number) => setOf(part, number), compareSets);
    const keyOf = (part: number, number: number): bigint =>
      (BigInt(setOf(part, number).tableId) << 64n) | ((own[part] as RemoteSeries).hashOf?.(number) ?? 0n);
    return by(series, (part, _, number) => keyOf(part, number), compareKeys);
  };
}

/** Whether all parts list their series by hash: they have as many as they said, or as are known of them here. */
function areShort(parts: readonly RemoteTable[], series: JoinedSeries): boolean {
  return parts.every((part, i) => Math.max(part.statistics().seriesCount, series.parts[i]?.count ?? 0) <= LISTED_BY_HASH_MAX);
}

function compareKeys(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareSets(a: StoredSet, b: StoredSet): number {
  return a.tableId - b.tableId || compareText(a.labels, b.labels);
}

function by<Key>(
  series: JoinedSeries,
  keyIn: (part: number, view: SeriesView, number: number) => Key,
  compare: (a: Key, b: Key) => number,
): SeriesOrder<unknown> {
  const order: SeriesOrder<Key> = {
    keyOf(joined) {
      const { part, number } = series.placeOf(joined);
      return keyIn(part, series.parts[part] as SeriesView, number);
    },
    compare,
  };
  return order as SeriesOrder<unknown>; // Keys are compared with each other alone.
}
