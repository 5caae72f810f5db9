import type { SeriesView } from "../../table/series-view.ts";
import type { TextTable } from "../../column/text-table.ts";
import type { TagColumnView } from "./series-ranks.ts";
import type { TagPostings } from "./tag-postings.ts";

/** The series of a table as scans see them: dense numbers, and tags as codes by the position of their column, which never changes. */
export interface SeriesTags extends SeriesView {
  /** Number of tag columns. */
  readonly columnCount: number;
  /** Position of a tag column by its id, or -1. */
  positionOf(columnId: number): number;
  /** Position of a tag column by its name, or -1. */
  positionOfName(name: string): number;
  /** Names of the tag columns by position. */
  columnNames(): string[];
  /** Codes of the tag column at `position`, by series number. */
  codesAt(position: number): Uint32Array;
  /** Texts of the tag column at `position`, by code. */
  textsAt(position: number): TextTable;
  /** Strings of the tag column at `position`, by code: made for all values, so ask for single ones with `textAt`. */
  dictionaryAt(position: number): readonly (string | undefined)[];
  /** The text of a code of the tag column at `position`. */
  textAt(position: number, code: number): string | undefined;
  /** Code of a value in the tag column at `position`, or -1 when no series ever had it. */
  findCode(position: number, value: string | undefined): number;
  /** Which series have a value of the tag column at `position`, up to date. */
  postingsAt(position: number): TagPostings;
  /** All series in the order of their tags. The caller must not change it. */
  order(): Uint32Array;
  /** The tag columns as they are now, in key order; a worker may read them while series are added. */
  view(): readonly TagColumnView[];
}
