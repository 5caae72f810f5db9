/** The aggregate functions, one line each. */
import { BOOLEAN, type DataType, FLOAT64, INT64, STRING, UINT64 } from "../../../column/data-type.ts";
import type { FunctionType } from "../signature/scalar-function.ts";
import type { Accumulator, AggregateFunction } from "./accumulator.ts";
import { allOrAny, bitwise, distinct, endpoint, extreme, joined, nthValue, quantile } from "./choices.ts";
import { collected, geoPath, geoPathType, listType } from "./lists.ts";
import { jsonPath, pathType } from "./paths.ts";
import { conditionType, countIf, mode, modeType, picked, pickedType } from "./picks.ts";
import { correlation, covariance, REGRESSIONS, regression } from "./regression.ts";
import { approximatePercentile, hllMerge, hllState, hllType, isNumber, percentileType, stateType, uddState, uddType } from "./sketches.ts";
import {
  average,
  averageType,
  countRows,
  mergedVariance,
  numberToFloat,
  sumFloats,
  sumIntegers,
  sumType,
  VARIANCES,
  variance,
} from "./sums.ts";
import { vectorFold, vectorType } from "./vector-sums.ts";

type Create = AggregateFunction["create"];
type Resolve = AggregateFunction["resolve"];

function aggregate(
  name: string,
  signature: string,
  resolve: Resolve,
  create: Create,
  kernel?: NonNullable<AggregateFunction["kernel"]>,
): AggregateFunction {
  const keepsNull =
    ["count", "first", "last"].includes(kernel ?? "") || ["approx_distinct", "count_hash", "nth_value", "array_agg"].includes(name);
  return { name, signature: `${name}(${signature})`, resolve, create, skipsNull: !keepsNull, ...(kernel === undefined ? {} : { kernel }) };
}

const oneToCount =
  (result: DataType): Resolve =>
  (args) =>
    args.length === 1 ? { args, result } : undefined;
/** `count()` counts rows, as `count(*)` does. */
const counted: Resolve = (args) => ({ args, result: INT64 });
const same: Resolve = ([type, ...rest]) => (type !== undefined && rest.length === 0 ? { args: [type], result: type } : undefined);
const ordered: Resolve = (args) => (args[0] !== undefined && ["json", "vector"].includes(args[0].kind) ? undefined : same(args));
const twoFloats: Resolve = (args) =>
  args.length === 2 && args.every(isNumber) ? { args: [FLOAT64, FLOAT64], result: FLOAT64 } : undefined;
const twoToCount: Resolve = (args) => (twoFloats(args) === undefined ? undefined : { args: [FLOAT64, FLOAT64], result: UINT64 });
const nth: Resolve = ([type, n, ...rest]) =>
  type !== undefined && rest.length === 0 && n?.kind === "int" ? { args: [type, INT64], result: type } : undefined;
const integer: Resolve = ([type, ...rest]) => {
  const given = type?.kind === "null" ? INT64 : type;
  return given?.kind === "int" && rest.length === 0 ? { args: [given], result: given } : undefined;
};
const boolean: Resolve = ([type, ...rest]) =>
  (type?.kind === "boolean" || type?.kind === "null") && rest.length === 0 ? { args: [BOOLEAN], result: BOOLEAN } : undefined;
const text: Resolve = (args) => (args.length === 2 ? { args: [STRING, STRING], result: STRING } : undefined);
/** One number to its own type. */
const middle: Resolve = ([type, ...rest]): FunctionType | undefined =>
  type === undefined || !isNumber(type) || rest.length > 0 ? undefined : same([type.kind === "null" ? FLOAT64 : type]);
const approximateMiddle: Resolve = (args) => middle(args.map((type) => (type.kind === "decimal" ? FLOAT64 : type)));
/** A number and a portion to a float; of Float32 to Float32. */
const portion: Resolve = ([type, wanted, ...rest]) => {
  if (type === undefined || wanted === undefined || rest.length > 0 || !isNumber(type) || !isNumber(wanted)) return undefined;
  const result = type.kind === "float" ? type : FLOAT64;
  return { args: [result, FLOAT64], result };
};

const sum: Create = (type) => (type.result.kind === "float" ? sumFloats() : sumIntegers(type));
const countDistinct: Create = (_, reserve): Accumulator => distinct(countRows(), reserve);

const ALL: readonly AggregateFunction[] = [
  aggregate("count", "* | value, …", counted, countRows, "count"),
  aggregate("sum", "number or duration", sumType, sum, "sum"),
  aggregate("avg", "number or duration", averageType, average, "avg"),
  aggregate("mean", "number or duration", averageType, average, "avg"),
  aggregate("min", "value", ordered, extreme(-1), "min"),
  aggregate("max", "value", ordered, extreme(1), "max"),
  aggregate("first_value", "value [ORDER BY …]", same, endpoint(false), "first"),
  aggregate("last_value", "value [ORDER BY …]", same, endpoint(true), "last"),
  aggregate("median", "number", middle, quantile(0.5)),
  aggregate("approx_median", "number", approximateMiddle, approximatePercentile(false, 0.5)),
  ...["percentile_cont", "quantile_cont"].map((name) => aggregate(name, "number, portion", portion, quantile(undefined))),
  aggregate("approx_percentile_cont", "number, portion[, centroids]", percentileType(false), approximatePercentile(false)),
  aggregate(
    "approx_percentile_cont_with_weight",
    "number, weight, portion[, centroids]",
    percentileType(true),
    approximatePercentile(true),
  ),
  ...Object.entries(REGRESSIONS).map(([name, finish]) =>
    aggregate(name, "y, x", name === "regr_count" ? twoToCount : twoFloats, regression(finish, name === "regr_count")),
  ),
  aggregate("hll", "value", hllType, hllState),
  aggregate("hll_merge", "state", stateType, hllMerge),
  aggregate("uddsketch_state", "buckets, error, number", uddType(false), uddState),
  aggregate("uddsketch_merge", "buckets, error, state", uddType(true), uddState),
  aggregate(
    "vec_sum",
    "vector",
    vectorType,
    vectorFold("vec_sum", (a, b) => a + b, false),
  ),
  aggregate(
    "vec_product",
    "vector",
    vectorType,
    vectorFold("vec_product", (a, b) => a * b, false),
  ),
  aggregate(
    "vec_avg",
    "vector",
    vectorType,
    vectorFold("vec_avg", (a, b) => a + b, true),
  ),
  aggregate("json_encode_path", "latitude, longitude, time", pathType, jsonPath),
  aggregate("geo_path", "latitude, longitude, time", geoPathType, geoPath),
  { ...aggregate("array_agg", "value [ORDER BY …]", listType, collected), distinctKeepsNull: true },
  aggregate("nth_value", "value, n [ORDER BY …]", nth, nthValue),
  ...Object.entries(VARIANCES).map(([name, kind]) => aggregate(name, "number", numberToFloat, variance(kind))),
  ...["covar", "covar_samp"].map((name) => aggregate(name, "number, number", twoFloats, covariance("sample"))),
  aggregate("covar_pop", "number, number", twoFloats, covariance("population")),
  aggregate("corr", "number, number", twoFloats, correlation),
  aggregate("bool_and", "boolean", boolean, allOrAny(true)),
  aggregate("bool_or", "boolean", boolean, allOrAny(false)),
  aggregate(
    "bit_and",
    "integer",
    integer,
    bitwise((a, b) => a & b),
  ),
  aggregate(
    "bit_or",
    "integer",
    integer,
    bitwise((a, b) => a | b),
  ),
  aggregate(
    "bit_xor",
    "integer",
    integer,
    bitwise((a, b) => a ^ b),
  ),
  aggregate("string_agg", "text, separator", text, joined),
  aggregate("group_concat", "text, … [ORDER BY …] [SEPARATOR text]", text, joined),
  ...["arg_max", "max_by", "argmax"].map((name) => aggregate(name, "value, by", pickedType, picked(1))),
  ...["arg_min", "min_by", "argmin"].map((name) => aggregate(name, "value, by", pickedType, picked(-1))),
  aggregate("mode", "value[, greatest]", modeType, mode),
  // Any value will do, and the least is one that is found in loops, in parts, and is the same each time.
  ...["any_value", "arbitrary"].map((name) => aggregate(name, "value", ordered, extreme(-1), "min")),
  aggregate("every", "condition", boolean, allOrAny(true)),
  ...["count_if", "countif"].map((name) => aggregate(name, "condition", conditionType, countIf)),
  aggregate("approx_distinct", "value", oneToCount(UINT64), countDistinct),
  aggregate("count_hash", "value", oneToCount(INT64), countDistinct),
];
const BY_NAME: ReadonlyMap<string, AggregateFunction> = new Map(ALL.map((entry) => [entry.name, entry]));

/** What puts parts of variances together: from counts, means and variances (`operator/parallel/two-phase.ts`). No client can call them. */
const OF_PARTS: ReadonlyMap<string, AggregateFunction> = new Map(
  Object.entries(VARIANCES).map(([name, kind]) => {
    const made = aggregate(`${name} of parts`, "count, mean, variance", () => undefined, mergedVariance(kind));
    return [made.name, made] as const;
  }),
);

/** The aggregate that a call names (lower-case), or undefined. */
export function aggregateNamed(name: string): AggregateFunction | undefined {
  return BY_NAME.get(name);
}

/** The aggregate of a name, also of one that puts parts together. */
export function anyAggregateNamed(name: string): AggregateFunction | undefined {
  return BY_NAME.get(name) ?? OF_PARTS.get(name);
}

/** All names, for suggestions. */
export function aggregateNames(): readonly string[] {
  return [...BY_NAME.keys()];
}
