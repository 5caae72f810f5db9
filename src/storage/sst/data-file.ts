/** What is known of a data file without opening it. */

/** A file of sorted rows within one time window, made by a flush or a compaction. */
export interface DataFile {
  readonly id: number;
  readonly name: string;
  readonly rowCount: number;
  readonly byteLength: number;
  /** Inclusive, in the unit of the time index. */
  readonly minTime: bigint;
  readonly maxTime: bigint;
  readonly sequence: number;
  readonly schemaVersion: number;
}

/** Path of a data file in the file store. */
export function dataFileName(tableId: number, fileId: number): string {
  return `${tableFolder(tableId)}/${String(fileId).padStart(10, "0")}.parquet`;
}

/** Folder of a table's data files. */
export function tableFolder(tableId: number): string {
  return `tables/${String(tableId).padStart(10, "0")}`;
}

/** Order of a table's files, oldest first: of two files with the same row the later one wins. */
export function compareFiles(a: DataFile, b: DataFile): number {
  return a.sequence - b.sequence || a.id - b.id;
}
