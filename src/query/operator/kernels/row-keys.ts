/**
 * What rows are sorted by, so that comparing two rows looks at words or bytes and never at values; absolute, so that rows of several
 * batches compare too.
 *
 *   fixed width   64-bit words, low half first, whose unsigned order is that of the values; complemented for DESC
 *                 integers, times: the sign flipped; floats: NaN the largest, -0 is 0; wide decimals and intervals: two keys
 *   text, bytes   the bytes; of a dictionary those of the entries that rows have
 *
 * NULL is a bit beside them. Words and bytes under NULL are arbitrary.
 */
import type { DataType } from "../../../column/data-type.ts";
import { validityOfCodes } from "../../../column/coded-text.ts";
import type { BytesVector, CodedVector, DictionaryVector, Validity, Vector } from "../../../column/vector.ts";
import { type LaneForm, laneFormOf, writeLanes } from "./lanes.ts";

/** How one key orders. */
export interface SortDirection {
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** A key of fixed width: of row i `words[2 * i + 1]` and `words[2 * i]`, as unsigned numbers, ascending. */
export interface WordKey extends SortDirection {
  readonly kind: "words";
  readonly words: Uint32Array;
  readonly validity: Validity;
}

/** A key of bytes: text e is `bytes[offsets[e], offsets[e + 1])`; row i has text `codes[i]`, or without codes its own. */
export interface TextKey extends SortDirection {
  readonly kind: "texts";
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
  /** Where texts repeat. Entries may be equal, and need not be in order. */
  readonly codes: Uint32Array | undefined;
  readonly validity: Validity;
}

/** One key of some rows. */
export type RowKey = WordKey | TextKey;

const SIGN = 0x8000_0000;
const encoder = new TextEncoder();

/** The keys of one ORDER BY item over rows `[0, rowCount)`: one, or two that stand for it one after the other. */
export function rowKeys(vector: Vector, type: DataType, rowCount: number, direction: SortDirection): readonly RowKey[] {
  const form = laneFormOf(type);
  if (form !== undefined) return [fixedKey(vector, form, rowCount, direction)];
  if (vector.kind === "dictionary") return [dictionaryKey(vector, rowCount, direction)];
  if (vector.kind === "coded") return [codedKey(vector, rowCount, direction)];
  if (vector.kind !== "bytes") return [nothing(rowCount, direction)];
  if (type.kind === "interval") return intervalKeys(vector, rowCount, direction);
  if (type.kind === "decimal") return decimalKeys(vector, rowCount, direction);
  const { offsets, bytes, validity } = vector;
  return [{ kind: "texts", ...plain(direction), offsets, bytes, codes: undefined, validity }];
}

/** Without what else an item has. */
const plain = ({ descending, nullsFirst }: SortDirection): SortDirection => ({ descending, nullsFirst });

/** All NULL. */
function nothing(rowCount: number, direction: SortDirection): WordKey {
  return { kind: "words", ...plain(direction), words: new Uint32Array(rowCount * 2), validity: new Uint8Array(rowCount) };
}

function fixedKey(vector: Vector, form: LaneForm, rowCount: number, direction: SortDirection): WordKey {
  if (vector.kind === "dictionary" || vector.kind === "coded" || vector.kind === "bytes") return nothing(rowCount, direction);
  const lanes = new Int32Array(rowCount * 2);
  writeLanes(vector, form, rowCount, lanes, 0, 2);
  const words = new Uint32Array(lanes.buffer);
  if (form.kind === "float") orderFloats(words, rowCount);
  else if (form.isSigned) flipSigns(words, rowCount, 2 - form.width);
  if (direction.descending) complement(words);
  return { kind: "words", ...plain(direction), words, validity: vector.validity };
}

/** @param low how far below the high half the sign stands: 1 where values have one word */
function flipSigns(words: Uint32Array, rowCount: number, low: number): void {
  for (let at = 1 - low, end = rowCount * 2; at < end; at += 2) words[at] = words[at]! ^ SIGN;
}

function orderFloats(words: Uint32Array, rowCount: number): void {
  for (let at = 0, end = rowCount * 2; at < end; at += 2) {
    const high = words[at + 1]!;
    if (high >= SIGN) {
      words[at] = ~words[at]!;
      words[at + 1] = ~high;
    } else words[at + 1] = high ^ SIGN;
  }
}

function complement(words: Uint32Array): void {
  for (let at = 0; at < words.length; at++) words[at] = ~words[at]!;
}

function codedKey({ codes, entries }: CodedVector, rowCount: number, direction: SortDirection): TextKey {
  const { starts: offsets, bytes } = entries;
  return { kind: "texts", ...plain(direction), offsets, bytes, codes, validity: validityOfCodes(codes, rowCount) };
}

/** Only the entries that rows have become bytes: a dictionary may be a whole table's. */
function dictionaryKey({ codes, dictionary }: DictionaryVector, rowCount: number, direction: SortDirection): TextKey {
  const own = new Uint32Array(rowCount);
  const entries: string[] = [];
  const known = new Map<number, number>();
  const dense = dictionary.length <= rowCount * 2 ? new Int32Array(dictionary.length).fill(-1) : undefined;
  let validity: Uint8Array | undefined;
  for (let i = 0; i < rowCount; i++) {
    const code = codes[i]!;
    let entry = dense === undefined ? known.get(code) : dense[code]!;
    if (entry === undefined || entry < 0) {
      const text = dictionary[code];
      if (text === undefined) {
        validity ??= new Uint8Array(rowCount).fill(1);
        validity[i] = 0;
        continue;
      }
      entry = entries.push(text) - 1;
      if (dense === undefined) known.set(code, entry);
      else dense[code] = entry;
    }
    own[i] = entry;
  }
  return { kind: "texts", ...plain(direction), ...encoded(entries), codes: own, validity };
}

function encoded(texts: readonly string[]): { readonly offsets: Uint32Array; readonly bytes: Uint8Array } {
  let most = 0;
  for (const text of texts) most += text.length * 3;
  const bytes = new Uint8Array(most);
  const offsets = new Uint32Array(texts.length + 1);
  let end = 0;
  for (let e = 0; e < texts.length; e++) {
    end += encoder.encodeInto(texts[e]!, bytes.subarray(end)).written;
    offsets[e + 1] = end;
  }
  return { offsets, bytes };
}

/** Sixteen bytes, two's complement, the highest first. */
function decimalKeys({ offsets, bytes, validity }: BytesVector, rowCount: number, direction: SortDirection): readonly WordKey[] {
  const [high, low] = [new Uint32Array(rowCount * 2), new Uint32Array(rowCount * 2)];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i < rowCount; i++) {
    if (validity !== undefined && validity[i] === 0) continue;
    const at = offsets[i]!;
    high[2 * i + 1] = view.getUint32(at) ^ SIGN;
    high[2 * i] = view.getUint32(at + 4);
    low[2 * i + 1] = view.getUint32(at + 8);
    low[2 * i] = view.getUint32(at + 12);
  }
  return pairOf(high, low, validity, direction);
}

/** Of nanoseconds, which a month has 30 days of and a day 24 hours. */
const NANOS_PER_DAY = 86_400_000_000_000n;

/** Whole days, then what is left in nanoseconds. Intervals are few and never of a column: a bigint a row is no loss. */
function intervalKeys({ offsets, bytes, validity }: BytesVector, rowCount: number, direction: SortDirection): readonly WordKey[] {
  const [days, rest] = [new BigInt64Array(rowCount), new BigInt64Array(rowCount)];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i < rowCount; i++) {
    if (validity !== undefined && validity[i] === 0) continue;
    const at = offsets[i]!;
    const nanos = view.getBigInt64(at + 8);
    const part = ((nanos % NANOS_PER_DAY) + NANOS_PER_DAY) % NANOS_PER_DAY;
    rest[i] = part;
    days[i] = BigInt(view.getInt32(at) * 30 + view.getInt32(at + 4)) + (nanos - part) / NANOS_PER_DAY;
  }
  const high = new Uint32Array(days.buffer);
  flipSigns(high, rowCount, 0);
  return pairOf(high, new Uint32Array(rest.buffer), validity, direction);
}

function pairOf(high: Uint32Array, low: Uint32Array, validity: Validity, direction: SortDirection): readonly WordKey[] {
  if (direction.descending) {
    complement(high);
    complement(low);
  }
  return [
    { kind: "words", ...plain(direction), words: high, validity },
    { kind: "words", ...plain(direction), words: low, validity },
  ];
}

/** The order of row `x` of some rows and row `y` of others, which may be the same, by their keys: negative, 0 or positive. */
export function compareRows(left: readonly RowKey[], x: number, right: readonly RowKey[], y: number): number {
  for (let k = 0; k < left.length; k++) {
    const order = compareKey(left[k]!, x, right[k]!, y);
    if (order !== 0) return order;
  }
  return 0;
}

function compareKey(a: RowKey, x: number, b: RowKey, y: number): number {
  const isLeft = a.validity === undefined || a.validity[x] !== 0;
  const isRight = b.validity === undefined || b.validity[y] !== 0;
  if (!isLeft || !isRight) return isLeft === isRight ? 0 : isRight === a.nullsFirst ? -1 : 1;
  if (a.kind === "words" && b.kind === "words") {
    return a.words[2 * x + 1]! - b.words[2 * y + 1]! || a.words[2 * x]! - b.words[2 * y]!;
  }
  return a.kind === "texts" && b.kind === "texts" ? compareTexts(a, x, b, y, 0) : 0;
}

/** The order of the texts of two rows, neither of them NULL, which are equal up to byte `from`. */
export function compareTexts(a: TextKey, x: number, b: TextKey, y: number, from: number): number {
  const left = a.codes === undefined ? x : a.codes[x]!;
  const right = b.codes === undefined ? y : b.codes[y]!;
  if (left === right && a === b) return 0;
  const [start, other] = [a.offsets[left]!, b.offsets[right]!];
  const length = a.offsets[left + 1]! - start;
  const otherLength = b.offsets[right + 1]! - other;
  const end = Math.min(length, otherLength);
  for (let i = from; i < end; i++) {
    const difference = a.bytes[start + i]! - b.bytes[other + i]!;
    if (difference !== 0) return a.descending ? -difference : difference;
  }
  return a.descending ? otherLength - length : length - otherLength;
}
