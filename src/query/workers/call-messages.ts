/** What the thread of queries and that of long calls tell each other: one answer to each call, in order. */
import type { StatusCode } from "../../base/status-code.ts";
import type { Value } from "../function/value.ts";
import type { CallJob } from "../exec/long-calls.ts";

/** To the thread. */
export interface ToCallThread {
  readonly id: number;
  readonly job: CallJob;
}

/** From the thread. `stack` is of a bug. */
export type FromCallThread =
  | { readonly kind: "value"; readonly id: number; readonly value: Value }
  | {
      readonly kind: "failed";
      readonly id: number;
      readonly code: StatusCode;
      readonly message: string;
      readonly stack: string | undefined;
    };
