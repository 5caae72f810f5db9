/**
 * Texts of a tag column as codes of a dictionary: tags repeat, so each text is made once, and rows find theirs by its bytes.
 *
 *   bytes ─ FNV-1a ─► slots (code + 1, open addressing) ─► ranges in an arena ─► dictionary
 */
import { fnv1a } from "../../../../base/bytes/hash.ts";
import { longerBytes } from "../../../../base/bytes/longer-array.ts";
import type { DictionaryVector } from "../../../../column/vector.ts";
import { utf8Text } from "../../../../column/text-table.ts";
import type { ScannedColumn } from "./read-values.ts";

/** Texts that are kept, and their bytes; beyond, it begins anew. Reason: a tag may be different in each row. */
const TEXTS_MAX = 32_768;
const BYTES_MAX: number = 4 * 1024 * 1024;
const SLOTS: number = 4 * TEXTS_MAX;

/** See the file header. */
export class TagTexts {
  private slots: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  private dictionary: (string | undefined)[] = [undefined];
  private readonly starts: Uint32Array<ArrayBuffer> = new Uint32Array(TEXTS_MAX + 2);
  private arena: Uint8Array<ArrayBuffer> = new Uint8Array(4096);

  /** The column's values. */
  of({ bytes, rows: { starts, ends, rows }, width, column }: ScannedColumn): DictionaryVector {
    if (this.slots.length === 0 || this.dictionary.length + rows > TEXTS_MAX || this.used > BYTES_MAX) this.clear();
    const codes = new Uint32Array(rows);
    for (let row = 0, i = column; row < rows; row++, i += width) {
      const start = starts[i]!;
      const end = ends[i]!;
      if (end >= start) codes[row] = this.codeOf(bytes, start, end);
    }
    return { kind: "dictionary", codes, dictionary: this.dictionary };
  }

  private get used(): number {
    return this.starts[this.dictionary.length]!;
  }

  private clear(): void {
    this.slots = new Uint32Array(SLOTS);
    this.dictionary = [undefined];
    this.starts.fill(0);
  }

  private codeOf(bytes: Uint8Array, start: number, end: number): number {
    const { slots, starts } = this;
    let slot = fnv1a(bytes, start, end) & (SLOTS - 1);
    for (let code = slots[slot]!; code !== 0; code = slots[slot]!) {
      if (starts[code + 1]! - starts[code]! === end - start && this.isSame(starts[code]!, bytes, start, end)) return code;
      slot = (slot + 1) & (SLOTS - 1);
    }
    return this.add(slot, bytes, start, end);
  }

  private isSame(from: number, bytes: Uint8Array, start: number, end: number): boolean {
    const { arena } = this;
    for (let i = start, at = from; i < end; i++, at++) if (arena[at] !== bytes[i]) return false;
    return true;
  }

  private add(slot: number, bytes: Uint8Array, start: number, end: number): number {
    const code = this.dictionary.length;
    const at = this.starts[code]!;
    const to = at + end - start;
    if (to > this.arena.length) this.arena = longerBytes(this.arena, at, to);
    this.arena.set(bytes.subarray(start, end), at);
    this.starts[code + 1] = to;
    this.slots[slot] = code;
    this.dictionary.push(utf8Text(bytes, start, end));
    return code;
  }
}
