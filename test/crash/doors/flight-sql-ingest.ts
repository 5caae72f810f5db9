/** Ingest of Flight SQL, as ADBC does it: a stream a batch, into a table that is there. Rows can only be added. */
import { fromBinary } from "@bufbuild/protobuf";
import {
  FlightDescriptor_DescriptorType as DescriptorType,
  type FlightData,
  FlightService,
} from "../../../proto/gen/arrow/flight/Flight_pb.js";
import {
  CommandStatementIngest_TableDefinitionOptions_TableExistsOption as Exists,
  CommandStatementIngest_TableDefinitionOptions_TableNotExistOption as NotExist,
  CommandStatementIngestSchema,
  DoPutUpdateResultSchema,
} from "../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { anyOf } from "../../support/flight-sql-client.ts";
import type { Batch } from "../batch.ts";
import { batchMessage, schemaMessage, tableOfRows } from "./arrow-rows.ts";
import type { Answer, Door } from "./door.ts";
import { answerOf, clientsOf, failureOf } from "./grpc-calls.ts";
import { lineDoor } from "./line.ts";

const TABLE = "crash_ingest";
const clientOf = clientsOf(FlightService);

const command = anyOf(CommandStatementIngestSchema, {
  table: TABLE,
  tableDefinitionOptions: { ifExists: Exists.APPEND, ifNotExist: NotExist.FAIL },
});

async function* messagesOf(batch: Batch): AsyncGenerator<FlightData> {
  yield schemaMessage({ type: DescriptorType.CMD, cmd: command });
  yield batchMessage(batch);
}

async function ingest(grpcUrl: string, batch: Batch): Promise<Answer> {
  let rows = -1;
  try {
    for await (const { appMetadata } of clientOf(grpcUrl).doPut(messagesOf(batch)))
      rows = Number(fromBinary(DoPutUpdateResultSchema, appMetadata).recordCount);
  } catch (thrown) {
    // What was told is told, whatever became of the stream's end.
    return rows === -1 ? failureOf(thrown) : answerOf(rows, batch.seats);
  }
  return answerOf(rows, batch.seats);
}

/** See the file header. */
export const flightSqlIngestDoor: Door = {
  ...lineDoor,
  name: "flight-sql-ingest",
  tables: [TABLE],
  changes: [],
  isIdempotent: false,
  setUp: { path: "/v1/sql?db=public", body: new URLSearchParams({ sql: tableOfRows(TABLE) }), goodStatus: 200 },
  request: (batch) => ({ call: (grpcUrl) => ingest(grpcUrl, batch) }),
};
