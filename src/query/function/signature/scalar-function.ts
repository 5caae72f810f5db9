/**
 * What a scalar function is. Adding one is adding one line to a table in `*-functions.ts`.
 */
import type { DataType } from "../../../column/data-type.ts";
import type { ColumnFunction } from "./column-function.ts";
import type { Environment } from "./environment.ts";
import type { Present, Value } from "../value/value.ts";

/** Types that a call is made with once its arguments are cast, and the type of its result. */
export interface FunctionType {
  readonly args: readonly DataType[];
  readonly result: DataType;
}

/** What an implementation may read besides its arguments. */
export interface FunctionCall {
  readonly type: FunctionType;
  readonly environment: Environment;
}

/** How far a result may be reused: for ever, within one statement, or not at all. */
export type Volatility = "immutable" | "stable" | "volatile";

/** A scalar function. */
export interface ScalarFunction {
  readonly name: string;
  /** The types of a call, or undefined when no form of the function takes these arguments. */
  readonly resolve: (args: readonly DataType[]) => FunctionType | undefined;
  /** For error messages: "round(number[, digits])". */
  readonly signature: string;
  /** `propagate`: a NULL argument gives NULL and `evaluate` is not called. */
  readonly nulls: "propagate" | "own";
  readonly volatility: Volatility;
  readonly evaluate: (args: readonly Value[], call: FunctionCall) => Value;
  /** The same on JavaScript numbers as source text, for generated loops; only for functions from floats to a float. */
  readonly emit?: (args: readonly string[]) => string;
  /** The same on whole columns, where arguments are texts. */
  readonly columns?: ColumnFunction;
  /** Whether it reads the catalogue (`Environment.objects`), which only the main thread has. */
  readonly readsCatalog?: boolean;
}

/** What a table line may add to its function. */
export interface FunctionOptions {
  readonly volatility?: Volatility;
  readonly emit?: (args: readonly string[]) => string;
  readonly columns?: ColumnFunction;
  readonly readsCatalog?: boolean;
}

/** A function that is NULL when an argument is. `signature` begins with the function's name. */
export function strict(
  signature: string,
  resolve: ScalarFunction["resolve"],
  evaluate: (args: readonly Present[], call: FunctionCall) => Value,
  options: FunctionOptions = {},
): ScalarFunction {
  const run = evaluate as ScalarFunction["evaluate"]; // the caller keeps NULL away
  return { ...lenient(signature, resolve, run, options), nulls: "propagate" };
}

/** A function that sees NULL arguments. */
export function lenient(
  signature: string,
  resolve: ScalarFunction["resolve"],
  evaluate: ScalarFunction["evaluate"],
  options: FunctionOptions = {},
): ScalarFunction {
  return {
    name: nameOf(signature),
    resolve,
    signature,
    nulls: "own",
    volatility: options.volatility ?? "immutable",
    evaluate,
    ...(options.emit !== undefined && { emit: options.emit }),
    ...(options.columns !== undefined && { columns: options.columns }),
    ...(options.readsCatalog === true && { readsCatalog: true }),
  };
}

/** The same function under another name. */
export function alias(name: string, of: ScalarFunction): ScalarFunction {
  return { ...of, name, signature: of.signature.replace(of.name, name) };
}

const nameOf = (signature: string): string => signature.slice(0, signature.indexOf("("));
