/** Functions that choose between their arguments; their types are unified by the planner before they are called. */
import { BOOLEAN, type DataType, NULL } from "../../../column/data-type.ts";
import { eitherText, firstPresent, nullWhereEqual } from "../columns/choose.ts";
import { chosenType, commonType } from "../signature/common-type.ts";
import { compareDecimals } from "../value/decimal.ts";
import type { Integer } from "../value/integer.ts";
import { alias, lenient, type ScalarFunction } from "../signature/scalar-function.ts";
import { anyToBoolean } from "../signature/signature.ts";
import { compareValues, type Value } from "../value/value.ts";

/** At least `countMin` arguments of one common type, which is also the result. @param meet where two of them meet */
function unified(
  countMin: number,
  countMax: number = Number.POSITIVE_INFINITY,
  meet: typeof commonType = chosenType,
): ScalarFunction["resolve"] {
  return (args) => {
    if (args.length < countMin || args.length > countMax) return undefined;
    const type = args.reduce<DataType | undefined>((a, b) => (a === undefined ? undefined : meet(a, b)), NULL);
    return type === undefined ? undefined : { args: args.map(() => type), result: type };
  };
}

function extreme(args: readonly Value[], sign: 1 | -1): Value {
  let best: Value;
  for (const value of args) if (value !== undefined && (best === undefined || compareValues(value, best) * sign > 0)) best = value;
  return best;
}

/** Text beside JSON is read as JSON: `coalesce(json_agg(x), '[]')`. */
const firstOf: ScalarFunction["resolve"] = (args) => {
  const json = args.find((type) => type.kind === "json");
  const isJson = json !== undefined && args.every(({ kind }) => kind === "json" || kind === "string" || kind === "null");
  return isJson ? { args: args.map(() => json), result: json } : unified(1)(args);
};

const coalesce = lenient("coalesce(value, …)", firstOf, (args) => args.find((value) => value !== undefined), { columns: firstPresent });
const ifnull = lenient("ifnull(value, other)", unified(2, 2), ([a, b]) => a ?? b, { columns: firstPresent });
const equal = (a: Value, b: Value): boolean => a !== undefined && b !== undefined && compareValues(a, b) === 0;

const chosen: ScalarFunction["resolve"] = (args) => {
  const [condition, a, b] = args;
  const type = a === undefined || b === undefined ? undefined : chosenType(a, b);
  if (type === undefined || condition === undefined || args.length !== 3) return undefined;
  return ["boolean", "int", "float", "null"].includes(condition.kind) ? { args: [BOOLEAN, type, type], result: type } : undefined;
};

const anyTwo: ScalarFunction["resolve"] = (args) => (args.length === 2 ? { args, result: BOOLEAN } : undefined);

/** Whether two values are the same, NULL among them. The planner has brought them to one type; decimals may differ in scale. */
const isSame: ScalarFunction["evaluate"] = ([a, b], { type }) => {
  if (a === undefined || b === undefined) return a === b;
  const [x, y] = type.args;
  const scaleOf = (given: DataType | undefined): number => (given?.kind === "decimal" ? given.scale : 0);
  if (scaleOf(x) === scaleOf(y)) return compareValues(a, b) === 0;
  return compareDecimals(a as Integer, scaleOf(x), b as Integer, scaleOf(y)) === 0; // numbers of another scale are decimals or whole
};

/** The functions of this file. */
export const CONDITIONAL_FUNCTIONS: readonly ScalarFunction[] = [
  coalesce,
  ifnull,
  alias("nvl", ifnull),
  lenient("nvl2(value, then, else)", unified(3, 3), ([a, b, c]) => (a !== undefined ? b : c)),
  lenient("nullif(value, other)", unified(2, 2), ([a, b]) => (equal(a, b) ? undefined : a), { columns: nullWhereEqual }),
  // What is compared meets as in a comparison: text beside a number is read as one.
  lenient("greatest(value, …)", unified(1, undefined, commonType), (args) => extreme(args, 1)),
  lenient("least(value, …)", unified(1, undefined, commonType), (args) => extreme(args, -1)),
  lenient("if(condition, then, else)", chosen, ([condition, a, b]) => (condition === true ? a : b), { columns: eitherText }),
  lenient("is_distinct_op(value, value)", anyTwo, (args, call) => isSame(args, call) !== true),
  lenient("is_not_distinct_op(value, value)", anyTwo, isSame),
  lenient("isnull(value)", anyToBoolean, ([value]) => value === undefined),
];
