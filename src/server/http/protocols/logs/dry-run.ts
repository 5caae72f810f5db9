/**
 * The dry run of a pipeline (contract ingest.md 8.5): rows through a stored pipeline or one in the body, shown instead of written. The body
 * is an object with `data` and `pipeline` or `pipeline_name`, or else the data itself.
 */
import { DbError, restated } from "../../../../base/error.ts";
import { type DataType, displayName } from "../../../../column/data-type.ts";
import { scalarAt } from "../../../../column/scalar.ts";
import type { Scalar } from "../../../../column/vector.ts";
import type { PipelineStore, ReadyPipeline } from "../../../../db/pipelines/pipeline-store.ts";
import { decodeDocuments, documentTypeOf, textOf } from "../../../../ingest/ndjson/decode.ts";
import { DOCUMENT_TYPES } from "../../../../ingest/ndjson/types.ts";
import { compilePipeline } from "../../../../ingest/pipeline/decode.ts";
import type { PipelineGroup } from "../../../../ingest/pipeline/types.ts";
import type { PipelineValue } from "../../../../ingest/common/value.ts";
import type { ColumnDefinition, SemanticType } from "../../../../table/schema.ts";
import { tagValue } from "../../../../table/tag-value.ts";
import type { TableWrite, WriteBatch } from "../../../../table/write-batch.ts";
import { sessionOf } from "../../context.ts";
import type { Exchange } from "../../exchange.ts";
import { DRY_RUN_ROWS_MAX } from "../../limits.ts";
import { pipelineNameOf } from "./log-parameters.ts";
import { flagOf, invalidParameter, valueOf } from "../../../common/logs/pipeline-flags.ts";
import type { HttpServerOptions } from "../../options.ts";
import { jsonReply, type Reply, textReply } from "../../reply.ts";
import { writeBody } from "../accepted-write.ts";

const TABLE = "dry_run";
const SEMANTIC_NAME: Readonly<Record<SemanticType, string>> = { tag: "TAG", field: "FIELD", timestamp: "TIMESTAMP" };

/** What to run. */
interface Trial {
  readonly rows: readonly PipelineValue[];
  readonly pipeline: ReadyPipeline;
  /** Whether the pipeline came with the request, so that its failures are named as such. */
  readonly isInline: boolean;
}

/** Answers a dry run. @throws DbError InvalidArguments */
export async function dryRun(exchange: Exchange, options: HttpServerOptions, store: PipelineStore): Promise<Reply> {
  options.db.authorize(sessionOf(exchange), "read");
  const header = exchange.request.headers.get("content-type");
  if (header === null) return textReply(400, "Header of type `content-type` was missing");
  const body = await writeBody(exchange, options, true);
  if (!(body instanceof Uint8Array)) return body;
  const text = textOf(body);
  const form = formOf(text);
  const trial = form === undefined ? await trialOfQuery(exchange, store, text, header) : await trialOfForm(form, store);
  const { groups } = await named(trial.isInline, "exec", () =>
    trial.pipeline.compiled.run(trial.rows, {
      database: exchange.database,
      table: TABLE,
      skipError: false,
      nowNanos: options.clock.nowNanos(),
      timeColumn: options.influx.timeColumn,
      schemas: options.db.schemas,
      pipelineOf: (name) => trial.pipeline.pipelineOf(name),
    }),
  );
  return jsonReply(200, JSON.stringify(groups.flatMap(shownGroup)));
}

/** The fields of a body that holds data and names a pipeline; undefined when it is the data itself. */
function formOf(text: string): Readonly<Record<string, string>> | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return undefined;
  const fields = Object.fromEntries(Object.entries(parsed).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  const names = fields["pipeline"] ?? fields["pipeline_name"];
  return fields["data"] === undefined || names === undefined ? undefined : fields;
}

async function trialOfForm(form: Readonly<Record<string, string>>, store: PipelineStore): Promise<Trial> {
  const { data = "", data_type: type = "application/json", pipeline, pipeline_name: name = "", pipeline_version: version } = form;
  const rows = rowsOf(data, type, false);
  if (pipeline === undefined) return { rows, pipeline: await storedNow(store, name, version), isInline: false };
  const compiled = await named(true, "build", () => compilePipeline(pipeline));
  return { rows, pipeline: await store.withTargets(compiled), isInline: true };
}

async function trialOfQuery(exchange: Exchange, store: PipelineStore, text: string, type: string): Promise<Trial> {
  const { rawQuery, request } = exchange;
  const name = pipelineNameOf(rawQuery, request.headers);
  if (name === undefined) throw invalidParameter("pipeline_name is required");
  const rows = rowsOf(text, type, flagOf(rawQuery, "ignore_errors"));
  return { rows, pipeline: await storedNow(store, name, valueOf(rawQuery, "version")), isInline: false };
}

/** A pipeline as it is stored now: whoever tries one has often stored it just before. @throws DbError InvalidArguments */
async function storedNow(store: PipelineStore, name: string, version: string | undefined): Promise<ReadyPipeline> {
  return store.withTargets((await store.current(name, version)).compiled);
}

/** @throws DbError InvalidArguments */
function rowsOf(text: string, header: string, ignoreErrors: boolean): readonly PipelineValue[] {
  const type = documentTypeOf(header);
  if (type === undefined) {
    throw invalidParameter(`invalid content type: ${header.slice(0, 120)}, expected: one of ${DOCUMENT_TYPES.join(", ")}`);
  }
  const rows = decodeDocuments(text, type, ignoreErrors);
  if (rows.length > DRY_RUN_ROWS_MAX) throw invalidParameter("data is required");
  return rows;
}

/** Runs a step; the error of a pipeline that came with the request says which step failed. */
async function named<T>(isInline: boolean, step: "build" | "exec", work: () => T): Promise<T> {
  try {
    return work();
  } catch (error) {
    if (!isInline || !(error instanceof DbError)) throw error;
    throw restated(error, `Failed to ${step} pipeline: ${error.message}`);
  }
}

/** One element a table. Rows of one table may come in several writes. */
function shownGroup({ batch }: PipelineGroup): readonly object[] {
  const byTable = new Map<string, TableWrite[]>();
  for (const write of batch.tables) byTable.set(write.table, [...(byTable.get(write.table) ?? []), write]);
  return [...byTable].map(([table, writes]) => {
    const columns = [...new Map(writes.flatMap(({ shape = [] }) => shape.map((column) => [column.name, column] as const))).values()];
    const schema = columns.map(({ name, type, semantic, indexes = [] }) => ({
      name,
      data_type: protoName(type),
      column_type: SEMANTIC_NAME[semantic],
      fulltext: indexes.some((clause) => clause.startsWith("FULLTEXT")),
    }));
    return { schema, rows: writes.flatMap((write) => shownRows(write, columns, batch)), table_name: table };
  });
}

function shownRows(write: TableWrite, columns: readonly ColumnDefinition[], batch: WriteBatch): readonly (readonly object[])[] {
  return Array.from({ length: write.rowCount }, (_, row) =>
    columns.map((column) => ({
      value: shown(cellOf(write, column, row, batch)),
      key: column.name,
      semantic_type: SEMANTIC_NAME[column.semantic],
      data_type: protoName(column.type),
    })),
  );
}

function cellOf(write: TableWrite, { name, type, semantic }: ColumnDefinition, row: number, { dictionary }: WriteBatch): Scalar {
  if (semantic === "timestamp") return scalarAt(write.times, type, row);
  if (semantic === "tag") {
    const { names, values } = dictionary.tagsOf(write.keys[row] ?? 0);
    const value = tagValue(values[names.indexOf(name)] ?? "", type);
    return value.ok && value.value !== "" ? value.value : undefined;
  }
  const field = write.fields.find((candidate) => candidate.name === name);
  return field === undefined ? undefined : scalarAt(field.vector, field.type, row);
}

/** A number as it is printed. The runtime has it; the types of its version do not. */
function rawJson(text: string): unknown {
  return (JSON as typeof JSON & { rawJSON(text: string): unknown }).rawJSON(text);
}

/** A value in JSON; numbers of 64 bits keep their digits. */
function shown(value: Scalar): unknown {
  if (value === undefined) return null;
  if (typeof value === "bigint") return rawJson(String(value));
  return value instanceof Uint8Array ? value.toBase64() : value;
}

/** `INT32`, `TIMESTAMP_NANOSECOND`, `STRING`. */
function protoName(type: DataType): string {
  return displayName(type)
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toUpperCase();
}
