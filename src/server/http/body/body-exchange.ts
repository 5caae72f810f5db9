/** What of a request its body needs. */
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
  /** Seconds without a byte after which this connection is dropped from now on; 0 = never. */
  setIdleTimeout(seconds: number): void;
}
