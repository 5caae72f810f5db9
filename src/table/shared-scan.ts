/** A scan that several threads run together, each some of its parts. */
import type { ScanBatch, ScanMetrics, ScanRequest, TimeRange } from "./scan.ts";

/** When a scan is cut, and how finely. */
export interface ShareLimits {
  /** Fewer rows are not worth a message. */
  readonly rowsMin: number;
  /** Rows that a part should have, about. */
  readonly partRows: number;
  readonly partsMax: number;
}

/** Some of a scan's rows: those of a range of its series in a range of times. No two parts hold rows of one series and time. */
export interface ScanPart {
  /** Places of series in the order of the scan, `[start, end)`. */
  readonly slots: { readonly start: number; readonly end: number };
  readonly timeRange: TimeRange;
  /** About. */
  readonly rowCount: number;
}

/** See the file header. */
export interface SharedScan {
  /** What other threads need: plain data for a structured clone. What it is, only the storage on both sides knows. */
  readonly snapshot: object;
  /** In the order of the scan, if it has one: rows of a part come before those of the next. */
  readonly parts: readonly ScanPart[];
  /**
   * The rows of a part, or of all, on this thread, before `release`.
   *
   * @param request as it was shared, but for `rowTests` and `unread`
   */
  scanHere(request: ScanRequest, metrics: ScanMetrics | undefined, part?: ScanPart): AsyncIterable<ScanBatch>;
  /** Lets go of the memory and files that the snapshot names; call once, when no thread reads them any more. */
  release(): Promise<void>;
}
