/**
 * Short ways to write and read in tests: line protocol in, text rows out.
 */
import { InfluxDecoder } from "../../src/ingest/influx/decode.ts";
import { DbError } from "../../src/base/error.ts";
import { StatusCode } from "../../src/base/status-code.ts";
import { STRING, TIMESTAMP_NANOSECOND } from "../../src/column/data-type.ts";
import { scalarAt } from "../../src/column/scalar.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { RowBatchBuilder } from "../../src/table/rows/row-batch-builder.ts";
import { ALL_TIME, newScanMetrics, type ScanMetrics, type ScanRequest } from "../../src/table/scan.ts";
import type { RowWriter, SchemaLookup, WriteOptions, WriteResult } from "../../src/table/write-batch.ts";
import { textOf } from "./model.ts";

/** Name of the time index of tables that writes make. */
const TIME = "greptime_timestamp";

/** Options of an ordinary write. */
export const AUTO: WriteOptions = { autoCreate: true, tableOptions: {} };

/** A scan of everything. */
export const EVERYTHING: Omit<ScanRequest, "projection"> = {
  timeRange: ALL_TIME,
  tagPredicates: [],
  fieldBounds: [],
  order: "series-time",
};

/** What lines are written to: an engine, or an ingest thread, which looks first at what changed since, as before each request. */
export type LineWriter = RowWriter & SchemaLookup & { refresh?(): void };

/** Options of a write, and its database. */
export interface PutOptions extends Partial<WriteOptions> {
  readonly database?: string;
}

/** Writes line protocol through the real decoder, in nanoseconds. @throws Error when a line is refused, and what `write` throws */
export function put(engine: LineWriter, lines: string, options: PutOptions = {}): Promise<WriteResult> {
  const { database = "public", ...rest } = options;
  engine.refresh?.();
  const result = new InfluxDecoder().decode(new TextEncoder().encode(lines), {
    database,
    precision: "ns",
    defaultTimeNanos: 0n,
    schemas: engine,
    timeColumn: TIME,
  });
  if (result.errorCount > 0) throw new Error(result.errors.map(({ reason }) => reason).join("; "));
  return engine.write(database, result.batch, { ...AUTO, ...rest });
}

/** Deletes the row of a host and time from `cpu`, by its key. @throws what `delete` throws */
export async function deleteKey(engine: Engine, host: string, time: bigint): Promise<void> {
  const builder = new RowBatchBuilder("cpu", [
    { name: "host", type: STRING, semantic: "tag" },
    { name: TIME, type: TIMESTAMP_NANOSECOND, semantic: "timestamp" },
  ]);
  builder.add([host, time]);
  await engine.delete("public", builder.batch());
}

/** Rows of a table as `value|value`, by default in the order of tags and time, of all columns in the order of the schema. */
export async function read(engine: Engine, table: string, request: Partial<ScanRequest> = {}, metrics?: ScanMetrics): Promise<string[]> {
  const found = engine.table("public", table);
  if (found === undefined) throw new Error(`table ${table} does not exist`);
  const projection = request.projection ?? found.schema.columns.map(({ name }) => name);
  const types = projection.map((name) => found.schema.columns.find((column) => column.name === name)?.type ?? { kind: "null" as const });
  const rows: string[] = [];
  for await (const { rowCount, vectors } of found.scan({ ...EVERYTHING, ...request, projection }, metrics)) {
    for (let row = 0; row < rowCount; row++) {
      rows.push(vectors.map((vector, c) => textOf(scalarAt(vector, types[c] ?? { kind: "null" }, row))).join("|"));
    }
  }
  return rows;
}

/** The code and message with which a promise fails. @throws Error when it does not, or fails with something else than a `DbError` */
export async function refusal(
  work: Promise<unknown>,
): Promise<{ readonly code: string; readonly message: string; readonly retryAfterSeconds: number | undefined }> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    const code = Object.entries(StatusCode).find(([, value]) => value === error.code)?.[0] ?? "";
    return { code, message: error.message, retryAfterSeconds: error.retryAfterSeconds };
  }
  throw new Error("it did not fail");
}

/** Metrics that count from zero. */
export function newMetrics(): ScanMetrics {
  return newScanMetrics();
}
