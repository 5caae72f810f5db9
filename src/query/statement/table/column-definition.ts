/** Columns of CREATE TABLE: their defaults, NULL rules and index clauses. */
import { DbError, invalidArguments } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Scalar } from "../../../column/vector.ts";
import { displayName } from "../../../column/data-type.ts";
import type { ColumnDefault, ColumnDefinition, SemanticType } from "../../../table/schema.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { isInterval } from "../../function/value/value.ts";
import type { Expression } from "../../sql/syntax/ast.ts";
import type { ColumnClause } from "../../sql/syntax/definition-ast.ts";
import { columnOptionError } from "../../../table/column-option-error.ts";
import { indexText } from "../../../table/index-clause.ts";
import { inOrder } from "./index-clauses.ts";
import { jsonHintsOf } from "../shared/json-hint.ts";
import { literalValue } from "../shared/literal-value.ts";

/** Types that a series cannot be told apart by. */
const NO_KEY: ReadonlySet<string> = new Set(["binary", "json", "vector", "list", "struct", "map"]);

/** The column that a clause defines. @throws DbError InvalidArguments, Unsupported */
export function columnDefinition(clause: ColumnClause, semantic: SemanticType, environment: Environment): ColumnDefinition {
  const { name, type } = clause;
  if (type.kind === "interval")
    throw invalidArguments(`Invalid SQL, error: column name \`${name}\` is interval type, which is not supported`);
  if (semantic === "timestamp") checkTimeIndex(clause);
  if (semantic === "tag" && NO_KEY.has(type.kind)) throw columnOptionError(name, `a primary key column cannot be ${type.kind}`);
  const nullable = semantic === "timestamp" ? false : (clause.nullable ?? true);
  const columnDefault = clause.default === undefined ? undefined : defaultOf(clause, clause.default, nullable, environment);
  const again = clause.indexes.find(({ kind }, i) => clause.indexes.findIndex((index) => index.kind === kind) !== i);
  if (again !== undefined) throw columnOptionError(name, `duplicated ${again.kind.toUpperCase()} INDEX option`);
  const indexes = inOrder(clause.indexes.map((index) => indexText(clause, index.kind, index.options)));
  return {
    name,
    type,
    semantic,
    nullable,
    ...(columnDefault === undefined ? {} : { default: columnDefault }),
    ...(clause.comment === undefined ? {} : { comment: clause.comment }),
    ...(clause.hints === undefined ? {} : { hints: jsonHintsOf(clause, environment) }),
    ...(indexes.length === 0 ? {} : { indexes }),
  };
}

/** @throws DbError InvalidArguments for a column of type JSON2 in a table that merges rows (contract query.md 1.3) */
export function checkStructured(
  columns: readonly Pick<ColumnDefinition, "name" | "type">[],
  options: Readonly<Record<string, string>>,
): void {
  const structured = columns.find(({ type }) => type.kind === "json" && type.structured === true);
  if (structured === undefined || options["append_mode"] === "true") return;
  throw invalidArguments(`Invalid SQL, error: JSON2 column \`${structured.name}\` requires append_mode='true'`);
}

function checkTimeIndex({ name, type, nullable }: ColumnClause): void {
  if (type.kind !== "timestamp") throw columnOptionError(name, "time index column data type should be timestamp");
  if (nullable === true) throw columnOptionError(name, "time index column can't be null");
}

function isNow(expression: Expression): boolean {
  if (expression.kind === "call") return ["now", "current_timestamp"].includes(expression.name) && expression.args.length === 0;
  return expression.kind === "column" && !expression.quoted && expression.name.length === 1 && expression.name[0] === "current_timestamp";
}

/** What a DEFAULT clause means for a column. @throws DbError InvalidArguments, InvalidSyntax; Unsupported for a name */
export function defaultOf(
  clause: Pick<ColumnClause, "name" | "type">,
  expression: Expression,
  nullable: boolean,
  environment: Environment,
): ColumnDefault {
  if (clause.type.kind === "json") throw columnOptionError(clause.name, "a JSON column cannot have a default");
  if (isNow(expression)) {
    if (clause.type.kind !== "timestamp")
      throw columnOptionError(clause.name, `current_timestamp() is no default of ${displayName(clause.type)}`);
    return expression.kind === "call" && expression.name === "now" ? { kind: "now", written: "now()" } : { kind: "now" };
  }
  if (expression.kind === "column") {
    const written = expression.quoted ? `"${expression.name.join(".")}"` : expression.name.join(".");
    throw new DbError(
      StatusCode.Unsupported,
      `Unsupported default constraint for column: '${clause.name}', reason: expr '${written}' not supported; put texts in single quotes`,
    );
  }
  if (expression.kind === "null" && !nullable) throw columnOptionError(clause.name, "a NOT NULL column cannot have NULL as its default");
  const value = literalValue(expression, clause.name, clause.type, environment);
  if (isInterval(value)) throw columnOptionError(clause.name, "an interval is no default");
  return { kind: "literal", value: value satisfies Scalar };
}
