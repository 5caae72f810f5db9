/** OTLP logs as JSON: records of one resource, which can only be added. Writer and origin are name and version of the scope. */
import { type Batch, isOf, labelOf, timeOf, writerTag } from "../batch.ts";
import { type Door, literals } from "./door.ts";

const TABLE = "crash_otlp";

function encode(batch: Batch): string {
  const { writer, number, origin } = batch;
  const logRecords: unknown[] = [];
  for (let seat = 0; isOf(batch, seat, 1); seat++) {
    logRecords.push({
      timeUnixNano: String(timeOf(origin, seat)),
      severityNumber: 9,
      body: { stringValue: labelOf(writer, number, seat) },
      attributes: [{ key: "seat", value: { intValue: String(seat) } }],
    });
  }
  const scope = { name: writerTag(writer), version: String(origin) };
  return JSON.stringify({ resourceLogs: [{ resource: { attributes: [] }, scopeLogs: [{ scope, logRecords }] }] });
}

/** See the file header. */
export const otlpDoor: Door = {
  name: "otlp",
  tables: [TABLE],
  changes: [],
  isIdempotent: false,
  request: (batch) => ({
    path: "/v1/otlp/v1/logs",
    headers: { "content-type": "application/json", "x-greptime-log-table-name": TABLE },
    body: encode(batch),
    goodStatus: 200,
  }),
  rowsSql: (table, writer, origins) =>
    `SELECT scope_version, body, log_attributes, timestamp FROM ${table} ` +
    `WHERE scope_name = '${writerTag(writer)}' AND scope_version IN (${literals(origins)})`,
  storedRow([origin, body, attributes, time]) {
    const [, version = "", seat = ""] = /^w\d+ v(\d+) s(\d+)$/.exec(String(body)) ?? [];
    const text = `body ${String(body)}, attributes ${JSON.stringify(attributes)}, time ${String(time)}`;
    return { origin: Number(origin), seat: Number(seat), version: Number(version), text };
  },
  textOf: ({ writer, origin, seat, version }) =>
    `body ${labelOf(writer, version, seat)}, attributes {"seat":${seat}}, time ${timeOf(origin, seat)}`,
  sumsSql: (table) => `SELECT scope_name, scope_version, count(*), sum(length(body)) FROM ${table} GROUP BY scope_name, scope_version`,
  figuresOf: ({ writer, version, seat }) => [labelOf(writer, version, seat).length],
};
