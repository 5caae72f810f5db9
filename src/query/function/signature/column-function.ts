/**
 * What a function on whole columns is: the same as `evaluate` for all rows of a batch at once, over bytes where the interpreter makes a
 * string a row. It never throws: where a row would fail, or is none that it knows, it gives undefined and the interpreter runs the batch.
 */
import type { Texts } from "../../../column/texts.ts";
import type { NumberArray, Validity } from "../../../column/vector.ts";
import type { Value } from "../value/value.ts";
import type { Environment } from "./environment.ts";

/** Numbers of rows, Booleans among them as 0 and 1. */
export interface NumberOperand {
  readonly kind: "numbers";
  readonly values: NumberArray;
  readonly validity: Validity;
}

/** Texts of rows. */
export interface TextOperand {
  readonly kind: "texts";
  readonly texts: Texts;
}

/** One value in all rows. */
export interface ConstantOperand {
  readonly kind: "constant";
  readonly value: Value;
}

/** An argument, or a result. */
export type Operand = NumberOperand | TextOperand | ConstantOperand;

/** What a call over columns may read besides its arguments. */
export interface ColumnCall {
  readonly environment: Environment;
  readonly rowCount: number;
  /** Which rows have no NULL among the arguments; undefined: all. Functions that propagate NULL give it back. */
  readonly present: Validity;
}

/** See the file header. A function that propagates NULL gets no constant that is NULL. */
export type ColumnFunction = (args: readonly Operand[], call: ColumnCall) => Operand | undefined;
