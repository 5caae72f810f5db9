/**
 * Reads the fields of a line into the current part of its table.
 *
 * `read` handles what nearly every field is: the guessed name, a column in use, an integer of up to nine digits or a float that
 * follows the row before. All else goes to `value`.
 */
import { FIELD_TEXT_BYTES_MAX } from "../../base/limits.ts";
import type { Budget } from "./budget.ts";
import { type Failure, Reason } from "./failure.ts";
import { type FieldColumn, FieldType, Kind } from "./field-column.ts";
import type { FieldName } from "./field-names.ts";
import { FloatReader } from "../common/float.ts";
import { IntegerReader } from "./integer.ts";
import type { TableBuilder, TagShape } from "./table-builder.ts";
import { TEXT_UNCLOSED, TextReader } from "./text-reader.ts";
import type { DecodeOptions } from "./types.ts";

export class FieldReader {
  /** LF bytes in the quoted texts of the line that `read` has just read. */
  newlines = 0;
  private readonly failure: Failure;
  private readonly budget: Budget;
  private readonly float: FloatReader = new FloatReader();
  private readonly integer: IntegerReader = new IntegerReader();
  private readonly text: TextReader = new TextReader();
  private bytes: Uint8Array = new Uint8Array(0);
  private view: DataView = new DataView(new ArrayBuffer(0));
  private end = 0;
  private options: DecodeOptions;

  constructor(failure: Failure, budget: Budget, options: DecodeOptions) {
    this.failure = failure;
    this.budget = budget;
    this.options = options;
  }

  /** Starts a request. */
  begin(options: DecodeOptions): void {
    this.options = options;
  }

  /** Takes the bytes that the next lines lie in; the last one, at `end - 1`, is LF. */
  open(bytes: Uint8Array, view: DataView, end: number): void {
    this.bytes = bytes;
    this.view = view;
    this.end = end;
  }

  /**
   * Reads the fields that start at `start` into row `part.rowCount` of the table's current part. Returns the position of the space or
   * line end behind them, or -1 with the reason in `failure`.
   */
  read(table: TableBuilder, shape: TagShape, start: number): number {
    const { bytes, view, end, float, budget } = this;
    const { names, part } = table;
    const { columns } = part;
    const row = part.rowCount;
    this.newlines = 0;
    let { words } = names;
    let previous = names.head;
    let at = start;
    for (;;) {
      let field = previous.successor;
      if (at + field.reach > end || !sameName(field, words, view, at)) {
        const found = table.findField(bytes, at, this.failure);
        if (found === undefined) return this.badField(at, start);
        previous.successor = found;
        field = found;
        words = names.words;
      }
      previous = field;
      at += field.length;
      const column = columns[field.index]!;
      let stop = -1;
      if (column.next < row && column.next >= 0) column.skipTo(row, part.capacity, budget);
      if (column.next === row) {
        const { kind } = column;
        if (kind <= Kind.Int53) stop = integerInto(column, kind, row, bytes, at);
        else if (kind === Kind.Float) {
          stop = float.read(bytes, view, at, end);
          if (stop >= 0) {
            column.floats[row] = float.value;
            column.next = row + 1;
          }
        }
      }
      let behind = stop < 0 ? 0 : bytes[stop]!;
      if (behind !== 0x2c && behind !== 0x20 && behind !== 0x0a) {
        stop = this.value(table, shape, field, at);
        if (stop < 0) return -1;
        behind = bytes[stop]!;
      }
      if (behind !== 0x2c) return stop;
      at = stop + 1;
    }
  }

  /** Reads any value. Returns the position of the comma, space or line end behind it, or -1 with the reason in `failure`. */
  private value(table: TableBuilder, shape: TagShape, field: FieldName, start: number): number {
    const { bytes, failure } = this;
    const byte = bytes[start]!;
    if (byte === 0x22) return this.quoted(table, shape, field, start + 1);
    let stop = start;
    while (bytes[stop]! > 0x20 && bytes[stop] !== 0x2c) stop++;
    if (stop === start) return failure.at(Reason.FieldSyntax, start - field.length, start);
    const behind = bytes[stop]!;
    if (behind !== 0x2c && behind !== 0x20 && !isLineEnd(bytes, stop)) return failure.at(Reason.Value, start, stop + 1);
    if (byte > 0x39) return this.boolean(table, shape, field, start, stop);
    if (byte < 0x30 && byte !== 0x2d && byte !== 0x2e) return failure.at(Reason.Value, start, stop);
    const last = bytes[stop - 1];
    if (last === 0x69 || last === 0x75) return this.whole(table, shape, field, start, stop, last === 0x69);
    if (this.float.read(bytes, this.view, start, this.end) !== stop) return failure.at(Reason.Float, start, stop);
    const { value } = this.float;
    const column = this.column(table, shape, field, FieldType.Float);
    if (column === undefined) return -1;
    const row = column.next;
    column.floats[row] = value;
    column.next = row + 1;
    return stop;
  }

  private whole(table: TableBuilder, shape: TagShape, field: FieldName, start: number, stop: number, signed: boolean): number {
    const { bytes, failure, integer, budget } = this;
    if (!integer.read(bytes, start, stop - 1, signed)) return failure.at(signed ? Reason.Integer : Reason.Unsigned, start, stop);
    const column = this.column(table, shape, field, signed ? FieldType.Integer : FieldType.Unsigned);
    if (column === undefined) return -1;
    const { kind } = integer;
    if (kind > column.kind && !column.promote(kind, table.part.capacity, budget)) return failure.at(Reason.Memory, 0, 0);
    const row = column.next;
    if (column.kind === Kind.Int32) column.ints[row] = integer.value;
    else if (column.kind === Kind.Int53 || column.kind === Kind.Uint53) column.floats[row] = integer.value;
    else column.wides[row] = kind === column.kind ? integer.wide : BigInt(integer.value);
    column.next = row + 1;
    return stop;
  }

  private boolean(table: TableBuilder, shape: TagShape, field: FieldName, start: number, stop: number): number {
    const { bytes, failure } = this;
    const value = booleanOf(bytes, start, stop);
    if (value < 0) return failure.at(Reason.Value, start, stop);
    const column = this.column(table, shape, field, FieldType.Boolean);
    if (column === undefined) return -1;
    const row = column.next;
    column.bits[row] = value;
    column.next = row + 1;
    return stop;
  }

  private quoted(table: TableBuilder, shape: TagShape, field: FieldName, start: number): number {
    const { bytes, failure, text } = this;
    const close = text.scan(bytes, start, this.end);
    if (close < 0) return failure.at(close === TEXT_UNCLOSED ? Reason.Text : Reason.Utf8, start - 1, this.end);
    if (close - start > FIELD_TEXT_BYTES_MAX) return failure.at(Reason.TextLength, start, close);
    const behind = bytes[close + 1]!;
    if (behind !== 0x2c && behind !== 0x20 && !isLineEnd(bytes, close + 1)) {
      return failure.at(Reason.Trailing, close + 1, bytes.indexOf(0x0a, close + 1));
    }
    const column = this.column(table, shape, field, FieldType.Text);
    if (column === undefined) return -1;
    if (!column.reserveText(close - start, this.budget)) return failure.at(Reason.Memory, 0, 0);
    column.textLength = text.copy(bytes, start, close, column.text, column.textLength);
    const row = column.next;
    column.ends[row + 1] = column.textLength;
    column.next = row + 1;
    this.newlines += text.newlines;
    return close + 1;
  }

  /** The column of a field, ready for the current row's value at `next`; undefined, with the reason in `failure`, when there is none. */
  private column(table: TableBuilder, shape: TagShape, field: FieldName, type: FieldType): FieldColumn | undefined {
    const { failure } = this;
    if (table.activate(field, type, shape, this.options, failure) < 0) return undefined;
    const { part } = table;
    const row = part.rowCount;
    const column = part.column(field);
    if (column === undefined) {
      failure.at(Reason.Memory, 0, 0);
      return undefined;
    }
    if (column.next < row) column.skipTo(row, part.capacity, this.budget);
    // A field that comes twice in one line: the last value wins.
    else if (column.next > row) column.retake(row);
    return column;
  }

  private badField(at: number, start: number): -1 {
    if (this.failure.reason === Reason.NoFields && at > start) this.failure.at(Reason.FieldSyntax, at - 1, at);
    return -1;
  }
}

/** Whether the raw name of `field`, '=' included, stands at `at`. The view reaches `field.reach` bytes further. */
function sameName(field: FieldName, words: Int32Array, view: DataView, at: number): boolean {
  const { last } = field;
  let from = at;
  for (let word = field.first; word < last; word++, from += 4) if (view.getInt32(from, true) !== words[word]) return false;
  return ((view.getInt32(from, true) ^ words[last]!) & field.mask) === 0;
}

/** Reads `digits` `i` of up to nine digits into row `row`. Returns the position behind, or -1 for anything else. */
function integerInto(column: FieldColumn, kind: Kind, row: number, bytes: Uint8Array, start: number): number {
  let at = start;
  let value = 0;
  let digit = bytes[at]! - 0x30;
  while (digit >= 0 && digit <= 9) {
    // `imul` wraps instead of leaving 32 bits; longer numbers are not taken below.
    value = (Math.imul(value, 10) + digit) | 0;
    digit = bytes[++at]! - 0x30;
  }
  if (digit !== 0x39 || at === start || at - start > 9) return -1;
  if (kind === Kind.Int32) column.ints[row] = value;
  else column.floats[row] = value;
  column.next = row + 1;
  return at + 1;
}

/** 1, 0, or -1 when the bytes are none of the spellings t T true True TRUE f F false False FALSE. */
function booleanOf(bytes: Uint8Array, start: number, stop: number): number {
  const first = bytes[start]! | 0x20;
  const length = stop - start;
  if (length === 1) return first === 0x74 ? 1 : first === 0x66 ? 0 : -1;
  const word = length === 4 && first === 0x74 ? TRUE : length === 5 && first === 0x66 ? FALSE : undefined;
  if (word === undefined) return -1;
  // Lower case throughout, upper case throughout, or only the first letter upper.
  const upperFirst = bytes[start]! < 0x60;
  const upperRest = bytes[start + 1]! < 0x60;
  if (upperRest && !upperFirst) return -1;
  for (let i = 1; i < length; i++) if (bytes[start + i] !== (upperRest ? word[i]! - 0x20 : word[i]!)) return -1;
  return first === 0x74 ? 1 : 0;
}

const TRUE: Uint8Array<ArrayBuffer> = new TextEncoder().encode("true");
const FALSE: Uint8Array<ArrayBuffer> = new TextEncoder().encode("false");

function isLineEnd(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0x0a || (bytes[at] === 0x0d && bytes[at + 1] === 0x0a);
}
