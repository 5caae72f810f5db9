/** The answers that refuse a request, with the codes by which senders know them (contract ingest.md 7.2). */
import type { Refusal } from "./types.ts";

function refusal(text: string, code: number): Refusal {
  return { kind: "refused", text, code };
}

/** An empty body. */
export const NO_DATA: Refusal = refusal("No data", 5);
/** What is no event, or has a time that is none. */
export const INVALID_FORMAT: Refusal = refusal("Invalid data format", 6);
/** A table that cannot be. */
export const INVALID_INDEX: Refusal = refusal("Incorrect index", 7);
/** An object without `event`. */
export const EVENT_REQUIRED: Refusal = refusal("Event field is required", 12);
/** An `event` of blanks. */
export const EVENT_BLANK: Refusal = refusal("Event field cannot be blank", 13);

/** A body that cannot be read, with the reason. */
export function invalidFormat(reason: string): Refusal {
  return refusal(reason, INVALID_FORMAT.code);
}
