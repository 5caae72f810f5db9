/**
 * Numbers rows of some 32-bit words densely, as `word-table.ts` does, for tables that are many and small: those of parts of rows
 * (`spread-rows.ts`). A slot is a number alone, so that a table takes a third of the memory and stays in the cache; keys are looked at
 * where they lie. All keys move at once to longer slots, which are few.
 *
 *   keys    the words of each number, `width` of them
 *   slots   open addressing, linear probing: number + 1; 0: free
 *
 * 256 tables of 4,000 keys each, 4,096 rows at a time, CPU ms for 5M rows: 155 with `WordTable`, 95 so; all different, 610 and 290. By
 * SQL, with slots four times as long where most keys are new: DISTINCT of 5M integers 558 and 418, GROUP BY of 5M above 2^53 583 and 549.
 */
import { HASH_FACTOR, HASH_SEED } from "../../../base/bytes/hash.ts";
import { resized } from "../../../base/bytes/longer-array.ts";
import type { Validity } from "../../../column/vector.ts";
import { generated } from "../../expression/generated-code.ts";
import { eachWord, nullRow } from "./word-hash.ts";
import { NO_NUMBER, type NullNumber } from "./word-table.ts";

/** Slots at first, and how many times as many there are next, of few and of more. */
const SLOTS_MIN = 64;
const FEW_SLOTS = 4096;
/** The same as few where most rows brought a new key: so will those to come. */
const MORE_SLOTS = 65_536;

type Loop = (
  table: CompactTable,
  words: Int32Array,
  validity: Validity,
  from: number,
  to: number,
  isNew: boolean,
  nullIsNumber: boolean,
  into: Int32Array,
  slots: Int32Array,
  keys: Int32Array,
  mask: number,
  seed: number,
  sizeMax: number,
) => number;

type Move = (keys: Int32Array, size: number, nullNumber: number, slots: Int32Array, mask: number, seed: number) => void;

/** See the file header. */
export class CompactTable {
  size = 0;
  /** Number of the row without words; `NO_NUMBER` until one comes. */
  nullNumber: number = NO_NUMBER;
  keys: Int32Array;
  readonly width: number;
  private slots: Int32Array = new Int32Array(SLOTS_MIN);
  /** Rows that came. */
  private rows = 0;
  private readonly loop: Loop;
  private readonly move: Move;

  /** @param width words of a key, 1 or more */
  constructor(width: number) {
    this.width = width;
    this.keys = new Int32Array((SLOTS_MIN / 2) * width);
    const { loop, move } = codeOf(width);
    this.loop = loop;
    this.move = move;
  }

  /** Bytes that a key takes, about: slots are a quarter to half full, an eighth to half where nearly all rows are new. */
  get keyBytes(): number {
    return this.width * 6 + 16;
  }

  /** As that of `WordTable`. */
  numbersOf(words: Int32Array, validity: Validity, rowCount: number, isNew: boolean, nullIs: NullNumber, into: Int32Array): void {
    const nullIsNumber = nullIs === "a number of its own";
    this.rows += rowCount;
    for (let from = 0; from < rowCount; ) {
      const sizeMax = isNew ? this.roomFor() : this.size;
      const { slots, keys } = this;
      from = this.loop(this, words, validity, from, rowCount, isNew, nullIsNumber, into, slots, keys, slots.length - 1, HASH_SEED, sizeMax);
    }
  }

  /** The size up to which slots and keys suffice, which are made longer when they are full. */
  private roomFor(): number {
    const { width } = this;
    if (this.size * 2 >= this.slots.length) {
      const isFew = this.slots.length <= FEW_SLOTS || (this.slots.length <= MORE_SLOTS && this.size * 2 > this.rows);
      const slots = new Int32Array(this.slots.length * (isFew ? 4 : 2));
      this.move(this.keys, this.size, this.nullNumber, slots, slots.length - 1, HASH_SEED);
      this.slots = slots;
    }
    // What is not written takes no memory.
    if (this.size * width >= this.keys.length) this.keys = resized(this.keys, (this.slots.length / 2) * width);
    return Math.min(this.slots.length / 2, this.keys.length / width);
  }
}

const codes = new Map<number, { readonly loop: Loop; readonly move: Move }>();

function codeOf(width: number): { readonly loop: Loop; readonly move: Move } {
  const known = codes.get(width);
  if (known !== undefined) return known;
  const each = (text: (w: number) => string, between: string): string => eachWord(width, text, between);
  // Each word is mixed in whole before the next comes.
  const hash = `let h = seed;
${each((w) => `h = Math.imul(h ^ w${w}, 0x85ebca6b); h = Math.imul(h ^ (h >>> 15), ${HASH_FACTOR});`, "\n")}
h = Math.imul(h, 0xc2b2ae35); h ^= h >>> 13;`;
  const loop = `let size = table.size, last = -2, ${each((w) => `p${w} = 0`, ", ")};
for (let i = from; i < to; i++) {
${nullRow("i")}
${each((w) => `const w${w} = words[i * ${width} + ${w}];`, " ")}
if (last !== -2 && ${each((w) => `w${w} === p${w}`, " && ")}) { into[i] = last; continue; }
${hash}
let s = h & mask, id = -1;
for (;;) {
const e = slots[s];
if (e === 0) {
if (!isNew) break;
if (size >= sizeMax) { table.size = size; return i; }
id = size++;
const k = id * ${width};
${each((w) => `keys[k + ${w}] = w${w};`, " ")}
slots[s] = id + 1;
break;
}
const k = (e - 1) * ${width};
if (${each((w) => `keys[k + ${w}] === w${w}`, " && ")}) { id = e - 1; break; }
s = (s + 1) & mask;
}
${each((w) => `p${w} = w${w};`, " ")} last = id;
into[i] = id;
}
table.size = size;
return to;`;
  const move = `for (let id = 0; id < size; id++) {
if (id === nullNumber) continue;
${each((w) => `const w${w} = keys[id * ${width} + ${w}];`, " ")}
${hash}
let s = h & mask;
while (slots[s] !== 0) s = (s + 1) & mask;
slots[s] = id + 1;
}`;
  const parameters = "table words validity from to isNew nullIsNumber into slots keys mask seed sizeMax".split(" ");
  const made = {
    loop: generated<Loop>(`compact-table-${width}`, parameters, loop),
    move: generated<Move>(`compact-move-${width}`, ["keys", "size", "nullNumber", "slots", "mask", "seed"], move),
  };
  codes.set(width, made);
  return made;
}
