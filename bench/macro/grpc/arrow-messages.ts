/**
 * Messages of Arrow IPC: a schema, dictionaries, record batches, without the framing that Flight does not have.
 * Source: arrow.apache.org/docs/format/Columnar.html, "Serialization and Interprocess Communication".
 */
import { fieldAt, type FlatField, type FlatTable, flatBuffer, follow } from "./flat-buffer.ts";

/** A message: its metadata and its body. */
export interface ArrowMessage {
  readonly header: Uint8Array;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Where each buffer of the body begins. */
  readonly offsets: readonly number[];
}

/** A column of a schema. */
export interface ArrowColumn {
  readonly name: string;
  readonly type: "text" | "long" | "nanos";
  /** The number of its dictionary. Its values are numbers of 32 bits then. */
  readonly dictionary?: number;
}

/** Values of a column, none of them null: `offsets` where it is text. */
export interface ArrowValues {
  readonly count: number;
  readonly buffers: readonly Uint8Array[];
}

const VERSION_5 = 4;
const KIND = { schema: 1, dictionary: 2, batch: 3 } as const;
/** Numbers of types: an integer, text, an instant. */
const TYPE = { text: 5, long: 2, nanos: 10 } as const;
const NANOSECONDS = 3;

const i32 = (value: number): FlatField => ({ kind: "i32", value });
const u8 = (value: number): FlatField => ({ kind: "u8", value });
const i16 = (value: number): FlatField => ({ kind: "i16", value });
const i64 = (value: number): FlatField => ({ kind: "i64", value });
const table = (value: FlatTable): FlatField => ({ kind: "table", value });

const TYPES: Readonly<Record<ArrowColumn["type"], FlatTable>> = {
  text: [],
  long: [i32(64), u8(1)],
  nanos: [i16(NANOSECONDS)],
};

function message(kind: number, header: FlatTable, bodyLength: number): Uint8Array {
  return flatBuffer([i16(VERSION_5), u8(kind), table(header), i64(bodyLength)]);
}

/** The message that names the columns. */
export function schemaMessage(columns: readonly ArrowColumn[]): ArrowMessage {
  const fields = columns.map(({ name, type, dictionary }): FlatTable => {
    const encoding = dictionary === undefined ? undefined : table([i64(dictionary), table([i32(32), u8(1)])]);
    return [{ kind: "text", value: name }, u8(1), u8(TYPE[type]), table(TYPES[type]), encoding, { kind: "tables", value: [] }];
  });
  const header = message(KIND.schema, [i16(0), { kind: "tables", value: fields }], 0);
  return { header, body: new Uint8Array(0), offsets: [] };
}

/** What a batch says of its buffers, and these behind each other, each at a multiple of eight. */
function record(rowCount: number, columns: readonly ArrowValues[]) {
  const places: [number, number][] = [];
  let length = 0;
  for (const { buffers } of columns) {
    places.push([length, 0]); // No bitmap: nothing is null.
    for (const buffer of buffers) {
      places.push([length, buffer.length]);
      length += (buffer.length + 7) & ~7;
    }
  }
  const body = new Uint8Array(length);
  const all = columns.flatMap(({ buffers }) => [new Uint8Array(0), ...buffers]);
  for (const [i, buffer] of all.entries()) body.set(buffer, places[i]?.[0] ?? 0);
  const nodes = columns.map(({ count }) => [count, 0] as const);
  const flat: FlatTable = [i64(rowCount), { kind: "pairs", value: nodes }, { kind: "pairs", value: places }];
  return { flat, body, offsets: places.map(([offset]) => offset) };
}

/** The texts of a dictionary. */
export function dictionaryMessage(id: number, values: ArrowValues): ArrowMessage {
  const { flat, body, offsets } = record(values.count, [values]);
  return { header: message(KIND.dictionary, [i64(id), table(flat)], body.length), body, offsets };
}

/** Rows. */
export function batchMessage(rowCount: number, columns: readonly ArrowValues[]): ArrowMessage {
  const { flat, body, offsets } = record(rowCount, columns);
  return { header: message(KIND.batch, flat, body.length), body, offsets };
}

/** Texts as offsets and bytes. */
export function textValues(texts: readonly string[]): ArrowValues {
  const offsets = new Int32Array(texts.length + 1);
  const pieces = texts.map((text) => Buffer.from(text));
  for (const [i, { length }] of pieces.entries()) offsets[i + 1] = offsets[i]! + length;
  return { count: texts.length, buffers: [new Uint8Array(offsets.buffer), Buffer.concat(pieces)] };
}

/** Rows of a message's metadata; 0 where it is no record batch. @throws RangeError when it is cut short */
export function rowsOf(header: Uint8Array): number {
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  const root = follow(view, 0);
  const kindAt = fieldAt(view, root, 1);
  const headerAt = fieldAt(view, root, 2);
  if (kindAt === undefined || headerAt === undefined || view.getUint8(kindAt) !== KIND.batch) return 0;
  const countAt = fieldAt(view, follow(view, headerAt), 0);
  return countAt === undefined ? 0 : Number(view.getBigInt64(countAt, true));
}
