/** Functions on numbers. */
import { assert } from "../../../base/assert.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { BOOLEAN, type DataType, FLOAT32, FLOAT64, INT64, UINT64 } from "../../../column/data-type.ts";
import { arithmetic } from "../number/arithmetic.ts";
import { asDecimal, decimalArithmetic, decimalResult } from "../value/decimal.ts";
import { executionError } from "../value/execution-error.ts";
import { type DecimalRounding, roundedDecimal, roundedDecimalType } from "../number/decimal-rounding.ts";
import { fits } from "../../../value/integer-range.ts";
import { type Integer, overflow } from "../value/integer.ts";
import { alias, type FunctionCall, type FunctionType, lenient, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { bits, constant, exactly, floats, integers, isNumeric, sameNumber } from "../signature/signature.ts";
import { addIntervals } from "../time/interval.ts";
import { compareValues, exactInteger, isInterval, type Present, textOf, type Value } from "../value/value.ts";

const num = (value: Present | undefined): number => Number(value);

/** A function from floats to a float that JavaScript has under `Math`. */
function math(name: string, count = 1): ScalarFunction {
  const source = `Math.${MATH_NAMES[name] ?? name}`;
  const run = (Math as unknown as Record<string, (...args: number[]) => number>)[MATH_NAMES[name] ?? name];
  if (run === undefined) throw new Error(`Math has no ${name}`);
  return float(`${name}(${count === 1 ? "number" : "number, number"})`, count, run, (args) => `${source}(${args.join(", ")})`);
}

const MATH_NAMES: Readonly<Record<string, string>> = { ln: "log" };

function float(
  signature: string,
  count: number,
  run: (...args: number[]) => number,
  emit?: (args: readonly string[]) => string,
): ScalarFunction {
  const evaluate = (args: readonly Present[], call: FunctionCall): number => narrow(run(...args.map(num)), call);
  return strict(signature, floats(count), evaluate, emit === undefined ? {} : { emit });
}

const narrow = (value: number, call: FunctionCall): number => (isFloat32(call.type.result) ? Math.fround(value) : value);
const isFloat32 = (type: DataType): boolean => type.kind === "float" && type.bits === 32;

/** Rounds half away from zero, as SQL does. */
function roundHalfAway(value: number, digits: number): number {
  if (!Number.isFinite(value)) return value;
  const scale = 10 ** digits;
  const scaled = Math.abs(value) * scale;
  if (scale === 0) return 0;
  // A float of this size has no digits that could be rounded away.
  if (scaled >= 2 ** 53 && digits >= 0) return value;
  // 1.005 * 100 is just below 100.5; decimal text of 15 digits tells what was meant.
  const rounded = Math.round(Number(scaled.toPrecision(15)));
  const result = scale >= 1 && Number.isInteger(digits) && digits > 0 ? Number(`${rounded}e${-digits}`) : rounded / scale;
  return value < 0 || Object.is(value, -0) ? -result : result;
}

function truncate(value: number, digits = 0): number {
  const scale = 10 ** digits;
  if (scale === 0) return Number.isNaN(value) ? value : 0;
  return Number.isFinite(value * scale) ? Math.trunc(value * scale) / scale : value;
}

function magnitude(value: Present, type: DataType): Value {
  if (type.kind === "decimal") return Number(value) < 0 ? exactInteger(-BigInt(value as number | bigint)) : value;
  if (type.kind !== "int") return Math.abs(num(value));
  const result = typeof value === "bigint" ? exactInteger(value < 0n ? -value : value) : Math.abs(num(value));
  if (!fits(result, type)) throw overflow(`abs(${textOf(value)})`, type);
  return result;
}

function negate(value: Present, type: DataType): Value {
  if (isInterval(value)) return addIntervals({ months: 0, days: 0, nanos: 0n }, value, -1);
  if (type.kind === "duration") return -BigInt(value as bigint);
  if (type.kind === "decimal") return exactInteger(-BigInt(value as number | bigint));
  return type.kind === "int" ? arithmetic("-", 0, value, type) : -num(value);
}

const negatable: ScalarFunction["resolve"] = (args) => {
  const [type] = args;
  if (args.length !== 1 || type === undefined) return undefined;
  if (type.kind === "int" && !type.signed) return { args: [INT64], result: INT64 };
  return isNumeric(type) || ["interval", "duration", "decimal", "null"].includes(type.kind) ? { args: [type], result: type } : undefined;
};

const roundType: ScalarFunction["resolve"] = (args) => {
  const [value, digits] = args;
  if (value?.kind === "decimal") return roundedDecimalType(value, args);
  if (value === undefined || args.length > 2 || !(isNumeric(value) || value.kind === "null")) return undefined;
  const type = isFloat32(value) ? FLOAT32 : FLOAT64;
  if (digits === undefined) return { args: [type], result: type };
  return digits.kind === "int" || digits.kind === "null" ? { args: [type, INT64], result: type } : undefined;
};

/** `floor` and `ceil`: as the function of floats, and exact on decimals. */
function wholeNumber(how: "floor" | "ceil", onFloats: ScalarFunction): ScalarFunction {
  return {
    ...onFloats,
    resolve: (args) => (args.length === 1 && args[0]?.kind === "decimal" ? roundedDecimalType(args[0], args) : onFloats.resolve(args)),
    evaluate: (args, call) => onDecimal(how, args[0], undefined, call) ?? onFloats.evaluate(args, call),
  };
}

function onDecimal(how: DecimalRounding, x: Value, digits: Value, { type }: FunctionCall): Value {
  const [from] = type.args;
  if (from?.kind !== "decimal" || type.result.kind !== "decimal") return undefined;
  return roundedDecimal(how, x as number | bigint, from, digits === undefined ? 0 : num(digits), type.result);
}

/** Operations on bits keep those that the type has; shifts go round at its width. */
function bitwise(signature: string, run: (a: bigint, b: bigint, bits: number) => bigint): ScalarFunction {
  return strict(signature, bits, ([a, b], call) => {
    const { result } = call.type;
    assert(result.kind === "int", "bit operations are resolved to whole numbers");
    const value = run(BigInt(a as number | bigint), BigInt(b as number | bigint), result.bits);
    return exactInteger(result.signed ? BigInt.asIntN(result.bits, value) : BigInt.asUintN(result.bits, value));
  });
}

function greatestDivisor(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

const leastMultiple = (a: bigint, b: bigint): bigint => (a === 0n || b === 0n ? 0n : greatestDivisor(a * b, 0n) / greatestDivisor(a, b));

/** A result of 64 bits. @throws DbError EngineExecuteQuery beyond */
function fitting(value: bigint, operation: string): Value {
  if (value === BigInt.asIntN(64, value)) return exactInteger(value);
  throw overflow(operation, INT64);
}

function factorial(value: number): Value {
  if (value > 20 || value < 0)
    throw new DbError(StatusCode.EngineExecuteQuery, `cannot compute factorial(${value}): the argument must be 0..20`);
  let result = 1n;
  for (let i = 2; i <= value; i++) result *= BigInt(i);
  return exactInteger(result);
}

const big = (value: Present | undefined): bigint => BigInt(value as number | bigint);
const signum = float("signum(number)", 1, (x) => Math.sign(x) + 0);
/** As in C: 1 to any power is 1, NaN and infinity among them, and -1 to infinity is 1. JavaScript's is NaN. */
const power = float(
  "power(number, number)",
  2,
  (x, y) => (x === 1 || (x === -1 && Math.abs(y) === Number.POSITIVE_INFINITY) ? 1 : x ** y),
  ([x, y]) => `(${x} === 1 || (${x} === -1 && Math.abs(${y}) === Infinity) ? 1 : (${x}) ** (${y}))`,
);
const ceil = wholeNumber("ceil", math("ceil"));
const MODULO: ScalarFunction["resolve"] = (args) => {
  const [a, b] = args.map(asDecimal);
  if (args.length === 2 && a !== undefined && b !== undefined && args.some((arg) => arg.kind === "decimal"))
    return { args: [a, b], result: decimalResult("%", a, b) };
  if (args.length !== 2 || !args.every((arg) => isNumeric(arg) || arg.kind === "null" || arg.kind === "decimal")) return undefined;
  const areWhole = args.every((arg) => arg.kind === "int" || arg.kind === "null");
  const areUnsigned = args.every((arg) => arg.kind === "int" && arg.bits === 64 && !arg.signed);
  const type = areUnsigned ? UINT64 : areWhole ? INT64 : FLOAT64;
  return { args: [type, type], result: type };
};

function modulo(a: Present, b: Present, { args: [left, right], result }: FunctionType): Value {
  if (left?.kind !== "decimal" || right?.kind !== "decimal" || result.kind !== "decimal") return arithmetic("%", a, b, result);
  return decimalArithmetic("%", a as Integer, left, b as Integer, right, result);
}

/** `clamp*` of whole numbers stay whole, as long as one type of 64 bits holds them all. */
function clamped(count: number): ScalarFunction["resolve"] {
  const asFloats = floats(count);
  return (args) => {
    const isUnsigned = args.map((type) => type.kind === "int" && !type.signed && type.bits === 64);
    const type = isUnsigned.every(Boolean) ? UINT64 : INT64;
    if (args.length !== count || !args.every(({ kind }) => kind === "int") || (type === INT64 && isUnsigned.includes(true)))
      return asFloats(args);
    return { args: args.map(() => type), result: type };
  };
}

const smaller = (a: Present, b: Present): Present => (compareValues(a, b) <= 0 ? a : b);
const larger = (a: Present, b: Present): Present => (compareValues(a, b) >= 0 ? a : b);

/** The functions of this file. */
export const MATH_FUNCTIONS: readonly ScalarFunction[] = [
  strict("abs(number)", sameNumber, ([x], call) => magnitude(x as Present, call.type.result), { emit: ([x]) => `Math.abs(${x})` }),
  ...[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "exp",
    "ln",
    "log10",
    "log2",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
  ].map((name) => math(name)),
  math("atan2", 2),
  ceil,
  alias("ceiling", ceil),
  wholeNumber("floor", math("floor")),
  float("cot(number)", 1, (x) => 1 / Math.tan(x)),
  float("degrees(number)", 1, (x) => (x * 180) / Math.PI),
  float("radians(number)", 1, (x) => (x * Math.PI) / 180),
  strict("factorial(integer)", integers(1), ([x]) => factorial(num(x))),
  strict("gcd(integer, integer)", integers(2), ([a, b]) => fitting(greatestDivisor(big(a), big(b)), `gcd(${big(a)}, ${big(b)})`)),
  strict("lcm(integer, integer)", integers(2), ([a, b]) => fitting(leastMultiple(big(a), big(b)), `lcm(${big(a)}, ${big(b)})`)),
  strict(
    "isnan(number)",
    (args) => (floats(1)(args) === undefined ? undefined : { args: [FLOAT64], result: BOOLEAN }),
    ([x]) => Number.isNaN(x),
  ),
  strict(
    "iszero(number)",
    (args) => (floats(1)(args) === undefined ? undefined : { args: [FLOAT64], result: BOOLEAN }),
    ([x]) => x === 0,
  ),
  strict("log([base, ]number)", floats(2, 1), ([x, y]) => (y === undefined ? Math.log10(num(x)) : Math.log(num(y)) / Math.log(num(x)))),
  strict("mod(number, number)", MODULO, ([a, b], { type }) => modulo(a as Present, b as Present, type)),
  lenient("nanvl(number, number)", floats(2), ([x, y]) => (Number.isNaN(x) ? y : x)),
  strict("negate(value)", negatable, ([x], call) => negate(x as Present, call.type.result)),
  strict("pi()", constant(FLOAT64), () => Math.PI),
  power,
  alias("pow", power),
  strict("random()", constant(FLOAT64), () => Math.random(), { volatility: "volatile" }),
  strict("rand()", constant(FLOAT64), () => Math.random(), { volatility: "volatile" }),
  strict(
    "round(number[, digits])",
    roundType,
    ([x, digits], call) =>
      onDecimal("round", x, digits, call) ?? narrow(roundHalfAway(num(x), digits === undefined ? 0 : num(digits)), call),
  ),
  strict(
    "trunc(number[, digits])",
    roundType,
    ([x, digits], call) => onDecimal("trunc", x, digits, call) ?? narrow(truncate(num(x), digits === undefined ? 0 : num(digits)), call),
  ),
  signum,
  alias("sign", signum),
  strict("clamp(number, min, max)", clamped(3), ([x, low, high]) => clamp(x as Present, low as Present, high as Present)),
  strict("clamp_min(number, min)", clamped(2), ([x, low]) => larger(x as Present, low as Present)),
  strict("clamp_max(number, max)", clamped(2), ([x, high]) => smaller(x as Present, high as Present)),
  bitwise("bit_and_op(integer, integer)", (a, b) => a & b),
  bitwise("bit_or_op(integer, integer)", (a, b) => a | b),
  bitwise("bit_xor_op(integer, integer)", (a, b) => a ^ b),
  bitwise("shift_left_op(integer, integer)", (a, b, width) => a << (b & BigInt(width - 1))),
  bitwise("shift_right_op(integer, integer)", (a, b, width) => a >> (b & BigInt(width - 1))),
  strict("bit_not_op(integer)", integers(1), ([x]) => exactInteger(~big(x))),
  strict(
    "to_hex(integer)",
    exactly(["int"], () => ({ kind: "string" })),
    ([x]) => BigInt.asUintN(64, big(x)).toString(16),
  ),
];

function clamp(value: Present, low: Present, high: Present): Present {
  if (compareValues(low, high) <= 0) return smaller(larger(value, low), high);
  throw executionError(`min '${textOf(low)}' > max '${textOf(high)}'`);
}
