/**
 * Rows picked from vectors by a selection of row positions.
 * One generated loop an array class, since a shared one turns megamorphic (9 x slower, style.md "Hot loops, measured").
 */
import type { SeriesRuns } from "../../../column/batch.ts";
import type { NumberArray, Validity, Vector, WideVector } from "../../../column/vector.ts";
import { generated } from "../../expression/generated-code.ts";

type Loop = (source: NumberArray, target: NumberArray, selection: Uint32Array, count: number) => void;

const LOOP = "for (let i = 0; i < count; i++) target[i] = source[selection[i]];";
const loops = new Map<string, Loop>();

function loopOf(array: NumberArray): Loop {
  const name = array.constructor.name;
  const known = loops.get(name);
  if (known !== undefined) return known;
  // The comment makes each text, and so each function and its type feedback, its own.
  const made = generated<Loop>(`gather-${name.toLowerCase()}`, ["source", "target", "selection", "count"], `// ${name}\n${LOOP}`);
  loops.set(name, made);
  return made;
}

function picked<A extends NumberArray>(source: A, selection: Uint32Array, count: number): A {
  const target = new (source.constructor as new (length: number) => A)(count);
  loopOf(source)(source, target, selection, count);
  return target;
}

function pickedValidity(validity: Validity, selection: Uint32Array, count: number): Validity {
  return validity === undefined ? undefined : picked(validity, selection, count);
}

/** By halves: a value of these arrays is a bigint. */
function pickedWide(source: WideVector["values"], selection: Uint32Array, count: number): WideVector["values"] {
  const target = source instanceof BigInt64Array ? new BigInt64Array(count) : new BigUint64Array(count);
  const from = new Int32Array(source.buffer, source.byteOffset, source.length * 2);
  const to = new Int32Array(target.buffer);
  for (let i = 0; i < count; i++) {
    const at = selection[i]! * 2;
    to[2 * i] = from[at]!;
    to[2 * i + 1] = from[at + 1]!;
  }
  return target;
}

/** The rows `selection[0, count)` of a vector, copied. */
export function gather(vector: Vector, selection: Uint32Array, count: number): Vector {
  switch (vector.kind) {
    case "number":
      return {
        kind: "number",
        values: picked(vector.values, selection, count),
        validity: pickedValidity(vector.validity, selection, count),
      };
    case "wide":
      return {
        kind: "wide",
        values: pickedWide(vector.values, selection, count),
        validity: pickedValidity(vector.validity, selection, count),
      };
    case "time":
      return { ...vector, offsets: picked(vector.offsets, selection, count), validity: pickedValidity(vector.validity, selection, count) };
    case "dictionary":
    case "coded":
      return { ...vector, codes: picked(vector.codes, selection, count) };
    case "bytes":
      return gatherBytes(vector, selection, count);
  }
}

/** Bytes up to which texts are copied one by one: 500,000 texts of 24 bytes held and given, 200 -> 168 ms (join-kinds.bench.ts). */
const SHORT_BYTES = 64;

/** Texts of rows that follow each other are copied at once: of 80 % of rows, 80 bytes each, a row takes 28 ns instead of 61. */
function gatherBytes(vector: Extract<Vector, { kind: "bytes" }>, selection: Uint32Array, count: number): Vector {
  const { offsets, bytes } = vector;
  const targetOffsets = new Uint32Array(count + 1);
  let length = 0;
  for (let i = 0; i < count; i++) {
    const row = selection[i]!;
    length += offsets[row + 1]! - offsets[row]!;
    targetOffsets[i + 1] = length;
  }
  const target = new Uint8Array(length);
  for (let i = 0, to = 0; i < count; ) {
    let row = selection[i++]!;
    const from = offsets[row]!;
    while (i < count && selection[i] === row + 1) {
      row++;
      i++;
    }
    const size = offsets[row + 1]! - from;
    // A view and a call cost more than to copy some bytes.
    if (size > SHORT_BYTES) target.set(bytes.subarray(from, from + size), to);
    else for (let b = 0; b < size; b++) target[to + b] = bytes[from + b]!;
    to += size;
  }
  return { kind: "bytes", offsets: targetOffsets, bytes: target, validity: pickedValidity(vector.validity, selection, count) };
}

/** The runs of the selected rows; `selection` ascends. */
export function gatherRuns(runs: SeriesRuns, selection: Uint32Array, count: number): SeriesRuns {
  const runCount = runs.starts.length - 1;
  const starts = new Uint32Array(runCount + 1);
  const series = new Uint32Array(runCount);
  let kept = 0;
  let at = 0;
  for (let run = 0; run < runCount && at < count; run++) {
    const end = runs.starts[run + 1]!;
    const from = at;
    while (at < count && selection[at]! < end) at++;
    if (at === from) continue;
    series[kept++] = runs.series[run]!;
    starts[kept] = at;
  }
  return { starts: starts.subarray(0, kept + 1), series: series.subarray(0, kept) };
}
