/**
 * Types of columns from the JSON values in them. Lists whose elements are of one type are lists, objects are structs with every field that
 * one of them has; where values do not go together, and for nesting beyond `JSON_TYPE_DEPTH_MAX`, the column is text, which holds the JSON.
 */
import { type DataType, STRING } from "../../column/data-type.ts";
import { together, type TypeGuess, typeOfGuess } from "./infer-type.ts";
import { JSON_STRUCT_FIELDS_MAX, JSON_TYPE_DEPTH_MAX } from "./limits.ts";

/** What the values so far are; undefined: there were none but null. */
export type JsonGuess =
  | TypeGuess
  | { readonly kind: "list"; readonly element: JsonGuess }
  | { readonly kind: "struct"; readonly fields: ReadonlyMap<string, JsonGuess> };

/** The guess of one value. */
export function jsonGuess(value: unknown, depth = 0): JsonGuess {
  switch (typeof value) {
    case "boolean":
      return "boolean";
    case "number":
      return Number.isSafeInteger(value) ? "int" : "float";
    case "bigint":
      return value === BigInt.asIntN(64, value) ? "int" : "float";
    case "object":
      break;
    default:
      return "string";
  }
  if (value === null) return undefined;
  if (depth === JSON_TYPE_DEPTH_MAX) return "string";
  if (Array.isArray(value)) {
    let element: JsonGuess;
    for (const part of value) element = togetherInJson(element, jsonGuess(part, depth + 1));
    return { kind: "list", element };
  }
  const fields = Object.entries(value);
  if (fields.length === 0 || fields.length > JSON_STRUCT_FIELDS_MAX) return "string";
  return { kind: "struct", fields: new Map(fields.map(([name, part]) => [name, jsonGuess(part, depth + 1)])) };
}

/** The guess that holds what two hold. */
export function togetherInJson(a: JsonGuess, b: JsonGuess): JsonGuess {
  if (a === undefined) return b;
  if (b === undefined) return a;
  if (typeof a !== "object" || typeof b !== "object") return typeof a === "object" || typeof b === "object" ? "string" : together(a, b);
  if (a.kind === "list" && b.kind === "list") return { kind: "list", element: togetherInJson(a.element, b.element) };
  if (a.kind !== "struct" || b.kind !== "struct") return "string";
  const fields = new Map(a.fields);
  for (const [name, guess] of b.fields) fields.set(name, togetherInJson(fields.get(name), guess));
  return fields.size > JSON_STRUCT_FIELDS_MAX ? "string" : { kind: "struct", fields };
}

/** The type of a guess. */
export function typeOfJsonGuess(guess: JsonGuess): DataType {
  if (typeof guess !== "object") return guess === undefined ? STRING : typeOfGuess(guess);
  if (guess.kind === "list") return { kind: "list", element: typeOfJsonGuess(guess.element) };
  return { kind: "struct", fields: [...guess.fields].map(([name, field]) => ({ name, type: typeOfJsonGuess(field) })) };
}
