import type { TableId } from "../../base/units.ts";
import type { TableFile } from "../../table/catalog.ts";
/** What is known of a data file without opening it. */

/** What a file deletes of older ones. */
export interface FileTombstones {
  /** Ranges of time of one series each. */
  readonly count: number;
  /** Rows that they covered when they were made, about. */
  readonly rowCount: number;
}

/** A file of sorted rows within one time window, made by a flush or a compaction. */
export interface DataFile extends TableFile {
  readonly schemaVersion: number;
  /** Absent: the file deletes nothing. They hide rows of older files, never the file's own. */
  readonly tombstones?: FileTombstones;
  /** CRC-32 of all its bytes; absent in entries of servers that did not note it. */
  readonly crc?: number;
}

/** Whether two files may hold the same time. */
export function overlaps(a: Pick<DataFile, "minTime" | "maxTime">, b: Pick<DataFile, "minTime" | "maxTime">): boolean {
  return a.minTime <= b.maxTime && b.minTime <= a.maxTime;
}

/** Path of a data file in the file store. @param folder as of `tableFolder` */
export function dataFileName(tableId: TableId, fileId: number, folder = ""): string {
  return `${tableFolder(tableId, folder)}/${String(fileId).padStart(10, "0")}.parquet`;
}

/** Folder of a table's data files. @param folder what it lies in, with a `/` at its end: that of a shard in a store of several */
export function tableFolder(tableId: TableId, folder = ""): string {
  return `${folder}tables/${String(tableId).padStart(10, "0")}`;
}

/** Order of a table's files, oldest first: of two files with the same row the later one wins. */
export function compareFiles(a: DataFile, b: DataFile): number {
  return a.sequence - b.sequence || a.id - b.id;
}
