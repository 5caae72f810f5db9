/**
 * Window calls that give the value of another row: lag, lead, first_value, last_value, nth_value. First which row, then its value.
 *
 * Under IGNORE NULLS rows that are NULL do not count: frames become numbers of rows that do, and the number found a position again.
 */
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { assert } from "../../../base/assert.ts";
import { slice } from "../../../column/slice.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import { constantVector } from "../../expression/vector-values.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import { concat } from "../kernels/concat.ts";
import { gather } from "../kernels/gather.ts";
import type { Frames, FramesOf } from "./frames.ts";
import type { WindowCall } from "./node.ts";
import { PresentRows } from "./present-rows.ts";
import { type Chunk, numbersFrom, RowValues, type SortedRows } from "./sorted-rows.ts";

/** Marks a row for which there is no other. */
const NONE = 0xff_ff_ff_ff;

type Choice = Extract<WindowCall, { kind: "shift" | "pick" }>;

type ChosenChunk = (chunk: Chunk) => Vector | Promise<Vector>;

/** Values of a call, chunk by chunk. @param frames of `lag` and `lead`: whole partitions */
export function chosen(call: Choice, frames: FramesOf, rows: SortedRows, context: ExecContext): ChosenChunk {
  const isNull = call.kind === "pick" || (call.otherwise.kind === "literal" && call.otherwise.value === undefined);
  const looksPast = call.ignoreNulls && !(call.kind === "shift" && call.steps === 0);
  if (looksPast) return chosenPresent(call, isNull ? undefined : call.otherwise, frames, rows, context);
  const values = new ChosenValues(call.value, rows, context);
  const otherwise = isNull ? undefined : new VectorEvaluator(call.otherwise, rows.columns, context);
  const among = ({ from, to }: Chunk, { starts, ends }: Frames, instead: Vector | undefined): Vector | Promise<Vector> =>
    values.at(numbersOf(call, starts, ends, call.kind === "shift" ? numbersFrom(from, to) : undefined, 0), instead);
  if (otherwise !== undefined) {
    return async (chunk) => among(chunk, await frames.of(chunk), await otherwise.vectorInTurns(chunk.batch));
  }
  return (chunk) => {
    const own = frames.of(chunk);
    return own instanceof Promise ? own.then((found) => among(chunk, found, undefined)) : among(chunk, own, undefined);
  };
}

/** The same among rows that are not NULL. @param instead where there is none; undefined: NULL */
function chosenPresent(
  call: Choice,
  instead: TypedExpression | undefined,
  frames: FramesOf,
  rows: SortedRows,
  context: ExecContext,
): ChosenChunk {
  const values = new ChosenValues(call.value, rows, context);
  const present = new PresentRows(call.value, rows, context);
  const otherwise = instead === undefined ? undefined : new VectorEvaluator(instead, rows.columns, context);
  // What follows a row are the rows that count from the one behind it on.
  const behind = call.kind === "shift" && call.steps < 0 ? 1 : 0;
  return async (chunk) => {
    const { starts, ends } = await frames.of(chunk);
    const counted = call.kind === "shift" ? await present.beforeOwn(numbersFrom(chunk.from + behind, chunk.to + behind)) : undefined;
    const numbers = numbersOf(call, await present.before(starts), await present.beforeEnd(ends), counted, behind);
    return values.at(await present.positions(numbers, NONE), await otherwise?.vectorInTurns(chunk.batch));
  };
}

/** Of each frame `[starts[i], ends[i])` the number that is chosen, or NONE. @param own of lag and lead: `behind` the numbers of the rows */
function numbersOf(call: Choice, starts: Uint32Array, ends: Uint32Array, own: Uint32Array | undefined, behind: number): Uint32Array {
  const numbers = new Uint32Array(starts.length);
  const steps = call.kind === "shift" ? call.steps + behind : 0;
  const nth = call.kind === "pick" ? call.nth : 0;
  for (let i = 0; i < numbers.length; i++) {
    const start = starts[i] as number;
    const end = ends[i] as number;
    const at = own !== undefined ? (own[i] as number) - steps : nth > 0 ? start + nth - 1 : end + nth;
    numbers[i] = at < start || at >= end ? NONE : at;
  }
  return numbers;
}

/** Reads an expression at positions. */
class ChosenValues {
  private readonly value: TypedExpression;
  private readonly rows: SortedRows;
  private readonly context: ExecContext;
  private readonly values: RowValues;

  constructor(value: TypedExpression, rows: SortedRows, context: ExecContext) {
    this.value = value;
    this.rows = rows;
    this.context = context;
    this.values = new RowValues([value], rows, context);
  }

  /**
   * Values at `source`, whose positions do not fall but for `NONE`; there `otherwise` of the same place, or NULL. Positions that lie far
   * from each other are read apart.
   */
  at(source: Uint32Array, otherwise: Vector | undefined): Vector | Promise<Vector> {
    const { type } = this.value;
    const { length } = source;
    const [first, last] = ends(source);
    if (first === NONE) return otherwise ?? constantVector(type, undefined, length);
    if (last - first >= this.rows.spanRows && length > 1) return this.atParts(source, otherwise);
    checkCancelled(this.context);
    const read = this.values.over(first, last + 1);
    if (read instanceof Promise) return read.then(([vector]) => picked(vector, source, first, otherwise, type));
    return picked(read[0], source, first, otherwise, type);
  }

  private async atParts(source: Uint32Array, otherwise: Vector | undefined): Promise<Vector> {
    const { length } = source;
    const half = length >>> 1;
    const [left, right] = otherwise === undefined ? [] : [slice(otherwise, 0, half), slice(otherwise, half, length)];
    return concat(this.value.type, [
      { vector: await this.at(source.subarray(0, half), left), rowCount: half },
      { vector: await this.at(source.subarray(half), right), rowCount: length - half },
    ]);
  }
}

/** The first and last position that is one, or `NONE`. */
function ends(source: Uint32Array): readonly [number, number] {
  let [first, last] = [0, source.length - 1];
  while (first <= last && source[first] === NONE) first++;
  while (last > first && source[last] === NONE) last--;
  return first > last ? [NONE, NONE] : [source[first] as number, source[last] as number];
}

/** Values at `source`, positions counted from `first`, and where that is `NONE`, those of `otherwise` in the same place, or NULL. */
function picked(vector: Vector | undefined, source: Uint32Array, first: number, otherwise: Vector | undefined, type: DataType): Vector {
  assert(vector !== undefined, "a vector for the one expression; got none");
  const count = source.length;
  const places = source.map((row) => (row === NONE ? 0 : row - first));
  const found = gather(vector, places, count);
  if (!source.includes(NONE)) return found;
  if (otherwise !== undefined) {
    const both = concat(
      type,
      [found, otherwise].map((each) => ({ vector: each, rowCount: count })),
    );
    const either = source.map((row, i) => (row === NONE ? count + i : i));
    return gather(both, either, count);
  }
  if (found.kind === "dictionary" || found.kind === "coded")
    return { ...found, codes: found.codes.map((code, i) => (source[i] === NONE ? 0 : code)) };
  const validity = found.validity ?? new Uint8Array(count).fill(1);
  for (let i = 0; i < count; i++) if (source[i] === NONE) validity[i] = 0;
  return { ...found, validity };
}
