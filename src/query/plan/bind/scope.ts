/** Names in sight of an expression. */
import type { DbError } from "../../../base/error.ts";
import { nearestName } from "../../../base/text/nearest.ts";
import type { JsonHint } from "../../../table/schema.ts";
import type { ObjectName } from "../../sql/syntax/ast.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { planError, planFailure } from "./plan-error.ts";

/** One column in sight. `expression` is what its name stands for. */
export interface ScopeColumn {
  readonly qualifier: string | undefined;
  /** Catalog and database of the table that `qualifier` names; an alias and a query have none. */
  readonly place?: readonly [catalog: string, database: string] | undefined;
  readonly name: string;
  readonly expression: TypedExpression;
  /** Of a JSON2 column of a table: what paths in its documents hold. */
  readonly hints?: readonly JsonHint[] | undefined;
  /** Joined by USING with one of that name, which is what the name alone means. */
  readonly merged?: boolean;
  /** What `*` shows in this place: nothing, or another value than `expression`. */
  readonly shown?: TypedExpression | "hidden";
}

/** Columns in sight, in the order that `*` shows. */
export type Scope = readonly ScopeColumn[];

/** Whether what stands before a qualifier says where its table is. */
function isPlace({ place }: ScopeColumn, name: ObjectName): boolean {
  const given = name.slice(0, -2);
  return given.length <= 2 && given.every((part, i) => part === place?.at(i - given.length));
}

/**
 * The column of a name, or undefined. Qualifiers may be `table`, `database.table` or `catalog.database.table`; an alias and a query are in
 * no database.
 *
 * @throws DbError PlanQuery when it means several columns
 */
export function findColumn(scope: Scope, name: ObjectName): ScopeColumn | undefined {
  const column = name.at(-1) ?? "";
  const qualifier = name.at(-2);
  const found = namedAlike(scope, column).filter(
    (entry) =>
      entry.name === column && (qualifier === undefined ? entry.merged !== true : entry.qualifier === qualifier && isPlace(entry, name)),
  );
  if (found.length > 1)
    throw planError(`Ambiguous reference to ${qualifier === undefined ? "unqualified field" : "field"} ${name.join(".")}`);
  return found[0];
}

/** Columns of a scope from which on they are found by an index: thousands of names may each be looked for among thousands. */
const INDEXED_MIN = 64;
const indexes = new WeakMap<Scope, ReadonlyMap<string, ScopeColumn[]>>();

/** The columns that may have a name. */
function namedAlike(scope: Scope, name: string): Scope {
  if (scope.length < INDEXED_MIN) return scope;
  let index = indexes.get(scope);
  if (index === undefined) {
    index = Map.groupBy(scope, (column) => column.name);
    indexes.set(scope, index);
  }
  return index.get(name) ?? [];
}

/** The error of a name that stands for nothing. Lists the valid names, at most 100, and the nearest. */
export function unknownColumn(scope: Scope, name: ObjectName): DbError {
  const valid = scope.slice(0, 100).map((entry) => (entry.qualifier === undefined ? entry.name : `${entry.qualifier}.${entry.name}`));
  const listed = valid.length === 0 ? "" : ` Valid fields are ${valid.join(", ")}${scope.length > 100 ? ", …" : ""}.`;
  const near = nearestName(
    name.at(-1) ?? "",
    scope.map((entry) => entry.name),
  );
  const hint = near === undefined ? "" : `\nDid you mean '${near}'?`;
  return planFailure(`No field named ${name.join(".")}.${listed}${hint}`);
}
