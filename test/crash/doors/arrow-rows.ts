/** Rows of a batch as Arrow, in a table that keeps every row, so that one that is written twice is there twice. */
import { create } from "@bufbuild/protobuf";
import {
  type FlightData,
  FlightDataSchema,
  FlightDescriptorSchema,
  type FlightDescriptor_DescriptorType,
} from "../../../proto/gen/arrow/flight/Flight_pb.js";
import { type DataType, FLOAT64, INT64, STRING } from "../../../src/column/data-type.ts";
import type { Scalar } from "../../../src/column/vector.ts";
import { vectorOf } from "../../../src/column/vector-builder.ts";
import { encodeArrowBatch, encodeArrowSchema } from "../../../src/format/arrow/encode-stream.ts";
import { amountOf, type Batch, labelOf, shardTag, timeOf, writerTag } from "../batch.ts";

const NANOS: DataType = { kind: "timestamp", unit: "nanosecond" };

const COLUMNS: readonly (readonly [name: string, type: DataType, value: (batch: Batch, seat: number) => Scalar])[] = [
  ["writer", STRING, ({ writer }) => writerTag(writer)],
  ["shard", STRING, (_, seat) => shardTag(seat)],
  ["version", INT64, ({ number }) => number],
  ["amount", FLOAT64, ({ writer, number }, seat) => amountOf(writer, number, seat)],
  ["origin", INT64, ({ origin }) => origin],
  ["seat", INT64, (_, seat) => seat],
  ["label", STRING, ({ writer, number }, seat) => labelOf(writer, number, seat)],
  ["greptime_timestamp", NANOS, ({ origin }, seat) => timeOf(origin, seat)],
];
const HEADERS = COLUMNS.map(([name, type]) => ({ name, type }));

/** The table, as SQL makes it. */
export function tableOfRows(name: string): string {
  const columns = "writer STRING, shard STRING, version BIGINT, amount DOUBLE, origin BIGINT, seat BIGINT, label STRING";
  const index = "greptime_timestamp TIMESTAMP(9) TIME INDEX, PRIMARY KEY (writer, shard)";
  return `CREATE TABLE IF NOT EXISTS ${name} (${columns}, ${index}) WITH ('append_mode'='true')`;
}

/** The first message of a stream: what it is for, and its columns. */
export function schemaMessage(descriptor: {
  readonly type: FlightDescriptor_DescriptorType;
  readonly path?: string[];
  readonly cmd?: Uint8Array;
}): FlightData {
  const flightDescriptor = create(FlightDescriptorSchema, descriptor);
  return create(FlightDataSchema, { flightDescriptor, ...partsOf(encodeArrowSchema(HEADERS)) });
}

/** The rows of a batch. @param appMetadata of the message */
export function batchMessage(batch: Batch, appMetadata: Uint8Array = new Uint8Array(0)): FlightData {
  const seats = Array.from({ length: batch.seats }, (_, seat) => seat);
  const vectors = COLUMNS.map(([, type, value]) =>
    vectorOf(
      type,
      seats.map((seat) => value(batch, seat)),
    ),
  );
  return create(FlightDataSchema, { appMetadata, ...partsOf(encodeArrowBatch(HEADERS, { rowCount: batch.seats, vectors }, undefined)) });
}

/** Metadata and body of an IPC message. */
function partsOf(message: Uint8Array<ArrayBuffer>): { readonly dataHeader: Uint8Array; readonly dataBody: Uint8Array } {
  const end = 8 + new DataView(message.buffer, message.byteOffset).getUint32(4, true);
  return { dataHeader: message.subarray(8, end), dataBody: message.subarray(end) };
}
