/** What the thread of queries and its workers tell each other. */
import type { ToldError } from "../../base/told-error.ts";
import type { ScanPart } from "../../table/shared-scan.ts";
import type { FragmentJob, Pulled } from "../operator/contract/query-workers.ts";

/** Words of the memory that a fragment and its workers share: whether it is over, and how much its parts hold, in KiB. */
export const CONTROL_WORDS = { isOver: 0, heldKib: 1 } as const;

/** To a worker. A `pull` of a fragment comes after its `open`, and nothing of it after its `close`. */
export type ToQueryWorker =
  | { readonly kind: "open"; readonly fragment: number; readonly job: FragmentJob; readonly control: Int32Array }
  | {
      readonly kind: "pull";
      readonly fragment: number;
      readonly index: number;
      readonly part: readonly ScanPart[];
      readonly bytesMax: number;
    }
  | { readonly kind: "close"; readonly fragment: number }
  /** Pages to let go of, or room for some more. */
  | { readonly kind: "cache"; readonly giveBack: number | undefined };

/** From a worker: one answer to each `pull` and `close`. */
export type FromQueryWorker =
  | { readonly kind: "pulled"; readonly fragment: number; readonly pulled: Pulled; readonly cacheBytes: number }
  | {
      readonly kind: "failed";
      readonly fragment: number;
      readonly error: ToldError;
      readonly cacheBytes: number;
    }
  | { readonly kind: "closed"; readonly fragment: number; readonly cacheBytes: number }
  | { readonly kind: "warning"; readonly text: string };
