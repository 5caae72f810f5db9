/** What an aggregate keeps for one group, and how it grows. The scalar form: exact, for every type, one value at a time. */
import type { DataType } from "../../../column/data-type.ts";
import type { FunctionType } from "../scalar-function.ts";
import type { Value } from "../value.ts";

/** State of one aggregate for one group. */
export interface Accumulator {
  /** Takes one row's arguments. Rows that FILTER drops are never given. */
  add(args: readonly Value[]): void;
  /** The aggregate of what was added. */
  result(): Value;
}

/** Counts bytes that accumulators hold; throws when a query holds too many. */
export type Reserve = (bytes: number) => void;

/** An aggregate function. */
export interface AggregateFunction {
  readonly name: string;
  readonly signature: string;
  /** Types of the arguments once cast, and of the result; undefined when no form takes these. */
  readonly resolve: (args: readonly DataType[]) => FunctionType | undefined;
  /** Rows whose first argument is NULL are left out. */
  readonly skipsNull: boolean;
  /** With DISTINCT, NULL counts as a value too. */
  readonly distinctKeepsNull?: true;
  readonly create: (type: FunctionType, reserve: Reserve) => Accumulator;
  /** What generated loops call it, when they know it. */
  readonly kernel?: "count" | "sum" | "avg" | "min" | "max" | "first" | "last";
}
