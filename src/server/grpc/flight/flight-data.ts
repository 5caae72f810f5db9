/**
 * Messages of Flight's streams. Those that come in are read by hand, so that a body is a view of what was received; those that go out are
 * pieces of the Arrow encoder, put together once in the frame that they leave in.
 */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import {
  type ArrowCompression,
  type ArrowMessageParts,
  arrowBatchParts,
  arrowEmptyParts,
  arrowSchemaParts,
  writeArrowBody,
} from "../../../format/arrow/encode-stream.ts";
import { field, ProtoError, ProtoReader, Wire } from "../../../format/proto/reader.ts";
import type { StatementResult } from "../../../query/statement-result.ts";
import { FRAME_HEAD_BYTES, newFrame } from "../messages/outgoing-frames.ts";

/** A message that came in. What is absent is empty; all are views of its bytes. */
export interface FlightMessage {
  /** A `FlightDescriptor`. */
  readonly descriptor: Uint8Array;
  readonly header: Uint8Array;
  readonly metadata: Uint8Array;
  readonly body: Uint8Array;
}

const Field = {
  descriptor: field(1, Wire.bytes),
  header: field(2, Wire.bytes),
  metadata: field(3, Wire.bytes),
  body: field(1000, Wire.bytes),
} as const;

const NOTHING: Uint8Array = new Uint8Array(0);

/** Reads a `FlightData`. @throws DbError InvalidArguments */
export function readFlightData(bytes: Uint8Array): FlightMessage {
  const reader = new ProtoReader();
  const message = { descriptor: NOTHING, header: NOTHING, metadata: NOTHING, body: NOTHING };
  reader.open(bytes);
  try {
    while (reader.at < bytes.length) {
      const tag = reader.tag(bytes.length);
      const name = nameOf(tag);
      if (name === undefined) reader.skip(tag, bytes.length);
      else {
        const end = reader.lengthEnd(bytes.length);
        message[name] = bytes.subarray(reader.at, end);
        reader.at = end;
      }
    }
  } catch (thrown) {
    if (!(thrown instanceof ProtoError)) throw thrown;
    throw new DbError(StatusCode.InvalidArguments, `cannot read FlightData: ${thrown.message}`, { cause: thrown });
  }
  return message;
}

function nameOf(tag: number): keyof FlightMessage | undefined {
  switch (tag) {
    case Field.descriptor:
      return "descriptor";
    case Field.header:
      return "header";
    case Field.metadata:
      return "metadata";
    case Field.body:
      return "body";
    default:
      return undefined;
  }
}

/** Tags of `data_header`, `app_metadata` and `data_body`. */
const HEADER_TAG: readonly number[] = [0x12];
const METADATA_TAG: readonly number[] = [0x1a];
const BODY_TAG: readonly number[] = [0xc2, 0x3e];

/** An Arrow message as Flight sends it, framed: all that it holds is copied here, once. */
export function flightFrame(parts: ArrowMessageParts, metadata: Uint8Array = NOTHING): Uint8Array<ArrayBuffer> {
  const { metadata: header, bodyLength } = parts;
  const length = fieldBytes(HEADER_TAG, header.length) + fieldBytes(METADATA_TAG, metadata.length) + fieldBytes(BODY_TAG, bodyLength);
  const frame = newFrame(length);
  let at = writeBytes(frame, FRAME_HEAD_BYTES, HEADER_TAG, header);
  at = writeBytes(frame, at, METADATA_TAG, metadata);
  if (bodyLength > 0) writeArrowBody(parts, frame, writeHead(frame, at, BODY_TAG, bodyLength));
  return frame;
}

/** Bytes of a field; none where it is empty. */
function fieldBytes(tag: readonly number[], length: number): number {
  if (length === 0) return 0;
  let bytes = tag.length + 1;
  for (let rest = length >>> 7; rest > 0; rest >>>= 7) bytes++;
  return bytes + length;
}

function writeBytes(target: Uint8Array, from: number, tag: readonly number[], bytes: Uint8Array): number {
  if (bytes.length === 0) return from;
  const at = writeHead(target, from, tag, bytes.length);
  target.set(bytes, at);
  return at + bytes.length;
}

function writeHead(target: Uint8Array, from: number, tag: readonly number[], length: number): number {
  target.set(tag, from);
  let at = from + tag.length;
  let rest = length;
  for (; rest >= 0x80; rest >>>= 7) target[at++] = (rest & 0x7f) | 0x80;
  target[at++] = rest;
  return at;
}

/**
 * The answer of a statement, framed: its schema and a message a batch; of one without rows, a message that says how many rows it changed
 * (contract query.md 5.4).
 */
export async function* flightDataOf(result: StatementResult, compression: ArrowCompression): AsyncGenerator<Uint8Array, void, undefined> {
  if (result.kind === "affected") {
    yield flightFrame(arrowEmptyParts(), affectedRows(result.rowCount));
    return;
  }
  const { headers } = result;
  yield flightFrame(arrowSchemaParts(headers));
  for await (const batch of result.batches) {
    if (batch.rowCount > 0) yield flightFrame(arrowBatchParts(headers, batch, compression));
  }
}

/** `FlightMetadata { affected_rows: { value } }` of greptime.v1. */
export function affectedRows(rowCount: number): Uint8Array {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).fork();
  if (rowCount > 0) writer.tag(1, WireType.Varint).uint32(Math.min(rowCount, 0xffff_ffff));
  return writer.join().finish();
}
