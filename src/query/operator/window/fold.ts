/**
 * count, sum, avg, min and max over frames of plain numbers, each row in constant time on average whatever the frame.
 *
 * Integers that leave are subtracted again, which is exact. Floats would lose digits that way, and min and max cannot be taken back:
 * `two-ends.ts`.
 */
import type { AggregateCall } from "../node-parts/aggregate-call.ts";
import type { FrameNumbers } from "./frame-numbers.ts";
import { type Counted, type Fold, NumberFrame, type NumberResults } from "./number-frame.ts";
import { TwoEnds } from "./two-ends.ts";
import type { Hold } from "./frame-walk.ts";

/**
 * The frames of an aggregate, or undefined when it takes another way: other functions, DISTINCT, values that are no plain numbers.
 *
 * @param leave whether rows leave before all do. @param blockNumbers as of `TwoEnds`
 */
export function foldedFrames(call: AggregateCall, leave: boolean, hold: Hold, blockNumbers?: number): NumberFrame | undefined {
  const { kernel } = call.function;
  if (call.distinct || call.orderBy.length > 0 || call.args.length > 1 || kernel === undefined) return undefined;
  const fold = foldOf(kernel, call.type.args[0]?.kind, hold, blockNumbers);
  if (fold === undefined) return undefined;
  const counted: Counted = {
    rowsAlone: kernel === "count",
    keepsTimes: kernel === "min" || kernel === "max",
    skipsNan: false,
    hasFilter: call.filter !== undefined,
    leave,
    result: call.type.result,
  };
  return new NumberFrame(fold, counted, hold);
}

function foldOf(kernel: string, argument: string | undefined, hold: Hold, blockNumbers: number | undefined): Fold | undefined {
  const isAverage = kernel === "avg";
  switch (kernel) {
    case "count":
      return new Count();
    // NaN is above every number: it loses against all in min and wins in max.
    case "min":
      return new NumberFold((a, b) => (a < b || b !== b ? a : b), Number.NaN, false, hold, blockNumbers);
    case "max":
      return new NumberFold((a, b) => (a > b || a !== a ? a : b), Number.NEGATIVE_INFINITY, false, hold, blockNumbers);
    case "sum":
    case "avg":
      if (argument === "float") return new NumberFold((a, b) => a + b, 0, isAverage, hold, blockNumbers);
      return argument === "int" ? new IntegerSum(isAverage) : undefined;
    default:
      return undefined;
  }
}

class Count implements Fold {
  add(): void {
    // Numbers that are there are counted anyway.
  }

  drop(): void {
    // As above.
  }

  clear(): void {
    // As above.
  }

  put(i: number, count: number, results: NumberResults): void {
    results.set(i, count);
  }
}

/** A sum of integers of any size: what doubles hold exactly, and what goes beyond. */
class IntegerSum implements Fold {
  private low = 0;
  private high = 0n;
  private readonly isAverage: boolean;

  constructor(isAverage: boolean) {
    this.isAverage = isAverage;
  }

  add(value: number): void {
    const sum = this.low + value;
    if (sum <= Number.MAX_SAFE_INTEGER && sum >= -Number.MAX_SAFE_INTEGER) this.low = sum;
    else {
      this.high += BigInt(this.low);
      this.low = value;
    }
  }

  drop({ values }: FrameNumbers, from: number, to: number): void {
    for (let i = from; i < to; i++) this.add(-(values[i] as number));
  }

  clear(): void {
    this.low = 0;
    this.high = 0n;
  }

  put(i: number, count: number, results: NumberResults): void {
    if (count === 0) return;
    const { low, high, isAverage } = this;
    if (isAverage) results.set(i, (high === 0n ? low : Number(high + BigInt(low))) / count);
    else if (high === 0n) results.set(i, low);
    else results.setExact(i, high + BigInt(low));
  }
}

/** Of numbers whose fold cannot be taken back. */
class NumberFold implements Fold {
  private readonly ends: TwoEnds<number>;
  private readonly isAverage: boolean;

  constructor(fold: (a: number, b: number) => number, neutral: number, isAverage: boolean, hold: Hold, blockNumbers?: number) {
    this.ends = new TwoEnds((value) => value, fold, neutral, hold, blockNumbers);
    this.isAverage = isAverage;
  }

  add(value: number): void {
    this.ends.add(value);
  }

  drop(numbers: FrameNumbers, from: number, to: number): void {
    this.ends.drop(numbers, from, to);
  }

  clear(): void {
    this.ends.clear();
  }

  put(i: number, count: number, results: NumberResults): void {
    if (count > 0) results.set(i, this.isAverage ? this.ends.value / count : this.ends.value);
  }
}
