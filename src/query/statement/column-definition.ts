/** Columns of CREATE TABLE: their defaults, NULL rules and index clauses. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Scalar } from "../../column/vector.ts";
import { displayName } from "../../column/data-type.ts";
import type { ColumnDefault, ColumnDefinition, SemanticType } from "../../table/schema.ts";
import type { Environment } from "../function/environment.ts";
import { isInterval } from "../function/value.ts";
import type { ColumnClause, Expression } from "../sql/ast.ts";
import { literalValue } from "./literal-value.ts";

/** A column option that cannot be. */
export function columnOptionError(column: string, why: string): DbError {
  return new DbError(StatusCode.InvalidArguments, `Invalid column option, column name: ${column}, error: ${why}`);
}

/** Names of types that parse but that tables cannot hold yet. */
const NOT_STORED: Readonly<Record<string, string>> = { decimal: "DECIMAL", json: "JSON", vector: "VECTOR", duration: "DURATION" };

/** The column that a clause defines. @throws DbError InvalidArguments, Unsupported */
export function columnDefinition(clause: ColumnClause, semantic: SemanticType, environment: Environment): ColumnDefinition {
  const { name, type } = clause;
  if (type.kind === "interval")
    throw new DbError(StatusCode.InvalidArguments, `Invalid SQL, error: column name \`${name}\` is interval type, which is not supported`);
  const missing = NOT_STORED[type.kind];
  if (missing !== undefined)
    throw new DbError(
      StatusCode.Unsupported,
      `Not supported: column \`${name}\` of type ${displayName(type)}; ${missing} columns are not stored yet`,
    );
  if (semantic === "timestamp") checkTimeIndex(clause);
  if (semantic === "tag" && type.kind === "binary") throw columnOptionError(name, "a primary key column cannot be binary");
  const nullable = semantic === "timestamp" ? false : (clause.nullable ?? true);
  const columnDefault = clause.default === undefined ? undefined : defaultOf(clause, clause.default, nullable, environment);
  const indexes = [...clause.indexes]
    .sort((a, b) => INDEX_ORDER.indexOf(a.kind) - INDEX_ORDER.indexOf(b.kind))
    .map((index) => indexText(clause, index.kind, index.options));
  return {
    name,
    type,
    semantic,
    nullable,
    ...(columnDefault === undefined ? {} : { default: columnDefault }),
    ...(clause.comment === undefined ? {} : { comment: clause.comment }),
    ...(indexes.length === 0 ? {} : { indexes }),
  };
}

/** The order in which SHOW CREATE prints index clauses. */
const INDEX_ORDER: readonly string[] = ["fulltext", "skipping", "inverted"];

function checkTimeIndex({ name, type, nullable }: ColumnClause): void {
  if (type.kind !== "timestamp") throw columnOptionError(name, "time index column data type should be timestamp");
  if (nullable === true) throw columnOptionError(name, "time index column can't be null");
}

function isNow(expression: Expression): boolean {
  if (expression.kind === "call") return ["now", "current_timestamp"].includes(expression.name) && expression.args.length === 0;
  return expression.kind === "column" && !expression.quoted && expression.name.length === 1 && expression.name[0] === "current_timestamp";
}

function defaultOf(clause: ColumnClause, expression: Expression, nullable: boolean, environment: Environment): ColumnDefault | undefined {
  if (isNow(expression)) {
    if (clause.type.kind !== "timestamp")
      throw columnOptionError(clause.name, `current_timestamp() is no default of ${displayName(clause.type)}`);
    return { kind: "now" };
  }
  if (expression.kind === "null" && !nullable) throw columnOptionError(clause.name, "a NOT NULL column cannot have NULL as its default");
  const value = literalValue(expression, clause.name, clause.type, environment);
  if (isInterval(value)) throw columnOptionError(clause.name, "an interval is no default");
  return { kind: "literal", value: value satisfies Scalar };
}

const INDEX_DEFAULTS: Readonly<Record<"skipping" | "fulltext", Readonly<Record<string, string>>>> = {
  skipping: { granularity: "10240", false_positive_rate: "0.01", type: "BLOOM" },
  fulltext: { analyzer: "English", case_sensitive: "false", backend: "bloom", granularity: "10240", false_positive_rate: "0.01" },
};

function indexText(
  { name, type }: ColumnClause,
  kind: "skipping" | "fulltext" | "inverted",
  given: Readonly<Record<string, string>>,
): string {
  if (kind === "fulltext" && type.kind !== "string") throw columnOptionError(name, "FULLTEXT index only supports string type");
  if (kind === "inverted") return "INVERTED INDEX";
  const defaults = INDEX_DEFAULTS[kind];
  for (const key of Object.keys(given)) {
    if (!(key in defaults)) throw columnOptionError(name, `invalid ${kind.toUpperCase()} INDEX option: ${key}`);
  }
  const options: Readonly<Record<string, string>> = { ...defaults, ...given };
  const printed = Object.keys(options)
    .sort()
    .map((key) => `${key} = '${options[key]}'`);
  return `${kind.toUpperCase()} INDEX WITH(${printed.join(", ")})`;
}
