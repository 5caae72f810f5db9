/**
 * What may leave without uncovering anything: an older file may hold an earlier version of a row, or a row that a newer file deletes, and
 * it must not show again when a ttl is made longer. So rows and tombstones only go together with everything older of their time.
 */
import { compareFiles, type DataFile, overlaps } from "../../storage/sst/data-file.ts";

/**
 * Files that can be taken away unread: those whose times are all before `minTime`, and those that only delete, once no older file that
 * stays overlaps them.
 *
 * @param files oldest first
 */
export function expiredFiles(files: readonly DataFile[], minTime: bigint | undefined): DataFile[] {
  const expired: DataFile[] = [];
  const kept: DataFile[] = [];
  for (const file of files) {
    const isOver = file.rowCount === 0 || (minTime !== undefined && file.maxTime < minTime);
    if (isOver && !kept.some((older) => overlaps(older, file))) expired.push(file);
    else kept.push(file);
  }
  return expired;
}

/** What a truncation of some files does to each. */
export interface Truncation {
  /** Taken away. */
  readonly removed: readonly DataFile[];
  /** Their rows go, but what they delete of older files that stay must go on being deleted. */
  readonly stripped: readonly DataFile[];
}

/** Parts the chosen files of a table. @param files oldest first */
export function truncationOf(files: readonly DataFile[], isChosen: (file: DataFile) => boolean): Truncation {
  const removed: DataFile[] = [];
  const stripped: DataFile[] = [];
  const kept: DataFile[] = [];
  for (const file of files) {
    const isNeeded = file.tombstones !== undefined && kept.some((older) => overlaps(older, file));
    if (isChosen(file) && !isNeeded) removed.push(file);
    else {
      kept.push(file);
      if (isChosen(file) && file.rowCount > 0) stripped.push(file);
    }
  }
  return { removed, stripped };
}

/** Files older than some of a table that overlap them, and are none of them. */
export function olderOf(inputs: readonly DataFile[], files: readonly DataFile[]): DataFile[] {
  return files.filter((file) => !inputs.includes(file) && inputs.some((input) => compareFiles(file, input) < 0 && overlaps(file, input)));
}

/** The time before which a merge leaves rows out: the expiry, or the oldest time of an older file that stays if that is earlier. */
export function livingFrom(minTime: bigint | undefined, older: readonly Pick<DataFile, "minTime">[]): bigint | undefined {
  let from = minTime;
  for (const file of older) if (from !== undefined && file.minTime < from) from = file.minTime;
  return from;
}
