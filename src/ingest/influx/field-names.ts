/**
 * The field names of one measurement, found again without making a string.
 *
 *   words   | usage_user= | pad | usage_system= | pad | ...     name and '=' as sent, each starting at a 32-bit word
 *
 * A line's field is first compared with the name that followed the previous field last time (`successor`), word by word, '='
 * included. A raw name never ends with a backslash, so equal bytes up to '=' are the same name. Only a wrong guess scans the name,
 * hashes it and probes an open-addressing table (cpu rows of decode.bench.ts: 4.4 M rows/s
 * in order, 1.5 M with the fields shuffled on each line). Names are unescaped once, when they are new; two raw forms never mean one name.
 */
import { longer } from "../../base/bytes/longer-array.ts";
import { NAME_BYTES_MAX } from "../../base/limits.ts";
import { FieldType } from "./field-column.ts";
import { type Failure, Reason } from "./failure.ts";
import { unescapeName } from "./name.ts";
import { isUtf8 } from "./utf8.ts";

/** More bytes than a body has, and still a 32-bit integer when added to a position. */
const REACH_NEVER = 0x3fff_ffff;

/** A field of one measurement. One without bytes is the guess before there is any: no line has room for it. */
export class FieldName {
  /** Index into the columns of a `TablePart`. */
  readonly index: number;
  readonly name: string;
  /** Position of the first word in `FieldNames.words`. */
  readonly first: number;
  /** Position of the last word, which `mask` limits to the bytes of the name. */
  readonly last: number;
  readonly mask: number;
  /** Bytes of the raw name and its '='. */
  readonly length: number;
  /** Bytes that a comparison reads. */
  readonly reach: number;
  readonly hash: number;
  /** Type in this request, or None when no good line has it. */
  type: FieldType = FieldType.None;
  /** The field that came after this one last time. */
  successor: FieldName = this;

  constructor(index: number, name: string, first: number, length: number, hash: number) {
    this.index = index;
    this.name = name;
    this.first = first;
    this.last = first + (length >>> 2);
    this.mask = 2 ** (8 * (length & 3)) - 1;
    this.length = length;
    this.reach = length === 0 ? REACH_NEVER : ((length >>> 2) + 1) * 4;
    this.hash = hash;
  }
}

export class FieldNames {
  /** Raw names. Grows by replacement. */
  words: Int32Array<ArrayBuffer> = new Int32Array(64);
  /** Its successor is the guess for the first field of a line. */
  readonly head: FieldName = new FieldName(-1, "", 0, 0, 0);
  readonly list: FieldName[] = [];
  private bytes: Uint8Array<ArrayBuffer> = new Uint8Array(this.words.buffer);
  private wordsUsed = 0;
  private slots: Int32Array<ArrayBuffer> = new Int32Array(32);
  private readonly byName: Map<string, FieldName> = new Map();

  /** The field with this unescaped name. */
  named(name: string): FieldName | undefined {
    return this.byName.get(name);
  }

  /**
   * The field whose raw name starts at `start`, added when it is new; undefined, with the reason in `failure`, when there is no
   * well-formed name, or a new one and `full` is the reason not to add it. `bytes` hold a line end at or after `start`.
   */
  find(bytes: Uint8Array, start: number, full: Reason | undefined, failure: Failure): FieldName | undefined {
    let hash = 0x811c9dc5;
    let at = start;
    for (; ; at++) {
      const byte = bytes[at]!;
      if (byte <= 0x20 || byte === 0x2c || byte === 0x3d) {
        const escaped = byte !== 0x0a && byte >= 0x20 && at > start && bytes[at - 1] === 0x5c;
        if (!escaped) break;
      }
      hash = Math.imul(hash ^ byte, 0x01000193);
    }
    if (bytes[at] !== 0x3d || at === start) {
      failure.at(at === start && bytes[at]! <= 0x20 ? Reason.NoFields : Reason.FieldSyntax, start, at === start ? at + 1 : at);
      return undefined;
    }
    hash = (hash ^ (hash >>> 15)) | 0;
    const { slots, list } = this;
    const mask = slots.length - 1;
    for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const field = list[slots[slot]! - 1]!;
      if (field.hash === hash && field.length === at - start + 1 && this.matches(field, bytes, start)) return field;
    }
    if (full !== undefined) {
      failure.at(full, start, at);
      return undefined;
    }
    return this.add(bytes, start, at, hash, failure);
  }

  private matches(field: FieldName, bytes: Uint8Array, start: number): boolean {
    const from = field.first * 4;
    for (let i = 0; i < field.length; i++) if (this.bytes[from + i] !== bytes[start + i]) return false;
    return true;
  }

  private add(bytes: Uint8Array, start: number, end: number, hash: number, failure: Failure): FieldName | undefined {
    if (end - start > NAME_BYTES_MAX) {
      failure.at(Reason.NameLength, start, end);
      return undefined;
    }
    for (let i = start; i < end; i++) {
      if (bytes[i] !== 0x7f) continue;
      failure.at(Reason.Control, i, i + 1);
      return undefined;
    }
    if (!isUtf8(bytes, start, end)) {
      failure.at(Reason.Utf8, start, end);
      return undefined;
    }
    const length = end + 1 - start;
    this.reserve(length);
    this.bytes.set(bytes.subarray(start, end + 1), this.wordsUsed * 4);
    const field = new FieldName(this.list.length, unescapeName(bytes, start, end), this.wordsUsed, length, hash);
    field.successor = this.head;
    this.wordsUsed += (length + 3) >>> 2;
    this.list.push(field);
    this.byName.set(field.name, field);
    if (this.list.length * 2 > this.slots.length) this.rehash();
    else this.place(field);
    return field;
  }

  private reserve(length: number): void {
    const need = this.wordsUsed + (length >>> 2) + 2;
    if (need <= this.words.length) return;
    this.words = longer(this.words, need);
    this.bytes = new Uint8Array(this.words.buffer);
  }

  private rehash(): void {
    this.slots = new Int32Array(this.slots.length * 2);
    for (let i = 0; i < this.list.length; i++) this.place(this.list[i]!);
  }

  private place(field: FieldName): void {
    const mask = this.slots.length - 1;
    let slot = field.hash & mask;
    while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
    this.slots[slot] = field.index + 1;
  }
}
