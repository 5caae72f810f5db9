/** The usual shapes of function types, so that a line of a function table can name one. */
import { BOOLEAN, type DataType, FLOAT32, FLOAT64, INT64, STRING, UINT64 } from "../../../column/data-type.ts";
import { commonNumber, type NumberType } from "./common-type.ts";
import type { FunctionType, ScalarFunction } from "./scalar-function.ts";

type Resolve = ScalarFunction["resolve"];

/** Whether a type is a number. */
export const isNumeric = (type: DataType): boolean => type.kind === "int" || type.kind === "float";
const numericOrNull = (type: DataType): boolean => isNumeric(type) || type.kind === "null";
/** What casts to a float without being one. */
const floatable = (type: DataType): boolean => numericOrNull(type) || type.kind === "decimal";
/** Whether values of a type turn into text without loss of meaning. */
const textual = (type: DataType): boolean => !["json", "vector", "list", "struct", "map"].includes(type.kind);

/** Whether a type is text, or NULL without a type. */
export const isString = (type: DataType | undefined): boolean => type?.kind === "string" || type?.kind === "null";

/** No arguments. */
export function constant(result: DataType): Resolve {
  return (args) => (args.length === 0 ? { args: [], result } : undefined);
}

/** `count` numbers as floats, to a float; Float32 stays Float32 when every argument is one. */
export function floats(count: number, countMin: number = count): Resolve {
  return (args) => {
    if (args.length > count || args.length < countMin || !args.every(floatable)) return undefined;
    const type = args.length > 0 && args.every((arg) => arg.kind === "float" && arg.bits === 32) ? FLOAT32 : FLOAT64;
    return { args: args.map(() => type), result: type };
  };
}

/** One number or decimal to the same type. */
export const sameNumber: Resolve = (args) => {
  const [type] = args;
  return args.length === 1 && type !== undefined && floatable(type) ? { args: [type], result: type } : undefined;
};

/** Two or more integers (64 bits) to one. */
export function integers(count: number): Resolve {
  return (args) =>
    args.length === count && args.every((arg) => arg.kind === "int" || arg.kind === "null")
      ? { args: args.map(() => INT64), result: INT64 }
      : undefined;
}

/** What `typed` tells apart: "text" takes anything printable, "string" text alone, "integer" any integer. */
export type ArgumentKind = "text" | "string" | "integer" | "number";

/** Arguments given one by one. Those after `optionalFrom` may be left out. */
export function typed(kinds: readonly ArgumentKind[], result: DataType, optionalFrom: number = kinds.length): Resolve {
  return (args) => {
    if (args.length > kinds.length || args.length < optionalFrom) return undefined;
    const types: DataType[] = [];
    for (const [i, arg] of args.entries()) {
      const kind = kinds[i];
      if ((kind === "text" && textual(arg)) || (kind === "string" && isString(arg))) types.push(STRING);
      else if (kind === "integer" && (arg.kind === "int" || arg.kind === "null")) types.push(INT64);
      else if (kind === "number" && floatable(arg)) types.push(FLOAT64);
      else return undefined;
    }
    return { args: types, result };
  };
}

/** Any number of texts, at least `countMin`. */
export function texts(countMin: number, result: DataType): Resolve {
  return (args) => (args.length >= countMin && args.every(textual) ? { args: args.map(() => STRING), result } : undefined);
}

/** Exactly these types, or NULL in their places. */
export function exactly(types: readonly DataType["kind"][], result: (args: readonly DataType[]) => DataType): Resolve {
  return (args) => {
    if (args.length !== types.length || !args.every((arg, i) => arg.kind === types[i] || arg.kind === "null")) return undefined;
    return { args, result: result(args) };
  };
}

/** One argument of any type to a Boolean. */
export const anyToBoolean: Resolve = (args) => (args.length === 1 ? { args, result: BOOLEAN } : undefined);

/** Two integers for bit operations: the type where both meet, but UInt64 beside a signed one. */
export const bits: Resolve = (args): FunctionType | undefined => {
  if (args.length !== 2 || !args.every((arg) => arg.kind === "int" || arg.kind === "null")) return undefined;
  const unsigned = args.some((arg) => arg.kind === "int" && !arg.signed && arg.bits === 64);
  const wholes = args.filter((arg) => arg.kind === "int");
  const [a = INT64 as NumberType, b = a] = wholes;
  const type = unsigned ? UINT64 : commonNumber(a, b);
  return { args: [type, type], result: type };
};
