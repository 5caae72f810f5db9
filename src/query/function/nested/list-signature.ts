/** The usual shapes of functions on lists, so that a line of a function table can name one. */
import { type DataType, INT64, isNested, NULL, STRING } from "../../../column/data-type.ts";
import { canCast } from "../../../value/cast.ts";
import { commonType } from "../signature/common-type.ts";
import type { FunctionType, ScalarFunction } from "../signature/scalar-function.ts";
import { elementType, listOf } from "./parts.ts";

type Resolve = ScalarFunction["resolve"];

const isInteger = (type: DataType): boolean => type.kind === "int" || type.kind === "null";

/** The type that elements of one list have: like `commonType`, but text among others makes text of all. */
export function commonElement(types: readonly DataType[]): DataType | undefined {
  let type: DataType = NULL;
  for (const next of types) {
    const met = meeting(type, next);
    if (met === undefined) return undefined;
    type = met;
  }
  return type;
}

function meeting(a: DataType, b: DataType): DataType | undefined {
  const text = a.kind === "string" ? b : b.kind === "string" ? a : undefined;
  if (text !== undefined && text.kind !== "null") return !isNested(text) && canCast(text, STRING) ? STRING : undefined;
  if (a.kind === "list" && b.kind === "list") {
    const element = meeting(a.element, b.element);
    return element && listOf(element);
  }
  return commonType(a, b);
}

/** One list, and then `wholes` whole numbers of which those after `optionalFrom` may be left out. */
export function list(result: (element: DataType) => DataType, wholes = 0, optionalFrom: number = wholes): Resolve {
  return (args) => {
    const [first, ...rest] = args;
    const element = elementType(first);
    if (element === undefined || rest.length > wholes || rest.length < optionalFrom || !rest.every(isInteger)) return undefined;
    return { args: [listOf(element), ...rest.map(() => INT64)], result: result(element) };
  };
}

/** A list and a value that is compared with its elements, and then whole numbers. */
export function listAndElement(result: (element: DataType) => DataType, wholes = 0, optionalFrom: number = wholes): Resolve {
  return ([first, value, ...rest]) => {
    const element = elementType(first);
    if (element === undefined || value === undefined) return undefined;
    if (rest.length > wholes || rest.length < optionalFrom || !rest.every(isInteger)) return undefined;
    const type = commonType(element, value);
    return type && { args: [listOf(type), type, ...rest.map(() => INT64)], result: result(type) };
  };
}

/** A list and a value that becomes one of its elements; `swapped`: the value comes first. */
export function listAndNew(swapped: boolean): Resolve {
  return (args) => {
    const [first, value] = swapped ? args.toReversed() : args;
    const element = elementType(first);
    if (element === undefined || value === undefined || args.length !== 2) return undefined;
    const type = commonElement([element, value]);
    if (type === undefined) return undefined;
    return { args: swapped ? [type, listOf(type)] : [listOf(type), type], result: listOf(type) };
  };
}

/** Two lists whose elements meet. */
export function twoLists(result: (element: DataType) => DataType): Resolve {
  return ([a, b, ...rest]): FunctionType | undefined => {
    const [first, second] = [elementType(a), elementType(b)];
    const type = first === undefined || second === undefined || rest.length > 0 ? undefined : commonType(first, second);
    return type && { args: [listOf(type), listOf(type)], result: result(type) };
  };
}

/** The same function under several names. */
export function named(names: string, make: (name: string) => ScalarFunction): readonly ScalarFunction[] {
  return names.split(" ").map(make);
}
