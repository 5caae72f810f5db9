/** The error of a catalogue that nobody serves. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";

/** What those hear who need the catalogue and do not get it. */
export function catalogueUnavailable(what: string, why: string, cause?: unknown): DbError {
  return new DbError(StatusCode.StorageUnavailable, `cannot ${what} the catalogue: ${why}`, { cause, retryAfterSeconds: 1 });
}
