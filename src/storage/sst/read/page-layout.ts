import type { ParquetFile } from "../../../format/parquet/reading/file.ts";
import type { PageDictionary } from "../../../format/parquet/types.ts";
import { columnsById } from "./columns-by-id.ts";

/** What a file holds in memory, about: footer and column names; statistics of a page of one column. */
const BYTES_PER_FILE = 16 * 1024;
const BYTES_PER_PAGE = 64;

/** Where the pages of a file are. */
export class PageLayout {
  /** Page p is rows `[starts[p], starts[p + 1])`. */
  readonly starts: Uint32Array;
  readonly groups: Uint32Array;
  readonly groupFirstPages: Uint32Array;
  readonly columnOfId: ReadonlyMap<number, number>;
  /** Pages of all columns. */
  readonly pageCount: number;
  /** Keys of the cache: one a page of a column, and one a column for its last rows. */
  readonly keyCount: number;
  /** By row group and column. */
  readonly dictionaries: Map<number, PageDictionary> = new Map();
  /** About what is held in memory, the footer included. */
  readonly byteLength: number;

  constructor(parquet: ParquetFile) {
    const starts: number[] = [];
    const groups: number[] = [];
    const firstPages: number[] = [];
    for (let g = 0; g < parquet.rowGroups.length; g++) {
      const group = parquet.rowGroups[g];
      if (group === undefined) continue;
      const pages = parquet.pageIndex(g, 0);
      firstPages.push(starts.length);
      for (let p = 0; p < pages.pageCount; p++) {
        starts.push(group.firstRow + (pages.rowStarts[p] as number));
        groups.push(g);
      }
    }
    starts.push(parquet.rowCount);
    this.starts = Uint32Array.from(starts);
    this.groups = Uint32Array.from(groups);
    this.groupFirstPages = Uint32Array.from(firstPages);
    this.columnOfId = columnsById(parquet);
    this.pageCount = parquet.columns.length * groups.length;
    this.keyCount = this.pageCount + parquet.columns.length;
    this.byteLength = BYTES_PER_FILE + this.pageCount * BYTES_PER_PAGE;
  }
}
