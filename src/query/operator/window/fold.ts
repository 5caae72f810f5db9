/**
 * count, sum, avg, min and max over frames of plain numbers, each row in constant time on average whatever the frame.
 *
 * count and sums of integers are differences of running totals, which are exact. Floats would lose digits that way, and min and max
 * cannot be taken back, so these fold from both ends of a turning point: what lies before it is folded once from right to left, what
 * comes after it as it comes. When the start passes the turning point, the end of the frame is the next one.
 *
 *   frame     [s ……… turn ……… e)       result = folded[s] · tail
 *   folded          ◄────            tail  ────►
 *
 * Each row is folded at most twice.
 */
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { sumOfType } from "../../function/aggregate/sums.ts";
import type { Value } from "../../function/value/value.ts";
import type { AggregateCall } from "../node-parts/aggregate-call.ts";
import { valuesVector } from "../../expression/vector-values.ts";
import type { Frames } from "./frames.ts";
import { presence } from "./presence.ts";

/** Running totals stay exact while their magnitude is below this. */
const EXACT_MAX = 2 ** 53;

/** The arguments of an aggregate, over all sorted rows. */
export interface FoldInput {
  readonly call: AggregateCall;
  readonly args: readonly Vector[];
  /** Rows that FILTER keeps; undefined: all. */
  readonly kept: Uint8Array | undefined;
  readonly rowCount: number;
}

/** The aggregate of each frame, or undefined when it takes another way: other functions, DISTINCT, values that are no plain numbers. */
export function folded(input: FoldInput, { starts, ends }: Frames): Vector | undefined {
  const { call, args, rowCount } = input;
  const { kernel } = call.function;
  if (call.distinct || call.orderBy.length > 0 || args.length > 1 || kernel === undefined) return undefined;
  const [vector] = args;
  const counts = countsOf(vector, input.kept, rowCount);
  const inFrame = new Float64Array(rowCount);
  for (let i = 0; i < rowCount; i++) inFrame[i] = (counts[ends[i] ?? 0] ?? 0) - (counts[starts[i] ?? 0] ?? 0);
  if (kernel === "count") return { kind: "number", values: inFrame, validity: undefined };
  if (vector === undefined || (vector.kind !== "number" && vector.kind !== "time")) return undefined;
  const type = call.type.args[0] ?? { kind: "null" };
  const numbers = vector.kind === "time" ? vector.offsets : vector.values;
  const isCounted = (row: number): boolean => (counts[row + 1] ?? 0) > (counts[row] ?? 0);
  const column: Column = { numbers, isCounted, counts: inFrame, starts, ends, rowCount };
  if (kernel === "min" || kernel === "max") return extremes(column, kernel === "min", vector, call.type.result);
  if ((kernel !== "sum" && kernel !== "avg") || vector.kind === "time") return undefined;
  return type.kind === "float"
    ? floatSums(column, kernel === "avg")
    : type.kind === "int"
      ? integerSums(column, kernel, call.type.result)
      : undefined;
}

interface Column {
  readonly numbers: ArrayLike<number>;
  /** Whether a row counts: neither NULL nor filtered. */
  readonly isCounted: (row: number) => boolean;
  /** Rows of each frame that count. */
  readonly counts: Float64Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly rowCount: number;
}

/** `counts[i]`: rows before `i` that count. */
function countsOf(vector: Vector | undefined, kept: Uint8Array | undefined, rowCount: number): Uint32Array {
  const present = vector === undefined ? undefined : presence(vector, rowCount);
  const counts = new Uint32Array(rowCount + 1);
  let count = 0;
  for (let i = 0; i < rowCount; i++) {
    if (present?.[i] !== 0 && kept?.[i] !== 0) count++;
    counts[i + 1] = count;
  }
  return counts;
}

/** NULL where no row of the frame counts. */
function validityOf(counts: Float64Array): Uint8Array | undefined {
  return counts.includes(0) ? Uint8Array.from(counts, (count) => (count === 0 ? 0 : 1)) : undefined;
}

type Fold = (a: number, b: number) => number;

/** `fold` of each frame; `neutral` stands for rows that do not count. */
function folds({ numbers, isCounted, starts, ends, rowCount }: Column, fold: Fold, neutral: number): Float64Array {
  const values = new Float64Array(rowCount);
  const plain = new Float64Array(rowCount);
  for (let i = 0; i < rowCount; i++) plain[i] = isCounted(i) ? (numbers[i] ?? 0) : neutral;
  const before = new Float64Array(rowCount);
  let [turn, end, tail] = [0, 0, neutral];
  for (let i = 0; i < rowCount; i++) {
    const [start = 0, to = 0] = [starts[i], ends[i]];
    if (start >= turn) {
      turn = Math.max(to, start);
      let value = neutral;
      for (let row = turn - 1; row >= start; row--) {
        value = fold(plain[row] ?? 0, value);
        before[row] = value;
      }
      end = turn;
      tail = neutral;
    }
    for (; end < to; end++) tail = fold(tail, plain[end] ?? 0);
    values[i] = start < turn ? fold(before[start] ?? 0, tail) : tail;
  }
  return values;
}

function floatSums(column: Column, isAverage: boolean): Vector {
  const values = folds(column, (a, b) => a + b, 0);
  const { counts } = column;
  if (isAverage) for (let i = 0; i < values.length; i++) values[i] = (values[i] ?? 0) / (counts[i] ?? 1);
  return { kind: "number", values, validity: validityOf(counts) };
}

/** NaN is above every number: it loses against all in min and wins in max. */
function extremes(column: Column, isMin: boolean, vector: Extract<Vector, { kind: "number" | "time" }>, type: DataType): Vector {
  const values = isMin
    ? folds(column, (a, b) => (a < b || b !== b ? a : b), Number.NaN)
    : folds(column, (a, b) => (a > b || a !== a ? a : b), Number.NEGATIVE_INFINITY);
  const validity = validityOf(column.counts);
  // Under NULL stands what no array of whole numbers holds.
  for (let i = 0; i < values.length; i++) if (validity?.[i] === 0) values[i] = 0;
  if (vector.kind === "time") return { ...vector, offsets: values, validity };
  return { kind: "number", values: type.kind === "float" && type.bits === 32 ? new Float32Array(values) : values, validity };
}

function integerSums(column: Column, kernel: "sum" | "avg", type: DataType): Vector {
  const { numbers, isCounted, counts, starts, ends, rowCount } = column;
  let largest = 0;
  for (let i = 0; i < rowCount; i++) if (isCounted(i)) largest = Math.max(largest, Math.abs(numbers[i] ?? 0));
  const isAverage = kernel === "avg";
  if (largest * rowCount >= EXACT_MAX) return wideSums(column, isAverage, type);
  const totals = new Float64Array(rowCount + 1);
  for (let i = 0; i < rowCount; i++) totals[i + 1] = (totals[i] ?? 0) + (isCounted(i) ? (numbers[i] ?? 0) : 0);
  const values = new Float64Array(rowCount);
  for (let i = 0; i < rowCount; i++) {
    const sum = (totals[ends[i] ?? 0] ?? 0) - (totals[starts[i] ?? 0] ?? 0);
    values[i] = isAverage ? sum / (counts[i] ?? 1) : sum;
  }
  return { kind: "number", values, validity: validityOf(counts) };
}

/** The same on totals that doubles do not hold. */
function wideSums({ numbers, isCounted, counts, starts, ends, rowCount }: Column, isAverage: boolean, type: DataType): Vector {
  const totals: bigint[] = [0n];
  let total = 0n;
  for (let i = 0; i < rowCount; i++) {
    if (isCounted(i)) total += BigInt(numbers[i] ?? 0);
    totals.push(total);
  }
  const values = Array.from({ length: rowCount }, (_, i): Value => {
    const count = counts[i] ?? 0;
    if (count === 0) return undefined;
    const sum = (totals[ends[i] ?? 0] ?? 0n) - (totals[starts[i] ?? 0] ?? 0n);
    return isAverage ? Number(sum) / count : sumOfType(sum, type);
  });
  return valuesVector(type, values);
}
