/**
 * The dry run of line protocol, for people who try it out: what the lines of a body would write, and which of them are refused, without
 * writing. POST `/v1/influxdb/_dryrun?precision=`, as `_dryrun` of pipelines; our own, clients of InfluxDB do not know it.
 */
import { displayName } from "../../../../column/data-type.ts";
import { scalarAt } from "../../../../column/scalar.ts";
import type { DataType } from "../../../../column/data-type.ts";
import type { Scalar } from "../../../../column/vector.ts";
import { isName } from "../../../../table/names.ts";
import type { TableWrite, WriteBatch } from "../../../../table/write-batch.ts";
import { sessionOf } from "../../context.ts";
import type { Exchange } from "../../exchange.ts";
import { DRY_RUN_LINES_SHOWN_MAX } from "../../limits.ts";
import type { IngestServerOptions } from "../../options.ts";
import { jsonReply, type Reply } from "../../reply.ts";
import { writeBody } from "../accepted-write.ts";
import { precisionOf } from "./precision.ts";

/** Answers a dry run. @throws DbError InvalidArguments, or what reading the body throws */
export async function dryRunLines(exchange: Exchange, options: IngestServerOptions): Promise<Reply> {
  options.db.authorize(sessionOf(exchange), "write"); // Whoever may not write learns nothing of tables' types here.
  const precision = precisionOf(exchange.rawQuery);
  const body = await writeBody(exchange, options, true);
  if (!(body instanceof Uint8Array)) return body;
  // A decoder of its own: what is tried out is not what comes next.
  const { batch, errors, errorCount, rowCount } = options.influx.createDecoder().decode(body, {
    database: exchange.database,
    precision,
    defaultTimeNanos: options.clock.nowNanos(),
    schemas: options.db.schemas,
    timeColumn: options.influx.timeColumn,
    acceptsTable: isName,
  });
  const tables = batch.tables.map((write) => shownTable(write, batch, options.influx.timeColumn));
  return jsonReply(200, JSON.stringify({ tables, errors: errors.map(({ line, reason }) => ({ line, reason })), errorCount, rowCount }));
}

/** A table with its first rows. */
function shownTable(write: TableWrite, { dictionary }: WriteBatch, timeColumn: string): object {
  const count = Math.min(write.rowCount, DRY_RUN_LINES_SHOWN_MAX);
  const tagSets = Array.from({ length: count }, (_, row) => dictionary.tagsOf(write.keys[row] ?? 0));
  const tags = [...new Set(tagSets.flatMap(({ names }) => names))];
  const time: DataType = { kind: "timestamp", unit: write.timeUnit };
  return {
    table: write.table,
    columns: [
      { name: timeColumn, type: displayName(time), role: "timestamp" },
      ...tags.map((name) => ({ name, type: "String", role: "tag" })),
      ...write.fields.map(({ name, type }) => ({ name, type: displayName(type), role: "field" })),
    ],
    rows: Array.from({ length: count }, (_, row) => [
      shown(scalarAt(write.times, time, row)),
      ...tags.map((name) => {
        const set = tagSets[row];
        return set?.values[set.names.indexOf(name)] ?? null;
      }),
      ...write.fields.map(({ type, vector }) => shown(scalarAt(vector, type, row))),
    ]),
    rowCount: write.rowCount,
  };
}

/** A value as text, since integers may be beyond 2^53; NULL is null. */
function shown(value: Scalar): string | null {
  return value === undefined ? null : String(value);
}
