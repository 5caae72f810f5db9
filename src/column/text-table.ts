/**
 * Texts by code as UTF-8, in one piece of memory: what tag values are between the registry of a table, its files and the threads that make
 * them. A million texts are two arrays, which go to a worker without a copy, and no string is made of a text that nobody prints.
 */

/** Text of code c: `bytes[starts[c], starts[c + 1])`. Code 0 stands for NULL and is empty. Arrays may be longer than what is in use. */
export interface TextTable {
  /** Codes are below it; at least 1. */
  readonly size: number;
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
}

const encoder = new TextEncoder();
/** The text of a code as a string; undefined for NULL. */
export function textAt(table: TextTable, code: number): string | undefined {
  if (code === 0) return undefined;
  return utf8Text(table.bytes, table.starts[code] as number, table.starts[code + 1] as number);
}

/** `bytes[start, end)`, which is UTF-8, as a string. 70 ns for 11 bytes; a TextDecoder and its view take 125 and leave garbage. */
export function utf8Text(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.prototype.toString.call(bytes, "utf8", start, end);
}

/** A table of these texts; the first stands for NULL. */
export function textTableOf(texts: readonly (string | undefined)[]): TextTable {
  const encoded = texts.map((text, code) => encoder.encode(code === 0 ? "" : (text ?? "")));
  const starts = new Uint32Array(encoded.length + 1);
  for (let code = 0; code < encoded.length; code++) starts[code + 1] = (starts[code] as number) + (encoded[code]?.length ?? 0);
  const bytes = new Uint8Array(starts[encoded.length] as number);
  for (let code = 0; code < encoded.length; code++) bytes.set(encoded[code] ?? new Uint8Array(0), starts[code]);
  return { size: encoded.length, bytes, starts };
}

/** The texts of `codes`, which are not 0, as a table of their own: `codes[i]` becomes code `i + 1`. */
export function pickTexts(table: TextTable, codes: Uint32Array): TextTable {
  const starts = new Uint32Array(codes.length + 2);
  let length = 0;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number;
    length += (table.starts[code + 1] as number) - (table.starts[code] as number);
    starts[i + 2] = length;
  }
  const bytes = new Uint8Array(length);
  for (let i = 0; i < codes.length; i++) {
    let at = starts[i + 1] as number;
    const to = starts[i + 2] as number;
    for (let from = table.starts[codes[i] as number] as number; at < to; at++, from++) bytes[at] = table.bytes[from] as number;
  }
  return { size: codes.length + 1, bytes, starts };
}

/** Order of two texts of one table by their bytes, which is that of code points; NULL first. */
export function compareTexts(table: TextTable, a: number, b: number): number {
  if (a === 0 || b === 0) return (a === 0 ? 0 : 1) - (b === 0 ? 0 : 1);
  const { bytes, starts } = table;
  let x = starts[a] as number;
  let y = starts[b] as number;
  const xEnd = starts[a + 1] as number;
  const yEnd = starts[b + 1] as number;
  while (x < xEnd && y < yEnd) {
    const difference = (bytes[x++] as number) - (bytes[y++] as number);
    if (difference !== 0) return difference;
  }
  return xEnd - x - (yEnd - y);
}
