/** Streams of DoPut that work: bulk inserts, ingest of Flight SQL, values of prepared statements. */
import { create, toBinary } from "@bufbuild/protobuf";
import {
  FlightDataSchema,
  type FlightDescriptor,
  FlightDescriptor_DescriptorType as DescriptorType,
  FlightDescriptorSchema,
} from "../../../proto/gen/arrow/flight/Flight_pb.js";
import {
  CommandStatementIngest_TableDefinitionOptions_TableExistsOption as Exists,
  CommandStatementIngest_TableDefinitionOptions_TableNotExistOption as NotExist,
  CommandStatementIngestSchema,
} from "../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { type DataType, FLOAT64, INT64, STRING } from "../../../src/column/data-type.ts";
import { vectorOf } from "../../../src/column/vector-builder.ts";
import { encodeArrowBatch, encodeArrowSchema } from "../../../src/format/arrow/encode-stream.ts";
import { anyOf } from "../../support/flight-sql-client.ts";

const MILLIS: DataType = { kind: "timestamp", unit: "millisecond" };
const TIME = 1_700_000_000_000n;

const HEADERS = [
  { name: "ts", type: MILLIS },
  { name: "host", type: STRING },
  { name: "v", type: FLOAT64 },
  { name: "n", type: INT64 },
] as const;
const VALUES = [
  [TIME, TIME + 1n, TIME + 2n],
  ["a", "b", undefined],
  [1, undefined, 2.5],
  [1n, 2n ** 60n, undefined],
] as const;

/** Parts of a `FlightData`. */
interface Init {
  readonly flightDescriptor?: FlightDescriptor;
  readonly dataHeader?: Uint8Array;
  readonly dataBody?: Uint8Array;
  readonly appMetadata?: Uint8Array;
}

/** The table of bulk inserts. */
export const BULK_TABLE: string =
  "CREATE TABLE bulk (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE, n BIGINT) WITH ('append_mode'='true')";

/** An IPC message as Flight carries it. */
function dataOf(message: Uint8Array<ArrayBuffer>): Init {
  const end = 8 + new DataView(message.buffer, message.byteOffset).getUint32(4, true);
  return { dataHeader: message.subarray(8, end), dataBody: message.subarray(end) };
}

function batchOf(headers: readonly { readonly name: string; readonly type: DataType }[], compression: "lz4" | undefined): Init {
  const vectors = headers.map(({ type }, i) => vectorOf(type, VALUES[i] ?? []));
  return dataOf(encodeArrowBatch(headers, { rowCount: 3, vectors }, compression));
}

const encoded = (messages: readonly Init[]): readonly Uint8Array[] =>
  messages.map((init) => toBinary(FlightDataSchema, create(FlightDataSchema, init)));

const numbered = (number: number): Init => ({ appMetadata: new TextEncoder().encode(JSON.stringify({ request_id: number })) });

/** Batches of a table's own columns. */
export function bulkMessages(table: string): readonly Uint8Array[] {
  const flightDescriptor = create(FlightDescriptorSchema, { type: DescriptorType.PATH, path: [table] });
  return encoded([
    { flightDescriptor, ...dataOf(encodeArrowSchema(HEADERS)) },
    { ...batchOf(HEADERS, undefined), ...numbered(1) },
    { ...batchOf(HEADERS, "lz4"), ...numbered(2) },
  ]);
}

/** Rows into a table that is made where it is not there. */
export function ingestMessages(table: string): readonly Uint8Array[] {
  const tableDefinitionOptions = { ifExists: Exists.APPEND, ifNotExist: NotExist.CREATE };
  const command = anyOf(CommandStatementIngestSchema, { table, schema: "loose", tableDefinitionOptions, options: { tags: "host" } });
  const flightDescriptor = create(FlightDescriptorSchema, { type: DescriptorType.CMD, cmd: command });
  return encoded([{ flightDescriptor, ...dataOf(encodeArrowSchema(HEADERS)) }, batchOf(HEADERS, undefined), batchOf(HEADERS, "lz4")]);
}

/** A command with rows of one value. */
export function valuesMessages(cmd: Uint8Array): readonly Uint8Array[] {
  const headers = [{ name: "$1", type: MILLIS }];
  const flightDescriptor = create(FlightDescriptorSchema, { type: DescriptorType.CMD, cmd });
  return encoded([{ flightDescriptor, ...dataOf(encodeArrowSchema(headers)) }, batchOf(headers, undefined)]);
}
