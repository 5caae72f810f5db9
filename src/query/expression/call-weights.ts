/**
 * What an evaluation may cost before it is given up, in weights: about the letters and bytes that slow functions look at.
 *
 *   an allowance ─► a call spends its weight ─► … ─► a weight that is left no more ─► TooLong: whoever gave the allowance decides
 *
 * Without an allowance everything is computed at once.
 */
import { type DataType, isNested } from "../../column/data-type.ts";
import type { FunctionType, ScalarFunction } from "../function/signature/scalar-function.ts";
import { NANOS_PER_UNIT } from "../../value/time-units.ts";
import { intervalNanos, isInterval, type Value } from "../function/value/value.ts";

/** Weight of an allowance: about 5 ms of the slower functions, such as regular expressions. */
const LONG_WEIGHT = 32_768;
/** How much lighter is what the runtime does in one go, such as `upper`, numbers out of text, comparisons. */
const NATIVE_PART = 1 / 64;
/** Cells of a table of distances are quick. */
const CELL_PART = 1 / 64;
/** Letters of a pattern that cost as much as one: a text may fit so far at each of its places. */
const PATTERN_PART = 1 / 32;

/** What is thrown where an allowance does not suffice. */
class TooLong extends Error {}

/** One for all: a stack would tell nothing. */
const tooLong = new TooLong("an evaluation is too long to be made here");

/** What is left of the allowance of what runs now. */
let left = Number.POSITIVE_INFINITY;

/** Says that an evaluation took too long. */
export const TOO_LONG: unique symbol = Symbol("too long");

/** See the file header. Belongs to one loop over rows: what is left for the next row is what the last one left. */
export class Allowance {
  private readonly whole: number;
  private left: number;

  constructor(whole: number = LONG_WEIGHT) {
    this.whole = whole;
    this.left = whole;
  }

  /** What `work` gives, unless that takes too long. */
  within<T>(work: () => T): T | typeof TOO_LONG {
    const before = left;
    ({ left } = this);
    try {
      return work();
    } catch (thrown) {
      if (thrown === tooLong) return TOO_LONG;
      throw thrown;
    } finally {
      this.left = left;
      left = before;
    }
  }

  /** Whether there is nothing left for another row. */
  get isSpent(): boolean {
    return this.left < 0;
  }

  /** Takes what a row costs beside its calls. */
  take(weight: number): void {
    this.left -= weight;
  }

  /** Begins anew, once others had a turn. */
  renew(): void {
    this.left = this.whole;
  }
}

/** What `work` gives, or undefined when it is too long to be waited for. */
export function unlessLong<T>(work: () => T): T | undefined {
  const result = new Allowance().within(work);
  return result === TOO_LONG ? undefined : result;
}

/** Takes from the allowance. Throws what `Allowance.within` waits for when there is not as much. */
function spend(weight: number): void {
  if (left === Number.POSITIVE_INFINITY) return;
  if (!(weight <= left)) throw tooLong; // NaN is refused, too
  left -= Math.max(0, weight);
}

/** Takes what a row costs beside its calls from the allowance; false: there was nothing left. */
export function takeRow(weight: number): boolean {
  if (left < 0) return false;
  left -= weight;
  return true;
}

/** Called before each call of a function. */
export function spendOnCall(called: ScalarFunction, args: readonly Value[], type: FunctionType): void {
  if (left !== Number.POSITIVE_INFINITY) spend(Math.max(1, weightOf(called, args, type)));
}

/** Called before each cast of a value. */
export function spendOnCast(value: Value, to: DataType): void {
  if (typeof value === "string") {
    const isNative = to.kind === "string" || to.kind === "int" || to.kind === "float" || to.kind === "decimal";
    spend(value.length * (isNative ? NATIVE_PART : 1));
  } else if (value instanceof Uint8Array) spend(value.length * (isNested(to) || to.kind === "string" ? 1 : NATIVE_PART));
}

/** Called before a text is tested against a pattern. */
export function spendOnLike(text: Value, pattern: Value): void {
  const [length, letters] = [lengthOf(text), lengthOf(pattern)];
  spend(letters + length * NATIVE_PART * Math.max(1, letters * PATTERN_PART));
}

/** Called before two values are compared, or one is looked up. */
export function spendOnComparison(a: Value, b: Value): void {
  spend(Math.min(lengthOf(a), lengthOf(b)) * NATIVE_PART);
}

const NATIVE: ReadonlySet<string> = new Set(
  (
    "length char_length character_length len octet_length bit_length ascii lower lcase upper ucase concat concat_op concat_ws contains " +
    "starts_with ends_with repeat space md5 sha1 sha2 sha224 sha256 sha384 sha512 digest strpos instr position to_base64"
  ).split(" "),
);

/** Functions that look for one text in another: at worst at each place for as long as it fits. */
const SEARCHES: ReadonlySet<string> = new Set(
  "contains strpos instr position locate replace split_part substr_index find_in_set matches_term".split(" "),
);

/** About how much work a call is: the sizes of its arguments, and of its result where few letters ask for much. */
function weightOf({ name }: ScalarFunction, args: readonly Value[], { args: types }: FunctionType): number {
  let size = args.length;
  for (const value of args) size += lengthOf(value);
  switch (name) {
    case "repeat":
      return Number(args[1] ?? 0) * (lengthOf(args[0]) * NATIVE_PART);
    case "space":
      return Number(args[0] ?? 0) * NATIVE_PART;
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
    case "h3_grid_disk":
    case "h3_grid_disk_distances":
      return 6 * Number(args[1] ?? 0) ** 2;
    case "h3_cell_to_children":
    case "h3_grid_path_cells":
      return LONG_WEIGHT; // How many there are hangs on the cells.
    default:
      return ofLetters(name, size, args);
  }
}

/** Work that hangs on the lengths of texts and lists. */
function ofLetters(name: string, size: number, args: readonly Value[]): number {
  if (name.startsWith("regex") || name.endsWith("similar_op")) return size * Math.max(1, lengthOf(args[1]) * PATTERN_PART);
  const weight = NATIVE.has(name) ? size * NATIVE_PART : size;
  return SEARCHES.has(name) ? weight + Math.min(lengthOf(args[0]), lengthOf(args[1])) * size * NATIVE_PART * NATIVE_PART : weight;
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
