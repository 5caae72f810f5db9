/**
 * Distinct values of a chunk of strings, in the order of their first appearance, and the index of every row that is not NULL.
 *
 *   slots  open addressing, linear probing: index + 1, 0 = free; at most half full. A value is kept as its first row.
 */
import { resized } from "../../../base/bytes/longer-array.ts";
import type { BytesVector } from "../../../column/vector.ts";
import { encodePlainBytes } from "../encodings/byte-arrays.ts";
import { FIELD_DICTIONARY_BYTES_MAX, FIELD_DICTIONARY_ENTRIES_MAX } from "../limits.ts";
import { PageBuffer } from "../page-buffer.ts";

const WORD = 4;
/** Rows that are compared with one another in one piece, and equal rows in turn after which that is tried. */
const RUN_ROWS = 64;
const STREAK_ROWS = 16;

export class BytesDictionary {
  private readonly input: BytesVector;
  private readonly start: number;
  private readonly sizeMax: number;
  private readonly firstRows: number[] = [];
  private readonly hashes: number[] = [];
  private slots = new Int32Array(512);
  private byteLength = 0;
  private readonly words: DataView;
  private seen: Uint8Array = new Uint8Array(0);
  private nextRow: number;
  private indexCount = 0;
  /** Index of each row that is not NULL, from `start` on. */
  indexes: Uint32Array<ArrayBuffer> = new Uint32Array(1024);

  /** @param sizeMax values after which `addUntil` gives up */
  constructor(input: BytesVector, start: number, sizeMax: number = FIELD_DICTIONARY_ENTRIES_MAX) {
    this.input = input;
    const { buffer, byteOffset, byteLength } = input.bytes;
    this.words = new DataView(buffer, byteOffset, byteLength);
    this.start = start;
    this.nextRow = start;
    this.sizeMax = sizeMax;
  }

  /** Number of values. */
  get size(): number {
    return this.firstRows.length;
  }

  /** Adds the rows up to `end`. Returns false when the dictionary grew too large; it is then useless. */
  addUntil(end: number): boolean {
    const { offsets, validity } = this.input;
    if (this.indexes.length < end - this.start) this.indexes = resized(this.indexes, end - this.start);
    const { indexes } = this;
    let previous = -1;
    let streak = 0;
    for (let row = this.nextRow; row < end; row++) {
      if (validity !== undefined && validity[row] === 0) continue;
      const from = offsets[row]!;
      const to = offsets[row + 1]!;
      // Values often come in runs: compare with the last one before hashing.
      if (previous >= 0 && this.equals(previous, from, to)) {
        indexes[this.indexCount++] = previous;
        if (++streak < STREAK_ROWS) continue;
        streak = 0;
        while (this.repeats(row, end)) {
          indexes.fill(previous, this.indexCount, this.indexCount + RUN_ROWS);
          this.indexCount += RUN_ROWS;
          row += RUN_ROWS;
        }
        continue;
      }
      const hash = this.hash(from, to);
      let index = this.find(from, to, hash);
      if (index < 0) {
        this.byteLength += to - from;
        if (this.size >= this.sizeMax || this.byteLength > FIELD_DICTIONARY_BYTES_MAX) return false;
        index = this.insert(row, hash);
      }
      indexes[this.indexCount++] = index;
      previous = index;
    }
    this.nextRow = end;
    return true;
  }

  /** A view of value `index`. */
  value(index: number): Uint8Array {
    const row = this.firstRows[index]!;
    return this.input.bytes.subarray(this.input.offsets[row], this.input.offsets[row + 1]);
  }

  /** Rows that hold the distinct values of `indexes[start, end)`, each value once. */
  rowsOfValues(start: number, end: number): readonly number[] {
    if (this.seen.length < this.size) this.seen = new Uint8Array(this.size);
    const { seen, indexes, firstRows } = this;
    const found: number[] = [];
    for (let i = start; i < end; i++) {
      const index = indexes[i]!;
      if (seen[index] !== 0) continue;
      seen[index] = 1;
      found.push(index);
    }
    for (const index of found) seen[index] = 0;
    return found.map((index) => firstRows[index]!);
  }

  /** PLAIN bytes of all values. */
  plain(): Uint8Array<ArrayBuffer> {
    const out = new PageBuffer(this.byteLength + this.size * 4 + 16);
    for (let i = 0; i < this.size; i++) encodePlainBytes(out, this.value(i));
    return out.written();
  }

  private equals(index: number, from: number, to: number): boolean {
    const { input, words } = this;
    const { offsets, bytes } = input;
    const row = this.firstRows[index]!;
    const at = offsets[row]!;
    const length = to - from;
    if (offsets[row + 1]! - at !== length) return false;
    let i = 0;
    for (; i + WORD <= length; i += WORD) if (words.getUint32(at + i, true) !== words.getUint32(from + i, true)) return false;
    for (; i < length; i++) if (bytes[at + i] !== bytes[from + i]) return false;
    return true;
  }

  /**
   * Whether the next `RUN_ROWS` rows repeat row `row`, without a byte being looked at here: their bytes are those of one row before. The
   * attributes of a resource, 155 B: 15 ns a row, where comparing each with the last, byte by byte, took 154.
   */
  private repeats(row: number, end: number): boolean {
    const { offsets, bytes, validity } = this.input;
    const last = row + RUN_ROWS;
    if (last >= end || validity !== undefined) return false;
    const from = offsets[row]!;
    const length = offsets[row + 1]! - from;
    for (let next = row + 1; next <= last; next++) if (offsets[next + 1]! - offsets[next]! !== length) return false;
    const to = offsets[last]!;
    return Buffer.compare(bytes.subarray(from, to), bytes.subarray(from + length, to + length)) === 0;
  }

  /** Word by word, since texts that repeat are often long. 120 B of attributes in 100 forms: 143 ns a row with `equals`, 315 by bytes. */
  private hash(from: number, to: number): number {
    const { words, input } = this;
    let hash = to - from;
    let at = from;
    for (; at + WORD <= to; at += WORD) {
      hash = Math.imul(hash ^ words.getUint32(at, true), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    for (; at < to; at++) hash = Math.imul(hash ^ input.bytes[at]!, 0x01000193);
    hash ^= hash >>> 16;
    hash = Math.imul(hash, 0x85ebca6b);
    return (hash ^ (hash >>> 13)) >>> 0;
  }

  private find(from: number, to: number, hash: number): number {
    const mask = this.slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const index = this.slots[slot]! - 1;
      if (index < 0 || (this.hashes[index] === hash && this.equals(index, from, to))) return index;
    }
  }

  private insert(row: number, hash: number): number {
    const index = this.firstRows.length;
    this.firstRows.push(row);
    this.hashes.push(hash);
    if (this.firstRows.length * 2 > this.slots.length) {
      this.slots = new Int32Array(this.slots.length * 2);
      for (let i = 0; i < index; i++) this.place(i);
    }
    this.place(index);
    return index;
  }

  private place(index: number): void {
    const mask = this.slots.length - 1;
    let slot = this.hashes[index]! & mask;
    while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
    this.slots[slot] = index + 1;
  }
}
