/** What the page and the thread that holds answers tell each other. */

/** A column of an answer. */
export interface AnswerColumn {
  readonly name: string;
  /** The server's name of its type, e.g. `TimestampNanosecond`. */
  readonly type: string;
}

/** Asks for an answer. */
export interface FetchAsk {
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How the body is read: rows of SQL, or a matrix or vector of PromQL. */
  readonly form: "sql" | "prometheus";
}

/** What an answer is, without its rows. */
export interface AnswerHead {
  readonly columns: readonly AnswerColumn[];
  readonly rowCount: number;
  /** Rows changed, where the statement changes some. */
  readonly affectedRows: number | undefined;
  readonly bytes: number;
  /** What the server says it worked, in milliseconds. */
  readonly serverMs: number | undefined;
  /** From the request to the last byte, in milliseconds. */
  readonly wallMs: number;
  /** Longest text of each column in its first rows, in letters. */
  readonly widths: readonly number[];
  /** Labels of each series, where the answer is one of series. */
  readonly warnings: readonly string[];
}

/** Lines of a chart. Points are thinned out to what a screen shows: the least and the greatest of each stretch. */
export interface ChartData {
  /** Seconds since 1970, ascending; one axis for all lines. */
  readonly x: Float64Array;
  readonly lines: readonly { readonly label: string; readonly y: Float64Array }[];
  /** Lines that were left out, since a chart of more cannot be read. */
  readonly leftOut: number;
}

/** What to draw. */
export interface ChartAsk {
  readonly x: number;
  readonly ys: readonly number[];
  /** Columns whose values name a line. */
  readonly groups: readonly number[];
  readonly pointsMax: number;
}

/** A request of the page, numbered. */
export type ToAnswers =
  | { readonly id: number; readonly kind: "fetch"; readonly ask: FetchAsk }
  | { readonly id: number; readonly kind: "rows"; readonly from: number; readonly to: number }
  | { readonly id: number; readonly kind: "sort"; readonly column: number; readonly descending: boolean }
  | { readonly id: number; readonly kind: "chart"; readonly ask: ChartAsk }
  | { readonly id: number; readonly kind: "csv" }
  | { readonly kind: "cancel" };

/** Its answer; `failed` has the reason and the status. */
export type FromAnswers =
  | { readonly id: number; readonly kind: "done"; readonly value: unknown }
  | { readonly id: number; readonly kind: "failed"; readonly status: number; readonly reason: string }
  | { readonly kind: "progress"; readonly bytes: number };
