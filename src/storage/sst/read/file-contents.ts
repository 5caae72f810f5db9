/** What a data file says of itself: its footer and page indexes, its series and its tombstones, read before any page. */
import { DbError } from "../../../base/error.ts";
import type { TableId } from "../../../base/units.ts";
import { openParquet, type ParquetFile } from "../../../format/parquet/reading/file.ts";
import type { FileReader, FileStore } from "../../file-store/file-store.ts";
import { decodeTombstones, TOMBSTONE_BLOB } from "../series/tombstone-blob.ts";
import { TombstoneSet } from "../../tombstone/tombstone-set.ts";
import type { DataFile } from "../data-file.ts";
import { entryMismatch } from "./entry-check.ts";
import { newWords } from "../../series/shared-array.ts";
import { decodeSeriesIndex, type RunIndex, type SeriesIndex, SERIES_INDEX_BLOB } from "../series/series-index.ts";
import {
  decodeSection,
  decodeSections,
  pickRuns,
  runsOfTable,
  SERIES_SECTIONS_BLOB,
  type SeriesSection,
  startOfRun,
} from "../series/series-sections.ts";

/** First guess of how many bytes hold the footer. */
const TAIL_BYTES = 64 * 1024;

/** Which rows of a file are whose. */
export interface FileRuns {
  readonly index: RunIndex;
  /** Series number of each run. */
  readonly series: Uint32Array;
}

/** What is read of a file when it is opened. */
export interface FileContents extends FileRuns {
  readonly parquet: ParquetFile;
  readonly tombstones: TombstoneSet | undefined;
}

type RunTags = Pick<SeriesIndex, "columnIds" | "dictionaries" | "codes">;

/** Gives the series of a file's runs, or of what it deletes, their numbers in this process. */
export interface SeriesNumbers {
  /** Says how many runs there will be. */
  expect(runCount: number): void;
  /** Runs `[first, first + runCount)` of the file, or of those of one of its tables. */
  ofRows(tags: RunTags, runCount: number, first: number): Uint32Array;
  ofTombstones(tags: RunTags, seriesCount: number): Uint32Array;
}

/** The footer and page indexes of the file of an entry. @throws what is wrong with the file, or with its being that file */
export async function readFooter(meta: DataFile, reader: FileReader): Promise<ParquetFile> {
  const file = await readParquet(meta.name, reader);
  const why = entryMismatch(meta, file);
  if (why !== undefined) throw new Error(why);
  return file;
}

/** The footer and page indexes of a file, from its last bytes. @throws DbError StorageUnavailable */
async function readParquet(name: string, reader: FileReader): Promise<ParquetFile> {
  let tailBytes = Math.min(TAIL_BYTES, reader.byteLength);
  for (;;) {
    const tail = await reader.read(reader.byteLength - tailBytes, tailBytes);
    const opened = openParquet(name, reader.byteLength, tail);
    if (opened.kind === "file") return opened.file;
    tailBytes = opened.byteLength;
  }
}

/** What `read` finds in a file's footer and page indexes; undefined when the file is missing or cannot be read as one. */
export async function fromParquet<T>(name: string, store: Pick<FileStore, "open">, read: (file: ParquetFile) => T): Promise<T | undefined> {
  try {
    const reader = await store.open(name);
    try {
      return read(await readParquet(name, reader));
    } finally {
      reader.close();
    }
  } catch (error) {
    if (error instanceof DbError) return undefined;
    throw error;
  }
}

/** All that is kept of a file while it is open, whose footer was read. @throws what is wrong with the file */
export async function readContents(
  meta: DataFile,
  parquet: ParquetFile,
  reader: FileReader,
  numbers: SeriesNumbers,
): Promise<FileContents> {
  const sections = await readSections(parquet, reader);
  const { index, series } = await (sections === undefined ? readWhole(parquet, reader, numbers) : readAll(sections, reader, numbers));
  const deleted = await readBlob(parquet, reader, TOMBSTONE_BLOB);
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

/** Where the runs of a shared region's file are; undefined: it is older, has one table, or no rows. @throws what is wrong with the file */
export async function readSections(parquet: ParquetFile, reader: FileReader): Promise<readonly SeriesSection[] | undefined> {
  const bytes = await readBlob(parquet, reader, SERIES_SECTIONS_BLOB);
  return bytes === undefined ? undefined : decodeSections(bytes);
}

/**
 * The runs of one table of a shared region, which follow each other; undefined when the file has none.
 *
 * @throws what is wrong with the file
 */
export async function readTableRuns(
  sections: readonly SeriesSection[],
  reader: FileReader,
  tableId: TableId,
  numbers: SeriesNumbers,
): Promise<FileRuns | undefined> {
  const parts: FileRuns[] = [];
  let rowStart = 0;
  let runCount = 0;
  numbers.expect(sections.reduce((sum, section) => sum + (isOf(section, tableId) ? section.runCount : 0), 0));
  for (const section of sections) {
    const start = rowStart;
    rowStart += section.rowCount;
    if (tableId < section.firstTable || tableId > section.lastTable) continue;
    const index = decodeSection(section, await reader.read(section.offset, section.length));
    const { from, to } = runsOfTable(index, tableId);
    if (from === to) continue;
    const { ends, timeBase, firstTimes, lastTimes, ...tags } = pickRuns(index, from, to);
    const series = numbers.ofRows(tags, to - from, runCount);
    // Without the tags: those of a million runs are 100 MB.
    parts.push({ index: { ends, timeBase, firstTimes, lastTimes, firstRow: start + startOfRun(index, from) }, series });
    runCount += to - from;
  }
  return runCount === 0 ? undefined : joinRuns(parts, runCount);
}

/** Whether all runs of a section are of a table. */
function isOf({ firstTable, lastTable }: SeriesSection, tableId: TableId): boolean {
  return firstTable === tableId && lastTable === tableId;
}

async function readBlob(parquet: ParquetFile, reader: FileReader, name: string): Promise<Uint8Array | undefined> {
  const range = parquet.blob(name);
  return range === undefined ? undefined : parquet.verifyBlob(name, await reader.read(range.offset, range.length));
}

async function readWhole(parquet: ParquetFile, reader: FileReader, numbers: SeriesNumbers): Promise<FileRuns> {
  const bytes = await readBlob(parquet, reader, SERIES_INDEX_BLOB);
  if (bytes === undefined) throw new Error("it has no series index");
  const { ends, timeBase, firstTimes, lastTimes, ...tags } = decodeSeriesIndex(bytes);
  numbers.expect(ends.length);
  return { index: { ends, timeBase, firstTimes, lastTimes }, series: numbers.ofRows(tags, ends.length, 0) };
}

async function readAll(sections: readonly SeriesSection[], reader: FileReader, numbers: SeriesNumbers): Promise<FileRuns> {
  let runCount = 0;
  for (const section of sections) runCount += section.runCount;
  numbers.expect(runCount);
  const parts: FileRuns[] = [];
  let rowStart = 0;
  let first = 0;
  for (const section of sections) {
    const { ends, timeBase, firstTimes, lastTimes, ...tags } = decodeSection(section, await reader.read(section.offset, section.length));
    const series = numbers.ofRows(tags, ends.length, first);
    parts.push({ index: { ends, timeBase, firstTimes, lastTimes, firstRow: rowStart }, series });
    rowStart += section.rowCount;
    first += ends.length;
  }
  return joinRuns(parts, runCount);
}

/** Runs one part after another. Ends of a part count from its first row. */
function joinRuns(parts: readonly FileRuns[], runCount: number): FileRuns {
  const ends = new Uint32Array(runCount);
  const firstTimes = new Float64Array(runCount);
  const lastTimes = new Float64Array(runCount);
  const series = newWords(runCount);
  let at = 0;
  for (const part of parts) {
    const from = part.index.firstRow ?? 0;
    for (let run = 0; run < part.index.ends.length; run++) ends[at + run] = from + (part.index.ends[run] as number);
    firstTimes.set(part.index.firstTimes, at);
    lastTimes.set(part.index.lastTimes, at);
    series.set(part.series, at);
    at += part.index.ends.length;
  }
  const [first] = parts;
  if (first === undefined) throw new Error("it has no series sections");
  return { index: { ends, firstRow: first.index.firstRow ?? 0, timeBase: first.index.timeBase, firstTimes, lastTimes }, series };
}
