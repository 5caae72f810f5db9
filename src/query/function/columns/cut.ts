/** Parts of texts, as ranges of the same bytes: `substr`, `left`, `right`, `trim`, `split_part`. Characters are counted from 1. */
import { isAscii } from "node:buffer";
import type { Texts } from "../../../column/texts.ts";
import type { NumberArray, Validity } from "../../../column/vector.ts";
import type { ColumnFunction, ConstantOperand, Operand } from "../signature/column-function.ts";
import { constantBytes, numbersOfOperand, texts as textOperand, textsOfOperand } from "./operand.ts";

/** Where the character `count` characters behind `at` begins; `end` where there are fewer. */
function forward(bytes: Uint8Array, at: number, end: number, count: number): number {
  let place = at;
  for (let left = count; left > 0 && place < end; left--) {
    place++;
    while (place < end && ((bytes[place] as number) & 0xc0) === 0x80) place++;
  }
  return place;
}

/** Where the character `count` characters before `at` begins; `start` where there are fewer. */
function backward(bytes: Uint8Array, start: number, at: number, count: number): number {
  let place = at;
  for (let left = count; left > 0 && place > start; left--) {
    place--;
    while (place > start && ((bytes[place] as number) & 0xc0) === 0x80) place--;
  }
  return place;
}

/** Ranges to be filled, of the bytes of other texts. */
interface Cut {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

const cutOf = (rowCount: number): Cut => ({ starts: new Uint32Array(rowCount), ends: new Uint32Array(rowCount) });

const asOperand = (given: Texts, cut: Cut, validity: Validity): Operand => textOperand({ ...given, ...cut, validity });

/** `substr(text, start[, length])`. */
export const substrings: ColumnFunction = ([text, start, length], { rowCount, present, environment }) => {
  const given = textsOfOperand(text, rowCount);
  if (given === undefined) return undefined;
  if (given.ascii && isWhole(start) && (length === undefined || (isWhole(length) && length.value >= 0))) {
    return asOperand(given, cutAt(given, start.value, length?.value, rowCount), present);
  }
  const from = numbersOfOperand(start, rowCount);
  if (from === undefined) return undefined;
  if (length === undefined) return asOperand(given, cutFrom(given, from, undefined, rowCount), present);
  const count = numbersOfOperand(length, rowCount);
  if (count === undefined) return undefined;
  // Elsewhere a length below 0 is an error, which the interpreter tells.
  if (environment.isMysql !== true && hasNegative(count, present, rowCount)) return undefined;
  return asOperand(given, cutFrom(given, from, count, rowCount), present);
};

const isWhole = (operand: Operand | undefined): operand is ConstantOperand & { readonly value: number } =>
  operand?.kind === "constant" && typeof operand.value === "number";

/** The same place in all rows, of ASCII. */
function cutAt({ starts, ends }: Texts, from: number, count: number | undefined, rowCount: number): Cut {
  const skipped = Math.max(from - 1, 0);
  const kept = count === undefined ? 0xffff_ffff : Math.min(Math.max(from - 1 + count - skipped, 0), 0xffff_ffff);
  const cut = { starts: skipped === 0 ? starts : new Uint32Array(rowCount), ends: new Uint32Array(rowCount) };
  for (let row = 0; row < rowCount; row++) {
    const end = ends[row] as number;
    let begin = starts[row] as number;
    if (skipped !== 0) {
      begin = begin + skipped < end ? begin + skipped : end;
      cut.starts[row] = begin;
    }
    cut.ends[row] = begin + kept < end ? begin + kept : end;
  }
  return cut;
}

function hasNegative(counts: NumberArray, present: Validity, rowCount: number): boolean {
  for (let row = 0; row < rowCount; row++) if ((counts[row] as number) < 0 && (present === undefined || present[row] !== 0)) return true;
  return false;
}

function cutFrom({ bytes, starts, ends, ascii }: Texts, from: NumberArray, counts: NumberArray | undefined, rowCount: number): Cut {
  const cut = cutOf(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const start = starts[row] as number;
    const end = ends[row] as number;
    const first = (from[row] as number) - 1;
    const skipped = first > 0 ? first : 0;
    let kept = Number.POSITIVE_INFINITY;
    if (counts !== undefined) {
      const count = counts[row] as number;
      kept = first + (count > 0 ? count : 0) - skipped;
      if (!(kept > 0)) kept = 0;
    }
    if (ascii) {
      const begin = start + skipped < end ? start + skipped : end;
      cut.starts[row] = begin;
      cut.ends[row] = begin + kept < end ? begin + kept : end;
    } else {
      const begin = forward(bytes, start, end, skipped);
      cut.starts[row] = begin;
      cut.ends[row] = forward(bytes, begin, end, kept);
    }
  }
  return cut;
}

/** `left(text, count)`: a negative count leaves off that many at the end. */
export const leftParts: ColumnFunction = ([text, count], { rowCount, present }) => {
  const given = textsOfOperand(text, rowCount);
  const counts = numbersOfOperand(count, rowCount);
  if (given === undefined || counts === undefined) return undefined;
  const { bytes, starts, ends } = given;
  const cut = cutOf(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const start = starts[row] as number;
    const end = ends[row] as number;
    const kept = counts[row] as number;
    cut.starts[row] = start;
    cut.ends[row] = kept >= 0 ? forward(bytes, start, end, kept) : backward(bytes, start, end, -kept);
  }
  return asOperand(given, cut, present);
};

/** `right(text, count)`: a negative count leaves off that many at the start. */
export const rightParts: ColumnFunction = ([text, count], { rowCount, present }) => {
  const given = textsOfOperand(text, rowCount);
  const counts = numbersOfOperand(count, rowCount);
  if (given === undefined || counts === undefined) return undefined;
  const { bytes, starts, ends } = given;
  const cut = cutOf(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const start = starts[row] as number;
    const end = ends[row] as number;
    const kept = counts[row] as number;
    cut.starts[row] = kept >= 0 ? backward(bytes, start, end, kept) : forward(bytes, start, end, -kept);
    cut.ends[row] = end;
  }
  return asOperand(given, cut, present);
};

const BLANK = Uint8Array.of(0x20);

/** `trim(text[, characters])` and its kin, of characters that are ASCII. */
export function trims(atStart: boolean, atEnd: boolean): ColumnFunction {
  return ([text, characters], { rowCount, present }) => {
    const given = textsOfOperand(text, rowCount);
    const dropped = characters === undefined ? BLANK : constantBytes(characters);
    if (given === undefined || dropped === undefined || !isAscii(dropped)) return undefined;
    const drops = new Uint8Array(256);
    for (const byte of dropped) drops[byte] = 1;
    return asOperand(given, trimmed(given, rowCount, drops, atStart, atEnd), present);
  };
}

function trimmed({ bytes, starts, ends }: Texts, rowCount: number, drops: Uint8Array, atStart: boolean, atEnd: boolean): Cut {
  const cut = cutOf(rowCount);
  for (let row = 0; row < rowCount; row++) {
    let start = starts[row] as number;
    let end = ends[row] as number;
    if (atStart) while (start < end && drops[bytes[start] as number] === 1) start++;
    if (atEnd) while (end > start && drops[bytes[end - 1] as number] === 1) end--;
    cut.starts[row] = start;
    cut.ends[row] = end;
  }
  return cut;
}

/** Longest separator: `placeOf` may look at all of it at each byte. */
const SEPARATOR_BYTES_MAX = 64;

/** `split_part(text, separator, index)` with a constant separator and index; from the end only where no two separators can overlap. */
export const splitParts: ColumnFunction = ([text, separator, index], { rowCount, present }) => {
  const given = textsOfOperand(text, rowCount);
  const bytes = constantBytes(separator);
  const wanted = index?.kind === "constant" ? index.value : undefined;
  if (given === undefined || bytes === undefined || typeof wanted !== "number" || wanted === 0 || bytes.length === 0) return undefined;
  if ((wanted < 0 && bytes.length > 1) || bytes.length > SEPARATOR_BYTES_MAX) return undefined;
  const cut = cutOf(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const [start, end] = [given.starts[row] as number, given.ends[row] as number];
    if (wanted > 0) splitFromStart(given.bytes, start, end, bytes, wanted, cut, row);
    else splitFromEnd(given.bytes, start, end, bytes[0] as number, -wanted, cut, row);
  }
  return asOperand(given, cut, present);
};

function splitFromStart(bytes: Uint8Array, start: number, end: number, separator: Uint8Array, wanted: number, cut: Cut, row: number): void {
  let begin = start;
  for (let part = 1; ; part++) {
    const at = placeOf(bytes, begin, end, separator);
    if (part === wanted || at < 0) {
      cut.starts[row] = part === wanted ? begin : start;
      cut.ends[row] = part === wanted ? (at < 0 ? end : at) : start;
      return;
    }
    begin = at + separator.length;
  }
}

function splitFromEnd(bytes: Uint8Array, start: number, end: number, separator: number, wanted: number, cut: Cut, row: number): void {
  let stop = end;
  for (let part = 1; ; part++) {
    let begin = stop;
    while (begin > start && bytes[begin - 1] !== separator) begin--;
    if (part === wanted || begin === start) {
      cut.starts[row] = part === wanted ? begin : start;
      cut.ends[row] = part === wanted ? stop : start;
      return;
    }
    stop = begin - 1;
  }
}

/** Where a text of at least one byte first lies in a range, or -1. For short texts: at worst it looks at all of it at each place. */
export function placeOf(bytes: Uint8Array, start: number, end: number, part: Uint8Array): number {
  const first = part[0] as number;
  const last = end - part.length;
  for (let at = start; at <= last; at++) {
    if (bytes[at] !== first) continue;
    let i = 1;
    while (i < part.length && bytes[at + i] === part[i]) i++;
    if (i === part.length) return at;
  }
  return -1;
}
