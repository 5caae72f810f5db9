/**
 * Objects of a body of JSON straight into columns: no string and no object is made of a row whose fields are known and flat, which is
 * nearly every row of a log. All others (a new field, an object or array in a field, an integer of 16 digits, a name that comes twice,
 * what is no JSON) are left to `JSON.parse`, which also says what is wrong.
 *
 *   {"time": "…", "status": 200, …}   a name is first compared with the one that followed the name before it in the row before
 *      │            └─ tokens: column, kind, where the text is or the number
 *      └─ the row is kept only when all of it was read
 *
 * Measured on 10,000 rows of 8 fields, 270 B, with other load on two cores: 1.15 CPU seconds a million rows, with `JSON.parse` and objects
 * 2.3 to 3.3 (decode.bench.ts).
 */
import { longerBytes } from "../../base/bytes/longer-array.ts";
import type { DataType } from "../../column/data-type.ts";
import { utf8Text } from "../../column/text-table.ts";
import { unescapeJson } from "../../format/json/text.ts";
import type { FieldCells } from "../../table/field-cells.ts";
import { FloatReader } from "./float.ts";
import type { PipelineValue } from "./value.ts";

const NONE = 0;
const TEXT = 1;
const INTEGER = 2;
const FLOAT = 3;
const BOOLEAN = 4;
const TAG = 5;
const TIME = 6;
/** In a token: the text stands in `scratch`, since it has escapes. */
const ESCAPED = 7;

/** Integers of more digits may lie beyond ±2^53. */
const EXACT_DIGITS_MAX = 15;

/** Column of a row that is read: a field's cells, or a tag of text. */
export type ScannedColumn = FieldCells | "tag";

/** Where rows are kept. */
export interface ScannedTable {
  /** Field that a row's time is read from; undefined where it is now. */
  readonly timeField: string | undefined;
  /** A column that earlier rows found; undefined for all others, and for tags of other types than text. */
  knownColumn(name: string): ScannedColumn | undefined;
  /**
   * Begins a row with its tags, whose lists it may change, and the value of its time field.
   *
   * @throws DbError InvalidArguments for a value that is no time: nothing is kept
   */
  beginScanned(tagNames: string[], tagTexts: string[], time: PipelineValue): void;
}

/** A name that was met. */
interface Column {
  readonly name: Uint8Array;
  readonly text: string;
  /** NONE while no row had a value for it. */
  kind: number;
  cells: FieldCells | undefined;
  /** What followed it last. */
  next: Column | undefined;
  /** The row that had it last. */
  row: number;
}

/** A value of the row that is read. */
interface Token {
  column: Column;
  kind: number;
  /** Of a text; else the number. */
  start: number;
  end: number;
}

/** See the file header. One body; memory is bounded by it. */
export class JsonColumns {
  private readonly body: Uint8Array;
  private readonly view: DataView;
  private readonly table: ScannedTable;
  private readonly byName: Map<string, Column> = new Map();
  private readonly floats: FloatReader = new FloatReader();
  private first: Column | undefined;
  private row = 0;
  private readonly tokens: Token[] = [];
  private tokenCount = 0;
  private scratch: Uint8Array<ArrayBuffer> = new Uint8Array(1024);
  private scratchUsed = 0;
  private column: Column | undefined;
  private readonly tagNames: string[] = [];
  private readonly tagTexts: string[] = [];

  /** @param body UTF-8; borrowed */
  constructor(body: Uint8Array, table: ScannedTable) {
    this.body = body;
    this.view = new DataView(body.buffer, body.byteOffset, body.byteLength);
    this.table = table;
  }

  /** Keeps the object that begins at `start` with `{` and gives the place behind it; or -1, and keeps nothing of it. */
  take(start: number): number {
    const { body } = this;
    this.tokenCount = 0;
    this.scratchUsed = 0;
    this.row++;
    this.column = undefined;
    let at = start;
    for (;;) {
      at = this.name(skipBlank(body, at + 1));
      if (at < 0) return -1;
      at = skipBlank(body, at);
      if (body[at] !== 0x3a) return -1;
      at = this.value(skipBlank(body, at + 1));
      if (at < 0) return -1;
      at = skipBlank(body, at);
      if (body[at] === 0x2c) continue;
      if (body[at] !== 0x7d) return -1;
      return this.keep() ? at + 1 : -1;
    }
  }

  /** Reads a name at its quote; gives the place behind it, or -1. */
  private name(quote: number): number {
    const { body, column: before } = this;
    if (body[quote] !== 0x22) return -1;
    let column = before === undefined ? this.first : before.next;
    let end = quote + 1;
    if (column !== undefined) {
      const { name } = column;
      const { length } = name;
      let i = 0;
      while (i < length && name[i] === body[end + i]) i++;
      end += i;
      if (i < length || body[end] !== 0x22) column = undefined;
    }
    if (column === undefined) {
      end = endOfPlainText(body, quote + 1);
      if (end < 0) return -1;
      column = this.columnOf(quote + 1, end);
      if (before === undefined) this.first = column;
      else before.next = column;
    }
    if (column.row === this.row) return -1;
    column.row = this.row;
    this.column = column;
    return end + 1;
  }

  private columnOf(start: number, end: number): Column {
    const name = utf8Text(this.body, start, end);
    let column = this.byName.get(name);
    if (column === undefined) {
      column = { name: this.body.slice(start, end), text: name, kind: NONE, cells: undefined, next: undefined, row: 0 };
      this.byName.set(name, column);
    }
    return column;
  }

  /** Reads a value; gives the place behind it, or -1. */
  private value(at: number): number {
    const { body } = this;
    switch (body[at]) {
      case 0x22: // "
        return this.text(at + 1);
      case 0x74: // true
        return hasWord(body, at, 0x72, 0x75, 0x65) ? this.token(BOOLEAN, 1, 0, at + 4) : -1;
      case 0x66: // false
        return hasWord(body, at + 1, 0x6c, 0x73, 0x65) && body[at + 1] === 0x61 ? this.token(BOOLEAN, 0, 0, at + 5) : -1;
      case 0x6e: // null
        return hasWord(body, at, 0x75, 0x6c, 0x6c) ? at + 4 : -1;
      default:
        return this.number(at);
    }
  }

  private text(start: number): number {
    const { body } = this;
    let end = start;
    for (;;) {
      const byte = body[end] as number; // undefined behind the end, which is no text
      if (byte === 0x22) return this.token(TEXT, start, end, end + 1);
      if (byte === 0x5c) break;
      if (!(byte >= 0x20)) return -1;
      end++;
    }
    const close = endOfEscapedText(body, end);
    if (close < 0) return -1;
    this.reserveScratch(close - start);
    const from = this.scratchUsed;
    const to = unescapeJson(body, start, close, this.scratch, from);
    if (to < 0) return -1;
    this.scratchUsed = to;
    return this.token(ESCAPED, from, to, close + 1);
  }

  private number(start: number): number {
    const { body } = this;
    const isNegative = body[start] === 0x2d;
    let at = isNegative ? start + 1 : start;
    const first = at;
    let value = 0;
    for (;;) {
      const digit = (body[at] as number) - 0x30;
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
      at++;
    }
    const digits = at - first;
    if (digits === 0 || (digits > 1 && body[first] === 0x30)) return -1;
    const after = body[at] as number;
    if (after === 0x2e || (after | 0x20) === 0x65) {
      if (after === 0x2e && !isDigit(body[at + 1])) return -1;
      const end = this.floats.read(body, this.view, start, body.length);
      return end < 0 ? -1 : this.token(FLOAT, this.floats.value, 0, end);
    }
    if (digits > EXACT_DIGITS_MAX) return -1;
    return this.token(INTEGER, isNegative && value !== 0 ? -value : value, 0, at);
  }

  /** Notes the value of the column; -1 when the column does not take it. */
  private token(kind: number, start: number, end: number, next: number): number {
    const column = this.column as Column; // a name came before
    if (column.kind === NONE && !this.resolve(column)) return -1;
    if (column.kind !== (kind === ESCAPED ? TEXT : kind) && !takesOther(column.kind, kind)) return -1;
    const index = this.tokenCount++;
    const token = this.tokens[index];
    if (token === undefined) this.tokens.push({ column, kind, start, end });
    else {
      token.column = column;
      token.kind = kind;
      token.start = start;
      token.end = end;
    }
    return next;
  }

  /** Looks whether a row has found the column meanwhile. */
  private resolve(column: Column): boolean {
    if (column.text === this.table.timeField) column.kind = TIME;
    else {
      const known = this.table.knownColumn(column.text);
      if (known === "tag") column.kind = TAG;
      else if (known !== undefined) {
        column.kind = kindOf(known.type);
        column.cells = known;
      }
    }
    return column.kind !== NONE;
  }

  /** Keeps the row, unless its time is missing. */
  private keep(): boolean {
    const { body, scratch, tokens, tokenCount, table } = this;
    this.tagNames.length = 0;
    this.tagTexts.length = 0;
    let time: PipelineValue;
    for (let i = 0; i < tokenCount; i++) {
      const token = tokens[i] as Token; // i < count
      if (token.column.kind === TAG) {
        this.tagNames.push(token.column.text);
        this.tagTexts.push(this.textOf(token));
      } else if (token.column.kind === TIME) time = token.kind === INTEGER ? token.start : this.textOf(token);
    }
    if (time === undefined && table.timeField !== undefined) return false;
    table.beginScanned(this.tagNames, this.tagTexts, time);
    for (let i = 0; i < tokenCount; i++) {
      const { column, kind, start, end } = tokens[i] as Token; // i < count
      const { cells } = column;
      if (cells === undefined) continue; // a tag, or the time
      if (kind === TEXT) cells.setBytes(body, start, end);
      else if (kind === ESCAPED) cells.setBytes(scratch, start, end);
      else cells.setNumber(start);
    }
    return true;
  }

  private textOf({ kind, start, end }: Token): string {
    return utf8Text(kind === ESCAPED ? this.scratch : this.body, start, end);
  }

  private reserveScratch(count: number): void {
    const need = this.scratchUsed + count;
    if (need > this.scratch.length) this.scratch = longerBytes(this.scratch, this.scratchUsed, need);
  }
}

/** Whether tags take a text, and the time a text or an integer. */
function takesOther(kind: number, value: number): boolean {
  const isText = value === TEXT || value === ESCAPED;
  return kind === TAG ? isText : kind === TIME && (isText || value === INTEGER);
}

/** What is written to columns of a type without looking at single values. */
function kindOf(type: DataType): number {
  switch (type.kind) {
    case "string":
      return TEXT;
    case "int":
      return type.bits === 64 && type.signed ? INTEGER : NONE;
    case "float":
      return type.bits === 64 ? FLOAT : NONE;
    case "boolean":
      return BOOLEAN;
    default:
      return NONE;
  }
}

/** The place of the first byte that is neither blank nor tab nor carriage return. A line feed ends a row, so it is none of them. */
export function skipBlank(body: Uint8Array, from: number): number {
  let at = from;
  while (body[at] === 0x20 || body[at] === 0x09 || body[at] === 0x0d) at++;
  return at;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function hasWord(body: Uint8Array, at: number, second: number, third: number, fourth: number): boolean {
  return body[at + 1] === second && body[at + 2] === third && body[at + 3] === fourth;
}

/** The quote that ends a text without escapes; -1 when it has one, or what no text may have. */
function endOfPlainText(body: Uint8Array, start: number): number {
  for (let at = start; ; at++) {
    const byte = body[at] as number; // undefined behind the end, which is no text
    if (byte === 0x22) return at;
    if (byte === 0x5c || !(byte >= 0x20)) return -1;
  }
}

/** The quote that ends a text, from its first backslash on; -1 when there is none, or what no text may have. */
function endOfEscapedText(body: Uint8Array, from: number): number {
  for (let at = from; ; at++) {
    const byte = body[at] as number; // undefined behind the end, which is no text
    if (byte === 0x22) return at;
    if (byte === 0x5c) at++;
    else if (!(byte >= 0x20)) return -1;
  }
}
