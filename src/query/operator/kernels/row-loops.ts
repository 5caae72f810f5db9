/**
 * What `segment-loops.ts` does, row by row: for rows of so many groups that a segment is a row or two. One generated loop for each array
 * class and NULL form.
 *
 *   groups, count   the group of each row          v, m   values and validity          the rest: state by group
 */
import type { NumberArray, Validity } from "../../../column/vector.ts";
import { arrayLoop } from "./array-loop.ts";
import { EXACT_SUM_MAX, type ExtremeState, INTEGER_SIZES, type SumState } from "./segment-loops.ts";

type RowLoop<S> = (
  groups: Int32Array,
  count: number,
  v: NumberArray,
  m: Validity,
  state: S,
  onLarge: (group: number, from: number, to: number) => void,
) => void;

const PARAMETERS = ["groups", "count", "v", "m", "state", "onLarge"];

function loop<S>(name: string, array: NumberArray, validity: Validity, body: (className: string) => string, before: string): RowLoop<S> {
  return arrayLoop(name, PARAMETERS, array, validity, (nullable, className) => {
    const skip = nullable ? "if (m[i] === 0) continue;\n" : "";
    return `${before}\nfor (let i = 0; i < count; i++) {\n${skip}const g = groups[i], x = v[i];\n${body(className)}\n}`;
  });
}

/** Adds floats. */
export function addFloatRows(array: NumberArray, validity: Validity): RowLoop<SumState> {
  return loop("sum-float-rows", array, validity, () => "sums[g] += x; counts[g]++;", "const { sums, counts } = state;");
}

/** Adds integers exactly; `onLarge(group, row, row + 1)` where a double sum may round. */
export function addIntegerRows(array: NumberArray, validity: Validity): RowLoop<SumState> {
  const body = (className: string): string => {
    const size = INTEGER_SIZES[className];
    const bound = size === undefined ? "Math.abs(x)" : String(size);
    return `const w = bounds[g] + ${bound};
if (w >= ${EXACT_SUM_MAX}) { onLarge(g, i, i + 1); continue; }
sums[g] += x; counts[g]++; bounds[g] = w;`;
  };
  return loop("sum-integer-rows", array, validity, body, "const { sums, counts, bounds } = state;");
}

/** Keeps the largest (or smallest) value; NaN is larger than all numbers. */
export function keepExtremeRows(array: NumberArray, validity: Validity, largest: boolean): RowLoop<ExtremeState> {
  const body = (className: string): string => {
    const mayBeNaN = className.startsWith("Float");
    const better = largest ? (mayBeNaN ? "x > o || x !== x" : "x > o") : mayBeNaN ? "x < o || o !== o" : "x < o";
    return `const o = values[g];\nif (counts[g]++ === 0 || ${better}) values[g] = x;`;
  };
  return loop(largest ? "max-rows" : "min-rows", array, validity, body, "const { values, counts } = state;");
}

/** Counts rows, or rows that are not NULL. */
export function countRows(
  groups: Int32Array,
  count: number,
  validity: Validity,
  codes: Uint32Array | undefined,
  counts: Float64Array,
): void {
  if (validity !== undefined) for (let i = 0; i < count; i++) counts[groups[i]!]! += validity[i]!;
  else if (codes !== undefined) for (let i = 0; i < count; i++) counts[groups[i]!]! += codes[i] === 0 ? 0 : 1;
  else for (let i = 0; i < count; i++) counts[groups[i]!]!++;
}
