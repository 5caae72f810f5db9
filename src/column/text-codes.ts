/**
 * Texts as numbers, each text once: tags repeat, so rows find theirs by its bytes and no string is made for one that is known.
 *
 *   bytes ─► the code that followed the code before, last time ─ no ─► hash ─► slots ─► ranges in an arena ─► code, from 1 on
 *
 * Rows come in an order that repeats: all hosts report, then all of them again, or one host a thousand times. So the guess holds for most
 * rows, and costs a comparison. By bytes: words through a DataView are a third faster alone, and three times slower in a server, where the
 * runtime gives up compiling them (DoPut of texts 1.24 -> 0.83 us of the main thread a row).
 */
import { bytesHash } from "../base/bytes/hash.ts";
import { HashSlots, slotOf } from "../base/bytes/hash-slots.ts";
import { grown, longer, longerBytes } from "../base/bytes/longer-array.ts";
import { utf8Text } from "./text-table.ts";
import type { BytesVector } from "./vector.ts";

const SLOTS_MIN = 256;
const CODES_MIN = 256;
const ARENA_BYTES_MIN = 4096;

/** See the file header. Grows with what it is given: owners make a new one when `byteLength` is too much. */
export class TextCodes {
  /** Text of each code; that of 0 stands for NULL. */
  readonly texts: (string | undefined)[] = [undefined];
  private readonly slots: HashSlots = new HashSlots(SLOTS_MIN);
  /** Where each text begins in the arena, and its bytes. That of 0 has more than any text. */
  private starts: Uint32Array<ArrayBuffer> = new Uint32Array(CODES_MIN);
  private lengths: Uint32Array<ArrayBuffer> = new Uint32Array(CODES_MIN).fill(0xffff_ffff, 0, 1);
  /** The code that came last after each code; 0: none. */
  private next: Uint32Array<ArrayBuffer> = new Uint32Array(CODES_MIN);
  private arena: Uint8Array<ArrayBuffer> = new Uint8Array(ARENA_BYTES_MIN);
  private used = 0;

  /** Bytes held, nearly: of texts twice, since they are strings too. */
  get byteLength(): number {
    return this.arena.length * 2 + this.starts.byteLength * 3 + this.slots.byteLength + this.texts.length * 32;
  }

  /** The code of a text. */
  codeOf(bytes: Uint8Array, start: number, end: number): number {
    const { pairs, mask } = this.slots;
    const hash = bytesHash(bytes, start, end);
    for (let slot = slotOf(hash, mask); ; slot = (slot + 2) & mask) {
      const code = pairs[slot + 1] as number;
      if (code === 0) return this.add(hash, bytes, start, end);
      if (pairs[slot] !== hash) continue;
      if (isSame(this.arena, this.starts[code] as number, this.lengths[code] as number, bytes, start, end)) return code;
    }
  }

  /** Writes the codes of rows `[from, to)`, which are UTF-8, to the beginning of `codes`. */
  codesOf({ offsets, bytes, validity }: BytesVector, from: number, to: number, codes: Uint32Array): void {
    let before = 0;
    let start = offsets[from] as number;
    for (let row = from, i = 0; row < to; row++, i++) {
      const end = offsets[row + 1] as number;
      if (validity !== undefined && validity[row] === 0) codes[i] = 0;
      else {
        const guess = this.next[before] as number;
        let code = guess;
        if (!isSame(this.arena, this.starts[guess] as number, this.lengths[guess] as number, bytes, start, end)) {
          code = this.codeOf(bytes, start, end);
          this.next[before] = code;
        }
        codes[i] = code;
        before = code;
      }
      start = end;
    }
  }

  private add(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const code = this.texts.length;
    if (code >= this.starts.length) {
      this.starts = longer(this.starts);
      this.lengths = grown(this.lengths, this.starts.length);
      this.next = grown(this.next, this.starts.length);
    }
    const at = this.used;
    this.used = at + end - start;
    if (this.used > this.arena.length) this.arena = longerBytes(this.arena, at, this.used);
    this.arena.set(bytes.subarray(start, end), at);
    this.starts[code] = at;
    this.lengths[code] = end - start;
    this.slots.add(hash, code - 1); // An entry is stored as one more, which is the code.
    this.texts.push(utf8Text(bytes, start, end));
    return code;
  }
}

/** Whether `known[at, at + length)` are the bytes `[start, end)`. */
function isSame(known: Uint8Array, at: number, length: number, bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start !== length) return false;
  for (let from = start, to = at; from < end; from++, to++) if (known[to] !== bytes[from]) return false;
  return true;
}
