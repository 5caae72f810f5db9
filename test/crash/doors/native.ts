/**
 * The native interface over gRPC: three tables a message, overwrites of all fields, deletes. Rows by `Handle`, and by `HandleRequests`
 * with one message a stream: a stream that is not answered may be there in part, message by message. Columns by `Handle`.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ColumnDataType as Type, SemanticType } from "../../../proto/gen/greptime/v1/common_pb.js";
import { GreptimeDatabase, type GreptimeRequestSchema } from "../../../proto/gen/greptime/v1/database_pb.js";
import { amountOf, type Batch, isOf, labelOf, shardTag, tableOf, timeOf, writerTag } from "../batch.ts";
import { type Door, deleteRequest } from "./door.ts";
import { answerOf, clientsOf, failureOf } from "./grpc-calls.ts";
import { lineDoor } from "./line.ts";

type Request = MessageInitShape<typeof GreptimeRequestSchema>;

const SCHEMA = [
  { columnName: "writer", datatype: Type.STRING, semanticType: SemanticType.TAG },
  { columnName: "shard", datatype: Type.STRING, semanticType: SemanticType.TAG },
  { columnName: "version", datatype: Type.INT64, semanticType: SemanticType.FIELD },
  { columnName: "amount", datatype: Type.FLOAT64, semanticType: SemanticType.FIELD },
  { columnName: "origin", datatype: Type.INT64, semanticType: SemanticType.FIELD },
  { columnName: "seat", datatype: Type.INT64, semanticType: SemanticType.FIELD },
  { columnName: "label", datatype: Type.STRING, semanticType: SemanticType.FIELD },
  { columnName: "greptime_timestamp", datatype: Type.TIMESTAMP_NANOSECOND, semanticType: SemanticType.TIMESTAMP },
];

const text = (value: string) => ({ valueData: { case: "stringValue", value } }) as const;
const int = (value: number) => ({ valueData: { case: "i64Value", value: BigInt(value) } }) as const;

function encode(batch: Batch, tables: readonly string[]): Request {
  const { writer, number, origin } = batch;
  const inserts = tables.map((tableName) => ({ tableName, rows: { schema: SCHEMA, rows: [] as { readonly values: object[] }[] } }));
  for (let seat = 0; isOf(batch, seat, tables.length); seat++) {
    inserts[tableOf(origin, seat, tables.length)]!.rows.rows.push({
      values: [
        text(writerTag(writer)),
        text(shardTag(seat)),
        int(number),
        { valueData: { case: "f64Value", value: amountOf(writer, number, seat) } },
        int(origin),
        int(seat),
        text(labelOf(writer, number, seat)),
        { valueData: { case: "timestampNanosecondValue", value: timeOf(origin, seat) } },
      ],
    });
  }
  return { request: { case: "rowInserts", value: { inserts } } } as Request; // values are those of the schema
}

/** Values of a column, in the field of its type. */
function valuesOf(type: Type, values: readonly unknown[]): object {
  switch (type) {
    case Type.STRING:
      return { stringValues: values };
    case Type.INT64:
      return { i64Values: values };
    case Type.FLOAT64:
      return { f64Values: values };
    default:
      return { timestampNanosecondValues: values };
  }
}

/** The same rows as columns. */
function encodeColumns(batch: Batch, tables: readonly string[]): Request {
  const { request } = encode(batch, tables);
  if (request?.case !== "rowInserts") throw new Error("rows are encoded");
  const inserts = (request.value.inserts ?? []).map(({ tableName, rows }) => {
    const all = rows?.rows ?? [];
    const columns = SCHEMA.map(({ columnName, datatype, semanticType }, i) => {
      const values = all.map((row) => row.values?.[i]?.valueData?.value);
      return { columnName, datatype, semanticType, values: valuesOf(datatype, values) };
    });
    return { tableName, columns, rowCount: all.length };
  });
  return { request: { case: "inserts", value: { inserts: inserts.filter(({ rowCount }) => rowCount > 0) } } } as Request; // as those
}

async function* only(request: Request): AsyncGenerator<Request> {
  yield request;
}

const clientOf = clientsOf(GreptimeDatabase);

type Way = "rows" | "stream" | "columns";

function doorOf(name: string, way: Way): Door {
  const tables = [0, 1, 2].map((i) => `crash_${name.replace("-", "_")}_${i}`);
  return {
    ...lineDoor,
    name,
    tables,
    changes: ["full", "delete"],
    request(batch) {
      const { kind, writer, origin, seats } = batch;
      if (kind === "delete") return deleteRequest(tables, batch, `writer = '${writerTag(writer)}' AND origin = ${origin}`);
      return {
        async call(grpcUrl) {
          const request = way === "columns" ? encodeColumns(batch, tables) : encode(batch, tables);
          const client = clientOf(grpcUrl);
          const answer = way === "stream" ? client.handleRequests(only(request)) : client.handle(request);
          return await answer.then(({ response }) => answerOf(response.value?.value, seats), failureOf);
        },
      };
    },
  };
}

/** Unary. */
export const nativeDoor: Door = doorOf("native", "rows");

/** Streams of one message. */
export const nativeStreamDoor: Door = doorOf("native-stream", "stream");

/** Columns. */
export const nativeColumnsDoor: Door = doorOf("native-columns", "columns");
