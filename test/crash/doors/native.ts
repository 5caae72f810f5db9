/**
 * Rows of the native interface over gRPC: three tables a message, overwrites of all fields, deletes. By `Handle`, and by `HandleRequests`
 * with one message a stream: a stream that is not answered may be there in part, message by message.
 */
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ColumnDataType as Type, SemanticType } from "../../../proto/gen/greptime/v1/common_pb.js";
import { GreptimeDatabase, type GreptimeRequestSchema } from "../../../proto/gen/greptime/v1/database_pb.js";
import { amountOf, type Batch, isOf, labelOf, shardTag, tableOf, timeOf, writerTag } from "../batch.ts";
import { type Answer, type Door, deleteRequest } from "./door.ts";
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

/** Nothing was heard of a call that the server gave no code of its own. */
function failureOf(thrown: unknown): Answer {
  const error = ConnectError.from(thrown);
  const code = error.metadata.get("x-greptime-err-code");
  return code === null ? undefined : { refusal: `${code} ${Code[error.code]}: ${error.rawMessage.slice(0, 500)}` };
}

async function* only(request: Request): AsyncGenerator<Request> {
  yield request;
}

function doorOf(name: string, isStream: boolean): Door {
  const tables = [0, 1, 2].map((i) => `crash_${name.replace("-", "_")}_${i}`);
  /** Of the server that runs: a killed one leaves its connection broken. */
  const clients = new Map<string, ReturnType<typeof createClient<typeof GreptimeDatabase>>>();
  const clientOf = (baseUrl: string): ReturnType<typeof createClient<typeof GreptimeDatabase>> => {
    const client = clients.get(baseUrl) ?? createClient(GreptimeDatabase, createGrpcTransport({ baseUrl }));
    clients.set(baseUrl, client);
    return client;
  };
  return {
    ...lineDoor,
    name,
    tables,
    changes: ["full", "delete"],
    request(batch) {
      const { kind, writer, origin } = batch;
      if (kind === "delete") return deleteRequest(tables, batch, `writer = '${writerTag(writer)}' AND origin = ${origin}`);
      return {
        async call(grpcUrl) {
          const request = encode(batch, tables);
          const client = clientOf(grpcUrl);
          const answer = isStream ? client.handleRequests(only(request)) : client.handle(request);
          return await answer.then(({ response }): Answer => {
            const { value } = response;
            return value?.value === batch.seats ? "good" : { refusal: `${value?.value} rows of ${batch.seats}` };
          }, failureOf);
        },
      };
    },
  };
}

/** Unary. */
export const nativeDoor: Door = doorOf("native", false);

/** Streams of one message. */
export const nativeStreamDoor: Door = doorOf("native-stream", true);
