/** count, sum, avg and the statistics that follow from sums. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { type DataType, displayName, FLOAT64, INT64, UINT64 } from "../../../column/data-type.ts";
import { checkedDecimal, decimalAverage, decimalAverageType, decimalSumType } from "../value/decimal.ts";
import { executionError } from "../value/execution-error.ts";
import type { FunctionType } from "../signature/scalar-function.ts";
import { isNumeric } from "../signature/signature.ts";
import { exactInteger, type Value } from "../value/value.ts";
import type { Accumulator } from "./accumulator.ts";

/** Counts rows; rows with NULL in any argument do not count. */
export function countRows(): Accumulator {
  let count = 0;
  return {
    add(args) {
      if (!args.includes(undefined)) count++;
    },
    result: () => count,
  };
}

/** Type of `sum`: Int64 for signed integers, UInt64 for unsigned ones, Float64 for floats, decimals with ten digits more, durations. */
export function sumType(args: readonly DataType[]): FunctionType | undefined {
  const [type] = args;
  if (args.length !== 1 || type === undefined) return undefined;
  if (type.kind === "int") return { args: [type], result: type.signed ? INT64 : UINT64 };
  if (type.kind === "float") return { args: [type], result: FLOAT64 };
  if (type.kind === "decimal") return { args: [type], result: decimalSumType(type) };
  if (type.kind === "duration") return { args: [type], result: type };
  if (type.kind === "string") return { args: [FLOAT64], result: FLOAT64 };
  return type.kind === "null" ? { args: [INT64], result: INT64 } : undefined;
}

/**
 * Type of `avg`: Float64, decimals with four digits more for decimals, durations for durations.
 *
 * @throws DbError EngineExecuteQuery for a NULL without a type, of which the interface says that there is no average
 */
export function averageType(args: readonly DataType[]): FunctionType | undefined {
  const [type] = args;
  if (args.length === 1 && type?.kind === "null")
    throw executionError("cannot average NULL: it has no type; cast it, e.g. avg(NULL::DOUBLE)");
  if (args.length === 1 && type?.kind === "duration") return { args: [type], result: type };
  return args.length === 1 && type?.kind === "decimal" ? { args: [type], result: decimalAverageType(type) } : numberToFloat(args);
}

/** One number to Float64. */
export function numberToFloat(args: readonly DataType[]): FunctionType | undefined {
  const [type] = args;
  if (args.length !== 1 || type === undefined) return undefined;
  return isNumeric(type)
    ? { args: [type], result: FLOAT64 }
    : type.kind === "null" || type.kind === "string" || type.kind === "decimal"
      ? { args: [FLOAT64], result: FLOAT64 }
      : undefined;
}

/** An exact sum of integers: a double while it is provably exact, a bigint beyond. */
class ExactSum {
  private small = 0;
  private big = 0n;
  count = 0;

  add(value: number | bigint): void {
    this.count++;
    if (typeof value === "bigint") {
      this.big += value;
      return;
    }
    const next = this.small + value;
    if (Number.isSafeInteger(next)) this.small = next;
    else {
      this.big += BigInt(this.small) + BigInt(value);
      this.small = 0;
    }
  }

  get total(): bigint {
    return this.big + BigInt(this.small);
  }
}

/** `sum` of integers and decimals. @throws DbError EngineExecuteQuery when a decimal has too many digits */
export function sumIntegers({ result }: FunctionType): Accumulator {
  const sum = new ExactSum();
  return {
    add: ([value]) => sum.add(value as number | bigint),
    result: () => (sum.count === 0 ? undefined : sumOfType(sum.total, result)),
  };
}

/** A sum as a value of its type. @throws DbError EngineExecuteQuery when it is beyond 64 bits, or a decimal has too many digits */
export function sumOfType(total: bigint, type: DataType): Value {
  if (type.kind === "decimal") return checkedDecimal(total, type);
  const isUnsigned = type.kind === "int" && !type.signed;
  if (total !== (isUnsigned ? BigInt.asUintN(64, total) : BigInt.asIntN(64, total))) {
    const hint = type.kind === "int" ? "; sum it as DECIMAL(38, 0) or DOUBLE" : "";
    throw new DbError(StatusCode.EngineExecuteQuery, `Arithmetic overflow: sum is ${total}, which is no ${displayName(type)}${hint}`);
  }
  return type.kind === "duration" ? total : exactInteger(total);
}

/** Wide enough for any sum of 64-bit integers: what parts of a sum are, so that only the whole can be too large. */
export const EXACT_SUM: DataType = { kind: "decimal", precision: 38, scale: 0 };

/** `sum` of floats. */
export function sumFloats(): Accumulator {
  let [sum, count] = [0, 0];
  return {
    add([value]) {
      sum += Number(value);
      count++;
    },
    result: () => (count === 0 ? undefined : sum),
  };
}

/** `avg`: of integers and decimals the exact sum divided once. */
export function average({ args: [type], result }: FunctionType): Accumulator {
  if (type?.kind === "decimal" && result.kind === "decimal") {
    const sum = new ExactSum();
    return {
      add: ([value]) => sum.add(value as number | bigint),
      result: () => (sum.count === 0 ? undefined : decimalAverage(sum.total, sum.count, type, result)),
    };
  }
  if (type?.kind === "int" || type?.kind === "duration") {
    const sum = new ExactSum();
    const quotient = (): Value => (type.kind === "int" ? Number(sum.total) / sum.count : sum.total / BigInt(sum.count));
    return {
      add: ([value]) => sum.add(value as number | bigint),
      result: () => (sum.count === 0 ? undefined : quotient()),
    };
  }
  let [sum, count] = [0, 0];
  return {
    add([value]) {
      sum += Number(value);
      count++;
    },
    result: () => (count === 0 ? undefined : sum / count),
  };
}

/** Which variance a function gives. */
export interface VarianceKind {
  /** Divides by n - 1. */
  readonly sample: boolean;
  /** Its root, the standard deviation. */
  readonly root: boolean;
}

/** The functions that are a variance of one number. */
export const VARIANCES: Readonly<Record<string, VarianceKind>> = {
  stddev: { sample: true, root: true },
  stddev_samp: { sample: true, root: true },
  stddev_pop: { sample: false, root: true },
  std: { sample: false, root: true },
  var: { sample: true, root: false },
  var_samp: { sample: true, root: false },
  var_sample: { sample: true, root: false },
  var_pop: { sample: false, root: false },
  var_population: { sample: false, root: false },
  variance: { sample: false, root: false },
};

/** The variance of so many numbers from the sum of the squares of their distances to the mean. */
function varianceOf({ sample, root }: VarianceKind, count: number, squares: number): number | undefined {
  const divisor = sample ? count - 1 : count;
  if (divisor < 1) return undefined;
  return root ? Math.sqrt(squares / divisor) : squares / divisor;
}

/** Variance by Welford's method, which loses no digits when the mean is large. */
export function variance(kind: VarianceKind): () => Accumulator {
  return () => {
    let [count, mean, squares] = [0, 0, 0];
    return {
      add([value]) {
        const x = Number(value);
        count++;
        const delta = x - mean;
        mean += delta / count;
        squares += delta * (x - mean);
      },
      result: () => varianceOf(kind, count, squares),
    };
  };
}

/**
 * The variance of several lots of numbers, from the count, the mean and the population's variance of each (Chan, Golub, LeVeque 1979: as
 * exact as adding the numbers one by one).
 */
export function mergedVariance(kind: VarianceKind): () => Accumulator {
  return () => {
    let [count, mean, squares] = [0, 0, 0];
    return {
      add([added, otherMean, otherVariance]) {
        const more = Number(added);
        if (more === 0) return;
        const delta = Number(otherMean) - mean;
        const all = count + more;
        // Of the first lot nothing is added to nothing: its own statistics are exact.
        squares =
          count === 0 ? Number(otherVariance) * more : squares + Number(otherVariance) * more + delta * delta * ((count * more) / all);
        mean = count === 0 ? Number(otherMean) : mean + delta * (more / all);
        count = all;
      },
      result: () => varianceOf(kind, count, squares),
    };
  };
}
