/**
 * A table of spans as the trace query sees it. Model v1 has a column an attribute (`span_attributes.http.method`), model v0 one document
 * of JSON for all of them (`span_attributes`); contract ingest.md 4.3.
 */
import { invalidArguments } from "../../base/error.ts";
import type { DataType } from "../../column/data-type.ts";
import { printName, quoteName } from "../../query/sql/print/print-name.ts";
import type { TableSchema } from "../../table/schema.ts";
import type { Db } from "../db.ts";
import type { Session } from "../session.ts";

/** Whose attributes they are. */
export type AttributeOwner = "span" | "scope" | "resource";

const OWNERS: readonly AttributeOwner[] = ["span", "scope", "resource"];

/** A column of attributes. */
export interface AttributeColumn {
  readonly owner: AttributeOwner;
  readonly column: string;
  /** The attribute's key; undefined: the column holds a document of all of them. */
  readonly key: string | undefined;
  readonly type: DataType;
}

/** See the file header. */
export interface TraceTable {
  /** As it stands in SQL. */
  readonly sqlName: string;
  readonly attributes: readonly AttributeColumn[];
}

/** Columns that every span has, and the kinds of their types. */
const KINDS = {
  trace_id: "string",
  span_id: "string",
  parent_span_id: "string",
  timestamp: "timestamp",
  duration_nano: "int",
  span_name: "string",
  span_kind: "string",
  span_status_code: "string",
  span_status_message: "string",
  trace_state: "string",
  service_name: "string",
  scope_name: "string",
  scope_version: "string",
  span_events: "json",
  span_links: "json",
} as const;

/** A column that every span has. */
export type SpanColumn = keyof typeof KINDS;

/** Columns that every span has, in the order in which rows are read. */
export const SPAN_COLUMNS: readonly SpanColumn[] = Object.keys(KINDS) as SpanColumn[]; // the keys of the constant above

/**
 * The table of that name in the session's database; undefined when there is none.
 *
 * @throws DbError PermissionDenied, DatabaseNotFound; InvalidArguments for a table that holds no spans
 */
export function traceTableOf(db: Db, session: Session, name: string): TraceTable | undefined {
  const schema = db.table(name, session)?.schema;
  if (schema === undefined) return undefined;
  const types = new Map(schema.columns.map((column) => [column.name, column.type.kind]));
  const missing = SPAN_COLUMNS.find((column) => types.get(column) !== KINDS[column]);
  if (missing !== undefined) {
    throw invalidArguments(`cannot read traces from ${name.slice(0, 120)}: it has no column ${missing} of type ${KINDS[missing]}`);
  }
  return { sqlName: sqlNameOf(session, name), attributes: attributesOf(schema) };
}

/** A table of the session's database as it stands in SQL. */
export function sqlNameOf({ database }: Session, name: string): string {
  return printName([database, name]);
}

/** The columns of a span as they stand in SELECT, those of attributes last. */
export function selectedColumns({ attributes }: TraceTable): string {
  return [...SPAN_COLUMNS, ...attributes.map(({ column }) => column)].map(quoteName).join(", ");
}

function attributesOf({ columns }: TableSchema): AttributeColumn[] {
  const found: AttributeColumn[] = [];
  for (const { name, type } of columns) {
    for (const owner of OWNERS) {
      const prefix = `${owner}_attributes`;
      if (name === prefix && type.kind === "json") found.push({ owner, column: name, key: undefined, type });
      else if (name.startsWith(`${prefix}.`)) found.push({ owner, column: name, key: name.slice(prefix.length + 1), type });
    }
  }
  return found;
}
