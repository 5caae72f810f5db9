/**
 * Texts behind each other: `concat`, `||`, `concat_ws`, `replace`. Lengths first, which say where each row begins, then one operand after
 * the other: a loop copies from one column alone.
 */
import type { Texts } from "../../../column/texts.ts";
import type { Validity } from "../../../column/vector.ts";
import type { ColumnFunction, Operand } from "../signature/column-function.ts";
import { constantBytes, texts as textOperand, textsOfOperand } from "./operand.ts";
import { firstPlaces, NOWHERE } from "./search.ts";
import { placeOf } from "./cut.ts";
import { bytesOfRows, TextSink } from "./text-sink.ts";

/** Longest text that is made in a row, and most bytes of all rows. Reason: the interpreter counts them, and tells what is too long. */
const ROW_BYTES_MAX: number = 1024 * 1024;
const BATCH_BYTES_MAX: number = 32 * 1024 * 1024;
/** Texts up to this length are copied byte by byte: a native call takes as long as 60 bytes. */
const SHORT_BYTES = 64;

function textsOfAll(args: readonly Operand[], rowCount: number): readonly Texts[] | undefined {
  const all: Texts[] = [];
  for (const argument of args) {
    const given = textsOfOperand(argument, rowCount);
    if (given === undefined) return undefined;
    all.push(given);
  }
  return all;
}

/** `concat(text, …)`, for which NULL is empty. */
export const concatenated: ColumnFunction = (args, { rowCount }) => {
  const all = textsOfAll(args, rowCount);
  return all === undefined ? undefined : joined(all, undefined, rowCount, undefined);
};

/** `text || text`. */
export const chained: ColumnFunction = (args, { rowCount, present }) => {
  const all = textsOfAll(args, rowCount);
  return all === undefined ? undefined : joined(all, undefined, rowCount, present);
};

/** `concat_ws(separator, text, …)`: NULL without a separator; what is NULL is left out. */
export const separated: ColumnFunction = ([separator, ...args], { rowCount }) => {
  const between = textsOfOperand(separator, rowCount);
  const all = textsOfAll(args, rowCount);
  return between === undefined || all === undefined ? undefined : joined(all, between, rowCount, between.validity);
};

function joined(all: readonly Texts[], separator: Texts | undefined, rowCount: number, validity: Validity): Operand | undefined {
  const ends = new Uint32Array(rowCount);
  const isBehind = separator === undefined ? undefined : new Uint8Array(rowCount);
  for (const part of all) addLengths(part, separator, isBehind, rowCount, ends);
  const starts = new Uint32Array(rowCount);
  let length = 0;
  for (let row = 0; row < rowCount; row++) {
    const own = ends[row] as number;
    if (own > ROW_BYTES_MAX || length > BATCH_BYTES_MAX) return undefined;
    starts[row] = length;
    ends[row] = length;
    length += own;
  }
  const bytes = new Uint8Array(length);
  isBehind?.fill(0);
  for (const part of all) {
    if (separator !== undefined && isBehind !== undefined) copySeparators(part, separator, isBehind, rowCount, bytes, ends);
    copyTexts(part, rowCount, bytes, ends);
  }
  const ascii = all.every((part) => part.ascii) && (separator?.ascii ?? true);
  return textOperand({ bytes, starts, ends, validity, ascending: true, ascii });
}

function addLengths(
  { starts, ends, validity }: Texts,
  separator: Texts | undefined,
  isBehind: Uint8Array | undefined,
  rowCount: number,
  lengths: Uint32Array,
): void {
  for (let row = 0; row < rowCount; row++) {
    if (validity !== undefined && validity[row] === 0) continue;
    lengths[row] = (lengths[row] as number) + (ends[row] as number) - (starts[row] as number);
    if (separator === undefined || isBehind === undefined) continue;
    if (isBehind[row] === 1) lengths[row] = (lengths[row] as number) + (separator.ends[row] as number) - (separator.starts[row] as number);
    isBehind[row] = 1;
  }
}

/** Copies the text of each row to where its `ends` is, and moves that. */
function copyTexts(
  { bytes: source, starts, ends: sourceEnds, validity }: Texts,
  rowCount: number,
  bytes: Uint8Array,
  ends: Uint32Array,
): void {
  for (let row = 0; row < rowCount; row++) {
    if (validity !== undefined && validity[row] === 0) continue;
    const start = starts[row] as number;
    const end = sourceEnds[row] as number;
    let into = ends[row] as number;
    if (end - start > SHORT_BYTES) {
      bytes.set(source.subarray(start, end), into);
      into += end - start;
    } else for (let at = start; at < end; at++) bytes[into++] = source[at] as number;
    ends[row] = into;
  }
}

/** Copies the separator of rows that have a part already and one more now. */
function copySeparators(part: Texts, separator: Texts, isBehind: Uint8Array, rowCount: number, bytes: Uint8Array, ends: Uint32Array): void {
  for (let row = 0; row < rowCount; row++) {
    if (part.validity !== undefined && part.validity[row] === 0) continue;
    let into = ends[row] as number;
    const end = separator.ends[row] as number;
    if (isBehind[row] === 1) for (let at = separator.starts[row] as number; at < end; at++) bytes[into++] = separator.bytes[at] as number;
    isBehind[row] = 1;
    ends[row] = into;
  }
}

/** Longest text that is replaced so: it is compared at each byte at worst. */
const REPLACED_BYTES_MAX = 64;

/** `replace(text, from, to)` of constants. */
export const replacements: ColumnFunction = ([text, from, to], { rowCount, present }) => {
  const given = textsOfOperand(text, rowCount);
  const [found, put] = [constantBytes(from), constantBytes(to)];
  if (given === undefined || found === undefined || put === undefined || found.length === 0 || found.length > REPLACED_BYTES_MAX)
    return undefined;
  const { bytes, starts, ends } = given;
  const places = firstPlaces(given, rowCount, found);
  const growth = Math.max(1, put.length / found.length);
  const sink = new TextSink(rowCount, bytesOfRows(given, rowCount));
  for (let row = 0; row < rowCount; row++) {
    let at = starts[row] as number;
    const end = ends[row] as number;
    if ((end - at + 1) * growth > ROW_BYTES_MAX) return undefined;
    for (let place = places[row] as number; place !== NOWHERE && place >= 0; ) {
      sink.append(bytes, at, place);
      sink.append(put, 0, put.length);
      at = place + found.length;
      place = placeOf(bytes, at, end, found);
    }
    sink.append(bytes, at, end);
    sink.end();
  }
  const made = sink.texts(present, false);
  return made === undefined ? undefined : textOperand({ ...made, ascii: given.ascii && constantIsAscii(put) });
};

const constantIsAscii = (bytes: Uint8Array): boolean => bytes.every((byte) => byte < 0x80);
