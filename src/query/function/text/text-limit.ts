/** How long a text may get that a function builds. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";

/** Longest text that a function builds, in characters. Reason: `repeat` and `lpad` could fill the memory. Error: EngineExecuteQuery. */
const TEXT_CHARACTERS_MAX = 16 * 1024 * 1024;

/** @throws DbError EngineExecuteQuery when a text of `length` characters would be too long */
export function checkTextLength(length: number): void {
  if (length <= TEXT_CHARACTERS_MAX) return;
  const message = `cannot build a text of ${length} characters: at most ${TEXT_CHARACTERS_MAX} are allowed`;
  throw new DbError(StatusCode.EngineExecuteQuery, message);
}
