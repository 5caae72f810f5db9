/**
 * Loops over segments: sums and extremes of ranges of a column, one generated loop for each array class and NULL form.
 *
 * Measured on one core (aggregate.bench.ts, 65,536-row batches, 360 rows a segment): see operator/README.md.
 *
 *   starts, groups, count   the segments          v, m   values and validity          the rest: state by group
 */
import type { NumberArray, Validity } from "../../../column/vector.ts";
import { arrayLoop } from "./array-loop.ts";

/** State of `sum` and `avg`. */
export interface SumState {
  sums: Float64Array;
  counts: Float64Array;
  /** For integers: no partial sum of the group was larger in size than this. */
  bounds: Float64Array;
}

/** State of `min` and `max`. */
export interface ExtremeState {
  values: Float64Array;
  counts: Float64Array;
}

type SegmentLoop<S> = (
  starts: Uint32Array,
  groups: Uint32Array,
  count: number,
  v: NumberArray,
  m: Validity,
  state: S,
  onLarge: (group: number, from: number, to: number) => void,
) => void;

const PARAMETERS = ["starts", "groups", "count", "v", "m", "state", "onLarge"];

/** Largest size of a value of each integer class; floats hold integers of any size. */
export const INTEGER_SIZES: Readonly<Record<string, number>> = {
  Int8Array: 2 ** 7,
  Uint8Array: 2 ** 8,
  Int16Array: 2 ** 15,
  Uint16Array: 2 ** 16,
  Int32Array: 2 ** 31,
  Uint32Array: 2 ** 32,
};

/** From this size on, a double sum may have been rounded. */
export const EXACT_SUM_MAX: number = 2 ** 53;

function loop<S>(
  name: string,
  array: NumberArray,
  validity: Validity,
  body: (nullable: boolean, className: string) => string,
): SegmentLoop<S> {
  return arrayLoop(name, PARAMETERS, array, validity, body);
}

const SEGMENTS = `for (let s = 0; s < count; s++) {
const a = starts[s], e = starts[s + 1], g = groups[s];`;

/** Four sums side by side, since one addition waits for the last. */
const FOUR = `let t0 = 0, t1 = 0, t2 = 0, t3 = 0, i = a;
for (; i + 3 < e; i += 4) { t0 += v[i]; t1 += v[i + 1]; t2 += v[i + 2]; t3 += v[i + 3]; }
for (; i < e; i++) t0 += v[i];
let t = t0 + t1 + t2 + t3, n = e - a;`;

/** Rows of a block of narrow integers: 4 sums of 4,096 values below 2^16 in size stay below 2^31, so `| 0` loses nothing. */
const BLOCK_ROWS = 16_384;

/** Narrow integers add as 32-bit integers: 3 x faster than as doubles, which they would turn into one by one. */
const FOUR_NARROW = `let t = 0; const n = e - a;
for (let b = a; b < e; b += ${BLOCK_ROWS}) {
const d = Math.min(e, b + ${BLOCK_ROWS});
let t0 = 0, t1 = 0, t2 = 0, t3 = 0, i = b;
for (; i + 3 < d; i += 4) { t0 = (t0 + v[i]) | 0; t1 = (t1 + v[i + 1]) | 0; t2 = (t2 + v[i + 2]) | 0; t3 = (t3 + v[i + 3]) | 0; }
for (; i < d; i++) t0 = (t0 + v[i]) | 0;
t += t0 + t1 + t2 + t3;
}`;

const WITH_NULLS = `let t = 0, n = 0;
for (let i = a; i < e; i++) { const k = m[i]; n += k; if (k !== 0) t += v[i]; }`;

/** Adds floats. */
export function addFloats(array: NumberArray, validity: Validity): SegmentLoop<SumState> {
  return loop("sum-float", array, validity, (nullable) => {
    return `const { sums, counts } = state;\n${SEGMENTS}\n${nullable ? WITH_NULLS : FOUR}\nsums[g] += t; counts[g] += n;\n}`;
  });
}

/**
 * Adds integers exactly. Where a double sum may round, `onLarge(group, from, to)` is called instead and has to add those rows.
 * Integers in narrow arrays are bounded by their width; those in float arrays are measured by a second sum of sizes.
 */
export function addIntegers(array: NumberArray, validity: Validity): SegmentLoop<SumState> {
  return loop("sum-integer", array, validity, (nullable, className) => {
    const size = INTEGER_SIZES[className];
    const plain = size !== undefined && size <= 2 ** 16 ? FOUR_NARROW : FOUR;
    const sum = size !== undefined ? (nullable ? WITH_NULLS : plain) : sizedSum(nullable);
    const bound = size !== undefined ? `(e - a) * ${size}` : "z";
    return `const { sums, counts, bounds } = state;\n${SEGMENTS}\n${sum}\nconst w = bounds[g] + ${bound};
if (w >= ${EXACT_SUM_MAX}) { onLarge(g, a, e); continue; }\nsums[g] += t; counts[g] += n; bounds[g] = w;\n}`;
  });
}

function sizedSum(nullable: boolean): string {
  if (nullable) {
    return `let t = 0, n = 0, z = 0;
for (let i = a; i < e; i++) { const k = m[i]; n += k; if (k !== 0) { const x = v[i]; t += x; z += Math.abs(x); } }`;
  }
  return `let t0 = 0, t1 = 0, z0 = 0, z1 = 0, i = a;
for (; i + 1 < e; i += 2) { const x = v[i], y = v[i + 1]; t0 += x; t1 += y; z0 += Math.abs(x); z1 += Math.abs(y); }
for (; i < e; i++) { t0 += v[i]; z0 += Math.abs(v[i]); }
const t = t0 + t1, z = z0 + z1, n = e - a;`;
}

/** Keeps the largest (or smallest) value; NaN is larger than all numbers. */
export function keepExtreme(array: NumberArray, validity: Validity, largest: boolean): SegmentLoop<ExtremeState> {
  return loop(largest ? "max" : "min", array, validity, (nullable, className) => {
    const mayBeNaN = className.startsWith("Float");
    const better = largest ? (mayBeNaN ? "x > t || x !== x" : "x > t") : mayBeNaN ? "x < t || t !== t" : "x < t";
    const scan = nullable
      ? `let i = a; while (i < e && m[i] === 0) i++;
if (i === e) continue;
let t = v[i], n = 0;
for (; i < e; i++) { if (m[i] === 0) continue; n++; const x = v[i]; if (${better}) t = x; }`
      : `let t = v[a];\nconst n = e - a;\nfor (let i = a + 1; i < e; i++) { const x = v[i]; if (${better}) t = x; }`;
    const wins = better.replaceAll("t", "o").replaceAll("x", "t");
    return `const { values, counts } = state;
${SEGMENTS}
${scan}
const o = values[g];
if (counts[g] === 0 || ${wins}) values[g] = t;
counts[g] += n;
}`;
  });
}

/** Counts rows, or rows that are not NULL. */
export function countSegments(
  starts: Uint32Array,
  groups: Uint32Array,
  count: number,
  validity: Validity,
  codes: Uint32Array | undefined,
  counts: Float64Array,
): void {
  for (let s = 0; s < count; s++) {
    const [from, to, group] = [starts[s]!, starts[s + 1]!, groups[s]!];
    let n = to - from;
    if (validity !== undefined) {
      n = 0;
      for (let i = from; i < to; i++) n += validity[i]!;
    } else if (codes !== undefined) {
      n = 0;
      for (let i = from; i < to; i++) if (codes[i] !== 0) n++;
    }
    counts[group] = counts[group]! + n;
  }
}
