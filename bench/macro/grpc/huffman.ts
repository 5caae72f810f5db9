/**
 * Texts of header blocks that are packed by HPACK's Huffman code. Source: RFC 7541, Appendix B.
 *
 * The code is canonical: codes of one length follow each other in the order of their bytes, and those of the next length begin behind them.
 * So the lengths say everything.
 */

/** Bits of the code of each byte, and of the end of a text. */
const BITS: readonly number[] = [
  [13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28],
  [6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10],
  [13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6],
  [15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28],
  [20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24],
  [22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23],
  [26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27],
  [20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26],
  [30],
].flat();
const BITS_MAX = 30;
const END = 256;

/** By number of bits: the first code, how many there are, and where they begin in `SYMBOLS`. */
const FIRST = new Uint32Array(BITS_MAX + 1);
const COUNT = new Uint32Array(BITS_MAX + 1);
const PLACE = new Uint32Array(BITS_MAX + 1);
/** Bytes in the order of their codes. */
const SYMBOLS: readonly number[] = Array.from(BITS.keys()).toSorted((a, b) => BITS[a]! - BITS[b]! || a - b);

for (const bits of BITS) COUNT[bits]! += 1;
for (let bits = 1; bits <= BITS_MAX; bits++) {
  FIRST[bits] = (FIRST[bits - 1]! + COUNT[bits - 1]!) * 2;
  PLACE[bits] = PLACE[bits - 1]! + COUNT[bits - 1]!;
}

/** Unpacks a text, a character a byte. @throws Error when the bytes are none */
export function unpackText(packed: Uint8Array): string {
  let text = "";
  let code = 0;
  let bits = 0;
  for (const byte of packed) {
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((byte >> bit) & 1);
      bits++;
      const rank = code - FIRST[bits]!;
      if (rank < COUNT[bits]!) {
        const symbol = SYMBOLS[PLACE[bits]! + rank]!;
        if (symbol === END) throw new Error("cannot unpack a header: it holds the mark of its end");
        text += String.fromCharCode(symbol);
        code = 0;
        bits = 0;
      } else if (bits === BITS_MAX) throw new Error("cannot unpack a header: it holds a code that there is not");
    }
  }
  if (bits > 7 || code !== 2 ** bits - 1) throw new Error("cannot unpack a header: it is cut short");
  return text;
}
