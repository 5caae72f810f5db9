/**
 * Why a value has no counterpart of another type. A cast answers with one instead of throwing: columns whose type was changed, TRY_CAST and
 * readers of files meet many of them, and make NULLs or errors of their own of them.
 */
import { DbError } from "../base/error.ts";
import { StatusCode } from "../base/status-code.ts";
import { type DataType, displayName } from "../column/data-type.ts";

/** Most characters of a value that a message quotes. */
const QUOTED_CHARACTERS_MAX = 80;

/** See the file header. The message is made when it is asked for. */
export class CastFailure {
  readonly code: StatusCode;
  private readonly say: () => string;

  constructor(say: () => string, code: StatusCode = StatusCode.EngineExecuteQuery) {
    this.say = say;
    this.code = code;
  }

  /** The error of a statement that cannot go on without the value. */
  error(): DbError {
    return new DbError(this.code, this.say());
  }
}

/** A text that is no value of a type. */
export function noValueOfText(text: string, type: DataType): CastFailure {
  return new CastFailure(() => `Cast error: Cannot cast string '${quoted(text)}' to value of ${displayName(type)} type`);
}

/** A value that a type does not hold. @param shown the value as text */
export function notHeld(shown: () => string, type: DataType): CastFailure {
  return new CastFailure(() => `Cast error: Can't cast value ${shown()} to type ${displayName(type)}`);
}

/** As much of a text as a message quotes. */
export function quoted(text: string): string {
  return text.slice(0, QUOTED_CHARACTERS_MAX);
}
