/** Services and their operations, from the tables that stand beside a table of spans, or from the spans where there are none. */
import { printString } from "../../query/sql/print/print-name.ts";
import { NAMES_MAX } from "./limits.ts";
import { kindOf } from "./span.ts";
import { sqlNameOf } from "./trace-table.ts";
import { textRows, type TraceReader } from "./traces.ts";

/** An operation of a service. */
export interface Operation {
  readonly name: string;
  /** `server`, `client`, …; "" when nobody said. */
  readonly spanKind: string;
}

/** The services of a table's spans by name; undefined when there is no such table. @throws DbError */
export async function servicesOf(table: string, reader: TraceReader): Promise<readonly string[] | undefined> {
  const from = sourceOf(table, "services", reader);
  if (from === undefined) return undefined;
  const sql = `SELECT DISTINCT service_name FROM ${from} WHERE service_name IS NOT NULL ORDER BY service_name LIMIT ${NAMES_MAX}`;
  const names: string[] = [];
  for await (const [name] of textRows(sql, reader)) if (name !== undefined) names.push(name);
  return names;
}

/** The operations of a service by name and kind; undefined when there is no such table. @throws DbError */
export async function operationsOf(
  table: string,
  service: string,
  kind: string | undefined,
  reader: TraceReader,
): Promise<readonly Operation[] | undefined> {
  const from = sourceOf(table, "operations", reader);
  if (from === undefined) return undefined;
  const ofKind = kind === undefined ? "" : ` AND span_kind = ${printString(`SPAN_KIND_${kind.toUpperCase()}`)}`;
  const sql =
    `SELECT DISTINCT span_name, span_kind FROM ${from} WHERE service_name = ${printString(service)}${ofKind} AND span_name IS NOT NULL ` +
    `ORDER BY span_name, span_kind LIMIT ${NAMES_MAX}`;
  const found: Operation[] = [];
  for await (const [name = "", stored = ""] of textRows(sql, reader)) {
    const spanKind = kindOf(stored);
    found.push({ name, spanKind: spanKind === "unspecified" ? "" : spanKind });
  }
  return found;
}

function sourceOf(table: string, suffix: string, { db, session }: TraceReader): string | undefined {
  return [`${table}_${suffix}`, table].filter((name) => db.table(name, session) !== undefined).map((name) => sqlNameOf(session, name))[0];
}
