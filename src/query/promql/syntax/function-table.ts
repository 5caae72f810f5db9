/**
 * Every function of PromQL, a line each: what it takes and gives.
 */

/** What an expression gives: one number, one text, an instant vector, or a range vector. */
export type ValueType = "scalar" | "string" | "vector" | "matrix";

/** How a function is called. */
export interface FunctionSignature {
  readonly name: string;
  /** Types of the arguments; when `variadic` is not 0, the last may be absent, and further ones are of its type. */
  readonly argumentTypes: readonly ValueType[];
  /** Most arguments beyond all but the last: 0 = exactly those of `argumentTypes`, -1 = any number. */
  readonly variadic: number;
  readonly returnType: ValueType;
  /** Prometheus has it behind a feature flag; here it is always on. */
  readonly isExperimental: boolean;
}

type Line = readonly [name: string, args: string, variadic: number, result: ValueType, experimental?: "experimental"];

const LINES: readonly Line[] = [
  ["abs", "vector", 0, "vector"],
  ["absent", "vector", 0, "vector"],
  ["absent_over_time", "matrix", 0, "vector"],
  ["acos", "vector", 0, "vector"],
  ["acosh", "vector", 0, "vector"],
  ["asin", "vector", 0, "vector"],
  ["asinh", "vector", 0, "vector"],
  ["atan", "vector", 0, "vector"],
  ["atanh", "vector", 0, "vector"],
  ["avg_over_time", "matrix", 0, "vector"],
  ["ceil", "vector", 0, "vector"],
  ["changes", "matrix", 0, "vector"],
  ["clamp", "vector scalar scalar", 0, "vector"],
  ["clamp_max", "vector scalar", 0, "vector"],
  ["clamp_min", "vector scalar", 0, "vector"],
  ["cos", "vector", 0, "vector"],
  ["cosh", "vector", 0, "vector"],
  ["count_over_time", "matrix", 0, "vector"],
  ["day_of_month", "vector", 1, "vector"],
  ["day_of_week", "vector", 1, "vector"],
  ["day_of_year", "vector", 1, "vector"],
  ["days_in_month", "vector", 1, "vector"],
  ["deg", "vector", 0, "vector"],
  ["delta", "matrix", 0, "vector"],
  ["deriv", "matrix", 0, "vector"],
  ["double_exponential_smoothing", "matrix scalar scalar", 0, "vector", "experimental"],
  ["end", "", 0, "scalar", "experimental"],
  ["exp", "vector", 0, "vector"],
  ["first_over_time", "matrix", 0, "vector"],
  ["floor", "vector", 0, "vector"],
  ["histogram_avg", "vector", 0, "vector"],
  ["histogram_count", "vector", 0, "vector"],
  ["histogram_fraction", "scalar scalar vector", 0, "vector"],
  ["histogram_quantile", "scalar vector", 0, "vector"],
  ["histogram_quantiles", "vector string scalar scalar", 9, "vector", "experimental"],
  ["histogram_stddev", "vector", 0, "vector"],
  ["histogram_stdvar", "vector", 0, "vector"],
  ["histogram_sum", "vector", 0, "vector"],
  ["hour", "vector", 1, "vector"],
  ["idelta", "matrix", 0, "vector"],
  ["increase", "matrix", 0, "vector"],
  ["info", "vector vector", 1, "vector", "experimental"],
  ["integral", "matrix scalar", 1, "vector", "experimental"],
  ["irate", "matrix", 0, "vector"],
  ["label_join", "vector string string string", -1, "vector"],
  ["label_replace", "vector string string string string", 0, "vector"],
  ["last_over_time", "matrix", 0, "vector"],
  ["ln", "vector", 0, "vector"],
  ["log10", "vector", 0, "vector"],
  ["log2", "vector", 0, "vector"],
  ["mad_over_time", "matrix", 0, "vector", "experimental"],
  ["max_of", "scalar scalar", 0, "scalar", "experimental"],
  ["max_over_time", "matrix", 0, "vector"],
  ["min_of", "scalar scalar", 0, "scalar", "experimental"],
  ["min_over_time", "matrix", 0, "vector"],
  ["minute", "vector", 1, "vector"],
  ["month", "vector", 1, "vector"],
  ["pi", "", 0, "scalar"],
  ["predict_linear", "matrix scalar", 0, "vector"],
  ["present_over_time", "matrix", 0, "vector"],
  ["quantile_over_time", "scalar matrix", 0, "vector"],
  ["rad", "vector", 0, "vector"],
  ["range", "", 0, "scalar", "experimental"],
  ["rate", "matrix", 0, "vector"],
  ["resets", "matrix", 0, "vector"],
  ["round", "vector scalar", 1, "vector"],
  ["scalar", "vector", 0, "scalar"],
  ["sgn", "vector", 0, "vector"],
  ["sin", "vector", 0, "vector"],
  ["sinh", "vector", 0, "vector"],
  ["sort", "vector", 0, "vector"],
  ["sort_by_label", "vector string", -1, "vector", "experimental"],
  ["sort_by_label_desc", "vector string", -1, "vector", "experimental"],
  ["sort_desc", "vector", 0, "vector"],
  ["sqrt", "vector", 0, "vector"],
  ["start", "", 0, "scalar", "experimental"],
  ["start_timestamp", "vector", 0, "vector", "experimental"],
  ["stddev_over_time", "matrix", 0, "vector"],
  ["stdvar_over_time", "matrix", 0, "vector"],
  ["step", "", 0, "scalar", "experimental"],
  ["sum_over_time", "matrix", 0, "vector"],
  ["tan", "vector", 0, "vector"],
  ["tanh", "vector", 0, "vector"],
  ["time", "", 0, "scalar"],
  ["timestamp", "vector", 0, "vector"],
  ["ts_of_first_over_time", "matrix", 0, "vector", "experimental"],
  ["ts_of_last_over_time", "matrix", 0, "vector", "experimental"],
  ["ts_of_max_over_time", "matrix", 0, "vector", "experimental"],
  ["ts_of_min_over_time", "matrix", 0, "vector", "experimental"],
  ["vector", "scalar", 0, "vector"],
  ["year", "vector", 1, "vector"],
];

const BY_NAME: ReadonlyMap<string, FunctionSignature> = new Map(
  LINES.map(([name, args, variadic, returnType, experimental]) => [
    name,
    { name, argumentTypes: args.split(" ").filter(isValueType), variadic, returnType, isExperimental: experimental !== undefined },
  ]),
);

function isValueType(text: string): text is ValueType {
  return text === "scalar" || text === "string" || text === "vector" || text === "matrix";
}

/** All functions, by name. */
export const FUNCTIONS: readonly FunctionSignature[] = [...BY_NAME.values()];

/** The function of that name; names are in lower case. */
export function functionNamed(name: string): FunctionSignature | undefined {
  return BY_NAME.get(name);
}

/** How errors call a type. */
export function typeText(type: ValueType): string {
  switch (type) {
    case "vector":
      return "instant vector";
    case "matrix":
      return "range vector";
    case "scalar":
    case "string":
      return type;
  }
}
