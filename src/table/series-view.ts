/** The tags of a table's series as codes, for group-by and predicates without a string a row. */
export interface SeriesView {
  /** Number of series known; series numbers are below it. Grows. */
  readonly count: number;
  /** Code of one tag column for each series; 0 is NULL. Longer than `count`; valid until the next batch is asked for. */
  codesOf(column: string): Uint32Array;
  /** Value of one tag column of one series; undefined is NULL. */
  tagOf(column: string, series: number): string | undefined;
  /** Whether the column has had this value, in series known so far. */
  hasValue(column: string, value: string): boolean;
  /** Values by code; index 0 is undefined (NULL). Grows at its end. Makes a string of every value that the column has: prefer `tagOf`. */
  dictionaryOf(column: string): readonly (string | undefined)[];
  /** Tells the tags that a series has, in any order: where there are very many columns, of which each series has few. */
  eachTagOf?(series: number, each: (column: string, value: string) => void): void;
}
