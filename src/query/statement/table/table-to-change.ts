import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Table } from "../../../table/catalog.ts";
import { tableNotFound } from "../../../table/not-found.ts";
import { isPhysicalTable, physicalWriteRefusal } from "../../../table/metric.ts";
import { resolveName } from "../../plan/from/source.ts";
import { checkNoGraphTable } from "../../plan/common/semantic-graph.ts";
import type { QueryContext } from "../../query-context.ts";
import type { ObjectName } from "../../sql/syntax/ast.ts";
import { checkWritable } from "./create-table.ts";
import { checkNoFileTable } from "./external-table.ts";
import { checkNoView } from "../shared/no-view.ts";

/** A table, and its database. */
interface Target {
  readonly database: string;
  readonly table: Table;
}

/** The table that a statement changes. @throws DbError TableNotFound; Unsupported for a computed database */
export function tableToChange(name: ObjectName, context: QueryContext, verb = "change"): Target {
  const resolved = resolveName(name, context.variables.database);
  checkWritable(resolved.database);
  const table = context.catalog.table(resolved.database, resolved.table);
  if (table === undefined) {
    checkNoView(resolved, verb, context);
    checkNoGraphTable(resolved);
    throw tableNotFound(resolved.database, resolved.table);
  }
  checkNoFileTable(table.schema);
  return { database: resolved.database, table };
}

/** The table that rows are written to. @throws DbError TableNotFound, Unsupported for a table that takes none */
export function targetTable(name: ObjectName, context: QueryContext): Target {
  const target = tableToChange(name, context, "insert into");
  const { schema } = target.table;
  if (isPhysicalTable(schema)) throw new DbError(StatusCode.Unsupported, physicalWriteRefusal(schema.name));
  return target;
}
