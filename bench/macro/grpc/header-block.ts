/**
 * Header blocks of HTTP/2 (HPACK, RFC 7541): literals out; literals, both tables and packed texts in.
 *
 * This client asks for a table of no entries, but servers need not have read that when they answer the first calls, and `node:http2` of
 * Bun 1.4.5 never does: so the table is kept.
 */
import { unpackText } from "./huffman.ts";

/** A header: its name in lower case, and its value. */
export type Header = readonly [name: string, value: string];

/** Entries that every connection begins with, from 1 on (Appendix A). */
const STATIC: readonly Header[] = `:authority
:method GET
:method POST
:path /
:path /index.html
:scheme http
:scheme https
:status 200
:status 204
:status 206
:status 304
:status 400
:status 404
:status 500
accept-charset
accept-encoding gzip, deflate
accept-language
accept-ranges
accept
access-control-allow-origin
age
allow
authorization
cache-control
content-disposition
content-encoding
content-language
content-length
content-location
content-range
content-type
cookie
date
etag
expect
expires
from
host
if-match
if-modified-since
if-none-match
if-range
if-unmodified-since
last-modified
link
location
max-forwards
proxy-authenticate
proxy-authorization
range
referer
refresh
retry-after
server
set-cookie
strict-transport-security
transfer-encoding
user-agent
vary
via
www-authenticate`
  .split("\n")
  .map((line) => [line.split(" ", 1)[0] ?? "", line.includes(" ") ? line.slice(line.indexOf(" ") + 1) : ""]);

/** Bytes that a table may hold before anything else is agreed on, and what an entry counts beside its texts. */
const TABLE_BYTES = 4096;
const ENTRY_BYTES = 32;

/** A whole number whose first byte has room for `bits` bits beside `mark` (5.1). */
function writeNumber(out: number[], value: number, bits: number, mark: number): void {
  const most = 2 ** bits - 1;
  if (value < most) {
    out.push(mark | value);
    return;
  }
  out.push(mark | most);
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) out.push((rest % 128) | 128);
  out.push(rest);
}

/** A block of literals that no table remembers. Texts are ASCII. */
export function writeHeaders(headers: readonly Header[]): Uint8Array<ArrayBuffer> {
  const out: number[] = [];
  for (const [name, value] of headers) {
    out.push(0);
    for (const text of [name, value]) {
      writeNumber(out, text.length, 7, 0);
      out.push(...Buffer.from(text, "latin1"));
    }
  }
  return Uint8Array.from(out);
}

/** Reads the blocks of one connection, in their order. */
export class HeaderReader {
  /** The newest first. */
  private readonly table: Header[] = [];
  private tableBytes = 0;
  private tableBytesMax = TABLE_BYTES;
  private block: Uint8Array = new Uint8Array(0);
  private at = 0;

  /** The headers of a block. @throws Error when it is none */
  read(block: Uint8Array): readonly Header[] {
    const headers: Header[] = [];
    this.block = block;
    this.at = 0;
    while (this.at < block.length) {
      const first = block[this.at]!;
      if (first >= 0x80) headers.push(this.entry(this.number(7)));
      else if (first >= 0x40) headers.push(this.remember(this.literal(6)));
      else if (first >= 0x20) this.resize(this.number(5));
      else headers.push(this.literal(4));
    }
    return headers;
  }

  private number(bits: number): number {
    const most = 2 ** bits - 1;
    let value = this.byte() & most;
    if (value < most) return value;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      if (factor > 2 ** 28) throw new Error("cannot read headers: a number is too long");
    }
  }

  private byte(): number {
    const byte = this.block[this.at++];
    if (byte === undefined) throw new Error("cannot read headers: the block is cut short");
    return byte;
  }

  private literal(bits: number): Header {
    const index = this.number(bits);
    return [index === 0 ? this.text() : this.entry(index)[0], this.text()];
  }

  private text(): string {
    const isPacked = (this.block[this.at] ?? 0) >= 0x80;
    const length = this.number(7);
    const bytes = this.block.subarray(this.at, this.at + length);
    if (bytes.length < length) throw new Error("cannot read headers: a text is cut short");
    this.at += length;
    return isPacked ? unpackText(bytes) : Buffer.from(bytes).toString("latin1");
  }

  private entry(index: number): Header {
    const found = index <= STATIC.length ? STATIC[index - 1] : this.table[index - STATIC.length - 1];
    if (found === undefined) throw new Error(`cannot read headers: there is no entry ${index}`);
    return found;
  }

  private remember(header: Header): Header {
    this.table.unshift(header);
    this.tableBytes += header[0].length + header[1].length + ENTRY_BYTES;
    this.shrink();
    return header;
  }

  private resize(bytesMax: number): void {
    this.tableBytesMax = Math.min(bytesMax, TABLE_BYTES);
    this.shrink();
  }

  private shrink(): void {
    while (this.tableBytes > this.tableBytesMax) {
      const [name, value] = this.table.pop()!;
      this.tableBytes -= name.length + value.length + ENTRY_BYTES;
    }
  }
}
