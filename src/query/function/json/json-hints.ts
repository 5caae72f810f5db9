/**
 * Documents of JSON2 columns with paths of known types: what a document has there must be of the type; where it has nothing, the default
 * stands, which is written with the document, so that all that reads it sees the same.
 */
import { type DbError, invalidArguments } from "../../../base/error.ts";
import { type DataType, displayName } from "../../../column/data-type.ts";
import { canonicalJson } from "../../../value/json-text.ts";
import type { JsonHint } from "../../../table/schema.ts";
import { jsonKind, jsonMembers } from "./json-slices.ts";

/** A hint and how many keys of its path lie above the object in hand. */
interface Pending {
  readonly hint: JsonHint;
  readonly depth: number;
}

/**
 * A document as a column with hints keeps it. @param json canonical text of an object
 *
 * @throws DbError InvalidArguments where a value is of another type, or missing though it may not be
 */
export function hintedDocument(json: string, hints: readonly JsonHint[], column: string): string {
  const filled = filledObject(
    json,
    hints.map((hint) => ({ hint, depth: 0 })),
    column,
  );
  const canonical = canonicalJson(filled);
  if (!canonical.ok) throw new Error(`a document with defaults is no JSON: ${canonical.why}`);
  return canonical.text;
}

function filledObject(json: string, pending: readonly Pending[], column: string): string {
  const members = new Map(jsonMembers(json).map(({ key, value }) => [key, value] as const));
  const below = Map.groupBy(pending, ({ hint, depth }) => hint.path[depth] ?? "");
  for (const [key, group] of below) {
    const value = valueAt(members.get(key), group, column);
    if (value !== undefined) members.set(key, value);
  }
  return `{${[...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",")}}`;
}

/** What stands at a key that hints name, or name a part of; undefined: nothing. */
function valueAt(value: string | undefined, group: readonly Pending[], column: string): string | undefined {
  const present = value === undefined || jsonKind(value) === "null" ? undefined : value;
  const leaf = group.find(({ hint, depth }) => hint.path.length === depth + 1);
  if (leaf !== undefined) return leafValue(present, leaf.hint, column) ?? value;
  if (present !== undefined && jsonKind(present) !== "object") throw mismatch(column, group[0]?.hint, present, "an object above it");
  const filled = filledObject(
    present ?? "{}",
    group.map(({ hint, depth }) => ({ hint, depth: depth + 1 })),
    column,
  );
  return present === undefined && filled === "{}" ? value : filled;
}

function leafValue(present: string | undefined, hint: JsonHint, column: string): string | undefined {
  if (present !== undefined) {
    if (isOf(present, hint.type)) return present;
    throw mismatch(column, hint, present, displayName(hint.type));
  }
  if (hint.default !== undefined) return hint.default;
  if (hint.nullable) return undefined;
  throw invalidArguments(
    `Invalid InsertRequest, reason: JSON2 column ${column}: path ${hint.path.join(".")} is not null but the document has nothing there`,
  );
}

function mismatch(column: string, hint: JsonHint | undefined, value: string, wanted: string): DbError {
  const path = hint?.path.join(".") ?? "";
  const message = `Invalid InsertRequest, reason: JSON2 column ${column}: path ${path} wants ${wanted}, got ${value.slice(0, 80)}`;
  return invalidArguments(message);
}

/** Whether canonical JSON is a value of a type that hints have. */
function isOf(json: string, type: DataType): boolean {
  const kind = jsonKind(json);
  switch (type.kind) {
    case "string":
      return kind === "string";
    case "boolean":
      return kind === "boolean";
    case "float":
      return kind === "number";
    case "int": {
      if (kind !== "number" || !/^-?\d+$/.test(json)) return false;
      const value = BigInt(json);
      return type.signed ? value >= -(2n ** 63n) && value < 2n ** 63n : value >= 0n && value < 2n ** 64n;
    }
    default:
      return false;
  }
}
