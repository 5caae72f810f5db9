/** The tags of a table's series as codes, for group-by and predicates without a string a row. */
export interface SeriesView {
  /** Number of series known; series numbers are below it. Grows. */
  readonly count: number;
  /** Code of one tag column for each series; 0 is NULL. Longer than `count`; valid until the next batch is asked for. */
  codesOf(column: string): Uint32Array;
  /** Value of one tag column of one series; undefined is NULL. */
  tagOf(column: string, series: number): string | undefined;
  /** Values by code; index 0 is undefined (NULL). Grows at its end. Makes a string of every value that the column has: prefer `tagOf`. */
  dictionaryOf(column: string): readonly (string | undefined)[];
}
