/** What the thread of queries and one of long calls tell each other: one call at a time. */
import type { ToldError } from "../../base/told-error.ts";
import type { CallJob } from "../expression/long-calls.ts";
import type { Value } from "../function/value/value.ts";

/** Most expressions that a thread keeps; the one that it was sent first goes. */
export const KEPT_EXPRESSIONS_MAX = 16;

/** To the thread. */
export type ToCallThread =
  /** `expression`: unless the thread has it. */
  | {
      readonly kind: "call";
      readonly id: number;
      readonly job: Omit<CallJob, "expression">;
      readonly expression: Uint8Array<ArrayBuffer> | undefined;
    }
  /** The answer to `computed`: the value is wanted, or is not. */
  | { readonly kind: "take" | "drop"; readonly id: number };

/** From the thread. */
export type FromCallThread =
  | { readonly kind: "value"; readonly id: number; readonly value: Value }
  /** There is a large value: it comes when it is asked for. */
  | { readonly kind: "computed"; readonly id: number; readonly bytes: number }
  | { readonly kind: "failed"; readonly id: number; readonly error: ToldError };
