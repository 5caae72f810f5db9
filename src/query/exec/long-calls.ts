/**
 * Calls of functions that take long on one row, such as `array_intersect` of a million elements, run on a thread of their own, so that
 * this one goes on meanwhile. Evaluators wait for nobody; so a row whose call is not there yet is given up, and its piece of rows computed
 * again once the call has its result:
 *
 *   piece of rows ─► … call is long ─► LATER is thrown ─► thread computes ─► the piece again, with that result ─► …
 *
 * Results are known by function and arguments, so it does not matter in which order a piece asks for them. Whoever cannot begin again (see
 * `longCall`) computes the call at once. While a statement is planned, calls that are long stay as they are and are no constants.
 */
import { throwIfCancelled } from "../../base/cancel.ts";
import type { DataType } from "../../column/data-type.ts";
import type { Environment } from "../function/environment.ts";
import { functionNamed } from "../function/registry.ts";
import type { FunctionCall, FunctionType, ScalarFunction } from "../function/scalar-function.ts";
import { NANOS_PER_UNIT } from "../function/time/time-units.ts";
import { intervalNanos, isInterval, type Value } from "../function/value.ts";
import { operandsOf, type TypedExpression } from "../plan/expression.ts";

/** Weight from which a call is long: about 5 ms of the slower functions, such as regular expressions. */
const LONG_WEIGHT = 32_768;
/** How much lighter functions are that the runtime does in one go, such as `upper`. */
const NATIVE_PART = 1 / 64;
/** Cells of a table of distances are quick. */
const CELL_PART = 1 / 64;
/** Long calls of one piece of rows whose results are kept until the piece is done. */
const KNOWN_MAX = 4096;

/** A call as plain data. */
export interface CallJob {
  readonly name: string;
  readonly type: FunctionType;
  readonly args: readonly Value[];
  readonly environment: Pick<Environment, "now" | "timeZone" | "database">;
}

/** Where long calls run. */
export interface LongCalls {
  /** @throws DbError what the function throws, Cancelled when the signal fires */
  call(job: CallJob, signal: AbortSignal): Promise<Value>;
}

interface Known {
  readonly called: ScalarFunction;
  readonly args: readonly Value[];
  readonly result: { readonly value: Value } | { readonly error: unknown };
}

/** What is thrown where a result is not there yet. */
class Later extends Error {
  readonly called: ScalarFunction;
  readonly args: readonly Value[];
  readonly call: FunctionCall;

  constructor(called: ScalarFunction, args: readonly Value[], call: FunctionCall) {
    super(`${called.name}() is computed elsewhere first`);
    this.called = called;
    this.args = args;
    this.call = call;
  }
}

/** What is thrown where a call is too long to be made while a statement is planned. */
class TooLong extends Error {}

/** What becomes of long calls that are met now: they run here, are waited for, or are given up. */
let met: readonly Known[] | "given up" | undefined;

const NATIVE: ReadonlySet<string> = new Set(
  (
    "length char_length character_length len octet_length bit_length ascii lower lcase upper ucase concat concat_op concat_ws contains " +
    "starts_with ends_with repeat space md5 sha1 sha2 sha224 sha256 sha384 sha512 digest strpos instr position to_base64"
  ).split(" "),
);

/** About how much work a call is: the sizes of its arguments, and of its result where few letters ask for much. */
function weightOf({ name }: ScalarFunction, args: readonly Value[], { args: types }: FunctionType): number {
  let size = 0;
  for (const value of args) size += lengthOf(value);
  switch (name) {
    case "repeat":
      return Number(args[1] ?? 0) * (lengthOf(args[0]) * NATIVE_PART);
    case "lpad":
    case "rpad":
      return size + Math.max(Number(args[1] ?? 0), 0);
    case "levenshtein":
      return lengthOf(args[0]) * lengthOf(args[1]) * CELL_PART;
    case "array_repeat":
    case "list_repeat":
    case "array_resize":
    case "list_resize":
      return size + Math.max(Number(args[1] ?? 0), 0);
    case "range":
    case "generate_series":
      return seriesLength(args, types[0]) * 2;
    default:
      return NATIVE.has(name) ? size * NATIVE_PART : size;
  }
}

const lengthOf = (value: Value): number => (typeof value === "string" || value instanceof Uint8Array ? value.length : 0);

/** How many elements a series has. */
function seriesLength(args: readonly Value[], type: DataType | undefined): number {
  const [first, last = first, step] = args;
  if (first === undefined || isInterval(first) || isInterval(last)) return 0;
  if (step !== undefined && isInterval(step)) {
    const nanos = Math.abs(Number(intervalNanos(step)));
    const unit = type?.kind === "timestamp" ? Number(NANOS_PER_UNIT[type.unit]) : 86_400e9;
    return nanos === 0 ? 0 : (Math.abs(Number(last) - Number(first)) * unit) / nanos;
  }
  const from = args.length === 1 ? 0 : Number(first);
  const to = args.length === 1 ? Number(first) : Number(last);
  return Math.abs((to - from) / Math.max(1, Math.abs(Number(step ?? 1))));
}

type CallExpression = Extract<TypedExpression, { kind: "call" }>;

/** Values of long calls that read no column: computed once, whatever rows there are. */
const constants = new WeakMap<TypedExpression, { readonly value: Value }>();

/** The value of a call, which may be long. @throws DbError; what `withLongCalls` and `unlessLong` wait for */
export function longCall(expression: CallExpression, args: readonly Value[], call: FunctionCall): Value {
  const called = expression.function;
  if (weightOf(called, args, call.type) < LONG_WEIGHT) return called.evaluate(args, call);
  if (met === "given up") throw new TooLong("a call is too long to be made here");
  const constant = constants.get(expression);
  if (constant !== undefined) return constant.value;
  if (met === undefined) {
    const value = called.evaluate(args, call);
    if (isConstant(expression)) constants.set(expression, { value });
    return value;
  }
  for (const known of met) {
    if (known.called !== called || !sameArguments(known.args, args)) continue;
    if ("error" in known.result) throw known.result.error;
    if (isConstant(expression)) constants.set(expression, known.result);
    return known.result.value;
  }
  if (called.volatility === "volatile" || functionNamed(called.name) !== called) return called.evaluate(args, call);
  throw new Later(called, args, call);
}

function isConstant(expression: TypedExpression): boolean {
  if (expression.kind === "column" || expression.kind === "parameter") return false;
  if (expression.kind === "call" && expression.function.volatility === "volatile") return false;
  return operandsOf(expression).every(isConstant);
}

function sameArguments(a: readonly Value[], b: readonly Value[]): boolean {
  return a.length === b.length && a.every((value, i) => sameValue(value, b[i]));
}

function sameValue(a: Value, b: Value): boolean {
  if (a instanceof Uint8Array) return b instanceof Uint8Array && (a === b || (a.length === b.length && Buffer.compare(a, b) === 0));
  if (a !== undefined && isInterval(a))
    return b !== undefined && isInterval(b) && a.months === b.months && a.days === b.days && a.nanos === b.nanos;
  return Object.is(a, b);
}

/** Who makes long calls. */
interface Caller {
  /** Undefined: they run here. */
  readonly calls?: LongCalls | undefined;
  readonly signal: AbortSignal;
  readonly environment: Environment;
}

/** What `work` gives, or undefined when it meets a call that is too long to be waited for. `work` must change nothing. */
export function unlessLong<T>(work: () => T): T | undefined {
  const before = met;
  met = "given up";
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof TooLong) return undefined;
    throw thrown;
  } finally {
    met = before;
  }
}

/**
 * What `work` gives, with its long calls made elsewhere. It runs again after each of them, so it must change nothing that it reads; where
 * there is no other place it runs once.
 *
 * @throws DbError what `work` throws, Cancelled
 */
export async function withLongCalls<T>(work: () => T, { calls, signal, environment }: Caller): Promise<T> {
  if (calls === undefined) return work();
  const { now, timeZone, database } = environment;
  const known: Known[] = [];
  for (;;) {
    const before = met;
    met = known;
    let later: Later;
    try {
      return work();
    } catch (thrown) {
      if (!(thrown instanceof Later)) throw thrown;
      later = thrown;
    } finally {
      met = before;
    }
    throwIfCancelled(signal);
    const { called, args, call } = later;
    const job: CallJob = { name: called.name, type: call.type, args, environment: { now, timeZone, database } };
    const result = await calls.call(job, signal).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    throwIfCancelled(signal);
    if (known.length === KNOWN_MAX) known.shift();
    known.push({ called, args, result });
  }
}
