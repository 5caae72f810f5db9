/**
 * Rows whose value does not come behind that of one row, its bound, in an order: of values as they lie in a column, so that most rows of a
 * top-N are ruled out before they have keys. 5M times against a bound: 45 ms by keys, 6 so (processor time of clickbench q24).
 */
import type { CodedVector, NumberArray, Vector } from "../../../column/vector.ts";
import { arrayLoop } from "./array-loop.ts";
import { compareTexts, type TextKey } from "./row-keys.ts";

type Loop = (v: NumberArray, m: undefined, count: number, bound: number, selection: Uint32Array) => number;

const PARAMETERS = ["v", "m", "count", "bound", "selection"];

/**
 * Positions of rows `[0, rowCount)` that do not come behind the bound, ascending; undefined where keys have to tell: NULLs, NaN, kinds that
 * are neither numbers nor times. `bound` is a vector of one row.
 */
export function notBehind(vector: Vector, bound: Vector, rowCount: number, descending: boolean): Uint32Array | undefined {
  const [values, most] = numbersOf(vector, bound);
  if (values === undefined || most === undefined || Number.isNaN(most)) return undefined;
  const selection = new Uint32Array(rowCount);
  const count = loopFor(values, descending)(values, undefined, rowCount, most, selection);
  return selection.subarray(0, count);
}

/** NaN is above all numbers: last in ascending order, first in descending. */
function loopFor(values: NumberArray, descending: boolean): Loop {
  const wanted = descending ? "!(v[i] < bound)" : "v[i] <= bound";
  return arrayLoop(descending ? "not-behind-desc" : "not-behind", PARAMETERS, values, undefined, () => {
    return `let k = 0;\nfor (let i = 0; i < count; i++) {\nselection[k] = i;\nif (${wanted}) k++;\n}\nreturn k;`;
  });
}

/** The values of a vector, and the bound among them. */
function numbersOf(vector: Vector, bound: Vector): readonly [values?: NumberArray, bound?: number | undefined] {
  if (vector.kind === "number" && bound.kind === "number" && vector.validity === undefined && bound.validity === undefined) {
    return [vector.values, bound.values[0]];
  }
  if (vector.kind !== "time" || bound.kind !== "time" || vector.validity !== undefined || bound.validity !== undefined) return [];
  // Beyond 2^53 it rounds, and is beyond all offsets still.
  return [vector.offsets, Number(bound.base - vector.base) + (bound.offsets[0] as number)];
}

const UNKNOWN = 0;
const BEFORE = 1;
const BEHIND = 2;

/** The same of texts by code, each of which is compared once for a bound. */
export class TextBound {
  private readonly bound: TextKey;
  private entries: CodedVector["entries"] | undefined;
  /** The entries as keys. */
  private keys: TextKey | undefined;
  private states: Uint8Array = new Uint8Array(0);

  /** @param bound a key of one row, which is not NULL */
  constructor(bound: TextKey) {
    this.bound = bound;
  }

  /** Positions of rows `[0, rowCount)` that do not come behind the bound, ascending. */
  notBehind({ codes, entries }: CodedVector, rowCount: number): Uint32Array {
    if (this.entries !== entries) {
      this.entries = entries;
      this.keys = { ...this.bound, offsets: entries.starts, bytes: entries.bytes, codes: undefined, validity: undefined };
      this.states = new Uint8Array(entries.size);
      this.states[0] = this.bound.nullsFirst ? BEFORE : BEHIND;
    }
    const { states } = this;
    const selection = new Uint32Array(rowCount);
    let count = 0;
    for (let row = 0; row < rowCount; row++) {
      const code = codes[row]!;
      if (states[code] === UNKNOWN) states[code] = this.stateOf(code);
      selection[count] = row;
      count += states[code] === BEFORE ? 1 : 0;
    }
    return selection.subarray(0, count);
  }

  private stateOf(code: number): number {
    const { keys, bound } = this;
    return keys === undefined || compareTexts(keys, code, bound, 0, 0) <= 0 ? BEFORE : BEHIND;
  }
}
