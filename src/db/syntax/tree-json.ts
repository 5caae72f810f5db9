/**
 * Syntax trees as JSON, one externally tagged value a node: `{"kind":"unary","operator":"-",…}` is `{"Unary":{"operator":"-",…}}`. Names of
 * members are in snake case, what is absent is null, types are shown as SQL has them, secret options are masked. DESCRIBE has the
 * form that clients of the contract compare with (http.md 2.8); the others are Varve's own trees.
 */
import { type DataType, displayName } from "../../column/data-type.ts";
import { maskedOptions } from "../../query/sql/print/secret-options.ts";
import type { Expression } from "../../query/sql/syntax/ast.ts";
import { treeRows } from "../../query/sql/syntax/row-trees.ts";
import type { Statement } from "../../query/sql/syntax/statement-ast.ts";
import type { ValueRows } from "../../query/sql/syntax/value-rows.ts";

/** Kinds of statements that are queries: they are the `Query` of a statement. */
const QUERIES: ReadonlySet<string> = new Set(["select", "set-operation", "values-query", "with"]);
/** Members whose names and values are the text's own. */
const OPTIONS: ReadonlySet<string> = new Set(["options", "connection"]);
const NOWHERE = { start: { line: 0, column: 0 }, end: { line: 0, column: 0 } };

/** The trees of a text as a JSON list, in pieces. */
export function* treesJson(statements: readonly Statement[]): Generator<string> {
  yield "[";
  for (const [index, statement] of statements.entries()) {
    if (index > 0) yield ",";
    if (statement.kind === "describe") yield describeJson(statement.name);
    else if (QUERIES.has(statement.kind)) {
      yield '{"Query":';
      yield* valueJson(statement);
      yield "}";
    } else yield* valueJson(statement);
  }
  yield "]";
}

function describeJson(name: readonly string[]): string {
  const parts = name.map((value) => ({ Identifier: { value, quote_style: null, span: NOWHERE } }));
  return JSON.stringify({ DescribeTable: { name: parts } });
}

function* valueJson(value: unknown): Generator<string> {
  if (value === undefined || value === null) yield "null";
  else if (typeof value === "bigint") yield JSON.stringify(String(value));
  else if (value instanceof Uint8Array) yield JSON.stringify(value.toHex());
  else if (Array.isArray(value)) yield* listJson(value);
  else if (typeof value === "object") yield* nodeJson(value as Readonly<Record<string, unknown>>);
  else yield JSON.stringify(value);
}

function* listJson(items: Iterable<unknown>): Generator<string> {
  let separator = "[";
  for (const item of items) {
    yield separator;
    yield* valueJson(item);
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}

function* nodeJson(node: Readonly<Record<string, unknown>>): Generator<string> {
  const { kind, ...members } = node;
  const isTagged = typeof kind === "string";
  if (isTagged) yield `{${JSON.stringify(pascalCase(kind))}:`;
  let separator = "{";
  for (const [name, value] of Object.entries(members)) {
    yield `${separator}${JSON.stringify(snakeCase(name))}:`;
    yield* memberJson(name, value);
    separator = ",";
  }
  yield separator === "{" ? "{}" : "}";
  if (isTagged) yield "}";
}

function* memberJson(name: string, value: unknown): Generator<string> {
  if (OPTIONS.has(name) && isRecord(value)) yield JSON.stringify(maskedOptions(value as Readonly<Record<string, string>>));
  else if (name === "type" && isRecord(value))
    yield JSON.stringify(displayName(value as unknown as DataType)); // of casts and columns
  else if (name === "rows" && isBlocks(value)) yield* listJson(treeRows(value));
  else yield* valueJson(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Rows of VALUES are blocks. */
function isBlocks(value: unknown): value is ValueRows<Expression> {
  return (
    Array.isArray(value) && value.every((block) => isRecord(block) && ["constants", "trees", "unread"].includes(String(block["kind"])))
  );
}

function pascalCase(kind: string): string {
  return kind.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
