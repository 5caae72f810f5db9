/**
 * Packs and unpacks 32 integers of equal bit width, by one generated, fully unrolled function a width (and, for unpacking, a kind of
 * result), made on first use.
 *
 *   value k occupies bits [k * width, (k + 1) * width) of the output, lowest bit first, in little-endian 32-bit words;
 *   32 values of width w fill exactly w words.
 *
 * Why generated: shifts and masks become constants and every word is loaded once: 2.0G values/s at 5 bits where a loop over a bit cursor
 * reaches 0.86G (delta-binary-packed.bench.ts), and the running total of deltas costs no second pass. The sources hold nothing but numbers
 * computed here.
 */
import { assert } from "../../../base/assert.ts";

/** Writes 32 values `low[from, from + 32)` (and their bits above 32 in `high`) at `view[at..]`. Bits above the width must be zero. */
export type Pack = (view: DataView, at: number, low: Uint32Array, high: Uint32Array, from: number) => void;

/** Reads 32 values from `view[at..]` into `out[to, to + 32)`. */
export type Unpack<T> = (view: DataView, at: number, out: T, to: number) => void;

/**
 * Reads 32 deltas from `view[at..]`, adds `minDelta` to each, and stores the running total into `out[to, to + 32)`.
 * Returns the last total, given the one before the first.
 */
export type UnpackSum<T> = (view: DataView, at: number, out: T, to: number, total: number, minDelta: number) => number;

/** Integers in two's complement of 32 bits; narrower arrays keep the low bits, which is right when the totals fit. */
export type IntArray = Int8Array | Int16Array | Int32Array;

interface BitField {
  readonly value: string;
  readonly bit: number;
  readonly width: number;
}

const packers: (Pack | undefined)[] = new Array<undefined>(65).fill(undefined);
const unpackers: (Unpack<Uint32Array> | undefined)[] = new Array<undefined>(33).fill(undefined);
const intSums: Record<1 | 2 | 4, (UnpackSum<IntArray> | undefined)[]> = { 1: [], 2: [], 4: [] };
const doubleSums: (UnpackSum<Float64Array> | undefined)[] = [];

/** The packer of `width` 1..64. */
export function packer(width: number): Pack {
  assert(width >= 1 && width <= 64, `a bit width 1..64; got ${width}`);
  return (packers[width] ??= compile<Pack>(`pack${width}`, "view, at, low, high, from", packSource(width)));
}

/** The unpacker of `width` 1..32 into unsigned 32-bit values. */
export function unpacker(width: number): Unpack<Uint32Array> {
  assert(width >= 1 && width <= 32, `a bit width 1..32; got ${width}`);
  return (unpackers[width] ??= compile<Unpack<Uint32Array>>(
    `unpack${width}`,
    "view, at, out, to",
    unpackSource(width, (k, low) => `out[to + ${k}] = ${low};`),
  ));
}

/** The unpacker of deltas of `width` 1..64 whose totals are 32-bit integers, for arrays of `bytesPerElement`. Only low bits count. */
export function intSummer(width: number, bytesPerElement: 1 | 2 | 4): UnpackSum<IntArray> {
  assert(width >= 1 && width <= 64, `a bit width 1..64; got ${width}`);
  return (intSums[bytesPerElement][width] ??= compile<UnpackSum<IntArray>>(
    `sum${width}Int${bytesPerElement * 8}`,
    "view, at, out, to, total, minDelta",
    `${unpackSource(width, (k, low) => `total = (total + ((${low} + minDelta) | 0)) | 0; out[to + ${k}] = total;`)}return total;`,
  ));
}

/** The unpacker of deltas of `width` 1..53 whose totals, and deltas, are exact doubles. */
export function doubleSummer(width: number): UnpackSum<Float64Array> {
  assert(width >= 1 && width <= 53, `a bit width 1..53; got ${width}`);
  return (doubleSums[width] ??= compile<UnpackSum<Float64Array>>(
    `sum${width}Double`,
    "view, at, out, to, total, minDelta",
    `${unpackSource(width, (k, low, high) => {
      const delta = high === undefined ? `(${low} >>> 0)` : `(${high} * 4294967296 + (${low} >>> 0))`;
      return `total += ${delta} + minDelta; out[to + ${k}] = total;`;
    })}return total;`,
  ));
}

/** The source of a packer: for each word, the parts of the values that fall into it. */
function packSource(width: number): string {
  const words: string[][] = Array.from({ length: width }, () => []);
  for (let k = 0; k < 32; k++) {
    const fields: BitField[] = [{ value: `low[from + ${k}]`, bit: k * width, width: Math.min(width, 32) }];
    if (width > 32) fields.push({ value: `high[from + ${k}]`, bit: k * width + 32, width: width - 32 });
    for (const field of fields) {
      const word = field.bit >> 5;
      const shift = field.bit & 31;
      words[word]?.push(shift === 0 ? field.value : `(${field.value} << ${shift})`);
      if (shift + field.width > 32) words[word + 1]?.push(`(${field.value} >>> ${32 - shift})`);
    }
  }
  return words.map((parts, word) => `view.setInt32(at + ${word * 4}, ${parts.join(" | ")}, true);`).join("\n");
}

/** The generated source of an unpacker; `emit` gets expressions of the low 32 bits and, above width 32, of the bits above them. */
function unpackSource(width: number, emit: (k: number, low: string, high: string | undefined) => string): string {
  const lines: string[] = [];
  let loaded = 0;
  const load = (words: number): void => {
    for (; loaded < words; loaded++) lines.push(`const w${loaded} = view.getInt32(at + ${loaded * 4}, true);`);
  };
  for (let k = 0; k < 32; k++) {
    const bit = k * width;
    load((bit + width + 31) >> 5);
    const low = readBits(bit, Math.min(width, 32));
    const high = width > 32 ? readBits(bit + 32, width - 32) : undefined;
    lines.push(emit(k, low, high));
  }
  return `${lines.join("\n")}\n`;
}

function readBits(bit: number, width: number): string {
  const word = bit >> 5;
  const shift = bit & 31;
  const mask = width === 32 ? "" : ` & ${2 ** width - 1}`;
  if (shift + width > 32) return `(((w${word} >>> ${shift}) | (w${word + 1} << ${32 - shift}))${mask})`;
  if (shift === 0) return width === 32 ? `w${word}` : `(w${word}${mask})`;
  return shift + width === 32 ? `(w${word} >>> ${shift})` : `((w${word} >>> ${shift})${mask})`;
}

function compile<T>(name: string, parameters: string, body: string): T {
  // The text is made of constants of this file and numbers only.
  return new Function(`return function ${name}(${parameters}) {\n${body}\n}\n//# sourceURL=varve-bit-pack-${name}.js`)() as T;
}
