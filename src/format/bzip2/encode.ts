/** Bytes → bzip2, a block at a time (FORMAT.md). */
import { BitWriter, crcStep } from "./bits.ts";
import { codeLengths, codesOf } from "./huffman.ts";
import { transform } from "./rotations.ts";

/** Bytes of a block after runs are folded: the smallest of the format. Reason: a block is one stretch of work, here some 25 ms. */
const BLOCK_BYTES = 100_000;
/** A run takes 5 bytes at most. */
const BLOCK_FULL: number = BLOCK_BYTES - 24;
const GROUP = 50;
const ROUNDS = 4;

/** Collects bytes into blocks: `push` until it says that the block is full, then `block`; `finish` at the end. */
export class Bzip2Encoder {
  private readonly out = new BitWriter();
  private readonly bytes = new Uint8Array(BLOCK_BYTES);
  private length = 0;
  private run = 0;
  private runByte = -1;
  private crc = 0xffffffff;
  private total = 0;

  constructor() {
    for (const byte of [0x42, 0x5a, 0x68, 0x31]) this.out.put(byte, 8); // "BZh1"
  }

  /** Takes bytes from `from` on; gives where it stopped because the block is full, or their end. */
  push(bytes: Uint8Array, from: number): number {
    let at = from;
    for (; at < bytes.length && this.length < BLOCK_FULL; at++) {
      const byte = bytes[at] as number;
      this.crc = crcStep(this.crc, byte);
      if (byte === this.runByte && this.run < 255) {
        this.run++;
        continue;
      }
      this.endRun();
      this.runByte = byte;
      this.run = 1;
    }
    return at;
  }

  private endRun(): void {
    if (this.run === 0) return;
    for (let i = 0; i < Math.min(4, this.run); i++) this.bytes[this.length++] = this.runByte;
    if (this.run >= 4) this.bytes[this.length++] = this.run - 4;
    this.run = 0;
    this.runByte = -1;
  }

  /** Encodes the block and gives the bytes that are whole. */
  block(): Uint8Array {
    this.endRun();
    if (this.length > 0) {
      const crc = ~this.crc >>> 0;
      this.total = (((this.total << 1) | (this.total >>> 31)) ^ crc) >>> 0;
      writeBlock(this.out, this.bytes, this.length, crc);
      this.length = 0;
      this.crc = 0xffffffff;
    }
    return this.out.take(false);
  }

  /** Encodes what is left, and the end of the stream. */
  finish(): Uint8Array {
    const block = this.block();
    this.out.put(0x177245, 24);
    this.out.put(0x385090, 24);
    this.out.put32(this.total);
    return Buffer.concat([block, this.out.take(true)]);
  }
}

function writeBlock(out: BitWriter, bytes: Uint8Array, length: number, crc: number): void {
  const { last, origin } = transform(bytes, length);
  out.put(0x314159, 24);
  out.put(0x265359, 24);
  out.put32(crc);
  out.put(0, 1);
  out.put(origin, 24);
  const used = new Uint8Array(256);
  for (let i = 0; i < length; i++) used[bytes[i] as number] = 1;
  const rows = Array.from({ length: 16 }, (_, row) => used.subarray(row * 16, row * 16 + 16));
  for (const row of rows) out.put(row.includes(1) ? 1 : 0, 1);
  for (const row of rows) if (row.includes(1)) for (const bit of row) out.put(bit, 1);
  writeSymbols(out, movedToFront(last, used));
}

interface Symbols {
  readonly values: Uint16Array;
  readonly count: number;
  /** Symbols that there are; the last of them ends the block. */
  readonly alphabet: number;
}

/** Places in a list of recent bytes; runs of place 0 as numbers of the digits 1 and 2, the symbols 0 and 1. */
function movedToFront(last: Uint8Array, used: Uint8Array): Symbols {
  const recent: number[] = [];
  for (let byte = 0; byte < 256; byte++) if (used[byte] === 1) recent.push(byte);
  const alphabet = recent.length + 2;
  const values = new Uint16Array(last.length + 32);
  let count = 0;
  let zeros = 0;
  const endZeros = (): void => {
    for (; zeros > 0; zeros = (zeros - 1) >> 1) values[count++] = (zeros & 1) === 1 ? 0 : 1;
  };
  for (const byte of last) {
    if (recent[0] === byte) {
      zeros++;
      continue;
    }
    endZeros();
    const place = recent.indexOf(byte);
    recent.copyWithin(1, 0, place);
    recent[0] = byte;
    values[count++] = place + 1;
  }
  endZeros();
  values[count++] = alphabet - 1;
  return { values, count, alphabet };
}

function writeSymbols(out: BitWriter, symbols: Symbols): void {
  const { lengths, selectors } = chooseTables(symbols);
  const { values, count, alphabet } = symbols;
  out.put(lengths.length, 3);
  out.put(selectors.length, 15);
  const recent = lengths.map((_, table) => table);
  for (const selector of selectors) {
    const place = recent.indexOf(selector);
    for (let i = 0; i < place; i++) out.put(1, 1);
    out.put(0, 1);
    recent.copyWithin(1, 0, place);
    recent[0] = selector;
  }
  for (const table of lengths) {
    let current = table[0] as number;
    out.put(current, 5);
    for (let symbol = 0; symbol < alphabet; symbol++) {
      const wanted = table[symbol] as number;
      for (; current < wanted; current++) out.put(2, 2);
      for (; current > wanted; current--) out.put(3, 2);
      out.put(0, 1);
    }
  }
  const codes = lengths.map(codesOf);
  for (let i = 0; i < count; i++) {
    const selector = selectors[Math.floor(i / GROUP)] as number;
    const symbol = values[i] as number;
    out.put(codes[selector]?.[symbol] as number, lengths[selector]?.[symbol] as number);
  }
}

/** Codes for parts of the alphabet, made better in rounds: each group of 50 takes the cheapest, then codes follow their groups. */
function chooseTables({ values, count, alphabet }: Symbols): { readonly lengths: readonly Uint8Array[]; readonly selectors: Uint8Array } {
  const tables = count < 200 ? 2 : count < 600 ? 3 : count < 1200 ? 4 : count < 2400 ? 5 : 6;
  let lengths = firstTables(values, count, alphabet, tables);
  const selectors = new Uint8Array(Math.ceil(count / GROUP));
  for (let round = 0; round < ROUNDS; round++) {
    const frequencies = lengths.map(() => new Array<number>(alphabet).fill(0));
    for (let group = 0; group < selectors.length; group++) {
      const end = Math.min(count, (group + 1) * GROUP);
      let best = 0;
      let least = Number.POSITIVE_INFINITY;
      for (let table = 0; table < tables; table++) {
        const costs = lengths[table] as Uint8Array;
        let cost = 0;
        for (let i = group * GROUP; i < end; i++) cost += costs[values[i] as number] as number;
        if (cost < least) [best, least] = [table, cost];
      }
      selectors[group] = best;
      const own = frequencies[best] as number[];
      for (let i = group * GROUP; i < end; i++) own[values[i] as number]!++;
    }
    lengths = frequencies.map(codeLengths);
  }
  return { lengths, selectors };
}

function firstTables(values: Uint16Array, count: number, alphabet: number, tables: number): readonly Uint8Array[] {
  const frequency = new Uint32Array(alphabet);
  for (let i = 0; i < count; i++) frequency[values[i] as number]!++;
  const lengths: Uint8Array[] = [];
  let symbol = 0;
  let left = count;
  for (let table = 0; table < tables; table++) {
    const share = left / (tables - table);
    const own = new Uint8Array(alphabet).fill(15);
    for (let taken = 0; symbol < alphabet && (taken < share || table === tables - 1); symbol++) {
      own[symbol] = 1;
      taken += frequency[symbol] as number;
      left -= frequency[symbol] as number;
    }
    lengths.push(own);
  }
  return lengths;
}
