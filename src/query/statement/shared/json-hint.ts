/** `JSON2 (path type, …)` of CREATE TABLE: paths of known types, to and from text (contract query.md 1.3). */
import { type DbError, invalidArguments } from "../../../base/error.ts";
import { displayName, sqlName } from "../../../column/data-type.ts";
import { floatText } from "../../../value/number-text.ts";
import type { JsonHint } from "../../../table/schema.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { textOf } from "../../function/value/value.ts";
import type { ColumnClause, HintClause } from "../../sql/syntax/definition-ast.ts";
import { literalValue } from "./literal-value.ts";

/** The types that paths may have. */
const TYPES: ReadonlySet<string> = new Set(["String", "Int64", "UInt64", "Float64", "Boolean"]);

const invalid = (why: string): DbError => invalidArguments(`Invalid SQL, error: ${why}`);

/** The hints of a column. @throws DbError InvalidArguments for a type that paths do not have, and for paths of which one begins another */
export function jsonHintsOf({ name, hints = [] }: Pick<ColumnClause, "name" | "hints">, environment: Environment): readonly JsonHint[] {
  const made = hints.map((hint) => jsonHintOf(name, hint, environment));
  for (const [i, { path }] of made.entries()) {
    const other = made.findIndex((candidate, j) => j !== i && path.every((key, k) => candidate.path[k] === key));
    if (other < 0) continue;
    throw invalid(`JSON2 column \`${name}\`: the path ${path.join(".")} begins ${made[other]?.path.join(".")}; a path has one type`);
  }
  return made;
}

function jsonHintOf(column: string, { path, type, nullable, default: expression }: HintClause, environment: Environment): JsonHint {
  if (!TYPES.has(displayName(type))) {
    const allowed = "use STRING, BIGINT, BIGINT UNSIGNED, DOUBLE or BOOLEAN";
    throw invalid(`JSON2 column \`${column}\`: path ${path.join(".")} cannot be of type ${sqlName(type)}; ${allowed}`);
  }
  const value = expression === undefined ? undefined : literalValue(expression, path.join("."), type, environment);
  if (expression !== undefined && value === undefined && !nullable)
    throw invalid(`JSON2 column \`${column}\`: path ${path.join(".")} is NOT NULL and cannot have NULL as its default`);
  if (value === undefined) return { path, type, nullable };
  if (type.kind === "float" && !Number.isFinite(Number(value)))
    throw invalid(`JSON2 column \`${column}\`: the default of path ${path.join(".")} is no number of JSON`);
  const json = type.kind === "string" ? JSON.stringify(value) : type.kind === "float" ? floatText(Number(value)) : textOf(value);
  return { path, type, nullable, default: json };
}

/** `("user"."id" BIGINT NULL, …)`, as SHOW CREATE TABLE shows it behind JSON2. */
export function jsonHintsText(hints: readonly JsonHint[], quoted: (name: string) => string): string {
  const printed = hints.map(({ path, type, nullable, default: json }) => {
    const parts = [path.map(quoted).join("."), sqlName(type), nullable ? "NULL" : "NOT NULL"];
    if (json !== undefined) parts.push(`DEFAULT ${type.kind === "string" ? `'${String(JSON.parse(json)).replaceAll("'", "''")}'` : json}`);
    return parts.join(" ");
  });
  return `(${printed.join(", ")})`;
}
