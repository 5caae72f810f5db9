/**
 * JSON values one after the other: `{…}{…}`, `{…}\n{…}`, `[…] {…}`. The ends of values are found by counting brackets outside strings, one
 * step a character; what stands between two ends is parsed by the runtime.
 */
import { DbError } from "../../base/error.ts";
import { FIELD_TEXT_BYTES_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { jsonValue } from "./json-value.ts";
import type { PipelineValue } from "./value.ts";
import { DOCUMENT_DEPTH_MAX, DOCUMENTS_MAX } from "./limits.ts";

/** Text that is no JSON, and where; positions count characters from 1. */
export class JsonFailure extends DbError {
  /** Whether it is only nested deeper than documents may be. */
  readonly isTooDeep: boolean;

  constructor(text: string, at: number, why: string, isTooDeep = false) {
    const before = text.slice(0, at);
    const line = before.split("\n").length;
    super(StatusCode.InvalidArguments, `Failed to parse payload as json: ${why} at line ${line} column ${at - before.lastIndexOf("\n")}`);
    this.isTooDeep = isTooDeep;
  }
}

/**
 * Calls `take` with each value, in order. What was taken before an error stays taken.
 *
 * @throws DbError InvalidArguments, and what `take` throws
 */
export function eachJson(text: string, take: (value: PipelineValue) => void): void {
  let count = 0;
  for (let at = skipBlank(text, 0); at < text.length; at = skipBlank(text, at)) {
    if (++count > DOCUMENTS_MAX) throw new JsonFailure(text, at, `more than ${DOCUMENTS_MAX} values in one request`);
    const end = endOfValue(text, at);
    if (end - at > FIELD_TEXT_BYTES_MAX && text.charCodeAt(at) !== 0x5b /* [ */) {
      throw new JsonFailure(text, at, `a document of ${end - at} characters, at most ${FIELD_TEXT_BYTES_MAX}`);
    }
    take(parsed(text, at, end));
    at = end;
  }
}

function parsed(text: string, start: number, end: number): PipelineValue {
  try {
    return jsonValue(text.slice(start, end));
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof RangeError)) throw error;
    throw new JsonFailure(text, start, error.message);
  }
}

function skipBlank(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
  }
  return at;
}

/** Where the value that begins at `start` ends. Brackets need not match in kind: the parser sees that. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // '"'
        at = endOfString(text, at);
        if (depth === 0) return at + 1;
        break;
      case 0x7b: // '{'
      case 0x5b: // '['
        if (depth === 0 && at > start) return at;
        if (++depth > DOCUMENT_DEPTH_MAX) throw new JsonFailure(text, at, `nested deeper than ${DOCUMENT_DEPTH_MAX} levels`, true);
        break;
      case 0x7d: // '}'
      case 0x5d: // ']'
        if (--depth <= 0) return at + 1;
        break;
      case 0x20:
      case 0x0a:
      case 0x0d:
      case 0x09:
        if (depth === 0) return at;
        break;
    }
  }
  if (depth > 0) throw new JsonFailure(text, text.length, "the text ends inside a value");
  return text.length;
}

/** Position of the quote that closes the string opened at `open`. */
function endOfString(text: string, open: number): number {
  for (let at = open + 1; ; at++) {
    at = text.indexOf('"', at);
    if (at < 0) throw new JsonFailure(text, text.length, "the text ends inside a string");
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 0x5c /* \ */) slashes++;
    if (slashes % 2 === 0) return at;
  }
}

/** Whether a text may be nested deeper than documents may be: counts brackets, also those in strings, which is an upper bound. */
export function mayBeTooDeep(text: string): boolean {
  let open = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code === 0x7b || code === 0x5b) && ++open > DOCUMENT_DEPTH_MAX) return true;
  }
  return false;
}
