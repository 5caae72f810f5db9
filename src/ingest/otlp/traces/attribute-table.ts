/**
 * The columns of spans' attributes, found by the bytes of their keys: spans nearly always have theirs in the order of the span before.
 */
import { invalidArguments } from "../../../base/error.ts";
import { TABLE_COLUMNS_MAX } from "../../../base/limits.ts";
import type { ProtoReader } from "../../../format/proto/reader.ts";
import { type AnyValue, Kind } from "../any-value.ts";
import type { JsonSink } from "../json-sink.ts";
import { RETAINED_BYTES_MAX } from "../limits.ts";
import { textOf } from "../text.ts";
import { AttributeColumn, KindBit } from "./attribute-column.ts";

/** Columns that are kept for the next request; of more all are made anew. */
const RETAINED_COLUMNS_MAX = 512;

/** See the file header. */
export class AttributeTable {
  /** Columns that this request has, in the order of their first cells. */
  readonly touched: AttributeColumn[] = [];
  private readonly prefix: string;
  private columns: Map<string, AttributeColumn> = new Map();
  private previous: AttributeColumn | undefined;

  /** @param prefix of the columns' names */
  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /** Bytes held. */
  get byteSize(): number {
    let sum = 0;
    for (const { byteSize } of this.columns.values()) sum += byteSize;
    return sum;
  }

  /** Forgets all cells; keeps the memory unless it is large. */
  reset(): void {
    for (const column of this.touched) column.reset();
    this.touched.length = 0;
    this.previous = undefined;
    if (this.columns.size > RETAINED_COLUMNS_MAX || this.byteSize > RETAINED_BYTES_MAX) this.columns = new Map();
  }

  /** The column of the key `bytes[start, end)`. @throws DbError InvalidArguments when there are more than a table takes */
  column(bytes: Uint8Array, start: number, end: number): AttributeColumn {
    const guess = this.previous?.next;
    let column = guess !== undefined && isKey(guess.key, bytes, start, end) ? guess : undefined;
    if (column === undefined) {
      column = this.byName(bytes, start, end);
      if (this.previous !== undefined) this.previous.next = column;
    }
    this.previous = column;
    if (column.count === 0) {
      if (this.touched.length === TABLE_COLUMNS_MAX) {
        const why = `its spans have more than ${TABLE_COLUMNS_MAX} different attributes, each of which is a column`;
        throw invalidArguments(`cannot take the request: ${why}`);
      }
      this.touched.push(column);
    }
    return column;
  }

  private byName(bytes: Uint8Array, start: number, end: number): AttributeColumn {
    const key = textOf(bytes, start, end);
    let column = this.columns.get(key);
    if (column === undefined) {
      column = new AttributeColumn(this.prefix + key, bytes.slice(start, end));
      this.columns.set(key, column);
    }
    return column;
  }
}

/** Sets the cell of a row to a value; an empty one leaves it. The sink is for arrays and lists. @throws ProtoError */
export function setValue(column: AttributeColumn, row: number, value: AnyValue, { bytes }: ProtoReader, json: JsonSink): void {
  switch (value.kind) {
    case Kind.string:
      column.setBytes(row, KindBit.string, bytes, value.start, value.end);
      return;
    case Kind.bytes:
      column.setBytes(row, KindBit.bytes, bytes, value.start, value.end);
      return;
    case Kind.bool:
      column.setNumber(row, KindBit.bool, value.number);
      return;
    case Kind.double:
      column.setNumber(row, KindBit.double, value.number);
      return;
    case Kind.int:
      column.setInt(row, value.low, value.high);
      return;
    default:
      json.reset();
      json.any(value);
      column.setBytes(row, KindBit.json, json.bytes, 0, json.used);
  }
}

function isKey(key: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  const { length } = key;
  if (end - start !== length) return false;
  for (let i = 0; i < length; i++) if (key[i] !== bytes[start + i]) return false;
  return true;
}
