/**
 * Whether a data file is the one that its entry in the meta store describes. Scans leave files alone by what their entries say, so an entry
 * that says less than its file has would hide rows.
 */
import type { ParquetFile } from "../../../format/parquet/reading/file.ts";
import type { DataFile } from "../data-file.ts";

/** What differs, as "its entry says …, the file has …"; undefined when nothing does. @throws DbError for damaged page indexes */
export function entryMismatch(entry: DataFile, file: ParquetFile): string | undefined {
  const { rowCount, byteLength, sequence, minTime, maxTime } = entry;
  const differs = (says: string, has: string): string => `its entry in the meta store says ${says}, the file has ${has}`;
  if (file.fileLength !== byteLength) return differs(`${byteLength} bytes`, `${file.fileLength}`);
  if (file.rowCount !== rowCount) return differs(`${rowCount} rows`, `${file.rowCount}`);
  const written = file.keyValues.get("varve.sequence");
  if (written !== undefined && Number(written) !== sequence) return differs(`sequence ${sequence}`, written);
  const times = timesOf(file);
  if (times === undefined || (times.min >= minTime && times.max <= maxTime)) return undefined;
  return differs(`times from ${minTime} to ${maxTime}`, `${times.min} to ${times.max}`);
}

/** Oldest and newest time of a row; undefined without rows. Tombstones may reach further. */
function timesOf(file: ParquetFile): { readonly min: bigint; readonly max: bigint } | undefined {
  const column = file.columns.findIndex(({ role }) => role === "time");
  if (column < 0) return undefined;
  let min: bigint | undefined;
  let max: bigint | undefined;
  for (let group = 0; group < file.rowGroups.length; group++) {
    const { pageCount, wideMins, wideMaxs } = file.pageIndex(group, column);
    for (let page = 0; page < pageCount; page++) {
      const low = wideMins?.[page];
      const high = wideMaxs?.[page];
      if (low !== undefined && (min === undefined || low < min)) min = low;
      if (high !== undefined && (max === undefined || high > max)) max = high;
    }
  }
  return min === undefined || max === undefined ? undefined : { min, max };
}
