/**
 * What a meta store has of the storage of tables, by region: files, the sequence up to which rows are in them, and marks. Where the
 * catalogue lies in the same store it goes with the table, in one commit; else it is taken away once the drop is followed, or at the next
 * start.
 */
import { type TableId, tableId } from "../../base/units.ts";
import type { MetaChange, MetaStore } from "../../storage/meta-store/meta-store.ts";
import { fileKey, flushedKey, uncleanKey } from "./meta-codec.ts";

/** Keys of all that a store has of a region. */
export function storageKeysOf(meta: Pick<MetaStore, "get" | "list">, region: TableId): readonly string[] {
  const marks = [flushedKey(region), uncleanKey(region)].filter((key) => meta.get(key) !== undefined);
  return [...marks, ...meta.list(fileKey(region)).map(({ key }) => key)];
}

/** Regions of which a store has anything. */
export function storedRegions(meta: Pick<MetaStore, "list">): ReadonlySet<TableId> {
  const regions = new Set<TableId>();
  for (const prefix of ["file/", "flushed/", "unclean/"]) {
    for (const { key } of meta.list(prefix)) regions.add(tableId(Number(key.split("/")[1])));
  }
  return regions;
}

/** What takes all away that a store has of regions. */
export function removalsOf(meta: Pick<MetaStore, "get" | "list">, regions: Iterable<TableId>): readonly MetaChange[] {
  const changes: MetaChange[] = [];
  for (const region of regions) for (const key of storageKeysOf(meta, region)) changes.push({ key, value: undefined });
  return changes;
}
