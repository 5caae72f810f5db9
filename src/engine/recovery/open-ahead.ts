/**
 * Opens the newest data files of all tables while nobody asks for anything: footer, series, page indexes. A first query of one machine
 * spent half of its time there.
 *
 * What an open file holds counts towards the page cache, which lets go of it as of any other. Files of very many series stay closed: what
 * gives them their numbers does not yield (6 ms for 4,000 series of ten tags in code that never ran), nor does reading a long footer.
 *
 * Then the numbers of the newest of them are read into a part of the cache: of what a first query of eight machines took, half was to
 * decode its 88 pages. Files that lie elsewhere are not fetched for that.
 */
import { DbError } from "../../base/error.ts";
import type { Vector } from "../../column/vector.ts";
import { type PageCache, vectorBytes } from "../../storage/cache/page-cache.ts";
import type { Region } from "../../storage/region/region.ts";
import type { SstFile } from "../../storage/sst/read/sst-file.ts";
import type { TableSchema } from "../../table/schema.ts";

/** Files that are opened at most. Reason: each has a footer of some kilobytes, and takes milliseconds of the thread. */
const FILES_MAX = 256;
/** Bytes of the cache that open files take at most: what queries have read since is worth more. */
const OPEN_BYTES_MAX = 16 * 1024 * 1024;
/** Bytes of a file's series index above which it stays closed: some 10,000 series of ten tags. */
const SERIES_BYTES_MAX = 128 * 1024;
/** Columns above which a file stays closed: a footer has 100 to 200 bytes for each, for each row group. */
const COLUMNS_MAX = 256;
/** Part of the cache that pages of numbers are read into; once it is there, no more are. */
const NUMBERS_PART = 1 / 2;
/** Pages that are read before others get a turn: some 0.5 ms. */
const PAGES_AT_ONCE = 8;
/** Regions that are looked at before others get a turn: some milliseconds. */
const REGIONS_AT_ONCE = 1000;

/** Lets others have the thread; false: no more is to be opened. */
export type Turn = () => Promise<boolean>;

/** What was opened. */
export interface OpenedAhead {
  readonly files: number;
  /** The tables of which all files are open, that with the newest first. */
  readonly tables: readonly TableSchema[];
  /** Pages of numbers that were read. */
  readonly pages: number;
}

/**
 * Opens files, and reads pages. What cannot be read is left to the query that wants it, which says so.
 *
 * @param tables regions of each table
 */
export async function openAhead(tables: Iterable<readonly Region[]>, cache: PageCache, turn: Turn): Promise<OpenedAhead> {
  const chosen = await newestOf(tables, turn);
  const opened = await openAll(chosen, cache, turn);
  return { ...opened, pages: await readNumbers(chosen, cache, turn) };
}

async function openAll(chosen: readonly Chosen[], cache: PageCache, turn: Turn): Promise<Omit<OpenedAhead, "pages">> {
  const bytesMax = cache.bytes + OPEN_BYTES_MAX;
  const tables: TableSchema[] = [];
  const left = new Map<readonly Region[], number>(); // Regions that are not wholly open, by table.
  let opened = 0;
  for (const one of chosen) {
    const { files, isWhole, isOver } = await openChosen(one, cache, bytesMax, turn);
    opened += files;
    if (isOver) break;
    const { region, table } = one;
    if (!isWhole || region.sharedBy !== undefined) continue;
    const others = (left.get(table) ?? table.filter(hasFiles).length) - 1;
    left.set(table, others);
    if (others === 0) tables.push((table[0] as Region).schemaNow);
  }
  return { files: opened, tables };
}

/** Opens the chosen files of a region: how many, whether all of its files are open, whether it ended before. */
async function openChosen({ region, ids }: Chosen, cache: PageCache, bytesMax: number, turn: Turn): Promise<OpenedRegion> {
  const snapshot = region.snapshot();
  try {
    let files = 0;
    for (const file of snapshot.files.toReversed()) {
      if (!ids.has(file.meta.id)) continue;
      if (cache.bytes >= bytesMax || !(await turn())) return { files, isWhole: false, isOver: true };
      if (await opensNow(file, region, cache, turn)) files++;
    }
    return { files, isWhole: files === snapshot.files.length, isOver: false };
  } finally {
    await snapshot.release();
  }
}

/** How many pages were read. */
async function readNumbers(chosen: readonly Chosen[], cache: PageCache, turn: Turn): Promise<number> {
  let read = 0;
  let bytes = 0;
  const isOver = async (): Promise<boolean> => {
    if (cache.bytes >= cache.bytesMax * NUMBERS_PART || bytes >= cache.bytesMax) return true; // It may have been told to keep less.
    return read % PAGES_AT_ONCE === 0 && !(await turn());
  };
  for (const each of chosen) {
    const snapshot = each.region.snapshot();
    try {
      for (const page of numbersOf(snapshot.files, each, cache)) {
        if (await isOver()) return read;
        bytes += vectorBytes(await page());
        read++;
      }
    } catch (error) {
      if (!(error instanceof DbError)) throw error; // A query that needs the page says why.
    } finally {
      await snapshot.release();
    }
  }
  return read;
}

/** What reads the numbers of the chosen files of a region, those of the newest file first. */
function* numbersOf(files: readonly SstFile[], { region, ids }: Chosen, cache: PageCache): Generator<() => Promise<Vector>, void> {
  for (const file of files.toReversed()) if (ids.has(file.meta.id)) yield* file.numbersAhead(region.registry, cache) ?? [];
}

async function opensNow(file: SstFile, region: Region, cache: PageCache, turn: Turn): Promise<boolean> {
  try {
    const steps = await file.openAhead(region.registry, cache, SERIES_BYTES_MAX);
    if (steps === undefined) return false;
    for (const step of steps) {
      step();
      if (!(await turn())) break;
    }
    return true;
  } catch (error) {
    if (error instanceof DbError) return false; // A query that needs the file says why.
    throw error;
  }
}

/** What was opened of a region. */
interface OpenedRegion {
  readonly files: number;
  /** All of its files are open. */
  readonly isWhole: boolean;
  /** No more is to be opened. */
  readonly isOver: boolean;
}

/** A region, and which of its files are opened. */
interface Chosen {
  readonly region: Region;
  /** Regions of its table. */
  readonly table: readonly Region[];
  readonly ids: ReadonlySet<number>;
  readonly newest: number;
}

/** The regions with the newest files, newest region first. */
async function newestOf(tables: Iterable<readonly Region[]>, turn: Turn): Promise<readonly Chosen[]> {
  const ids: number[] = [];
  const having: Omit<Chosen, "ids">[] = [];
  let looked = 0;
  for (const table of tables) {
    for (const region of table) {
      if (++looked % REGIONS_AT_ONCE === 0 && !(await turn())) return [];
      if (region.schemaNow.columns.length > COLUMNS_MAX) continue;
      let newest = 0;
      for (const { id } of region.dataFiles) {
        ids.push(id);
        newest = Math.max(newest, id);
      }
      if (newest > 0) having.push({ region, table, newest });
    }
  }
  const least = Float64Array.from(ids).sort().at(-FILES_MAX) ?? 0;
  const chosen: Chosen[] = [];
  for (const { region, table, newest } of having) {
    if (newest < least) continue;
    chosen.push({ region, table, newest, ids: new Set(region.dataFiles.flatMap(({ id }) => (id >= least ? [id] : []))) });
  }
  return chosen.sort((a, b) => b.newest - a.newest);
}

function hasFiles({ dataFiles }: Region): boolean {
  return dataFiles.length > 0;
}
