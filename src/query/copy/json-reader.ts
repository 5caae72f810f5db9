/**
 * JSON as lists, structs and maps: what `jsonWriter` wrote, and what others write. A field that an object leaves out is NULL; one that the
 * struct lacks is an error. Objects have their keys in the order of JavaScript's: whole numbers first, ascending.
 */
import { type DbError, invalidArguments } from "../../base/error.ts";
import { type DataType, displayName, isNested, type NestedType } from "../../column/data-type.ts";
import { encodeNested, type NestedPart } from "../../column/nested.ts";
import { documentText, parseDocument } from "./json-document.ts";

/** A value that is no list and no object, as a part. @throws DbError when it has no counterpart */
type PlainOf = (type: DataType, value: string | number | bigint | boolean) => NestedPart;

/** What reads a text of JSON as a value of a type. @returns a function that throws DbError InvalidArguments */
export function jsonReader(type: NestedType, plainOf: PlainOf): (text: string) => Uint8Array | undefined {
  return (text) => {
    let value: unknown;
    try {
      value = parseDocument(text);
    } catch (cause) {
      throw invalidArguments(`'${text.slice(0, 80)}' is no JSON of type ${displayName(type)}`, cause);
    }
    return value === null ? undefined : nestedOf(type, value, plainOf);
  };
}

function partOf(type: DataType, value: unknown, plainOf: PlainOf): NestedPart {
  if (value === null || value === undefined) return undefined;
  if (isNested(type)) return nestedOf(type, value, plainOf);
  if (typeof value === "string" || typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") {
    return plainOf(type, value);
  }
  if (type.kind === "json" || type.kind === "string" || type.kind === "vector") return plainOf(type, documentText(value));
  throw unfit(type, value);
}

function nestedOf(type: NestedType, value: unknown, plainOf: PlainOf): Uint8Array {
  if (type.kind === "list") {
    if (!Array.isArray(value)) throw unfit(type, value);
    return encodeNested(
      type,
      value.map((part) => partOf(type.element, part, plainOf)),
    );
  }
  if (!isObject(value)) throw unfit(type, value);
  if (type.kind === "map") {
    const parts = Object.entries(value).flatMap(([key, part]) => [keyOf(type.key, key, plainOf), partOf(type.value, part, plainOf)]);
    return encodeNested(type, parts);
  }
  const added = Object.keys(value).find((name) => !type.fields.some((field) => field.name === name));
  if (added !== undefined) throw unfit(type, value, `it has no field ${added}`);
  return encodeNested(
    type,
    type.fields.map((field) => (Object.hasOwn(value, field.name) ? partOf(field.type, value[field.name], plainOf) : undefined)),
  );
}

/** Keys of objects are texts; nested ones are JSON in a text. */
function keyOf(type: DataType, key: string, plainOf: PlainOf): NestedPart {
  return isNested(type) ? jsonReader(type, plainOf)(key) : plainOf(type, key);
}

/** Whether a value of a document is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unfit(type: DataType, value: unknown, why?: string): DbError {
  const message = `'${documentText(value).slice(0, 80)}' is no value of type ${displayName(type)}`;
  return invalidArguments(why === undefined ? message : `${message}: ${why}`);
}
