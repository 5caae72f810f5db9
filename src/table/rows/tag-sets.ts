/**
 * Rows of codes → keys of their tag sets, a block of rows at a time and each step column by column: hash, look the hash up, compare the
 * codes of the key that was found with those of the row. A row whose hash is new, or another's, is looked up by itself.
 *
 *   codes of a column  | 3 | 1 | 4 | …  a row          known codes of a column  | 3 | 1 | …  a key
 */
import { HashSlots, slotOf } from "../../base/bytes/hash-slots.ts";
import { grown } from "../../base/bytes/longer-array.ts";

/** Rows of a block. Reason: the codes of ten columns and what goes with them stay in a cache of 256 KiB. */
export const BLOCK_ROWS = 4096;

const SLOTS_MIN = 2048;

/** Keeps the codes of each key. */
export class TagSets {
  /** Codes of the block's rows, a column each: owners write them. */
  readonly codes: readonly Uint32Array<ArrayBuffer>[];
  private readonly hashes: Int32Array<ArrayBuffer> = new Int32Array(BLOCK_ROWS);
  /** Codes of each key. */
  private known: readonly Uint32Array<ArrayBuffer>[];
  private slots: HashSlots = new HashSlots(SLOTS_MIN);
  private readonly add: (codes: Uint32Array<ArrayBuffer>, hash: number) => number;

  /** @param add gives a tag set that is new its key; keys are numbered from 0 on */
  constructor(width: number, add: (codes: Uint32Array<ArrayBuffer>, hash: number) => number) {
    this.codes = Array.from({ length: width }, () => new Uint32Array(BLOCK_ROWS));
    this.known = this.codes.map(() => new Uint32Array(1024));
    this.add = add;
  }

  /** Forgets all keys. */
  clear(): void {
    this.slots = new HashSlots(SLOTS_MIN);
  }

  /** Writes the keys of the block's `count` rows to `keys` from `from` on. */
  keysOf(count: number, keys: Uint32Array, from: number): void {
    const { codes, hashes, known, slots } = this;
    hashes.fill(0, 0, count);
    for (const column of codes) mix(column, hashes, count);
    let flaws = lookUp(hashes, count, slots, keys, from);
    for (let c = 0; c < codes.length && flaws === 0; c++)
      flaws = differences(codes[c] as Uint32Array, known[c] as Uint32Array, keys, from, count);
    if (flaws !== 0) for (let row = 0; row < count; row++) keys[from + row] = this.keyOf(row);
  }

  private keyOf(row: number): number {
    const hash = finished(this.hashes[row] as number);
    const { pairs, mask } = this.slots;
    for (let slot = slotOf(hash, mask); ; slot = (slot + 2) & mask) {
      const key = (pairs[slot + 1] as number) - 1;
      if (key < 0) return this.added(row, hash);
      if (pairs[slot] === hash && this.isKey(key, row)) return key;
    }
  }

  private isKey(key: number, row: number): boolean {
    const { codes, known } = this;
    for (let c = 0; c < codes.length; c++) if (known[c]?.[key] !== codes[c]?.[row]) return false;
    return true;
  }

  private added(row: number, hash: number): number {
    const codes = Uint32Array.from(this.codes, (column) => column[row] as number);
    const key = this.add(codes, hash);
    this.slots.add(hash, key);
    this.known = this.known.map((column) => grown(column, key + 1));
    for (const [c, column] of this.known.entries()) column[key] = codes[c] as number;
    return key;
  }
}

function mix(codes: Uint32Array, hashes: Int32Array, count: number): void {
  for (let row = 0; row < count; row++) {
    const hash = Math.imul((hashes[row] as number) ^ (codes[row] as number), 0x9e37_79b1);
    hashes[row] = hash ^ (hash >>> 15);
  }
}

/** Slots are by the low bits. */
function finished(hash: number): number {
  const mixed = Math.imul(hash, 0x85eb_ca6b);
  return mixed ^ (mixed >>> 16);
}

/** The first key of each row's hash; not 0 where a hash has none. */
function lookUp(hashes: Int32Array, count: number, { pairs, mask }: HashSlots, keys: Uint32Array, from: number): number {
  let flaws = 0;
  for (let row = 0; row < count; row++) {
    const hash = finished(hashes[row] as number);
    let slot = slotOf(hash, mask);
    while (pairs[slot] !== hash && pairs[slot + 1] !== 0) slot = (slot + 2) & mask;
    const entry = pairs[slot + 1] as number;
    if (entry === 0) flaws = 1;
    else keys[from + row] = entry - 1;
  }
  return flaws;
}

/** Not 0 where a row's code is another than its key's. */
function differences(codes: Uint32Array, known: Uint32Array, keys: Uint32Array, from: number, count: number): number {
  let flaws = 0;
  for (let row = 0; row < count; row++) flaws |= (codes[row] as number) ^ (known[keys[from + row] as number] as number);
  return flaws;
}
