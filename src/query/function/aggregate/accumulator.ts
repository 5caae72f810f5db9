/** What an aggregate keeps for one group, and how it grows. The scalar form: exact, for every type, one value at a time. */
import type { DataType } from "../../../column/data-type.ts";
import type { FunctionType } from "../signature/scalar-function.ts";
import type { Value } from "../value/value.ts";

/** State of one aggregate for one group. */
export interface Accumulator {
  /** Takes one row's arguments. Rows that FILTER drops are never given. */
  add(args: readonly Value[]): void;
  /** The aggregate of what was added. */
  result(): Value;
  /** `result` in steps, where that may take long; undefined: it is quick. Nothing is added between the steps. */
  steps?(): Generator<void, Value> | undefined;
}

/** Counts bytes that accumulators hold; throws when a query holds too many. */
export type Reserve = (bytes: number) => void;

/** Counts what a state has grown to: only more than ever before is reserved, since a budget takes nothing back until the query ends. */
export function growth(reserve: Reserve): (heldBytes: number) => void {
  let held = 0;
  return (now) => {
    if (now <= held) return;
    reserve(now - held);
    held = now;
  };
}

/** Bytes of a value that no entry of a fixed size counts, about: text in memory and once more as the bytes of the answer. */
export function textBytes(value: Value): number {
  return typeof value === "string" || value instanceof Uint8Array ? value.length * 2 : 0;
}

/** A value that outlives the batch it came from: bytes lie on the batch's memory. */
export function owned<V extends Value>(value: V): V {
  return value instanceof Uint8Array ? (value.slice() as Uint8Array & V) : value; // slice keeps the type
}

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
