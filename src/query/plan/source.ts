/** FROM: which relation a query reads and what its columns are called. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { INT64, STRING } from "../../column/data-type.ts";
import type { Catalog, Table } from "../../table/catalog.ts";
import type { ColumnSchema } from "../../table/schema.ts";
import type { Environment } from "../function/environment.ts";
import type { ObjectName, TableReference } from "../sql/ast.ts";
import type { TypedExpression } from "./expression.ts";
import { planError } from "./plan-error.ts";
import type { Scope } from "./scope.ts";
import { builtInTable } from "./virtual/built-in-table.ts";

/** What a query reads: a table of the catalog, rows that the server computes, or one row without columns. */
export interface Source {
  readonly scope: Scope;
  readonly columns: readonly ColumnHeader[];
  readonly table: Table | undefined;
  readonly name: string;
  readonly batches: () => Iterable<Batch>;
}

/** A table name in full. */
export interface ResolvedName {
  readonly database: string;
  readonly table: string;
}

/** The catalog that every name may begin with. */
export const CATALOG_NAME = "greptime";

/** Database and table of a name of one to three parts. @throws DbError PlanQuery for another catalog */
export function resolveName(name: ObjectName, database: string): ResolvedName {
  const table = name.at(-1) ?? "";
  if (name.length > 3 || (name.length === 3 && name[0] !== CATALOG_NAME)) {
    throw planError(`there is no catalog '${name[0]}'; the only one is '${CATALOG_NAME}'`);
  }
  return { database: name.at(-2) ?? database, table };
}

/** The error of a table that does not exist. */
function tableNotFound({ database, table }: ResolvedName): DbError {
  return new DbError(StatusCode.TableNotFound, `Failed to plan SQL: Table not found: ${CATALOG_NAME}.${database}.${table}`);
}

/** The relation of a FROM clause. @throws DbError TableNotFound */
export function sourceOf(from: TableReference | undefined, catalog: Catalog, environment: Environment): Source {
  if (from === undefined) return { scope: [], columns: [], table: undefined, name: "", batches: () => [{ rowCount: 1, vectors: [] }] };
  const name = resolveName(from.name, environment.database);
  const qualifier = from.alias ?? name.table;
  const table = catalog.table(name.database, name.table);
  if (table !== undefined) {
    const columns = table.schema.columns.map((column) => ({ name: column.name, type: scannedType(column) }));
    const scope = table.schema.columns.map((column, index) => ({
      qualifier,
      name: column.name,
      expression: columnExpression(column, index),
    }));
    return { scope, columns, table, name: name.table, batches: () => [] };
  }
  const builtIn = builtInTable(name, catalog);
  if (builtIn === undefined) throw tableNotFound(name);
  const scope = builtIn.columns.map((column, index) => ({
    qualifier,
    name: column.name,
    expression: { kind: "column", type: column.type, index, name: column.name } satisfies TypedExpression,
  }));
  return { scope, columns: builtIn.columns, table: undefined, name: name.table, batches: builtIn.batches };
}

/** Scans give every tag as text, whatever type it was declared with. */
function scannedType(column: ColumnSchema): ColumnHeader["type"] {
  return column.semantic === "tag" ? STRING : column.type;
}

/** What a column's name stands for: the scanned column, cast to the declared type when that is no text (`table/tag-value.ts`). */
function columnExpression(column: ColumnSchema, index: number): TypedExpression {
  const scanned: TypedExpression = { kind: "column", type: scannedType(column), index, name: column.name };
  const { kind } = column.type;
  if (scanned.type.kind === kind) return scanned;
  // Dates and times are kept as the numbers they are.
  const isCounted = kind === "date" || kind === "time" || kind === "timestamp" || kind === "duration";
  const operand: TypedExpression = isCounted ? { kind: "cast", type: INT64, operand: scanned, safe: false } : scanned;
  return { kind: "cast", type: column.type, operand, safe: false };
}
