/**
 * Texts that begin with, end with or hold a constant.
 *
 * Where the rows lie behind each other, one search of the runtime goes over the bytes of all of them and stops where something is found: it
 * costs by bytes and hits, not by rows. What it finds across the border of two rows counts for neither, and it goes on at the second.
 */
import type { Texts } from "../../../column/texts.ts";
import type { ColumnFunction, Operand } from "../signature/column-function.ts";
import { placeOf } from "./cut.ts";
import { characterCount } from "./letters.ts";
import { constantBytes, numbers, textsOfOperand } from "./operand.ts";

/** What stands for "nowhere". */
export const NOWHERE = 0xffff_ffff;
/** Longest text that is looked for over all rows at once, or byte by byte: at worst it is compared once a row or byte. */
const SHORT_PART_BYTES = 64;

/** Where a text first lies in each row: a position in `bytes`, or `NOWHERE`. */
export function firstPlaces(texts: Texts, rowCount: number, part: Uint8Array): Uint32Array {
  const places = new Uint32Array(rowCount);
  if (part.length === 0) {
    places.set(texts.starts.subarray(0, rowCount));
    return places;
  }
  places.fill(NOWHERE);
  if (rowCount === 0) return places;
  if (part.length > SHORT_PART_BYTES) longPlaces(texts, rowCount, part, places);
  else if (texts.ascending) placesOverAll(texts, rowCount, part, places);
  else {
    const { bytes, starts, ends } = texts;
    for (let row = 0; row < rowCount; row++) {
      const at = placeOf(bytes, starts[row] as number, ends[row] as number, part);
      if (at >= 0) places[row] = at;
    }
  }
  return places;
}

function placesOverAll({ bytes, starts, ends }: Texts, rowCount: number, part: Uint8Array, places: Uint32Array): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, ends[rowCount - 1] as number);
  let row = 0;
  for (let from = starts[0] as number; ; ) {
    const at = buffer.indexOf(part, from);
    if (at < 0) return;
    while ((ends[row] as number) <= at) row++;
    const start = starts[row] as number;
    const end = ends[row] as number;
    if (at < start) from = start;
    else {
      if (at + part.length <= end) places[row] = at;
      row++;
      if (row === rowCount) return;
      from = starts[row] as number;
    }
  }
}

function longPlaces({ bytes, starts, ends }: Texts, rowCount: number, part: Uint8Array, places: Uint32Array): void {
  for (let row = 0; row < rowCount; row++) {
    const start = starts[row] as number;
    const length = (ends[row] as number) - start;
    if (length < part.length) continue;
    const at = Buffer.from(bytes.buffer, bytes.byteOffset + start, length).indexOf(part);
    if (at >= 0) places[row] = start + at;
  }
}

/** Whether each row holds a text, as 0 and 1. */
export function rowsThatHold(texts: Texts, rowCount: number, part: Uint8Array): Uint8Array {
  const places = firstPlaces(texts, rowCount, part);
  const holds = new Uint8Array(rowCount);
  for (let row = 0; row < rowCount; row++) holds[row] = places[row] === NOWHERE ? 0 : 1;
  return holds;
}

/** Whether each row begins with a text. */
export function rowsThatBegin({ bytes, starts, ends }: Texts, rowCount: number, part: Uint8Array): Uint8Array {
  const begins = new Uint8Array(rowCount);
  const size = part.length;
  for (let row = 0; row < rowCount; row++) {
    const start = starts[row] as number;
    if ((ends[row] as number) - start < size) continue;
    let i = 0;
    while (i < size && bytes[start + i] === part[i]) i++;
    if (i === size) begins[row] = 1;
  }
  return begins;
}

/** Whether each row ends with a text. */
export function rowsThatEnd({ bytes, starts, ends }: Texts, rowCount: number, part: Uint8Array): Uint8Array {
  const finishes = new Uint8Array(rowCount);
  const size = part.length;
  for (let row = 0; row < rowCount; row++) {
    const end = ends[row] as number;
    if (end - (starts[row] as number) < size) continue;
    let i = 1;
    while (i <= size && bytes[end - i] === part[size - i]) i++;
    if (i > size) finishes[row] = 1;
  }
  return finishes;
}

type RowTest = (texts: Texts, rowCount: number, part: Uint8Array) => Uint8Array;

/** A test of texts for a constant one. */
function tested(test: RowTest): ColumnFunction {
  return ([text, part], { rowCount, present }) => {
    const given = textsOfOperand(text, rowCount);
    const bytes = constantBytes(part);
    return given === undefined || bytes === undefined ? undefined : numbers(test(given, rowCount, bytes), present);
  };
}

/** `contains(text, part)`. */
export const contains: ColumnFunction = tested(rowsThatHold);
/** `starts_with(text, part)`. */
export const startsWith: ColumnFunction = tested(rowsThatBegin);
/** `ends_with(text, part)`. */
export const endsWith: ColumnFunction = tested(rowsThatEnd);

/** `strpos(text, part)`: the number of the character at which a constant first lies; 0: nowhere. */
export const positions: ColumnFunction = ([text, part], { rowCount, present }) => {
  const given = textsOfOperand(text, rowCount);
  const bytes = constantBytes(part);
  if (given === undefined || bytes === undefined) return undefined;
  return numbers(characterNumbers(given, rowCount, firstPlaces(given, rowCount, bytes)), present);
};

/** `locate(part, text)`. */
export const located: ColumnFunction = ([part, text, from], call): Operand | undefined => {
  if (from !== undefined || part === undefined || text === undefined) return undefined;
  return positions([text, part], call);
};

function characterNumbers({ bytes, starts, ascii }: Texts, rowCount: number, places: Uint32Array): Int32Array {
  const found = new Int32Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const at = places[row] as number;
    if (at === NOWHERE) continue;
    const start = starts[row] as number;
    found[row] = (ascii ? at - start : characterCount(bytes, start, at)) + 1;
  }
  return found;
}
