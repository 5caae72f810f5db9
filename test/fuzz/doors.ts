/** Every protocol that writes, as a function from rows of named tables to a request. */
import { compress } from "snappyjs";
import { messageV1, messageV2, type SentSeries } from "../support/prometheus/messages.ts";
import { nanosOf, type SentRow, type TableRows, valueText } from "./rows.ts";

/** A request to the server. */
export interface FuzzRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

/** What of a request varies besides its rows. */
export interface Variant {
  /** Name of the field of values, where a protocol chooses it. */
  readonly field: string;
  /** The physical table that metrics name, where they name one. */
  readonly physical: string | undefined;
}

/** See the file header. */
export interface FuzzDoor {
  readonly name: string;
  /** Tables of one request. */
  readonly tablesMax: number;
  request(tables: readonly TableRows[], variant: Variant): FuzzRequest;
}

const JSON_TYPE = { "content-type": "application/json" };
const SNAPPY = { "content-encoding": "snappy" };
const V1 = { ...SNAPPY, "content-type": "application/x-protobuf" };
const V2 = { ...SNAPPY, "content-type": "application/x-protobuf;proto=io.prometheus.write.v2.Request" };

/** Name of the pipeline that `storePipeline` makes. */
const PIPELINE = "fuzz";

/** The request that stores the pipeline of the door of stored pipelines. */
export const storePipeline: FuzzRequest = {
  path: `/v1/pipelines/${PIPELINE}`,
  headers: { "content-type": "application/x-yaml" },
  body: `version: 2
processors:
  - epoch:
      fields: [time]
      resolution: s
transform:
  - fields: [id]
    type: string
    index: tag
  - fields: [time]
    type: time
    index: timestamp
`,
};

/** A name in line protocol. */
function lineName(name: string): string {
  return name.replace(/[, ]/g, (character) => `\\${character}`);
}

function seriesOf(tables: readonly TableRows[], physical: string | undefined): SentSeries[] {
  const place: Readonly<Record<string, string>> = physical === undefined ? {} : { __physical_table__: physical };
  return tables.flatMap(({ table, rows }) =>
    rows.map(({ id, value, second }) => ({
      labels: { __name__: table, ...place, id },
      samples: [{ time: second * 1000, value }],
    })),
  );
}

const attribute = (key: string, value: string): unknown => ({ key, value: { stringValue: value } });

function first(tables: readonly TableRows[]): TableRows {
  const [only] = tables;
  if (only === undefined) throw new Error("a request has a table");
  return only;
}

const documents = (rows: readonly SentRow[], row: (row: SentRow) => unknown): string =>
  rows.map((each) => `${JSON.stringify(row(each))}\n`).join("");

/** All of them. */
export const FUZZ_DOORS: readonly FuzzDoor[] = [
  {
    name: "line protocol",
    tablesMax: 3,
    request: (tables, { field }) => ({
      path: "/v1/influxdb/write",
      body: tables
        .flatMap(({ table, rows }) => rows.map((row) => `${lineName(table)},id=${row.id} ${field}=${row.value} ${nanosOf(row)}`))
        .join("\n"),
    }),
  },
  {
    name: "line protocol, all or nothing",
    tablesMax: 3,
    request: (tables, { field }) => ({
      path: "/v1/influxdb/api/v2/write?accept_partial=false",
      body: tables
        .flatMap(({ table, rows }) => rows.map((row) => `${lineName(table)},id=${row.id} ${field}=${row.value} ${nanosOf(row)}`))
        .join("\n"),
    }),
  },
  {
    name: "INSERT",
    tablesMax: 1,
    request: (tables, { field }) => {
      const { table, rows } = first(tables);
      const time = field === "greptime_value" ? "greptime_timestamp" : "ts";
      const values = rows.map(({ id, value, second }) => `('${id}', ${value}, '${new Date(second * 1000).toISOString().slice(0, 19)}')`);
      const sql = `INSERT INTO "${table}" (id, "${field}", ${time}) VALUES ${values.join(", ")}`;
      return {
        path: "/v1/sql",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ sql }).toString(),
      };
    },
  },
  {
    name: "remote write 1.0",
    tablesMax: 3,
    request: (tables, { physical }) => ({
      path: "/v1/prometheus/write",
      headers: V1,
      body: new Uint8Array(compress(messageV1(seriesOf(tables, physical)))),
    }),
  },
  {
    name: "remote write 2.0",
    tablesMax: 3,
    request: (tables, { physical }) => ({
      path: "/v1/prometheus/write",
      headers: V2,
      body: new Uint8Array(compress(messageV2(seriesOf(tables, physical)))),
    }),
  },
  {
    name: "OTLP metrics",
    tablesMax: 3,
    request: (tables) => ({
      path: "/v1/otlp/v1/metrics",
      headers: { ...JSON_TYPE, "x-greptime-otlp-metric-translation-strategy": "NoTranslation" },
      body: JSON.stringify({
        resourceMetrics: [
          {
            scopeMetrics: [
              {
                metrics: tables.map(({ table, rows }) => ({
                  name: table,
                  gauge: {
                    dataPoints: rows.map((row) => ({
                      timeUnixNano: nanosOf(row),
                      asDouble: row.value,
                      attributes: [attribute("id", row.id)],
                    })),
                  },
                })),
              },
            ],
          },
        ],
      }),
    }),
  },
  {
    name: "OTLP logs",
    tablesMax: 1,
    request: (tables) => {
      const { table, rows } = first(tables);
      const logRecords = rows.map((row) => ({
        timeUnixNano: nanosOf(row),
        body: { stringValue: valueText(row) },
        attributes: [attribute("id", row.id)],
      }));
      return {
        path: "/v1/otlp/v1/logs",
        headers: {
          ...JSON_TYPE,
          "x-greptime-log-table-name": Buffer.from(table).toString("latin1"),
          "x-greptime-log-extract-keys": "id",
        },
        body: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }),
      };
    },
  },
  {
    name: "OTLP traces",
    tablesMax: 1,
    request: (tables) => {
      const { table, rows } = first(tables);
      const spans = rows.map((row) => ({
        traceId: row.id.padStart(32, "0"),
        spanId: row.id.padStart(16, "0"),
        name: valueText(row),
        startTimeUnixNano: nanosOf(row),
        endTimeUnixNano: nanosOf(row),
        attributes: [attribute("id", row.id)],
      }));
      return {
        path: "/v1/otlp/v1/traces",
        headers: { ...JSON_TYPE, "x-greptime-trace-table-name": Buffer.from(table).toString("latin1") },
        body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
      };
    },
  },
  {
    name: "OpenTSDB",
    tablesMax: 3,
    request: (tables) => ({
      path: "/v1/opentsdb/api/put",
      headers: JSON_TYPE,
      body: JSON.stringify(
        tables.flatMap(({ table, rows }) =>
          rows.map(({ id, value, second }) => ({ metric: table, timestamp: second * 1000, value, tags: { id } })),
        ),
      ),
    }),
  },
  {
    name: "Loki",
    tablesMax: 1,
    request: (tables) => {
      const { table, rows } = first(tables);
      const streams = rows.map((row) => ({ stream: { id: row.id }, values: [[nanosOf(row), valueText(row)]] }));
      return {
        path: "/v1/loki/api/v1/push",
        headers: { ...JSON_TYPE, "x-greptime-log-table-name": Buffer.from(table).toString("latin1") },
        body: JSON.stringify({ streams }),
      };
    },
  },
  {
    name: "identity pipeline",
    tablesMax: 1,
    request: (tables, { field }) => {
      const { table, rows } = first(tables);
      const query = new URLSearchParams({ table, pipeline_name: "greptime_identity", custom_time_index: "at;epoch;s" });
      return {
        path: `/v1/ingest?${query.toString()}`,
        headers: { "content-type": "application/x-ndjson" },
        body: documents(rows, ({ id, value, second }) => ({ id, [field]: value, at: second })),
      };
    },
  },
  {
    name: "stored pipeline",
    tablesMax: 1,
    request: (tables, { field }) => {
      const { table, rows } = first(tables);
      return {
        path: `/v1/ingest?${new URLSearchParams({ table, pipeline_name: PIPELINE }).toString()}`,
        headers: { "content-type": "application/x-ndjson" },
        body: documents(rows, ({ id, value, second }) => ({ id, [field]: value, time: second })),
      };
    },
  },
  {
    name: "Elasticsearch",
    tablesMax: 3,
    request: (tables, { field }) => ({
      path: "/v1/elasticsearch/_bulk",
      headers: JSON_TYPE,
      body: tables
        .flatMap(({ table, rows }) =>
          rows.map(({ id, value }) => `${JSON.stringify({ create: { _index: table } })}\n${JSON.stringify({ id, [field]: value })}\n`),
        )
        .join(""),
    }),
  },
  {
    name: "Splunk",
    tablesMax: 1,
    request: (tables) => {
      const { table, rows } = first(tables);
      return {
        path: `/v1/splunk/services/collector/event?${new URLSearchParams({ table }).toString()}`,
        body: rows.map((row) => JSON.stringify({ event: valueText(row), time: row.second, fields: { id: row.id } })).join(""),
      };
    },
  },
];
