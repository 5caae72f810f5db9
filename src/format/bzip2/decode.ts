/** bzip2 → bytes, a block at a time (FORMAT.md). Damaged input throws an `Error` that says what is wrong. */
import { type BitReader, crcStep } from "./bits.ts";
import { type DecodingTable, decodingTable } from "./huffman.ts";

/** Bytes that a block takes at most, compressed: 900,000 symbols of 20 bits, selectors and tables. */
export const BLOCK_INPUT_BYTES_MAX: number = 3 * 1024 * 1024;

const GROUP = 50;
/** Groups of symbols of one step: about 3 ms. */
const STEP_GROUPS = 512;
/** Bytes that go out at a time: about 5 ms. */
const PIECE_BYTES: number = 256 * 1024;

/** One block of a stream, or the end of one. */
export type Bzip2Part =
  | { readonly kind: "block"; readonly crc: number; readonly pieces: Iterable<Uint8Array> }
  | { readonly kind: "end"; readonly crc: number };

/**
 * Reads what begins with a magic number, in steps. `pieces` must be read to their end, which checks the checksum.
 * @param bytesMax of a block, before its runs are unfolded
 */
export function* partSteps(input: BitReader, bytesMax: number): Generator<void, Bzip2Part> {
  const magic = input.bits(24) * 2 ** 24 + input.bits(24);
  const crc = input.bits32();
  if (magic === 0x177245385090) return { kind: "end", crc };
  if (magic !== 0x314159265359) throw new Error("a block does not begin as blocks do");
  const isRandomised = input.bits(1) === 1;
  if (isRandomised) throw new Error("its blocks are randomised, as bzip2 before version 0.9.5 wrote them");
  const origin = input.bits(24);
  const alphabet = readAlphabet(input);
  const { selectors, tables } = readTables(input, alphabet.length + 2);
  const { last, length } = yield* symbolSteps(input, alphabet, selectors, tables, bytesMax);
  if (origin >= length) throw new Error("a block points outside itself");
  return { kind: "block", crc, pieces: unfolded(last, length, origin, crc) };
}

/** Bytes that occur, ascending. */
function readAlphabet(input: BitReader): Uint8Array {
  const rows = input.bits(16);
  const used: number[] = [];
  for (let row = 0; row < 16; row++) {
    if ((rows & (0x8000 >> row)) === 0) continue;
    const bits = input.bits(16);
    for (let i = 0; i < 16; i++) if ((bits & (0x8000 >> i)) !== 0) used.push(row * 16 + i);
  }
  if (used.length === 0) throw new Error("a block has no bytes");
  return Uint8Array.from(used);
}

function readTables(input: BitReader, alphabet: number): { readonly selectors: Uint8Array; readonly tables: readonly DecodingTable[] } {
  const count = input.bits(3);
  const selectors = new Uint8Array(input.bits(15));
  if (count < 2 || count > 6 || selectors.length === 0) throw new Error("a block has no codes");
  const recent = [0, 1, 2, 3, 4, 5].slice(0, count);
  for (let i = 0; i < selectors.length; i++) {
    let place = 0;
    while (input.bits(1) === 1) if (++place >= count) throw new Error("a block names a code that there is not");
    const table = recent[place] as number;
    recent.copyWithin(1, 0, place);
    recent[0] = table;
    selectors[i] = table;
  }
  const tables = Array.from({ length: count }, () => {
    const lengths = new Uint8Array(alphabet);
    let current = input.bits(5);
    for (let symbol = 0; symbol < alphabet; symbol++) {
      while (input.bits(1) === 1) current += input.bits(1) === 0 ? 1 : -1;
      if (current < 1 || current > 20) throw new Error("a code has no length from 1 to 20");
      lengths[symbol] = current;
    }
    return decodingTable(lengths);
  });
  return { selectors, tables };
}

function* symbolSteps(
  input: BitReader,
  alphabet: Uint8Array,
  selectors: Uint8Array,
  tables: readonly DecodingTable[],
  bytesMax: number,
): Generator<void, { readonly last: Uint8Array; readonly length: number }> {
  const last = new Uint8Array(bytesMax);
  const recent = alphabet.slice();
  const end = alphabet.length + 1;
  let length = 0;
  let run = 0;
  let weight = 1;
  for (let group = 0; ; group++) {
    if (group % STEP_GROUPS === 0) yield;
    const table = tables[selectors[group] ?? -1];
    if (table === undefined) throw new Error("a block has more symbols than it says");
    for (let i = 0; i < GROUP; i++) {
      const symbol = readSymbol(input, table);
      if (symbol <= 1) {
        run += weight << symbol;
        weight *= 2;
        if (run > bytesMax) throw new Error("a block is longer than it may be");
        continue;
      }
      if (run > 0) {
        if (length + run > bytesMax) throw new Error("a block is longer than it may be");
        last.fill(recent[0] as number, length, length + run);
        length += run;
        run = 0;
        weight = 1;
      }
      if (symbol === end) return { last, length };
      if (length >= bytesMax) throw new Error("a block is longer than it may be");
      const place = symbol - 1;
      const byte = recent[place] as number;
      recent.copyWithin(1, 0, place);
      recent[0] = byte;
      last[length++] = byte;
    }
  }
}

function readSymbol(input: BitReader, { first, limit, start, symbols }: DecodingTable): number {
  let code = 0;
  for (let bits = 1; bits <= 20; bits++) {
    code = (code << 1) | input.bits(1);
    if (code < (limit[bits] as number)) return symbols[(start[bits] as number) + code - (first[bits] as number)] ?? 0;
  }
  throw new Error("a code stands for nothing");
}

/** The block out of its last column, with its runs. */
function* unfolded(last: Uint8Array, length: number, origin: number, wanted: number): Iterable<Uint8Array> {
  const starts = new Uint32Array(257);
  for (let i = 0; i < length; i++) starts[(last[i] as number) + 1]!++;
  for (let i = 0; i < 256; i++) starts[i + 1]! += starts[i] as number;
  const next = new Uint32Array(length);
  for (let i = 0; i < length; i++) next[starts[last[i] as number]!++] = i;
  let piece = new Uint8Array(PIECE_BYTES);
  let filled = 0;
  let crc = 0xffffffff;
  let run = 0;
  let previous = -1;
  let at = next[origin] as number;
  for (let i = 0; i < length; i++, at = next[at] as number) {
    const byte = last[at] as number;
    const isCount = run === 4;
    const count = isCount ? byte : 1;
    const value = isCount ? previous : byte;
    run = isCount ? 0 : byte === previous ? run + 1 : 1;
    previous = isCount ? -1 : byte;
    for (let n = 0; n < count; n++) {
      crc = crcStep(crc, value);
      piece[filled++] = value;
      if (filled < PIECE_BYTES) continue;
      yield piece;
      piece = new Uint8Array(PIECE_BYTES);
      filled = 0;
    }
  }
  if (~crc >>> 0 !== wanted) throw new Error("the checksum of a block is wrong");
  yield piece.subarray(0, filled);
}
