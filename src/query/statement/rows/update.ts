/**
 * UPDATE: fields of the rows that the WHERE matches get new values. A row is written anew as a whole under its tags and time, which is how
 * a table takes a newer version of it, so tags and the time index cannot be updated: they say which row it is.
 *
 *   UPDATE t SET f = f + 1 WHERE host = 'a'
 *     = INSERT INTO t SELECT host, ts, f + 1 AS f, g FROM t WHERE host = 'a'
 *
 * All expressions see the row as it was. Rows are read from one snapshot and written in parts of 16,384, each durable before the next is
 * read; a failure leaves the earlier parts. There is no lock: of a row that somebody writes between the snapshot and the part it is in, the
 * UPDATE's version wins, with the fields that it read.
 */
import { invalidArguments } from "../../../base/error.ts";
import { mergeModeOf, type TableSchema } from "../../../table/schema.ts";
import { CATALOG_NAME } from "../../../table/reserved-names.ts";
import { columnNotFound } from "../../../table/not-found.ts";
import type { ExecOptions } from "../shared/select.ts";
import { environmentOf } from "../../plan/common/planner.ts";
import type { QueryContext } from "../../query-context.ts";
import type { Select } from "../../sql/syntax/ast.ts";
import { plainSelect } from "../../sql/syntax/plain-trees.ts";
import type { Assignment, Update } from "../../sql/syntax/statement-ast.ts";
import type { StatementResult } from "../../statement-result.ts";
import { targetTable } from "../table/table-to-change.ts";
import { insertSelect } from "./insert.ts";

/** Updates rows; the count is that of rows that matched. @throws DbError TableNotFound, TableColumnNotFound, InvalidArguments, PlanQuery */
export async function update(statement: Update, context: QueryContext, options: ExecOptions): Promise<StatementResult> {
  const { database, table } = targetTable(statement.table, context);
  const { schema } = table;
  if (mergeModeOf(schema) === "append")
    throw invalidArguments(`cannot update table ${schema.name}: it is append-only, so that a new version of a row would be a row more`);
  const assigned = assignedFields(statement, schema);
  const isDefault = (name: string): boolean => assigned.get(name)?.value.kind === "default";
  const target = {
    schema,
    named: schema.columns.filter(({ name }) => !isDefault(name)),
    environment: environmentOf(context.clock, context.variables),
    // There NULL keeps the older value.
    neverNull: mergeModeOf(schema) === "last_non_null" ? new Set(assigned.keys()) : undefined,
  };
  const rowCount = await insertSelect(updatedRows(statement, schema, assigned), target, database, context, options);
  return { kind: "affected", rowCount: schema.options["ttl"] === "instant" ? 0 : rowCount };
}

/** The query for the new versions of the rows: all columns but those that take their default. */
export function updatedRows(
  statement: Update,
  schema: TableSchema,
  assigned: ReadonlyMap<string, Assignment> = assignedFields(statement, schema),
): Select {
  const { table, alias, where, span } = statement;
  const items = schema.columns.flatMap(({ name }): Select["items"] => {
    const value = assigned.get(name)?.value;
    if (value?.kind === "default") return [];
    return [{ kind: "expression", expression: value ?? { kind: "column", name: [name], quoted: true, span }, alias: name }];
  });
  const from = { kind: "table", name: table, alias: alias === undefined ? undefined : { name: alias, columns: [] }, span } as const;
  return plainSelect({ items, from, where, span });
}

/** What is assigned, by column. @throws DbError TableColumnNotFound, InvalidArguments for what is no field, or assigned twice */
function assignedFields({ alias, assignments }: Update, schema: TableSchema): ReadonlyMap<string, Assignment> {
  const assigned = new Map<string, Assignment>();
  for (const assignment of assignments) {
    const name = assignment.column.at(-1) ?? "";
    const qualifier = assignment.column.slice(0, -1);
    const place = alias === undefined ? [CATALOG_NAME, schema.database, schema.name] : [alias];
    const isOwn = qualifier.length <= place.length && qualifier.every((part, i) => part === place.at(i - qualifier.length));
    const column = schema.columns.find((candidate) => candidate.name === name);
    if (column === undefined || !isOwn) throw columnNotFound(schema.name, assignment.column.join("."));
    if (column.semantic !== "field") {
      const what = column.semantic === "tag" ? "a tag" : "the time index";
      throw invalidArguments(
        `cannot update column ${name}: it is ${what}, which says which row it is; INSERT the new row and DELETE the old one`,
      );
    }
    if (assigned.has(name)) throw invalidArguments(`cannot update column ${name}: it is set twice`);
    assigned.set(name, assignment);
  }
  return assigned;
}
