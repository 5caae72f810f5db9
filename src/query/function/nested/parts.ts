/** Lists, structs and maps taken apart and put together, for the functions on them. */
import { type DataType, isNested, NULL } from "../../../column/data-type.ts";
import { decodeNested, encodeNested, type NestedPart } from "../../../column/nested.ts";
import type { FunctionCall } from "../signature/scalar-function.ts";
import type { Present, Value } from "../value/value.ts";

/** A list type. */
export type ListType = Extract<DataType, { kind: "list" }>;

/** The list of elements of a type. */
export function listOf(element: DataType): ListType {
  return { kind: "list", element };
}

/** The type of a list's elements; NULL stands for a list of NULLs; undefined for what is no list. */
export function elementType(type: DataType | undefined): DataType | undefined {
  if (type?.kind === "null") return NULL;
  return type?.kind === "list" ? type.element : undefined;
}

/** The subscript of a list's first element. */
export function firstSubscript(type: DataType | undefined): 0 | 1 {
  return type?.kind === "list" && type.vector !== undefined ? 0 : 1;
}

/** The elements of argument `index`, a list: none where it is NULL. */
export function elementsAt(args: readonly Value[], call: FunctionCall, index: number): Value[] {
  return partsOf(args[index], call.type.args[index]);
}

/** Elements of a list, fields of a struct, keys and values of a map in turns; none of NULL. */
export function partsOf(value: Value, type: DataType | undefined): NestedPart[] {
  return value instanceof Uint8Array && type !== undefined && isNested(type) ? decodeNested(type, value) : [];
}

/** The result of a call, made of parts. @throws DbError RuntimeResourcesExhausted */
export function resultOf(call: FunctionCall, parts: readonly Value[]): Present {
  return nestedOf(call.type.result, parts);
}

/** A nested value. @throws DbError RuntimeResourcesExhausted */
export function nestedOf(type: DataType, parts: readonly Value[]): Present {
  if (!isNested(type)) throw new Error(`only nested values have parts; got ${type.kind}`);
  return encodeNested(type, parts);
}
