/** Prefix codes by the lengths of their codes: shorter ones first, then by symbol. */

/** What a decoder looks up: by length, the first code, its place in `symbols`, and the first code that is longer. */
export interface DecodingTable {
  readonly first: Int32Array;
  readonly limit: Int32Array;
  readonly start: Int32Array;
  readonly symbols: Uint16Array;
}

/** The table of a code. */
export function decodingTable(lengths: Uint8Array): DecodingTable {
  const [first, limit, start] = [new Int32Array(21), new Int32Array(21), new Int32Array(21)];
  const symbols = new Uint16Array(lengths.length);
  let code = 0;
  let at = 0;
  for (let bits = 1; bits <= 20; bits++) {
    first[bits] = code;
    start[bits] = at;
    for (let symbol = 0; symbol < lengths.length; symbol++) if (lengths[symbol] === bits) symbols[at++] = symbol;
    code += at - (start[bits] as number);
    limit[bits] = code;
    code <<= 1;
  }
  return { first, limit, start, symbols };
}
