/**
 * Calls on lists, structs and maps whose meaning or type hangs on the types and constants they are made with:
 *
 *   named_struct('a', 1, …)      a struct with these names
 *   get_field(x, 'a')            a field of a struct; the value of a key of a map
 *   x[i], x['a'], x[from:to]     an element or a slice of a list; what get_field gives otherwise; written as the calls `[]` and `[:]`
 *   a || b                       lists joined, or a value put before or behind one
 *   concat(list, …)              lists joined
 *   array_has(['a', 'b'], x)     x IN ('a', 'b'), where the list is constant
 */
import { BOOLEAN, type DataType, displayName, INT64, NULL, STRING } from "../../../column/data-type.ts";
import { commonType } from "../../function/signature/common-type.ts";
import { nearestName } from "../../../base/text/nearest.ts";
import { functionNamed } from "../../function/registry.ts";
import { FIELD, MAP_VALUE, NAMED_STRUCT } from "../../function/nested/member-functions.ts";
import { elementType, firstSubscript, partsOf } from "../../function/nested/parts.ts";
import type { ScalarFunction } from "../../function/signature/scalar-function.ts";
import { type Present, valueKey } from "../../function/value/value.ts";
import { arithmeticOf, castTo } from "./coerce.ts";
import type { Environment } from "../../function/signature/environment.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { fold } from "../../expression/fold.ts";
import { planError } from "./plan-error.ts";

/** The name of the call that `x[i]` is written as; no client can spell it. */
export const SUBSCRIPT = "[]";
/** The name of the call that `x[from:to:stride]` is written as. Bounds that are left out are NULL. */
export const SLICE = "[:]";

/** Binds a call of a function by name. */
export type BindCall = (found: ScalarFunction, name: string, args: readonly TypedExpression[]) => TypedExpression;

/** What a call of these names is; undefined for others. @throws DbError PlanQuery for arguments that do not go with it */
export function nestedCall(
  name: string,
  args: readonly TypedExpression[],
  environment: Environment,
  bindCall: BindCall,
): TypedExpression | undefined {
  switch (name) {
    case "named_struct":
      return namedStruct(args, environment);
    case "get_field":
      return getField(args, environment);
    case SUBSCRIPT:
      return subscript(args, environment, bindCall);
    case SLICE:
      return slice(args, bindCall);
    case "array_has":
    case "list_has":
    case "array_contains":
    case "list_contains":
      return membership(args, environment);
    case "concat":
      return args.some((argument) => argument.type.kind === "list") ? called("array_concat", args, bindCall) : undefined;
    default:
      return undefined;
  }
}

/** `array_has` of a constant list is IN, which scans can look up; undefined for other lists. NULL elements are found by nothing. */
function membership([list, value, ...rest]: readonly TypedExpression[], environment: Environment): TypedExpression | undefined {
  const element = list === undefined ? undefined : elementType(list.type);
  if (list?.kind !== "literal" || value === undefined || element === undefined || rest.length > 0) return undefined;
  const type = list.value === undefined ? undefined : commonType(element, value.type);
  const cast = type && castTo(list, { kind: "list", element: type }, environment);
  if (type === undefined || cast?.kind !== "literal") return undefined;
  const values = partsOf(cast.value, cast.type).filter((part): part is Present => part !== undefined);
  const operand = castTo(value, type, environment);
  const keys = new Set(values.map(valueKey));
  return fold({ kind: "in-set", type: BOOLEAN, operand, values, keys, hasNull: false, negated: false }, environment);
}

/** `a || b` where one is a list; undefined where none is. NULL without a type is a value, not a list. */
export function listConcatenation(left: TypedExpression, right: TypedExpression, bindCall: BindCall): TypedExpression | undefined {
  const [a, b] = [depthOf(left.type), depthOf(right.type)];
  if (a === 0 && b === 0) return undefined;
  if (a === b) return called("array_concat", [left, right], bindCall);
  return called(a > b ? "array_append" : "array_prepend", [left, right], bindCall);
}

/** How deep lists lie in a type. */
function depthOf(type: DataType): number {
  return type.kind === "list" ? 1 + depthOf(type.element) : 0;
}

function called(name: string, args: readonly TypedExpression[], bindCall: BindCall): TypedExpression {
  const found = functionNamed(name);
  if (found === undefined) throw new Error(`no function ${name}`);
  return bindCall(found, name, args);
}

/** Values as one row: what `struct(…)` makes of them. */
export function rowOf(args: readonly TypedExpression[], environment: Environment): TypedExpression {
  const found = functionNamed("struct");
  const functionType = found?.resolve(args.map((argument) => argument.type));
  if (found === undefined || functionType === undefined) throw new Error("no function struct");
  return fold({ kind: "call", type: functionType.result, function: found, functionType, args }, environment);
}

/** A field of a struct or the value of a map's key, by its name. @throws DbError PlanQuery where there is none */
export function fieldOf(value: TypedExpression, name: string, environment: Environment): TypedExpression {
  return getField([value, { kind: "literal", type: STRING, value: name }], environment);
}

function namedStruct(args: readonly TypedExpression[], environment: Environment): TypedExpression {
  if (args.length === 0 || args.length % 2 !== 0)
    throw planError(`named_struct requires pairs of a name and a value, as in named_struct('a', 1); got ${args.length} arguments`);
  const fields = args.flatMap((argument, i) => {
    if (i % 2 === 1) return [];
    if (argument.kind !== "literal" || typeof argument.value !== "string")
      throw planError(`named_struct: argument ${i + 1} is the name of a field and must be a constant text`);
    return [{ name: argument.value, type: args[i + 1]?.type ?? NULL }];
  });
  const functionType = { args: args.map((argument) => argument.type), result: { kind: "struct", fields } as const };
  return fold({ kind: "call", type: functionType.result, function: NAMED_STRUCT, functionType, args }, environment);
}

function getField(args: readonly TypedExpression[], environment: Environment): TypedExpression {
  const [value, key, ...path] = args;
  if (value === undefined || key === undefined) throw planError("get_field takes a struct or a map, and the name of a field or a key");
  if (path.length > 0) return getField([getField([value, key], environment), ...path], environment);
  const { type } = value;
  if (type.kind === "map") {
    const cast = castTo(key, type.key, environment);
    const functionType = { args: [type, type.key], result: type.value };
    return fold({ kind: "call", type: type.value, function: MAP_VALUE, functionType, args: [value, cast] }, environment);
  }
  if (type.kind === "null") return { kind: "literal", type: NULL, value: undefined };
  if (type.kind !== "struct") throw planError(`get_field takes a struct or a map, not ${displayName(type)}`);
  if (key.kind !== "literal" || typeof key.value !== "string") throw planError("the name of a field must be a constant text");
  const name = key.value;
  const field = type.fields.find((each) => each.name === name);
  if (field === undefined) {
    const names = type.fields.map((each) => each.name);
    const near = nearestName(name, names);
    const hint = near === undefined ? "" : `\nDid you mean '${near}'?`;
    throw planError(`there is no field '${name.slice(0, 80)}' in ${displayName(type)}.${hint}`);
  }
  const functionType = { args: [type, STRING], result: field.type };
  return fold({ kind: "call", type: field.type, function: FIELD, functionType, args: [value, key] }, environment);
}

function subscript(args: readonly TypedExpression[], environment: Environment, bindCall: BindCall): TypedExpression {
  const [value, key] = args;
  if (value?.type.kind === "struct" || value?.type.kind === "map") return getField(args, environment);
  if (value !== undefined && key !== undefined && elementType(value.type) === undefined)
    throw planError(
      `[] takes an element of a list, a field of a struct or the value of a map's key; ${displayName(value.type)} is none of these`,
    );
  if (value === undefined || key === undefined || firstSubscript(value.type) === 1) return called("array_element", args, bindCall);
  const one: TypedExpression = { kind: "literal", type: INT64, value: 1 };
  return called("array_element", [value, arithmeticOf("+", key, one, environment)], bindCall);
}

function slice([value, from, to, stride]: readonly TypedExpression[], bindCall: BindCall): TypedExpression {
  const bound = (given: TypedExpression | undefined, other: number): TypedExpression =>
    given === undefined || (given.kind === "literal" && given.type.kind === "null")
      ? { kind: "literal", type: { kind: "int", bits: 64, signed: true }, value: other }
      : given;
  if (value === undefined) throw planError("a slice is one of a list");
  return called("array_slice", [value, bound(from, 1), bound(to, -1), ...(stride === undefined ? [] : [stride])], bindCall);
}
