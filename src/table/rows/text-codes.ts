/**
 * Texts as numbers, each text once: tags repeat, so rows find theirs by its bytes and no string is made for one that is known.
 *
 *   bytes ─ FNV-1a ─► slots ─► ranges in an arena ─► code, from 1 on
 */
import { fnv1a } from "../../base/bytes/hash.ts";
import { HashSlots, slotOf } from "../../base/bytes/hash-slots.ts";
import { longer, longerBytes } from "../../base/bytes/longer-array.ts";
import { utf8Text } from "../../column/text-table.ts";

const SLOTS_MIN = 256;

/** See the file header. Grows with what it is given: owners make a new one when `byteLength` is too much. */
export class TextCodes {
  /** Text of each code; that of 0 stands for NULL. */
  readonly texts: (string | undefined)[] = [undefined];
  private readonly slots: HashSlots = new HashSlots(SLOTS_MIN);
  /** Where each text begins in the arena, and the one behind the last. */
  private starts: Uint32Array<ArrayBuffer> = new Uint32Array(256);
  private arena: Uint8Array<ArrayBuffer> = new Uint8Array(4096);

  /** Bytes held, nearly: of texts twice, since they are strings too. */
  get byteLength(): number {
    return this.arena.length * 2 + this.starts.byteLength + this.slots.byteLength + this.texts.length * 32;
  }

  /** The code of `bytes[start, end)`, which is UTF-8. */
  codeOf(bytes: Uint8Array, start: number, end: number): number {
    const { starts } = this;
    const { pairs, mask } = this.slots;
    const hash = fnv1a(bytes, start, end) | 0;
    for (let slot = slotOf(hash, mask); ; slot = (slot + 2) & mask) {
      const code = pairs[slot + 1] as number;
      if (code === 0) return this.add(hash, bytes, start, end);
      if (pairs[slot] !== hash) continue;
      const from = starts[code] as number;
      if ((starts[code + 1] as number) - from === end - start && this.isSame(from, bytes, start, end)) return code;
    }
  }

  private isSame(from: number, bytes: Uint8Array, start: number, end: number): boolean {
    const { arena } = this;
    for (let i = start, at = from; i < end; i++, at++) if (arena[at] !== bytes[i]) return false;
    return true;
  }

  private add(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const code = this.texts.length;
    if (code + 1 >= this.starts.length) this.starts = longer(this.starts);
    const at = this.starts[code] as number;
    const to = at + end - start;
    if (to > this.arena.length) this.arena = longerBytes(this.arena, at, to);
    this.arena.set(bytes.subarray(start, end), at);
    this.starts[code + 1] = to;
    this.slots.add(hash, code - 1); // An entry is stored as one more, which is the code.
    this.texts.push(utf8Text(bytes, start, end));
    return code;
  }
}
