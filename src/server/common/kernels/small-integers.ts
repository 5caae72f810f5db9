/**
 * Texts of the integers that fit one byte, printed once for all answers: a column of them is printed by looking its values up, 1 ns a row
 * where writing digits takes 4, and takes no memory.
 */
import { writeAscii } from "./write-number.ts";

/** Bytes behind the last cell that may be read, so that cells can be copied word by word. */
export const CELL_SLACK_BYTES = 4;

const MIN = -128;
const COUNT = 256;

/** NULL's text at position 0 and the texts of -128..127: value v is `bytes[starts[v + 128], starts[v + 129])`. */
interface SmallIntegers {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly starts: Uint32Array;
}

const TABLES: Map<string, SmallIntegers> = new Map();

/** The table of a dialect whose NULL is `nullText`; there are two or three of them. */
export function smallIntegers(nullText: string): SmallIntegers {
  const known = TABLES.get(nullText);
  if (known !== undefined) return known;
  const bytes = new Uint8Array(nullText.length + COUNT * 4 + CELL_SLACK_BYTES);
  const starts = new Uint32Array(COUNT + 1);
  let at = writeAscii(bytes, 0, nullText);
  for (let i = 0; i < COUNT; i++) {
    starts[i] = at;
    at = writeAscii(bytes, at, String(i + MIN));
  }
  starts[COUNT] = at;
  const made = { bytes, starts };
  TABLES.set(nullText, made);
  return made;
}

/** Where the texts of rows `[0, rowCount)` are in the table. */
export function findSmall(
  values: Int8Array,
  validity: Uint8Array | undefined,
  rowCount: number,
  table: Uint32Array,
  nullLength: number,
  starts: Uint32Array,
  ends: Uint32Array,
): void {
  for (let row = 0; row < rowCount; row++) {
    const at = values[row]! - MIN;
    starts[row] = table[at]!;
    ends[row] = table[at + 1]!;
  }
  if (validity === undefined) return;
  for (let row = 0; row < rowCount; row++) {
    if (validity[row] !== 0) continue;
    starts[row] = 0;
    ends[row] = nullLength;
  }
}
