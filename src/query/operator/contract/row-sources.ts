/** Where rows come from that the server computes: what the operators of a query ask, by the name that the plan holds. */
import type { Pace } from "../../../base/scheduler/pace.ts";
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { ScanMetrics } from "../../../table/scan.ts";
import type { ServerSource } from "../source/node.ts";

/** What a source may take of the query that reads it. */
export interface SourceRun {
  readonly signal: AbortSignal;
  readonly pace: Pace;
  /** Memory that it holds between batches. */
  readonly budget: { readonly reserve: (bytes: number) => void; readonly release: (bytes: number) => void };
  /** The columns that its rows have. */
  readonly columns: readonly ColumnHeader[];
  /** How many rows are wanted, where that is known: a source that is as long as is wanted gives as many. */
  readonly rowsWanted: number | undefined;
  /** What scans of the source count into, for EXPLAIN ANALYZE; undefined: nobody asks. */
  readonly scan: ScanMetrics | undefined;
}

/** See the file header. */
export interface RowSources {
  /** The rows, which are computed when they are asked for. @throws DbError those of the source */
  open(source: ServerSource, run: SourceRun): Iterable<Batch> | AsyncIterable<Batch>;
}

/** Of a place that computes none, such as a thread that runs parts of scans. */
export const NO_SOURCES: RowSources = {
  open: ({ kind }) => {
    throw new DbError(StatusCode.Unsupported, `cannot run query: rows of ${kind} are not computed here`);
  },
};
