/**
 * Arrow IPC messages, and the stream of them: one schema message, record batches, an end mark. FORMAT.md draws the bytes.
 * Source: arrow.apache.org/docs/format/Columnar.html, "Serialization and Interprocess Communication".
 */
import type { BytesInTurn } from "../../base/bytes/bytes-in-turn.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { encodeLz4Frame, lz4FrameBytes } from "../lz4/frame.ts";
import { columnParts } from "./column-parts.ts";
import { type ArrowField, writeField } from "./field-type.ts";
import { FlatBufferWriter, type TableField } from "./flatbuffer.ts";
import { threadScratch } from "./scratch.ts";

/** Metadata version 5, since Arrow 1.0. */
const METADATA_V5 = 4;
/** Numbers of the union `MessageHeader`. */
export const HEADER: Readonly<Record<"None" | "Schema" | "RecordBatch", number>> = { None: 0, Schema: 1, RecordBatch: 3 };
/** How bodies may be compressed, by their number in `BodyCompression`. */
const CODECS = { lz4: 0, zstd: 1 } as const;
/** Bytes that a buffer of a compressed body begins with: its length before compression. */
const LENGTH_BYTES = 8;
/** Such a length says that a buffer is not compressed. */
const NOT_PACKED = -1n;

/** How a body is compressed; undefined: not at all. */
export type ArrowCompression = keyof typeof CODECS | undefined;

/**
 * A message: its metadata and its body in pieces, each of which begins at a multiple of 8. Pieces of a batch lie on its vectors and on
 * memory that the thread's next batch gets: to be copied at once.
 */
export interface ArrowMessageParts {
  readonly metadata: Uint8Array;
  readonly body: readonly Uint8Array[];
  /** With what lies between the pieces. */
  readonly bodyLength: number;
}

/** The next multiple of eight. */
export const pad8 = (length: number): number => (length + 7) & ~7;

/** The first message: names and types. */
export function encodeArrowSchema(columns: readonly ArrowField[]): Uint8Array<ArrayBuffer> {
  return framedMessage(arrowSchemaParts(columns));
}

/** The first message, unframed. */
export function arrowSchemaParts(columns: readonly ArrowField[]): ArrowMessageParts {
  const writer = new FlatBufferWriter();
  const fields = writer.offsets(columns.map((column) => writeField(writer, column)));
  const schema = writer.table([
    { slot: 0, kind: "i16", value: 0 }, // little-endian
    { slot: 1, kind: "offset", value: fields },
  ]);
  return arrowMessage(writer, HEADER.Schema, schema, [], 0);
}

/**
 * One record batch.
 *
 * @param room where it is put; absent: memory of its own
 * @throws DbError RuntimeResourcesExhausted (a column with more than 2 GiB of text)
 */
export function encodeArrowBatch(
  headers: readonly ColumnHeader[],
  batch: Batch,
  compression: ArrowCompression,
  room?: BytesInTurn,
): Uint8Array<ArrayBuffer> {
  return framedMessage(arrowBatchParts(headers, batch, compression), room);
}

/** One record batch, unframed. @throws as `encodeArrowBatch` */
export function arrowBatchParts(headers: readonly ColumnHeader[], batch: Batch, compression: ArrowCompression): ArrowMessageParts {
  const nodes: [number, number][] = [];
  const places: [number, number][] = [];
  const body: Uint8Array[] = [];
  let length = 0;
  threadScratch.begin();
  for (const [position, header] of headers.entries()) {
    const vector = batch.vectors[position];
    if (vector === undefined) continue;
    for (const { rowCount, nullCount, buffers } of columnParts(header.type, vector, batch.rowCount, threadScratch)) {
      nodes.push([rowCount, nullCount]);
      for (const plain of buffers) {
        const isPlain = compression === undefined || plain.length === 0;
        const buffer = isPlain ? plain : compressed(plain, compression, body);
        const bytes = isPlain ? plain.length : LENGTH_BYTES + buffer.length;
        places.push([length, bytes]);
        body.push(buffer);
        length += pad8(bytes);
      }
    }
  }
  const writer = new FlatBufferWriter();
  const codec: readonly TableField[] =
    compression === undefined
      ? []
      : [{ slot: 3, kind: "offset", value: writer.table([{ slot: 0, kind: "u8", value: CODECS[compression] }]) }];
  const buffersAt = writer.pairs(places);
  const nodesAt = writer.pairs(nodes);
  const record = writer.table([
    { slot: 0, kind: "i64", value: BigInt(batch.rowCount) },
    { slot: 1, kind: "offset", value: nodesAt },
    { slot: 2, kind: "offset", value: buffersAt },
    ...codec,
  ]);
  return arrowMessage(writer, HEADER.RecordBatch, record, body, length);
}

/** The end of the stream. */
export function encodeArrowEnd(): Uint8Array<ArrayBuffer> {
  return new Uint8Array([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
}

/** A buffer as a compressed body has it, packed or, where that does not make it shorter, as it is; what stands before it goes to `body`. */
function compressed(plain: Uint8Array, compression: keyof typeof CODECS, body: Uint8Array[]): Uint8Array {
  const packed = compression === "lz4" ? packedLz4(plain) : Bun.zstdCompressSync(plain, { level: 1 });
  const isPacked = packed.length < plain.length;
  const head = new Uint8Array(LENGTH_BYTES);
  new DataView(head.buffer).setBigInt64(0, isPacked ? BigInt(plain.length) : NOT_PACKED, true);
  body.push(head);
  return isPacked ? packed : plain;
}

function packedLz4(plain: Uint8Array): Uint8Array {
  const room = threadScratch.bytes(lz4FrameBytes(plain.length));
  const packed = encodeLz4Frame(plain, room);
  threadScratch.shorten(room, packed.length);
  return packed;
}

/** A message that says nothing: what Flight has beside it is what counts. */
export function arrowEmptyParts(): ArrowMessageParts {
  return arrowMessage(new FlatBufferWriter(), HEADER.None, 0, [], 0);
}

/** A message of a kind around its header. */
export function arrowMessage(
  writer: FlatBufferWriter,
  kind: number,
  header: number,
  body: readonly Uint8Array[],
  bodyLength: number,
): ArrowMessageParts {
  const root = writer.table([
    { slot: 0, kind: "i16", value: METADATA_V5 },
    { slot: 1, kind: "u8", value: kind },
    ...(header === 0 ? [] : [{ slot: 2, kind: "offset", value: header } as const]),
    { slot: 3, kind: "i64", value: BigInt(bodyLength) },
  ]);
  return { metadata: writer.finish(root), body, bodyLength };
}

/** A message with its envelope: continuation mark, length of the metadata, metadata, body. */
export function framedMessage(parts: ArrowMessageParts, room?: BytesInTurn): Uint8Array<ArrayBuffer> {
  const { metadata, bodyLength } = parts;
  const metadataLength = pad8(metadata.length);
  const length = 8 + metadataLength + bodyLength;
  const out = room === undefined ? new Uint8Array(length) : new Uint8Array(room.take(length).buffer, 0, length);
  const view = new DataView(out.buffer);
  view.setUint32(0, 0xffff_ffff, true);
  view.setUint32(4, metadataLength, true);
  out.set(metadata, 8);
  out.fill(0, 8 + metadata.length, 8 + metadataLength);
  writeArrowBody(parts, out, 8 + metadataLength);
  return out;
}

/** Writes the body of a message to `out` from `from` on, and zeros between its pieces. */
export function writeArrowBody({ body, bodyLength }: ArrowMessageParts, out: Uint8Array, from: number): void {
  let at = from;
  for (const buffer of body) {
    out.set(buffer, at);
    const end = at + buffer.length;
    at += pad8(buffer.length);
    if (end < at) out.fill(0, end, Math.min(at, from + bodyLength));
  }
}
