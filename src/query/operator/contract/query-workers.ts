/** What runs fragments of plans beside this thread. */
import type { TextTable } from "../../../column/text-table.ts";
import type { SeriesRuns } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import type { ScanPart, ShareLimits } from "../../../table/shared-scan.ts";
import type { Environment } from "../../function/signature/environment.ts";
import type { NodeMetrics } from "./node-metrics.ts";

/** Texts of a dictionary from `start` on; what is before was sent with earlier batches of the column. */
export interface PlainDictionary {
  readonly kind: "dictionary";
  readonly codes: Uint32Array;
  readonly start: number;
  readonly texts: readonly (string | undefined)[];
}

/** Text by code; without entries, of those that came with the batch of the column that had some last. */
export interface PlainCoded {
  readonly kind: "coded";
  readonly codes: Uint32Array;
  readonly entries: TextTable | undefined;
}

/** A column between threads. */
export type PlainVector = Exclude<Vector, { kind: "dictionary" | "coded" }> | PlainDictionary | PlainCoded;

/** A batch between threads. */
export interface PlainBatch {
  readonly rowCount: number;
  readonly vectors: readonly PlainVector[];
  readonly runs: SeriesRuns | undefined;
}

/** A fragment over the parts of one scan. */
export interface FragmentJob {
  /** The bytes of a scan of the snapshot's table with operators above it (`plan-bytes.ts`). */
  readonly plan: Uint8Array<ArrayBuffer>;
  /** Of the table, as `SharedScan.snapshot`. */
  readonly snapshot: object;
  readonly environment: Omit<Environment, "placeholders">;
  /** Most bytes that one part holds between batches. */
  readonly memoryBytesMax: number;
  readonly wantsMetrics: boolean;
  /** Whether rows have to say of which series they are. */
  readonly wantsRuns: boolean;
  /**
   * Whether parts are begun together and each is read to its end before the next: what they give may come one after the other. Absent:
   * they are read as they are needed.
   */
  readonly isReadInOrder?: boolean;
}

/** The memory of the query. */
export interface FragmentBudget {
  /** @throws DbError RuntimeResourcesExhausted */
  reserve(bytes: number): void;
  release(bytes: number): void;
}

/** What one part gave since it was last asked. */
export interface Pulled {
  readonly batches: readonly PlainBatch[];
  /** Of `batches`. */
  readonly bytes: number;
  /** Whether there is no more. */
  readonly isDone: boolean;
  /** Milliseconds of work. */
  readonly workMs: number;
  /** With `isDone`, if wanted: of the scan, then of each step. */
  readonly metrics: readonly NodeMetrics[] | undefined;
}

/** A fragment under way. */
export interface OpenFragment {
  /**
   * Goes on with a part until it has given about `bytesMax`, or ended. A part is not asked again before it has answered.
   *
   * @param part one of each shard at most
   * @throws DbError what running it threw, Cancelled after `close`, External when its thread died
   */
  pull(index: number, part: readonly ScanPart[], bytesMax: number): Promise<Pulled>;
  /** Ends all parts; resolves when no thread reads the snapshot any more. */
  close(): Promise<void>;
}

/** See the file header. */
export interface QueryWorkers {
  readonly limits: ShareLimits;
  /** Parts that may be under way at a time. */
  readonly threads: number;
  /** Whether scans go to other threads from the start; else a query begins on its own, which does a part itself. */
  readonly sharesRows: boolean;
  /** Whether a part is all of the table's rows that some node has, which knows their times. Absent: it is not. */
  readonly walksTimes?: boolean;
  /** Milliseconds after which a query that began alone is helped. */
  readonly aloneMs: number;
  /** Groups from which on they are many. */
  readonly groupsMin: number;
  /** Whether another fragment may be opened now. */
  readonly hasRoom: boolean;
  /** @param budget counts what the fragment's parts hold while they run */
  openFragment(job: FragmentJob, budget: FragmentBudget): OpenFragment;
}
