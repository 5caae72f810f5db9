/** What of a request its body needs. */
import type { IngestCounts } from "../../../db/ingest-counts.ts";
import type { PaceLimits } from "../limits.ts";
import type { BodyShare } from "./in-flight.ts";

/** See the file header. */
export interface BodyExchange {
  readonly request: Request;
  /** Fires when the client leaves or the request times out. */
  readonly signal: AbortSignal;
  /** What the body takes of the memory for bodies: nothing before it is read; given back when the answer is ready. */
  readonly share: BodyShare;
  /** How slowly the body may come in. */
  readonly pace: PaceLimits;
  /** What its bytes are counted for, where it brings rows. */
  readonly ingest?: IngestCounts | undefined;
  /** Seconds without a byte after which this connection is dropped from now on; 0 = never. */
  setIdleTimeout(seconds: number): void;
}
