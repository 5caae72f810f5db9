/**
 * Splits the raw key of a new series, `measurement,tag=value,...`, and checks it.
 *
 * A delimiter counts unless a backslash stands right before it. Control characters, tag keys that come twice and empty names or values
 * are refused. A key of ASCII without a backslash, as nearly all are, becomes one string that names and values are cut from.
 */
import { NAME_BYTES_MAX, SERIES_KEY_BYTES_MAX } from "../../base/limits.ts";
import { type Failure, Reason } from "./failure.ts";
import { unescapeName } from "./name.ts";
import { isUtf8 } from "./utf8.ts";

/** A key in parts; `names[i]` has `values[i]`. */
export interface KeyParts {
  readonly measurement: string;
  readonly names: readonly string[];
  readonly values: readonly string[];
}

/** Tags up to which names are compared with each other; beyond, a set tells whether one comes twice. */
const FEW_TAGS = 16;

const utf8 = new TextDecoder();

/** The parts of the key `bytes[start, end)`, which holds no byte below 0x20; undefined, and the reason in `failure`, when refused. */
export function splitKey(bytes: Uint8Array, start: number, end: number, failure: Failure): KeyParts | undefined {
  let seen = 0;
  let backslash = false;
  let deleted = -1;
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    seen |= byte;
    if (byte === 0x5c) backslash = true;
    else if (byte === 0x7f) deleted = i;
  }
  if (end - start > SERIES_KEY_BYTES_MAX) return refuse(failure, Reason.KeyLength, start, end);
  if (deleted >= 0) return refuse(failure, Reason.Control, deleted, deleted + 1);
  if (seen >= 0x80 && !isUtf8(bytes, start, end)) return refuse(failure, Reason.Utf8, start, end);
  const text = backslash || seen >= 0x80 ? undefined : utf8.decode(bytes.subarray(start, end));
  const piece = (from: number, to: number): string =>
    text === undefined ? unescapeName(bytes, from, to) : text.slice(from - start, to - start);
  const measurementEnd = delimiter(bytes, start, end, 0x2c, 0x2c);
  if (measurementEnd === start) return refuse(failure, Reason.EmptyMeasurement, start, end);
  if (measurementEnd - start > NAME_BYTES_MAX) return refuse(failure, Reason.NameLength, start, measurementEnd);
  const names: string[] = [];
  const values: string[] = [];
  for (let at = measurementEnd; at < end; ) {
    const nameStart = at + 1;
    const nameEnd = delimiter(bytes, nameStart, end, 0x3d, 0x2c);
    const valueStart = nameEnd + 1;
    if (nameEnd === nameStart || nameEnd === end || bytes[nameEnd] !== 0x3d) return refuse(failure, Reason.TagSyntax, nameStart, end);
    const valueEnd = delimiter(bytes, valueStart, end, 0x3d, 0x2c);
    if (valueEnd === valueStart || (valueEnd < end && bytes[valueEnd] === 0x3d)) return refuse(failure, Reason.TagSyntax, nameStart, end);
    if (nameEnd - nameStart > NAME_BYTES_MAX) return refuse(failure, Reason.NameLength, nameStart, nameEnd);
    names.push(piece(nameStart, nameEnd));
    values.push(piece(valueStart, valueEnd));
    at = valueEnd;
  }
  const twice = repeated(names);
  if (twice !== undefined) {
    failure.column = twice;
    return refuse(failure, Reason.DuplicateTag, start, end);
  }
  const measurement = text === undefined ? unescapeName(bytes, start, measurementEnd, false) : text.slice(0, measurementEnd - start);
  return { measurement, names, values };
}

function refuse(failure: Failure, reason: Reason, start: number, end: number): undefined {
  failure.at(reason, start, end);
  return undefined;
}

function repeated(names: readonly string[]): string | undefined {
  if (names.length > FEW_TAGS) {
    const seen = new Set<string>();
    for (const name of names) {
      if (seen.has(name)) return name;
      seen.add(name);
    }
    return undefined;
  }
  for (let i = 1; i < names.length; i++) {
    for (let j = 0; j < i; j++) if (names[i] === names[j]) return names[i];
  }
  return undefined;
}

/** Position in `[start, end)` of the first unescaped `a` or `b`, or `end`. */
function delimiter(bytes: Uint8Array, start: number, end: number, a: number, b: number): number {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if ((byte === a || byte === b) && !(at > start && bytes[at - 1] === 0x5c)) return at;
  }
  return end;
}
