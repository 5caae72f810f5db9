/** Calls that work, of every method of every service: what is mutated. Kinds of tables and names are those that mutations shall hit. */
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  ActionSchema,
  CriteriaSchema,
  EmptySchema,
  FlightDescriptor_DescriptorType as DescriptorType,
  FlightDescriptorSchema,
  HandshakeRequestSchema,
  BasicAuthSchema,
  SetSessionOptionsRequestSchema,
  TicketSchema,
} from "../../../proto/gen/arrow/flight/Flight_pb.js";
import * as sql from "../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { ColumnDataType as Type, SemanticType as Semantic } from "../../../proto/gen/greptime/v1/common_pb.js";
import { GreptimeRequestSchema } from "../../../proto/gen/greptime/v1/database_pb.js";
import { HealthCheckRequestSchema as OwnHealthSchema } from "../../../proto/gen/greptime/v1/health_pb.js";
import { PromqlRequestSchema } from "../../../proto/gen/greptime/v1/prom_pb.js";
import { HealthCheckRequestSchema } from "../../../proto/gen/grpc/health/v1/health_pb.js";
import { ServerReflectionRequestSchema } from "../../../proto/gen/grpc/reflection/v1/reflection_pb.js";
import { ExportLogsServiceRequestSchema } from "../../../proto/gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import { ExportMetricsServiceRequestSchema } from "../../../proto/gen/opentelemetry/proto/collector/metrics/v1/metrics_service_pb.js";
import { ExportTraceServiceRequestSchema } from "../../../proto/gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { anyOf } from "../../support/flight-sql-client.ts";
import { bulkMessages, ingestMessages, valuesMessages } from "./arrow-seeds.ts";

/** A call that works. */
export interface Seed {
  /** Whose share of the calls it is. */
  readonly service: string;
  readonly path: string;
  readonly messages: readonly Uint8Array[];
  /** Rows are counted: `once`, each message is there whole or not at all; `stream`, what came before a failure may stay. */
  readonly counted?: "once" | "stream";
}

const TIME = 1_700_000_000_000n;
const FLIGHT = "/arrow.flight.protocol.FlightService";

function bytes<D extends DescMessage>(schema: D, init: MessageInitShape<D>): Uint8Array {
  return toBinary(schema, create(schema, init));
}

const text = (value: string) => ({ valueData: { case: "stringValue" as const, value } });
const float = (value: number) => ({ valueData: { case: "f64Value" as const, value } });
const time = (row: number) => ({ valueData: { case: "timestampMillisecondValue" as const, value: TIME + BigInt(row) } });
const schema = [
  { columnName: "host", datatype: Type.STRING, semanticType: Semantic.TAG },
  { columnName: "v", datatype: Type.FLOAT64, semanticType: Semantic.FIELD },
  { columnName: "s", datatype: Type.STRING, semanticType: Semantic.FIELD },
  { columnName: "ts", datatype: Type.TIMESTAMP_MILLISECOND, semanticType: Semantic.TIMESTAMP },
];
const values = (row: number) => ({ values: [text(`h${row % 2}`), row === 1 ? {} : float(row), text("ü"), time(row)] });

type Request = NonNullable<MessageInitShape<typeof GreptimeRequestSchema>["request"]>;

const request = (inner: Request, dbname = "counted"): Uint8Array => bytes(GreptimeRequestSchema, { header: { dbname }, request: inner });

function rowInserts(tables: readonly string[]): Request {
  const inserts = tables.map((tableName) => ({ tableName, rows: { schema, rows: [0, 1, 2].map(values) } }));
  return { case: "rowInserts", value: { inserts } };
}

const columns = [
  { columnName: "host", semanticType: Semantic.TAG, datatype: Type.STRING, values: { stringValues: ["a", "b", "c"] } },
  { columnName: "n", semanticType: Semantic.FIELD, datatype: Type.INT32, values: { i32Values: [1, 2] }, nullMask: Uint8Array.of(2) },
  { columnName: "b", semanticType: Semantic.FIELD, datatype: Type.BOOLEAN, values: { boolValues: [true, false, true] } },
  {
    columnName: "ts",
    semanticType: Semantic.TIMESTAMP,
    datatype: Type.TIMESTAMP_MILLISECOND,
    values: { timestampMillisecondValues: [TIME, TIME + 1n, TIME + 2n] },
  },
];
const keys = columns.filter(({ semanticType }) => semanticType !== Semantic.FIELD);

const columnInserts: Request = { case: "inserts", value: { inserts: [{ tableName: "columns", columns, rowCount: 3 }] } };
const deletes: Request = { case: "deletes", value: { deletes: [{ tableName: "gone", keyColumns: keys, rowCount: 3 }] } };
const rowDeletes: Request = {
  case: "rowDeletes",
  value: {
    deletes: [
      {
        tableName: "gone",
        rows: { schema: schema.filter((_, i) => i === 0 || i === 3), rows: [{ values: [text("h0"), time(0)] }] },
      },
    ],
  },
};

const columnDefs = [
  { name: "ts", dataType: Type.TIMESTAMP_MILLISECOND, isNullable: false, semanticType: Semantic.TIMESTAMP },
  { name: "host", dataType: Type.STRING, isNullable: true, semanticType: Semantic.TAG },
  { name: "v", dataType: Type.FLOAT64, isNullable: true, semanticType: Semantic.FIELD, comment: "a value" },
];
const place = { catalogName: "greptime", schemaName: "loose", tableName: "made" };
const ddl = [
  {
    case: "createTable" as const,
    value: { ...place, columnDefs, timeIndex: "ts", primaryKeys: ["host"], createIfNotExists: true, tableOptions: { ttl: "7d" } },
  },
  {
    case: "alterTable" as const,
    value: { ...place, kind: { case: "addColumns" as const, value: { addColumns: [{ columnDef: { ...columnDefs[2], name: "w" } }] } } },
  },
  { case: "truncateTable" as const, value: place },
  { case: "dropTable" as const, value: { ...place, dropIfExists: true } },
  { case: "createDatabase" as const, value: { catalogName: "greptime", schemaName: "other", createIfNotExists: true } },
];

function databaseSeeds(): readonly Seed[] {
  const path = "/greptime.v1.GreptimeDatabase/Handle";
  const service = "GreptimeDatabase";
  const once = [rowInserts(["rows"]), rowInserts(["rows", "more"]), columnInserts];
  const loose = [deletes, rowDeletes, ...ddl.map((expr): Request => ({ case: "ddl", value: { expr } }))];
  const streamed = [rowInserts(["rows"]), columnInserts, rowInserts(["more"])].map((each) => request(each, "streamed"));
  return [
    ...once.map((each): Seed => ({ service, path, messages: [request(each)], counted: "once" })),
    ...loose.map((each): Seed => ({ service, path, messages: [request(each, "loose")] })),
    { service, path: `${path}Requests`, messages: streamed, counted: "stream" },
  ];
}

const query = (statement: string): Uint8Array =>
  bytes(GreptimeRequestSchema, {
    header: { dbname: "loose" },
    request: { case: "query", value: { query: { case: "sql", value: statement } } },
  });
const promRangeQuery = { query: "sum by (host) (made)", start: "1700000000", end: "1700000600", step: "60s", lookback: "5m" };
const STATEMENT = "SELECT host, max(v) FROM made WHERE v > 0.5 GROUP BY host ORDER BY host LIMIT 10";

function flightSeeds(): readonly Seed[] {
  const service = "FlightService";
  const seed = (method: string, ...messages: readonly Uint8Array[]): Seed => ({ service, path: `${FLIGHT}/${method}`, messages });
  const descriptor = { type: DescriptorType.PATH, path: ["made"] };
  const ofQuery = { type: DescriptorType.CMD, cmd: query(STATEMENT) };
  const range = {
    header: { dbname: "loose" },
    request: { case: "query" as const, value: { query: { case: "promRangeQuery" as const, value: promRangeQuery } } },
  };
  const payload = bytes(BasicAuthSchema, { username: "a", password: "b" });
  return [
    seed("DoGet", bytes(TicketSchema, { ticket: query(STATEMENT) })),
    seed("DoGet", bytes(TicketSchema, { ticket: bytes(GreptimeRequestSchema, range) })),
    seed("DoGet", bytes(TicketSchema, { ticket: request(rowInserts(["rows"]), "loose") })),
    { ...seed("DoPut", ...bulkMessages("bulk")), counted: "stream" },
    { ...seed("DoPut", ...bulkMessages("bulk")), counted: "stream" },
    seed("GetFlightInfo", bytes(FlightDescriptorSchema, descriptor)),
    seed("GetFlightInfo", bytes(FlightDescriptorSchema, ofQuery)),
    seed("GetSchema", bytes(FlightDescriptorSchema, descriptor)),
    seed("ListFlights", bytes(CriteriaSchema, { expression: Uint8Array.of(1) })),
    seed("ListActions", bytes(EmptySchema, {})),
    seed("Handshake", bytes(HandshakeRequestSchema, { protocolVersion: 1n, payload })),
  ];
}

/** Commands of Flight SQL that are asked for by GetFlightInfo, GetSchema and, but for the first, DoGet. */
const COMMANDS: readonly Uint8Array[] = [
  anyOf(sql.CommandStatementQuerySchema, { query: STATEMENT }),
  anyOf(sql.CommandGetSqlInfoSchema, { info: [0, 1, 2, 500] }),
  anyOf(sql.CommandGetXdbcTypeInfoSchema, { dataType: 12 }),
  anyOf(sql.CommandGetCatalogsSchema, {}),
  anyOf(sql.CommandGetDbSchemasSchema, { dbSchemaFilterPattern: "l%" }),
  anyOf(sql.CommandGetTablesSchema, { tableNameFilterPattern: "ma%", tableTypes: ["BASE TABLE"], includeSchema: true }),
  anyOf(sql.CommandGetTableTypesSchema, {}),
  anyOf(sql.CommandGetPrimaryKeysSchema, { table: "made", dbSchema: "loose" }),
  anyOf(sql.CommandGetImportedKeysSchema, { table: "made" }),
  anyOf(sql.CommandGetCrossReferenceSchema, { pkTable: "made", fkTable: "made" }),
];

function flightSqlSeeds(): readonly Seed[] {
  const service = "Flight SQL";
  const seed = (method: string, ...messages: readonly Uint8Array[]): Seed => ({ service, path: `${FLIGHT}/${method}`, messages });
  const action = (type: string, body: Uint8Array): Seed => seed("DoAction", bytes(ActionSchema, { type, body }));
  const infos = COMMANDS.flatMap((cmd) => [
    seed("GetFlightInfo", bytes(FlightDescriptorSchema, { type: DescriptorType.CMD, cmd })),
    seed("DoGet", bytes(TicketSchema, { ticket: cmd })),
  ]);
  const statementHandle = Buffer.concat([Buffer.alloc(16, 7), Buffer.from(STATEMENT)]);
  const preparedStatementHandle = new Uint8Array(16);
  const options = { database: { optionValue: { case: "stringValue" as const, value: "loose" } } };
  const schemaOption = { schema: { optionValue: { case: "stringValue" as const, value: "loose" } } };
  return [
    ...infos,
    seed("GetSchema", bytes(FlightDescriptorSchema, { type: DescriptorType.CMD, cmd: COMMANDS[0] ?? preparedStatementHandle })),
    seed("DoGet", bytes(TicketSchema, { ticket: anyOf(sql.TicketStatementQuerySchema, { statementHandle }) })),
    seed("DoPut", ...ingestMessages("ingested")),
    seed("DoPut", ...ingestMessages("ingested")),
    seed("DoPut", ...valuesMessages(anyOf(sql.CommandPreparedStatementQuerySchema, { preparedStatementHandle }))),
    seed("DoPut", ...valuesMessages(anyOf(sql.CommandStatementUpdateSchema, { query: "DELETE FROM made WHERE host = 'a'" }))),
    action("CreatePreparedStatement", anyOf(sql.ActionCreatePreparedStatementRequestSchema, { query: "SELECT * FROM made WHERE v > $1" })),
    action("ClosePreparedStatement", anyOf(sql.ActionClosePreparedStatementRequestSchema, { preparedStatementHandle })),
    action("CancelQuery", anyOf(sql.ActionCancelQueryRequestSchema, { info: new Uint8Array(0) })),
    action("SetSessionOptions", bytes(SetSessionOptionsRequestSchema, { sessionOptions: { ...options, ...schemaOption } })),
    action("GetSessionOptions", new Uint8Array(0)),
    action("CloseSession", new Uint8Array(0)),
    action("BeginTransaction", new Uint8Array(0)),
  ];
}

const attributes = [
  { key: "host", value: { value: { case: "stringValue" as const, value: "a" } } },
  {
    key: "list",
    value: { value: { case: "arrayValue" as const, value: { values: [{ value: { case: "intValue" as const, value: 7n } }] } } },
  },
];
const NANOS = TIME * 1_000_000n;
const points = [0, 1].map((i) => ({ attributes, timeUnixNano: NANOS + BigInt(i), value: { case: "asDouble" as const, value: i / 2 } }));
const histogram = { attributes, timeUnixNano: NANOS, count: 3n, sum: 6, explicitBounds: [1, 2], bucketCounts: [1n, 1n, 1n] };
const metrics = [
  { name: "gauge.of", unit: "By", data: { case: "gauge" as const, value: { dataPoints: points } } },
  { name: "sum.of", data: { case: "sum" as const, value: { dataPoints: points, isMonotonic: true, aggregationTemporality: 2 } } },
  { name: "histogram.of", data: { case: "histogram" as const, value: { dataPoints: [histogram], aggregationTemporality: 2 } } },
];
const spans = [1, 2].map((i) => ({
  traceId: new Uint8Array(16).fill(i),
  spanId: new Uint8Array(8).fill(i),
  name: "span",
  startTimeUnixNano: NANOS,
  endTimeUnixNano: NANOS + 9n,
  attributes,
  events: [{ timeUnixNano: NANOS, name: "event", attributes }],
}));
const logRecords = [1, 2].map((i) => ({ timeUnixNano: NANOS + BigInt(i), severityNumber: 9, body: attributes[0]?.value, attributes }));

function otlpSeeds(): readonly Seed[] {
  const seed = (service: string, signal: string, message: Uint8Array): Seed => ({
    service,
    path: `/opentelemetry.proto.collector.${signal}.v1.${service}/Export`,
    messages: [message],
  });
  const resource = { attributes };
  return [
    seed(
      "MetricsService",
      "metrics",
      bytes(ExportMetricsServiceRequestSchema, { resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }] }),
    ),
    seed("TraceService", "trace", bytes(ExportTraceServiceRequestSchema, { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] })),
    seed("LogsService", "logs", bytes(ExportLogsServiceRequestSchema, { resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] })),
  ];
}

function otherSeeds(): readonly Seed[] {
  const promql = (asked: NonNullable<MessageInitShape<typeof PromqlRequestSchema>["promql"]>): Seed => ({
    service: "PrometheusGateway",
    path: "/greptime.v1.PrometheusGateway/Handle",
    messages: [bytes(PromqlRequestSchema, { header: { dbname: "loose", timezone: "UTC" }, promql: asked })],
  });
  const questions = [
    { case: "listServices" as const, value: "" },
    { case: "fileContainingSymbol" as const, value: "greptime.v1.HealthCheck" },
    { case: "fileByFilename" as const, value: "greptime/v1/prom.proto" },
    { case: "allExtensionNumbersOfType" as const, value: "greptime.v1.PromqlRequest" },
  ].map((messageRequest) => bytes(ServerReflectionRequestSchema, { host: "h", messageRequest }));
  return [
    promql({ case: "instantQuery", value: { query: "made + 1", time: "1700000000", lookback: "5m" } }),
    promql({ case: "rangeQuery", value: promRangeQuery }),
    { service: "HealthCheck", path: "/greptime.v1.HealthCheck/HealthCheck", messages: [bytes(OwnHealthSchema, {})] },
    {
      service: "Health",
      path: "/grpc.health.v1.Health/Check",
      messages: [bytes(HealthCheckRequestSchema, { service: "greptime.v1.HealthCheck" })],
    },
    ...["v1", "v1alpha"].map((version) => ({
      service: `ServerReflection ${version}`,
      path: `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
      messages: questions,
    })),
  ];
}

/** All of them. */
export const SEEDS: readonly Seed[] = [...databaseSeeds(), ...flightSeeds(), ...flightSqlSeeds(), ...otlpSeeds(), ...otherSeeds()];
