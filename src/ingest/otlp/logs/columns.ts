/**
 * The columns of a table of logs (contract ingest.md 4.4), and how they fit a table that exists.
 */
import { type DbError, invalidArguments } from "../../../base/error.ts";
import {
  type DataType,
  displayName,
  INT32,
  JSON_TYPE,
  sameType,
  STRING,
  TIMESTAMP_NANOSECOND,
  type TimeUnit,
  UINT32,
} from "../../../column/data-type.ts";
import type { ColumnDefinition } from "../../../table/schema.ts";
import type { SchemaLookup } from "../../../table/write-batch.ts";

/** Name of the time index. */
const TIME = "timestamp";

const WORDS = "analyzer = 'English', backend = 'bloom', case_sensitive = 'false', false_positive_rate = '0.01', granularity = '10240'";
const BODY_INDEX: string = `FULLTEXT INDEX WITH(${WORDS})`;

function column(name: string, type: DataType, semantic: ColumnDefinition["semantic"] = "field"): ColumnDefinition {
  return { name, type, semantic, nullable: semantic !== "timestamp" };
}

/** Columns of a new table. */
export const LOG_COLUMNS: readonly ColumnDefinition[] = [
  column(TIME, TIMESTAMP_NANOSECOND, "timestamp"),
  column("trace_id", STRING),
  column("span_id", STRING),
  column("severity_text", STRING),
  column("severity_number", INT32),
  { ...column("body", STRING), indexes: [BODY_INDEX] },
  column("log_attributes", JSON_TYPE),
  column("trace_flags", UINT32),
  column("scope_name", STRING, "tag"),
  column("scope_version", STRING),
  column("scope_attributes", JSON_TYPE),
  column("scope_schema_url", STRING),
  column("resource_attributes", JSON_TYPE),
  column("resource_schema_url", STRING),
];

/** Where a column of a record goes. */
export interface LogColumn {
  readonly name: string;
  readonly type: DataType;
  readonly isTag: boolean;
}

/** Where records go. */
export interface LogPlan {
  readonly exists: boolean;
  readonly timeUnit: TimeUnit;
  /** As `LOG_COLUMNS` without the time index. */
  readonly columns: readonly LogColumn[];
}

/**
 * How records are written to a table, whether it exists or not.
 *
 * @throws DbError InvalidArguments when a column of the table cannot take what is sent
 */
export function logPlanOf(schemas: SchemaLookup, database: string, table: string): LogPlan {
  const time = schemas.columnOf(database, table, TIME);
  const known = LOG_COLUMNS.map(({ name }) => schemas.columnOf(database, table, name));
  const exists = known.some((found) => found !== undefined);
  if (time !== undefined && time.type.kind !== "timestamp") throw misfit(TIME, table, TIMESTAMP_NANOSECOND, time.type);
  const columns = LOG_COLUMNS.slice(1).map(({ name, type, semantic }, i): LogColumn => {
    const found = known[i + 1];
    if (found === undefined) return { name, type, isTag: semantic === "tag" && !exists };
    if (found.semantic === "timestamp" || !fits(type, found.type)) throw misfit(name, table, type, found.type);
    return { name, type: found.type, isTag: found.semantic === "tag" };
  });
  return { exists, timeUnit: time?.type.kind === "timestamp" ? time.type.unit : "nanosecond", columns };
}

/** Text fits text and JSON text; a small number fits any number of 32 bits and more, and text. */
function fits(from: DataType, to: DataType): boolean {
  if (sameType(from, to) || to.kind === "string") return true;
  if (from.kind !== "int") return false;
  return (to.kind === "float" && to.bits === 64) || (to.kind === "int" && (to.bits === 64 || (to.bits === 32 && to.signed)));
}

/** The error for a column that cannot take what is sent. */
function misfit(name: string, table: string, from: DataType, to: DataType): DbError {
  return invalidArguments(`failed to align log column '${name}' in table '${table}' from ${displayName(from)} to ${displayName(to)}`);
}
