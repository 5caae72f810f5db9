/** Code lengths and codes of prefix codes. */

/** Longest code that is written. */
const WRITTEN_BITS_MAX = 17;

/** Lengths of an optimal code of at most 17 bits; every symbol gets one. */
export function codeLengths(frequencies: readonly number[]): Uint8Array {
  for (let shift = 0; ; shift++) {
    const weights = frequencies.map((frequency) => (Math.max(1, frequency) >> shift) + (shift > 0 ? 1 : 0));
    const lengths = depths(weights);
    if (lengths.every((length) => length <= WRITTEN_BITS_MAX)) return lengths;
  }
}

/** Depths of the leaves of a Huffman tree: two queues, of leaves by weight and of nodes in the order they are made. */
function depths(weights: readonly number[]): Uint8Array {
  const count = weights.length;
  const leaves = weights.map((_, symbol) => symbol).sort((a, b) => (weights[a] as number) - (weights[b] as number));
  const weight = [...weights];
  const parent: number[] = new Array<number>(2 * count - 1).fill(0);
  let leaf = 0;
  let node = count;
  const lightest = (): number => {
    const nextLeaf = leaves[leaf];
    const takesLeaf = nextLeaf !== undefined && (node >= weight.length || (weight[nextLeaf] as number) <= (weight[node] as number));
    if (!takesLeaf) return node++;
    leaf++;
    return nextLeaf;
  };
  while (weight.length < 2 * count - 1) {
    const a = lightest();
    const b = lightest();
    parent[a] = weight.length;
    parent[b] = weight.length;
    weight.push((weight[a] as number) + (weight[b] as number));
  }
  const depth = new Uint8Array(2 * count - 1);
  for (let i = 2 * count - 3; i >= 0; i--) depth[i] = (depth[parent[i] as number] as number) + 1;
  return depth.slice(0, count);
}

/** Codes of lengths: shorter ones first, then by symbol. */
export function codesOf(lengths: Uint8Array): Uint32Array {
  const codes = new Uint32Array(lengths.length);
  let code = 0;
  for (let bits = 1; bits <= 20; bits++, code <<= 1) {
    for (let symbol = 0; symbol < lengths.length; symbol++) if (lengths[symbol] === bits) codes[symbol] = code++;
  }
  return codes;
}

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
