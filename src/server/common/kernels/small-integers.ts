/**
 * Texts of the integers that fit one byte, printed once for all answers: a column of them is printed by looking its values up, 1 ns a row
 * where writing digits takes 4, and takes no memory. Loops over rows look them up as they go, with what stands before them (`ledWords`).
 */
import { assert } from "../../../base/assert.ts";
import { writeAscii } from "./write-number.ts";

/** Bytes behind the last cell that may be read, so that cells can be copied word by word. */
export const CELL_SLACK_BYTES = 4;
/** Where the texts of values begin: value v is entry `v - SMALL_MIN`. */
export const SMALL_MIN = -128;
/** The entry of NULL, behind those of all values. */
export const SMALL_NULL = 256;
/** Most bytes of a value's text, and of NULL's. */
export const SMALL_BYTES = 4;
/** Entries: of all values and of NULL. */
const COUNT: number = SMALL_NULL + 1;

/** NULL's text at position 0 and the texts of -128..127: value v is `bytes[starts[v + 128], starts[v + 129])`. */
interface SmallIntegers {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly starts: Uint32Array;
  /** Bytes of each text, NULL's last. */
  readonly lengths: Uint8Array;
}

/** A column of such integers, and the table of its dialect. */
export interface SmallColumn {
  readonly values: Int8Array;
  readonly validity: Uint8Array | undefined;
  readonly table: SmallIntegers;
}

const TABLES: Map<string, SmallIntegers> = new Map();

/** The table of a dialect whose NULL is `nullText`, of `SMALL_BYTES` at most; there are two or three of them. */
export function smallIntegers(nullText: string): SmallIntegers {
  const known = TABLES.get(nullText);
  if (known !== undefined) return known;
  assert(nullText.length <= SMALL_BYTES, `NULL is as short as a small integer; got ${nullText}`);
  const bytes = new Uint8Array(nullText.length + SMALL_NULL * SMALL_BYTES + CELL_SLACK_BYTES);
  const starts = new Uint32Array(SMALL_NULL + 1);
  const lengths = new Uint8Array(COUNT);
  let at = writeAscii(bytes, 0, nullText);
  for (let i = 0; i < SMALL_NULL; i++) {
    starts[i] = at;
    at = writeAscii(bytes, at, String(i + SMALL_MIN));
    lengths[i] = at - starts[i]!;
  }
  starts[SMALL_NULL] = at;
  lengths[SMALL_NULL] = nullText.length;
  const made = { bytes, starts, lengths };
  TABLES.set(nullText, made);
  return made;
}

/**
 * Each text behind the last bytes of a lead, `SMALL_BYTES` of it at most, as a word of eight bytes: what is written before a value and the
 * value itself are one store. None of them is NaN, of which bits might change: the highest byte is a text's fourth, or zero.
 */
export function ledWords(lead: Uint8Array, { bytes, starts, lengths }: SmallIntegers): Float64Array {
  const words = new Float64Array(COUNT);
  const out = new Uint8Array(words.buffer);
  const tail = lead.subarray(Math.max(0, lead.length - SMALL_BYTES));
  for (let i = 0; i < COUNT; i++) {
    const start = i === SMALL_NULL ? 0 : starts[i]!;
    out.set(tail, 8 * i);
    out.set(bytes.subarray(start, start + lengths[i]!), 8 * i + tail.length);
  }
  return words;
}

/** Where the texts of rows `[0, rowCount)` are in the table. */
export function findSmall(
  { values, validity, table }: SmallColumn,
  rowCount: number,
  nullLength: number,
  starts: Uint32Array,
  ends: Uint32Array,
): void {
  const places = table.starts;
  for (let row = 0; row < rowCount; row++) {
    const at = values[row]! - SMALL_MIN;
    starts[row] = places[at]!;
    ends[row] = places[at + 1]!;
  }
  if (validity === undefined) return;
  for (let row = 0; row < rowCount; row++) {
    if (validity[row] !== 0) continue;
    starts[row] = 0;
    ends[row] = nullLength;
  }
}
