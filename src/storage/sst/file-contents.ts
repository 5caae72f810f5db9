/** What a data file says of itself: its footer and page indexes, its series and its tombstones, read before any page. */
import { openParquet, type ParquetFile } from "../../format/parquet/file.ts";
import type { FileReader } from "../file-store/file-store.ts";
import { decodeTombstones, TOMBSTONE_BLOB } from "../tombstone/tombstone-blob.ts";
import { TombstoneSet } from "../tombstone/tombstone-set.ts";
import type { DataFile } from "./data-file.ts";
import { decodeSeriesIndex, type RunIndex, type SeriesIndex, SERIES_INDEX_BLOB } from "./series-index.ts";

/** First guess of how many bytes hold the footer. */
const TAIL_BYTES = 64 * 1024;

/** What is read of a file when it is opened. */
export interface FileContents {
  readonly parquet: ParquetFile;
  readonly index: RunIndex;
  readonly series: Uint32Array;
  readonly tombstones: TombstoneSet | undefined;
}

/** Gives the series of a file's runs, or of what it deletes, their numbers in this process. */
export interface SeriesNumbers {
  ofRows(tags: Pick<SeriesIndex, "columnIds" | "dictionaries" | "codes">, runCount: number): Uint32Array;
  ofTombstones(tags: Pick<SeriesIndex, "columnIds" | "dictionaries" | "codes">, seriesCount: number): Uint32Array;
}

/** The footer and page indexes of a file, from its last bytes. @throws what is wrong with the file */
export async function readFooter(meta: DataFile, reader: FileReader): Promise<ParquetFile> {
  let tailBytes = Math.min(TAIL_BYTES, reader.byteLength);
  for (;;) {
    const tail = await reader.read(reader.byteLength - tailBytes, tailBytes);
    const opened = openParquet(meta.name, reader.byteLength, tail);
    if (opened.kind === "file") return opened.file;
    tailBytes = opened.byteLength;
  }
}

/** All that is kept of a file while it is open. @throws what is wrong with the file */
export async function readContents(meta: DataFile, reader: FileReader, numbers: SeriesNumbers): Promise<FileContents> {
  const parquet = await readFooter(meta, reader);
  const blob = async (name: string): Promise<Uint8Array | undefined> => {
    const range = parquet.blob(name);
    return range === undefined ? undefined : parquet.verifyBlob(name, await reader.read(range.offset, range.length));
  };
  const bytes = await blob(SERIES_INDEX_BLOB);
  if (bytes === undefined) throw new Error("it has no series index");
  const { ends, timeBase, firstTimes, lastTimes, ...tags } = decodeSeriesIndex(bytes);
  const series = numbers.ofRows(tags, ends.length);
  const index = { ends, timeBase, firstTimes, lastTimes };
  const deleted = await blob(TOMBSTONE_BLOB);
  if (deleted === undefined && meta.tombstones !== undefined) throw new Error("it has no tombstones, but its entry says so");
  if (deleted === undefined) return { parquet, index, series, tombstones: undefined };
  const stored = decodeTombstones(deleted);
  const tombstones = new TombstoneSet({
    base: stored.series.timeBase,
    series: numbers.ofTombstones(stored.series, stored.series.ends.length),
    ends: stored.series.ends,
    firsts: stored.firsts,
    lasts: stored.lasts,
    ages: undefined,
    rowCount: meta.tombstones?.rowCount ?? stored.firsts.length,
  });
  // A file without rows has none to tell its base from (`series-index.ts`).
  return { parquet, index: meta.rowCount === 0 ? { ...index, timeBase: tombstones.base } : index, series, tombstones };
}
