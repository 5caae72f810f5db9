/**
 * Blocks of headers as clients compress them (RFC 7541): one decoder a connection, since its table grows with what came.
 *
 *   1xxxxxxx           a field of the tables
 *   01xxxxxx           a field that enters the table; its name is of the tables, or follows (index 0)
 *   0000xxxx 0001xxxx  a field that does not
 *   001xxxxx           the table's size
 *   integers: a prefix, then seven bits a byte; texts: a bit for Huffman, a length, bytes
 *
 * A block that unfolds to more than `bytesMax` is read on without its fields, as the table has to stay that of the client.
 */
import { HEADER_FIELDS_MAX, HEADER_LIST_BYTES_MAX, HEADER_TABLE_BYTES_MAX } from "../limits.ts";
import { huffmanText } from "./huffman.ts";
import { STATIC_TABLE } from "./static-table.ts";

/** A field: its name and its value, each byte a character. */
export type HeaderField = readonly [name: string, value: string];

/** What a block says. */
export interface HeaderBlock {
  readonly fields: readonly HeaderField[];
  /** There were more, or longer, fields than are taken: these are the first. */
  readonly isTooLong: boolean;
}

/** What an entry counts beside its texts (RFC 7541 4.1). */
const ENTRY_BYTES = 32;
/** Integers end here: nothing that they count is longer. */
const INTEGER_MAX = 2 ** 28;

/** See the file header. */
export class HeaderDecoder {
  /** Entries that came, the newest last; those before `oldest` have left. */
  private entries: HeaderField[] = [];
  private oldest = 0;
  private tableBytes = 0;
  private tableBytesMax = HEADER_TABLE_BYTES_MAX;
  private bytes: Uint8Array = new Uint8Array(0);
  private at = 0;
  private isBroken = false;

  /** Reads a whole block; undefined: it is none, and the connection cannot go on, as the tables differ. */
  decode(block: Uint8Array): HeaderBlock | undefined {
    this.bytes = block;
    this.at = 0;
    this.isBroken = false;
    const fields: HeaderField[] = [];
    let listBytes = 0;
    let isTooLong = false;
    while (this.at < block.length) {
      const first = block[this.at] as number;
      if ((first & 0xe0) === 0x20) {
        // Only before the first field.
        if (listBytes > 0 || !this.resize()) return undefined;
        continue;
      }
      const field = this.field(first);
      if (field === undefined || this.isBroken) return undefined;
      listBytes += sizeOf(field);
      isTooLong ||= listBytes > HEADER_LIST_BYTES_MAX || fields.length >= HEADER_FIELDS_MAX;
      if (!isTooLong) fields.push(field);
    }
    return { fields, isTooLong };
  }

  private field(first: number): HeaderField | undefined {
    if (first >= 0x80) return this.entry(this.integer(7));
    const isKept = first >= 0x40;
    const index = this.integer(isKept ? 6 : 4);
    const name = index === 0 ? this.text() : this.entry(index)?.[0];
    if (name === undefined || this.isBroken) return undefined;
    const field: HeaderField = [name, this.text()];
    if (isKept && !this.isBroken) this.add(field);
    return field;
  }

  private entry(index: number): HeaderField | undefined {
    if (index <= STATIC_TABLE.length) return STATIC_TABLE[index - 1];
    const at = this.entries.length - (index - STATIC_TABLE.length);
    return at < this.oldest ? undefined : this.entries[at];
  }

  private add(field: HeaderField): void {
    this.entries.push(field);
    this.tableBytes += sizeOf(field);
    this.evict();
  }

  private evict(): void {
    for (; this.tableBytes > this.tableBytesMax; this.oldest++) {
      const gone = this.entries[this.oldest];
      if (gone === undefined) break;
      this.tableBytes -= sizeOf(gone);
    }
    // Those that left are let go together, so that each costs the same.
    if (this.oldest < TIDY_ENTRIES || this.oldest * 2 < this.entries.length) return;
    this.entries = this.entries.slice(this.oldest);
    this.oldest = 0;
  }

  private resize(): boolean {
    const size = this.integer(5);
    if (this.isBroken || size > HEADER_TABLE_BYTES_MAX) return false;
    this.tableBytesMax = size;
    this.evict();
    return true;
  }

  private integer(prefixBits: number): number {
    const { bytes } = this;
    const mask = (1 << prefixBits) - 1;
    let value = (bytes[this.at++] as number) & mask;
    if (value < mask) return value;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[this.at++];
      if (byte === undefined) return this.broken();
      value += (byte & 0x7f) * 2 ** shift;
      if (value > INTEGER_MAX || shift > 28) return this.broken();
      if (byte < 0x80) return value;
    }
  }

  private text(): string {
    const first = this.bytes[this.at];
    if (first === undefined) return this.brokenText();
    const length = this.integer(7);
    const from = this.at;
    if (this.isBroken || length > this.bytes.length - from) return this.brokenText();
    this.at += length;
    if (first >= 0x80) return huffmanText(this.bytes, from, this.at) ?? this.brokenText();
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset + from, length).toString("latin1");
  }

  private broken(): number {
    this.isBroken = true;
    return 0;
  }

  private brokenText(): string {
    this.isBroken = true;
    return "";
  }
}

/** Entries that have left, at which they are let go. */
const TIDY_ENTRIES = 64;

function sizeOf([name, value]: HeaderField): number {
  return name.length + value.length + ENTRY_BYTES;
}
