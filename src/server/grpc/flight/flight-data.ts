/**
 * Messages of Flight's streams. Those that come in are read by hand, so that a body is a view of what was received; those that go out are
 * pieces of the Arrow encoder, put together once.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { FlightDataSchema } from "../../../../proto/gen/arrow/flight/Flight_pb.js";
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

/** A message that goes out. */
export type FlightDataInit = MessageInitShape<typeof FlightDataSchema>;

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

/** An Arrow message as Flight sends it. */
export function flightMessage(parts: ArrowMessageParts): FlightDataInit {
  const [only] = parts.body;
  if (only === undefined) return { dataHeader: parts.metadata };
  const body = new Uint8Array(parts.bodyLength);
  writeArrowBody(parts, body, 0);
  return { dataHeader: parts.metadata, dataBody: body };
}

/**
 * The answer of a statement: its schema and a message a batch; of one without rows, a message that says how many rows it changed
 * (contract query.md 5.4).
 */
export async function* flightDataOf(
  result: StatementResult,
  compression: ArrowCompression,
): AsyncGenerator<FlightDataInit, void, undefined> {
  if (result.kind === "affected") {
    yield { ...flightMessage(arrowEmptyParts()), appMetadata: affectedRows(result.rowCount) };
    return;
  }
  const { headers } = result;
  yield flightMessage(arrowSchemaParts(headers));
  for await (const batch of result.batches) {
    if (batch.rowCount > 0) yield flightMessage(arrowBatchParts(headers, batch, compression));
  }
}

/** `FlightMetadata { affected_rows: { value } }` of greptime.v1. */
export function affectedRows(rowCount: number): Uint8Array {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).fork();
  if (rowCount > 0) writer.tag(1, WireType.Varint).uint32(Math.min(rowCount, 0xffff_ffff));
  return writer.join().finish();
}
