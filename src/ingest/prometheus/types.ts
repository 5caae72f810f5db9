/**
 * What the remote-write decoders take and give.
 */
import type { WriteBatch } from "../../table/write-batch.ts";

/** What is done about texts that are not UTF-8. A JavaScript string cannot hold them, so "unchecked" replaces as "lossy" does. */
export type ValidationMode = "strict" | "lossy" | "unchecked";

/** How a decoder works, for all of its requests. */
export interface RemoteWriteOptions {
  readonly validation: ValidationMode;
  /** False: every metric is an ordinary table. */
  readonly metricEngine: boolean;
  /** Physical table of series that name none. */
  readonly physicalTable: string;
  /** Names of the columns of tables made on the way; no label may have them. */
  readonly timeColumn: string;
  readonly valueColumn: string;
  /** Column of native histograms of version 2; absent: they are refused. */
  readonly histogramColumn?: string;
  /** Whether a metric, or a physical table, may be a table. */
  readonly acceptsTable: (name: string) => boolean;
}

/** Rows of one database, for one write. */
export interface RemoteWriteBatch {
  /** Undefined: the request's own. */
  readonly database: string | undefined;
  readonly physicalTable: string;
  readonly batch: WriteBatch;
  readonly rowCount: number;
  /** What the rows are: numbers, or native histograms. */
  readonly kind: "samples" | "histograms";
  /** What version 2 says of the metrics of this write whose tables may not exist yet. */
  readonly declared: Readonly<Record<string, string>>;
}

/** Samples of one request. */
export interface RemoteWriteResult {
  /** Borrowed: valid until the next `decode` of the same decoder. */
  readonly batches: readonly RemoteWriteBatch[];
  readonly rowCount: number;
}
