/** Lines through a stored pipeline (`/v1/ingest`), which can only be added. The pipeline itself must outlive every kill. */
import { type Batch, isOf, timeOf, writerTag } from "../batch.ts";
import type { Door } from "./door.ts";

const TABLE = "crash_pipeline";
const PIPELINE = "crash";
const YAML = `version: 2
processors:
  - dissect:
      fields: [message]
      patterns: ["%{writer} %{origin} %{seat} %{version}"]
  - epoch:
      fields: [time]
      resolution: ns
transform:
  - fields: [writer]
    type: string
    index: tag
  - fields: [origin, seat, version]
    type: int64
  - fields: [time]
    type: time
    index: timestamp
`;

function encode(batch: Batch): string {
  const { writer, number, origin } = batch;
  const lines: string[] = [];
  for (let seat = 0; isOf(batch, seat, 1); seat++) {
    lines.push(`{"time":${timeOf(origin, seat)},"message":"${writerTag(writer)} ${origin} ${seat} ${number}"}\n`);
  }
  return lines.join("");
}

/** See the file header. */
export const pipelineDoor: Door = {
  name: "pipeline",
  tables: [TABLE],
  changes: [],
  isIdempotent: false,
  setUp: { path: `/v1/pipelines/${PIPELINE}`, headers: { "content-type": "application/x-yaml" }, body: YAML, goodStatus: 200 },
  request: (batch) => ({
    path: `/v1/ingest?db=public&table=${TABLE}&pipeline_name=${PIPELINE}`,
    headers: { "content-type": "application/x-ndjson" },
    body: encode(batch),
    goodStatus: 200,
  }),
  rowsSql: (table, writer, origins) =>
    `SELECT origin, seat, version, message, time FROM ${table} ` +
    `WHERE writer = '${writerTag(writer)}' AND origin IN (${origins.join(", ")})`,
  storedRow: ([origin, seat, version, message, time]) => ({
    origin: Number(origin),
    seat: Number(seat),
    version: Number(version),
    text: `message ${String(message)}, time ${String(time)}`,
  }),
  textOf: ({ writer, origin, seat, version }) => `message ${writerTag(writer)} ${origin} ${seat} ${version}, time ${timeOf(origin, seat)}`,
  sumsSql: (table) => `SELECT writer, origin, count(*), sum(seat), sum(version) FROM ${table} GROUP BY writer, origin`,
  figuresOf: ({ seat, version }) => [seat, version],
};
