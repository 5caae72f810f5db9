/**
 * Reads Arrow messages into the server's columns: Flight's, a header and a body each, and those of IPC streams, which `stream-messages.ts`
 * takes apart into the same two.
 *
 *   header ─► flat-table.ts ─► arrow-field.ts (schema)
 *   body   ─► body.ts (buffers) ─► read-column.ts ─► Vector
 *
 * Numbers, texts and binary values stay where they lie in the body, where that is a multiple of their width; so the body belongs to the
 * batch from then on. No length, offset or index is used before it is held against what is there.
 */
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import { intervalOfBytes } from "../../../column/interval-bytes.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Scalar, Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { intervalText } from "../../../value/interval/interval-text.ts";
import { malformed, unsupported } from "./arrow-failure.ts";
import { type ArrowField, readFields } from "./arrow-field.ts";
import { Allowance, Body } from "./body.ts";
import { StreamDictionaries } from "./dictionaries.ts";
import { type FlatTable, rootTable } from "./flat-table.ts";
import { ColumnReader } from "./read-column.ts";
import { INTERVALS_AS_BYTES } from "./read-values.ts";
import { Scratch, threadScratch } from "../scratch.ts";

/**
 * Memory that a message may take beside its own bytes, and how that grows with these from what any may take.
 * Reason: zstd makes 64 MiB of a few KiB.
 */
const UNFOLDED_BYTES_MAX: number = 512 * 1024 * 1024;
const UNFOLDED_BYTES_MIN: number = 64 * 1024 * 1024;
const UNFOLDED_BYTES_PER_BYTE = 16;

/** Numbers of the union `MessageHeader`, and of the versions that are read: 1.0 and the one before it. */
const HEADER = { none: 0, schema: 1, dictionary: 2, batch: 3 } as const;
const V4 = 3;
const V5 = 4;

/** A column of a stream. */
export interface ArrowColumn extends ColumnHeader {
  /** Its values come as a dictionary and codes. */
  readonly isDictionary: boolean;
  /** What `greptime:` metadata says of it, by key without that prefix. */
  readonly marks?: ReadonlyMap<string, string> | undefined;
}

/** What a message holds. */
export type ArrowMessage =
  | { readonly kind: "schema"; readonly headers: readonly ArrowColumn[] }
  | { readonly kind: "batch"; readonly batch: Batch }
  | { readonly kind: "dictionary" | "none" };

const DICTIONARY: ArrowMessage = { kind: "dictionary" };
const NONE: ArrowMessage = { kind: "none" };

/** What the envelope of a message says. */
interface Envelope {
  readonly kind: number;
  readonly header: FlatTable | undefined;
  readonly bodyBytes: number;
}

/** Reads the envelope of a message. @throws DbError InvalidArguments, Unsupported */
export function envelopeOf(metadata: Uint8Array): Envelope {
  const message = rootTable(metadata);
  const version = message.i16(0, 0);
  if (version !== V4 && version !== V5) throw unsupported(`version ${version + 1} of its messages; V4 and V5 are`);
  return { kind: message.u8(1, 0), header: message.table(2), bodyBytes: message.count(3, "the length of a body") };
}

/** Reads the messages of one stream, one after the other. */
export class ArrowReader {
  private readonly bytesMax: number;
  private fields: readonly ArrowField[] | undefined;
  private dictionaries: StreamDictionaries = new StreamDictionaries([]);
  private borrowedRowsMax = 0;

  constructor(bytesMax: number = UNFOLDED_BYTES_MAX) {
    this.bytesMax = bytesMax;
  }

  /**
   * From now on a batch of up to so many rows lies on memory that the thread's next batch gets, whoever reads or writes it: it is valid
   * until anything else runs.
   */
  borrowMemory(rowsMax: number): void {
    this.borrowedRowsMax = rowsMax;
  }

  /**
   * The next message. Vectors may lie on `body`.
   *
   * @throws DbError InvalidArguments (no Arrow), Unsupported (names the column), RuntimeResourcesExhausted (more than `bytesMax` beside it)
   */
  read(metadata: Uint8Array, body: Uint8Array): ArrowMessage {
    const { kind, header, bodyBytes } = envelopeOf(metadata);
    if (kind === HEADER.none) return NONE;
    if (header === undefined) throw malformed("a message has no header");
    if (bodyBytes > body.length) throw malformed(`a body of ${body.length} bytes, of which ${bodyBytes} are announced`);
    if (kind === HEADER.schema) return this.schema(header);
    const { fields } = this;
    if (fields === undefined) throw malformed("the first message of a stream is its schema");
    const unfolded = Math.max(UNFOLDED_BYTES_MIN, body.length * UNFOLDED_BYTES_PER_BYTE);
    const allowance = new Allowance(Math.min(this.bytesMax, unfolded));
    if (kind === HEADER.dictionary) return this.dictionary(header, body, allowance);
    if (kind !== HEADER.batch) throw unsupported(`messages of kind ${kind}; schemas, dictionaries and batches are`);
    return { kind: "batch", batch: this.batch(header, body, fields, allowance) };
  }

  private schema(header: FlatTable): ArrowMessage {
    if (this.fields !== undefined) throw malformed("a stream has one schema");
    this.fields = readFields(header);
    this.dictionaries = new StreamDictionaries(this.fields);
    const headers = this.fields.map(({ name, type, dictionary, marks }) => ({ name, type, isDictionary: dictionary !== undefined, marks }));
    return { kind: "schema", headers };
  }

  private dictionary(header: FlatTable, body: Uint8Array, allowance: Allowance): ArrowMessage {
    const id = header.i64(0);
    const data = header.table(1);
    if (data === undefined) throw malformed(`dictionary ${id} has no values`);
    const field = this.dictionaries.fieldOf(id);
    const { vector, rowCount } = new ColumnReader(new Body(data, body, allowance, new Scratch()), this.dictionaries).plain(field);
    if (data.count(0, "the number of values of a dictionary") !== rowCount) throw malformed(`dictionary ${id} has two lengths`);
    this.dictionaries.take(id, header.u8(2, 0) !== 0, vector, rowCount);
    return DICTIONARY;
  }

  private batch(header: FlatTable, body: Uint8Array, fields: readonly ArrowField[], allowance: Allowance): Batch {
    const rowCount = header.count(0, "the number of rows of a batch");
    const isBorrowed = rowCount <= this.borrowedRowsMax;
    if (isBorrowed) threadScratch.begin();
    const scratch = isBorrowed ? threadScratch : new Scratch();
    const buffers = new Body(header, body, allowance, scratch);
    buffers.checkRows(rowCount);
    const reader = new ColumnReader(buffers, this.dictionaries);
    const vectors = fields.map((field) => {
      const column = reader.read(field);
      if (column.rowCount !== rowCount) throw malformed(`column ${field.path} has ${column.rowCount} rows; the batch has ${rowCount}`);
      if (field.type.kind !== "interval") return column.vector;
      allowance.make(rowCount);
      return intervalTexts(column.vector, rowCount);
    });
    return { rowCount, vectors };
  }
}

/** Intervals as the texts that they are in columns of results. */
function intervalTexts(vector: Vector, rowCount: number): Vector {
  const texts = Array.from({ length: rowCount }, (_, row): Scalar => {
    const bytes = scalarAt(vector, INTERVALS_AS_BYTES, row);
    return bytes instanceof Uint8Array ? intervalText(intervalOfBytes(bytes)) : undefined;
  });
  return vectorOf({ kind: "interval" }, texts);
}
