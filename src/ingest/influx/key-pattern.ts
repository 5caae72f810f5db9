/**
 * What the raw keys of one tag shape have in common: the bytes between their values. A new series nearly always has the shape of the one
 * before it, and then needs no string to be told from a bad line.
 *
 *   cpu,host=web-1,region=eu      pieces: `cpu,host=` `,region=`      values: whatever lies between, without `,` `=` `\`, ASCII only
 *
 * New series of decode.bench.ts: 1.0 M rows/s when each was split into strings, 2.1 M with patterns.
 */
import { assert } from "../../base/assert.ts";
import { SERIES_KEY_BYTES_MAX } from "../../base/limits.ts";
import type { TagShape } from "../../table/series-dictionary.ts";

/** Bytes that stand before each value. */
export type KeyPattern = readonly Uint8Array[];

const encoder = new TextEncoder();

/** 1 for bytes that do not stand in a plain value: `,` ends it, the others make the key one that must be looked at more closely. */
const ENDS_VALUE: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === 0x2c || byte === 0x3d || byte === 0x5c || byte >= 0x7f ? 1 : 0,
);

/** The pattern of a shape with tags; names and measurement hold no delimiter and no backslash. */
export function keyPattern(measurement: string, names: readonly string[]): KeyPattern {
  return names.map((name, i) => encoder.encode(i === 0 ? `${measurement},${name}=` : `,${name}=`));
}

/** Whether `bytes[start, end)` is a good key of the pattern. False may also mean that the key must be looked at more closely. */
export function fitsPattern(bytes: Uint8Array, start: number, end: number, pattern: KeyPattern): boolean {
  if (end - start > SERIES_KEY_BYTES_MAX) return false;
  let at = start;
  for (let p = 0; p < pattern.length; p++) {
    const piece = pattern[p]!;
    const valueStart = at + piece.length;
    if (valueStart >= end) return false;
    for (let i = 0; i < piece.length; i++) if (bytes[at + i] !== piece[i]) return false;
    at = valueStart;
    while (at < end && ENDS_VALUE[bytes[at]!] === 0) at++;
    if (at === valueStart || (at < end && bytes[at] !== 0x2c)) return false;
  }
  return at === end;
}

/** Bytes before each value of plain keys: `TagShape.gaps`. */
export function keyGaps(measurement: string, names: readonly string[]): readonly number[] {
  return keyPattern(measurement, names).map(({ length }) => length);
}

/** Finds the values of a good key without backslashes: a `ValueLocator`. */
export function locateValues(bytes: Uint8Array, start: number, end: number, shape: TagShape, spans: Uint32Array, at: number): void {
  const { gaps } = shape;
  if (gaps === undefined) assert(false, `the shape of plain keys of ${shape.table} says what stands before values`);
  let from = start;
  let span = at;
  for (let i = 0; i < (gaps as readonly number[]).length; i++) {
    from += (gaps as readonly number[])[i]!;
    spans[span++] = from;
    while (from < end && bytes[from] !== 0x2c) from++;
    spans[span++] = from;
  }
}
