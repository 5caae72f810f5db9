import type { ParquetFile } from "../../../format/parquet/reading/file.ts";

/** Positions of a data file's columns by their ids. @throws Error when the file does not say */
export function columnsById(parquet: ParquetFile): Map<number, number> {
  const text = parquet.keyValues.get("varve.columns");
  if (text === undefined) throw new Error("it has no column ids");
  const ids = JSON.parse(text) as Readonly<Record<string, number>>; // Written by `DataFileWriter` and covered by the footer's checksum.
  const map = new Map<number, number>();
  for (const [name, id] of Object.entries(ids)) map.set(id, parquet.columnIndexOf(name));
  return map;
}
