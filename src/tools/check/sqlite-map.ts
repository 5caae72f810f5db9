/**
 * Which bytes of an SQLite database no reader of it uses: free space in pages, free pages, what is left over behind long values, and fields
 * of the header that only concurrent writers or older versions look at. Everything else is checked: by SQLite (`integrity_check`), by the
 * checksums of the entries, and the header's constants here.
 *
 * Source: https://www.sqlite.org/fileformat2.html
 */
import type { RangeMap } from "./range-map.ts";

const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";
const TABLE_LEAF = 13;
const TABLE_INTERIOR = 5;
const INDEX_INTERIOR = 2;

/** A field of the header that must have one value: offset, bytes, value, name. */
const CONSTANTS: readonly (readonly [offset: number, bytes: number, value: number, name: string])[] = [
  [20, 1, 0, "reserved space"],
  [21, 1, 64, "largest payload fraction"],
  [22, 1, 32, "smallest payload fraction"],
  [23, 1, 32, "leaf payload fraction"],
  [44, 4, 4, "schema format"],
  [48, 4, 0, "cache size"],
  [52, 4, 0, "auto-vacuum"],
  [56, 4, 1, "text encoding"],
  [64, 4, 0, "incremental vacuum"],
  [68, 4, 0, "application id"],
];

/** Reads pages of a database file. */
export type ReadPage = (number: number) => Uint8Array;

/** What is wrong with the header of a database of so many bytes, each as offset and text. */
export function headerFaults(header: Uint8Array, fileBytes: number): { readonly offset: number; readonly what: string }[] {
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  const faults: { readonly offset: number; readonly what: string }[] = [];
  const say = (offset: number, what: string): void => void faults.push({ offset, what });
  if (Buffer.from(header.subarray(0, MAGIC.length)).toString("latin1") !== MAGIC) say(0, "it does not begin as an SQLite database");
  const pageBytes = pageBytesOf(header);
  if (pageBytes < 512 || (pageBytes & (pageBytes - 1)) !== 0) say(16, `pages of ${pageBytes} bytes`);
  const [write = 0, read = 0] = header.subarray(18, 20);
  if (write !== read || write < 1 || write > 2) say(18, `file format ${write} to write, ${read} to read`);
  for (const [offset, bytes, value, name] of CONSTANTS) {
    const found = bytes === 1 ? view.getUint8(offset) : view.getUint32(offset);
    if (found !== value) say(offset, `${name} is ${found}, not ${value}`);
  }
  if (header.subarray(72, 92).some((byte) => byte !== 0)) say(72, "reserved bytes of the header are not zero");
  if (view.getUint32(24) !== view.getUint32(92)) say(24, "its change counter is not the one its length is valid for");
  const pages = view.getUint32(28);
  if (pages * pageBytes !== fileBytes) say(28, `it says ${pages} pages of ${pageBytes} bytes, and has ${fileBytes} bytes`);
  return faults;
}

/** Bytes of a page, as the header says. */
export function pageBytesOf(header: Uint8Array): number {
  const stored = new DataView(header.buffer, header.byteOffset).getUint16(16);
  return stored === 1 ? 65_536 : stored;
}

/** Where the schema's table has the number of a b-tree's first page: its fourth column. */
const ROOT_COLUMN = 3;
/** Of the header of a first page that the journal replaces: the constants are looked at where they stand. */
const CONSTANT_RANGES: readonly (readonly [from: number, length: number])[] = [
  [0, 24],
  [44, 16],
  [64, 28],
];

/**
 * Adds the bytes of the database file that readers use. Pages that the journal replaces are read from there, and not used here.
 *
 * @throws Error when the pages are no database
 */
export function addUsed(read: ReadPage, pageBytes: number, inJournal: ReadonlyMap<number, number>, used: RangeMap): void {
  if (inJournal.has(1)) for (const [from, length] of CONSTANT_RANGES) used.add(from, length);
  else used.add(0, HEADER_BYTES);
  const add = (page: number, from: number, length: number): void => {
    if (!inJournal.has(page)) used.add((page - 1) * pageBytes + from, length);
  };
  const map = new PageMap(read, pageBytes, add);
  const roots: number[] = [];
  map.addTree(1, (payload) => {
    const root = integerOfRecord(payload, ROOT_COLUMN);
    if (root > 0) roots.push(root);
  });
  for (const root of roots) map.addTree(root, undefined);
  map.addFreeList();
}

/** The whole number in a column of a record, 0 where it has none. */
function integerOfRecord(record: Uint8Array, column: number): number {
  const header = varintAt(record, 0);
  let at = header.bytes;
  let body = header.value;
  for (let i = 0; at < header.value; i++) {
    const type = varintAt(record, at);
    at += type.bytes;
    if (i === column)
      return type.value >= 1 && type.value <= 4 ? bigEndian(record.subarray(body, body + type.value)) : type.value === 9 ? 1 : 0;
    body += lengthOfType(type.value);
  }
  return 0;
}

/** Bytes of a value by its serial type. */
function lengthOfType(type: number): number {
  if (type >= 12) return Math.floor((type - 12) / 2);
  return [0, 1, 2, 3, 4, 6, 8, 8, 0, 0][type] ?? 0;
}

function bigEndian(bytes: Uint8Array): number {
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
}

/** Fields of the header that no reader of a whole, closed database uses. */
export const UNUSED_HEADER: readonly { readonly from: number; readonly to: number; readonly why: string }[] = [
  { from: 40, to: 44, why: "schema cookie: for connections that are open beside each other" },
  { from: 96, to: 100, why: "version of SQLite that wrote it" },
];

class PageMap {
  private readonly read: ReadPage;
  private readonly pageBytes: number;
  private readonly add: (page: number, from: number, length: number) => void;
  private readonly seen: Set<number> = new Set();

  constructor(read: ReadPage, pageBytes: number, add: PageMap["add"]) {
    this.read = read;
    this.pageBytes = pageBytes;
    this.add = add;
  }

  /** @param onRecord hears of the records that lie in their pages as a whole */
  addTree(root: number, onRecord: ((payload: Uint8Array) => void) | undefined): void {
    const open = [root];
    for (let number = open.pop(); number !== undefined; number = open.pop()) open.push(...this.addPage(number, onRecord));
  }

  /** @throws Error for a page that is there twice */
  private enter(number: number): void {
    if (this.seen.has(number)) throw new Error(`page ${number} has two places`);
    this.seen.add(number);
  }

  /** Trunk pages: next trunk, count, numbers of free pages. Free pages themselves are used by nobody. */
  addFreeList(): void {
    const header = this.read(1);
    const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
    for (let trunk = view.getUint32(32); trunk !== 0; ) {
      this.enter(trunk);
      const page = this.read(trunk);
      const fields = new DataView(page.buffer, page.byteOffset, page.byteLength);
      this.add(trunk, 0, 8 + fields.getUint32(4) * 4);
      trunk = fields.getUint32(0);
    }
  }

  /** Returns the pages below. */
  private addPage(number: number, onRecord: ((payload: Uint8Array) => void) | undefined): readonly number[] {
    this.enter(number);
    const page = this.read(number).slice(); // Overflow pages are read meanwhile.
    const view = new DataView(page.buffer);
    const start = number === 1 ? HEADER_BYTES : 0;
    const type = view.getUint8(start);
    const isInterior = type === TABLE_INTERIOR || type === INDEX_INTERIOR;
    const headerBytes = isInterior ? 12 : 8;
    const cells = view.getUint16(start + 3);
    this.add(number, start, headerBytes + cells * 2);
    for (let free = view.getUint16(start + 1), count = 0; free !== 0 && count < this.pageBytes; free = view.getUint16(free), count++)
      this.add(number, free, 4);
    const below: number[] = [];
    for (let cell = 0; cell < cells; cell++) {
      const at = view.getUint16(start + headerBytes + cell * 2);
      if (isInterior) below.push(view.getUint32(at));
      this.add(number, at, this.addCell(page, at, type, onRecord));
    }
    if (isInterior) below.push(view.getUint32(start + 8));
    return below;
  }

  /** Bytes of a cell in its page; adds its overflow pages. */
  private addCell(page: Uint8Array, start: number, type: number, onRecord: ((payload: Uint8Array) => void) | undefined): number {
    let at = start + (type === TABLE_INTERIOR || type === INDEX_INTERIOR ? 4 : 0);
    if (type === TABLE_INTERIOR) return at + varintAt(page, at).bytes - start;
    const payload = varintAt(page, at);
    at += payload.bytes;
    if (type === TABLE_LEAF) at += varintAt(page, at).bytes;
    const local = localBytes(payload.value, type, this.pageBytes);
    if (local === payload.value) onRecord?.(page.subarray(at, at + local));
    at += local;
    if (local < payload.value) {
      this.addOverflow(new DataView(page.buffer, page.byteOffset).getUint32(at), payload.value - local);
      at += 4;
    }
    return at - start;
  }

  private addOverflow(first: number, byteLength: number): void {
    let left = byteLength;
    for (let number = first; number !== 0 && left > 0; ) {
      this.enter(number);
      const page = this.read(number);
      const here = Math.min(left, this.pageBytes - 4);
      this.add(number, 0, 4 + here);
      left -= here;
      number = new DataView(page.buffer, page.byteOffset).getUint32(0);
    }
  }
}

/** Bytes of a payload that lie in the cell. */
function localBytes(payload: number, type: number, usable: number): number {
  const max = type === TABLE_LEAF ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23;
  if (payload <= max) return payload;
  const min = Math.floor(((usable - 12) * 32) / 255) - 23;
  const rest = min + ((payload - min) % (usable - 4));
  return rest <= max ? rest : min;
}

/** A big-endian number of 7 bits a byte. */
function varintAt(bytes: Uint8Array, at: number): { readonly value: number; readonly bytes: number } {
  let value = 0;
  for (let i = 0; i < 8; i++) {
    const byte = bytes[at + i] ?? 0;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, bytes: i + 1 };
  }
  return { value: value * 256 + (bytes[at + 8] ?? 0), bytes: 9 };
}
