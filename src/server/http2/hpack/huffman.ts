/**
 * Huffman's code of HPACK (RFC 7541 5.2, appendix B), read four bits at a time.
 *
 * The code is canonical: codes of one length follow each other by symbol, so the lengths say all. Its tree has 256 inner nodes; a step
 * takes half a byte, goes down four branches and meets one symbol at most, as the shortest code has five bits.
 */

/** Length of each byte's code, in base 36. The end mark, which never comes, is 30 ones. */
const LENGTHS =
  "dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad67777777777777777777777878djde6f565656665776665" +
  "67655677777fbedskmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmnqqkjmnmpqqqrrqopjlqrrqrollqqsrrr" +
  "koklmllnmmppooqnqrqqrrrrrsrrrrrq";

const SYMBOLS = 256;
const END_BITS = 30;

/** Codes of all symbols, the end mark last. */
function codes(): readonly { readonly code: number; readonly bits: number; readonly symbol: number }[] {
  const lengths = Array.from(LENGTHS, (digit, symbol) => ({ bits: Number.parseInt(digit, 36), symbol }));
  lengths.push({ bits: END_BITS, symbol: SYMBOLS });
  let code = 0;
  let before = 0;
  return lengths
    .toSorted((a, b) => a.bits - b.bits || a.symbol - b.symbol)
    .map(({ bits, symbol }) => {
      code = before === 0 ? 0 : (code + 1) << (bits - before);
      before = bits;
      return { code, bits, symbol };
    });
}

/** No symbol was met; the code is none. */
const NONE = -1;
const BROKEN = -2;

/** By node and half a byte: the node after it, and the symbol met. A text may end at nodes that only ones lead to. */
const NEXT: Int16Array = new Int16Array(SYMBOLS * 16);
const MET: Int16Array = new Int16Array(SYMBOLS * 16).fill(NONE);
const MAY_END: Uint8Array = new Uint8Array(SYMBOLS);

function build(): void {
  // Two branches a node: another node, or -1 - symbol.
  const branches: (number | undefined)[] = [];
  let count = 1;
  for (const { code, bits, symbol } of codes()) {
    let node = 0;
    for (let bit = bits - 1; bit > 0; bit--) {
      const at = node * 2 + ((code >>> bit) & 1);
      branches[at] ??= count++;
      node = branches[at] ?? 0;
    }
    branches[node * 2 + (code & 1)] = -1 - symbol;
  }
  for (let node = 0; node < SYMBOLS; node++) for (let half = 0; half < 16; half++) walk(branches, node, half);
  for (let node = 0, depth = 0; depth < 8; depth++, node = branches[node * 2 + 1] ?? 0) MAY_END[node] = 1;
}

function walk(branches: readonly (number | undefined)[], from: number, half: number): void {
  let node = from;
  const slot = from * 16 + half;
  for (let bit = 3; bit >= 0; bit--) {
    const to = branches[node * 2 + ((half >>> bit) & 1)] ?? 0;
    node = Math.max(to, 0);
    if (to < 0) MET[slot] = to === -1 - SYMBOLS ? BROKEN : -1 - to;
  }
  NEXT[slot] = node;
}

build();

/** Longest text that a byte of code may be: the shortest code has five bits. */
const EXPANSION = 8 / 5;

/** The text of a code, each byte a character; undefined: it is none. Takes time in proportion to its length. */
export function huffmanText(bytes: Uint8Array, from: number, to: number): string | undefined {
  const out = Buffer.allocUnsafe(Math.ceil((to - from) * EXPANSION));
  let length = 0;
  let node = 0;
  for (let i = from; i < to; i++) {
    const byte = bytes[i] as number;
    for (let shift = 4; shift >= 0; shift -= 4) {
      const slot = node * 16 + ((byte >>> shift) & 15);
      const symbol = MET[slot] as number;
      if (symbol === BROKEN) return undefined;
      if (symbol !== NONE) out[length++] = symbol;
      node = NEXT[slot] as number;
    }
  }
  return MAY_END[node] === 1 ? out.toString("latin1", 0, length) : undefined;
}
