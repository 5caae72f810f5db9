/**
 * Texts as numbers, each text once: tags repeat, so rows find theirs by its bytes and no string is made for one that is known.
 *
 *   bytes ─► the code that followed the code before, last time ─ no ─► hash ─► slots ─► ranges in an arena ─► code, from 1 on
 *
 * Rows come in an order that repeats: all hosts report, then all of them again, or one host a thousand times. So the guess holds for most
 * rows, and costs a comparison, four bytes at a time. Bytes are read by a view wherever they lie.
 */
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
  /** Where each text begins in the arena, at a multiple of 4, and its bytes. That of 0 has more than any text. */
  private starts: Uint32Array<ArrayBuffer> = new Uint32Array(CODES_MIN);
  private lengths: Uint32Array<ArrayBuffer> = new Uint32Array(CODES_MIN).fill(0xffff_ffff, 0, 1);
  /** The code that came last after each code; 0: none. */
  private next: Uint32Array<ArrayBuffer> = new Uint32Array(CODES_MIN);
  private arena: Uint8Array<ArrayBuffer> = new Uint8Array(ARENA_BYTES_MIN);
  private view: DataView<ArrayBuffer> = new DataView(this.arena.buffer);
  private used = 0;

  /** Bytes held, nearly: of texts twice, since they are strings too. */
  get byteLength(): number {
    return this.arena.length * 2 + this.starts.byteLength * 3 + this.slots.byteLength + this.texts.length * 32;
  }

  /** The code of a text. */
  codeOf(bytes: Uint8Array, start: number, end: number): number {
    return this.find(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), bytes, start, end);
  }

  /** Writes the codes of rows `[from, to)`, which are UTF-8, to the beginning of `codes`. */
  codesOf({ offsets, bytes, validity }: BytesVector, from: number, to: number, codes: Uint32Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let before = 0;
    let start = offsets[from] as number;
    for (let row = from, i = 0; row < to; row++, i++) {
      const end = offsets[row + 1] as number;
      if (validity !== undefined && validity[row] === 0) codes[i] = 0;
      else {
        const guess = this.next[before] as number;
        let code = guess;
        if (!isSame(this.view, this.starts[guess] as number, this.lengths[guess] as number, view, start, end)) {
          code = this.find(view, bytes, start, end);
          this.next[before] = code;
        }
        codes[i] = code;
        before = code;
      }
      start = end;
    }
  }

  private find(view: DataView, bytes: Uint8Array, start: number, end: number): number {
    const { pairs, mask } = this.slots;
    const hash = hashOf(view, start, end);
    for (let slot = slotOf(hash, mask); ; slot = (slot + 2) & mask) {
      const code = pairs[slot + 1] as number;
      if (code === 0) return this.add(hash, bytes, start, end);
      if (pairs[slot] !== hash) continue;
      if (isSame(this.view, this.starts[code] as number, this.lengths[code] as number, view, start, end)) return code;
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
    this.used = (at + end - start + 3) & ~3;
    if (this.used > this.arena.length) {
      this.arena = longerBytes(this.arena, at, this.used);
      this.view = new DataView(this.arena.buffer);
    }
    this.arena.set(bytes.subarray(start, end), at);
    this.starts[code] = at;
    this.lengths[code] = end - start;
    this.slots.add(hash, code - 1); // An entry is stored as one more, which is the code.
    this.texts.push(utf8Text(bytes, start, end));
    return code;
  }
}

/** Whether `known[at, at + length)` are the bytes `[start, end)`; their last four may be compared twice. */
function isSame(known: DataView, at: number, length: number, view: DataView, start: number, end: number): boolean {
  if (end - start !== length) return false;
  if (length < 4) {
    for (let i = 0; i < length; i++) if (known.getUint8(at + i) !== view.getUint8(start + i)) return false;
    return true;
  }
  const last = end - 4;
  for (let from = start, to = at; from < last; from += 4, to += 4) if (known.getInt32(to, true) !== view.getInt32(from, true)) return false;
  return known.getInt32(at + length - 4, true) === view.getInt32(last, true);
}

function hashOf(view: DataView, start: number, end: number): number {
  let hash = end - start;
  if (hash < 4) for (let at = start; at < end; at++) hash = Math.imul(hash ^ view.getUint8(at), 0x9e37_79b1);
  else {
    const last = end - 4;
    for (let at = start; at < last; at += 4) {
      hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e37_79b1);
      hash ^= hash >>> 15;
    }
    hash = Math.imul(hash ^ view.getInt32(last, true), 0x9e37_79b1);
  }
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x85eb_ca6b);
  return hash ^ (hash >>> 16);
}
