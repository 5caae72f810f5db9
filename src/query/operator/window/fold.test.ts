import { expect, test } from "bun:test";
import fc from "fast-check";
import { WindowOfQuery } from "../../../../test/support/window-rows.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Scalar, Vector } from "../../../column/vector.ts";
import type { AggregateCall } from "../node-parts/aggregate-call.ts";
import { foldedFrames } from "./fold.ts";
import { FrameWalk } from "./frame-walk.ts";
import type { Chunk, SortedRows } from "./sorted-rows.ts";

type Name = "count" | "sum" | "avg" | "min" | "max";
type Numbers = "DOUBLE" | "BIGINT";
type Cell = number | undefined;

function callOf(name: Name, type: Numbers): AggregateCall {
  const { node } = new WindowOfQuery(
    `SELECT ${name}(x) OVER (ROWS 1 PRECEDING) FROM (SELECT column1::${type} AS x FROM (VALUES (1)) AS v) AS t`,
  );
  const [call] = node.calls;
  if (call?.kind !== "aggregate") throw new Error("a window with one aggregate");
  return call.call;
}

/** The aggregate of a frame by its definition: NULL does not count, NaN is above all numbers. */
function naive(name: Name, type: Numbers, cells: readonly Cell[]): Scalar {
  const values = cells.filter((cell) => cell !== undefined);
  if (name === "count") return values.length;
  if (values.length === 0) return undefined;
  const above = (a: number, b: number): boolean => Number.isNaN(a) || a > b;
  if (name === "min") return values.reduce((a, b) => (above(a, b) ? b : a));
  if (name === "max") return values.reduce((a, b) => (above(a, b) ? a : b));
  const sum = type === "BIGINT" ? values.reduce((a, b) => a + BigInt(b), 0n) : values.reduce((a, b) => a + b, 0);
  if (name === "avg") return Number(sum) / values.length;
  return sum;
}

/** Frames whose ends never fall, some empty: each row moves either end on. */
const frames = fc
  .array(fc.tuple(fc.constantFrom(0, 0, 1, 1, 1, 2, 9), fc.constantFrom(0, 0, 1, 1, 2, 30)), { minLength: 1, maxLength: 60 })
  .map((moves) => {
    let [start, end] = [0, 0];
    return moves.map(([a, b]) => {
      start += a;
      end = Math.max(start, end + b);
      return [start, end] as const;
    });
  });

function vectorOf(cells: readonly Cell[]): Vector {
  const validity = cells.includes(undefined) ? Uint8Array.from(cells, (cell) => (cell === undefined ? 0 : 1)) : undefined;
  return { kind: "number", values: Float64Array.from(cells, (cell) => cell ?? 0), validity };
}

/** Walks the frames in blocks of few numbers, in chunks of few rows. */
async function check(
  name: Name,
  type: Numbers,
  all: readonly Cell[],
  wanted: readonly (readonly [number, number])[],
  block: number,
): Promise<void> {
  const call = callOf(name, type);
  const own = wanted.map(([start, end]) => [Math.min(start, all.length), Math.min(end, all.length)] as const);
  const vector = vectorOf(all);
  const { context } = new WindowOfQuery("SELECT count(*) OVER () FROM (VALUES (1)) AS v");
  const read = (from: number, to: number): { rowCount: number; vectors: Vector[] } => ({
    rowCount: to - from,
    vectors: [vectorOf(all.slice(from, to))],
  });
  const rows = { rowCount: all.length, chunkRows: 7, columns: [{ name: "x", type: call.type.args[0] }], read } as unknown as SortedRows;
  const state = foldedFrames(call, true, () => undefined, block);
  if (state === undefined || vector.kind !== "number") throw new Error(`no fold of ${name}`);
  const column = { kind: "column" as const, index: 0, type: call.args[0]?.type ?? call.type.result, name: "x" };
  const walk = new FrameWalk([column as never], state, undefined, rows, context);
  for (let from = 0; from < own.length; from += 5) {
    const part = own.slice(from, from + 5);
    const chunk = { from, to: from + part.length } as Chunk; // a fold looks at no more of it
    const got = await walk.over(chunk, { starts: Uint32Array.from(part, ([a]) => a), ends: Uint32Array.from(part, ([, b]) => b) });
    for (const [i, [start, end]] of part.entries()) {
      const value = scalarAt(got, call.type.result, i);
      const want = naive(name, type, all.slice(start, end));
      const label = `${name} of ${type} [${start}, ${end}), blocks of ${block}`;
      if (name === "avg" && typeof want === "number" && Number.isFinite(want)) expect(value, label).toBeCloseTo(want, 6);
      else expect(typeof want === "bigint" && value !== undefined ? BigInt(value as number) : value, label).toEqual(want);
    }
  }
}

const FLOATS = [0.5, -1.25, 3, 1024, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, undefined, undefined];
const WHOLE = [0, 1, -7, 12, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 2 ** 53, undefined];
const names: readonly Name[] = ["count", "sum", "avg", "min", "max"];
const cellsOf = (cells: readonly Cell[]): fc.Arbitrary<Cell[]> => fc.array(fc.constantFrom(...cells), { minLength: 1, maxLength: 120 });

test("floats over frames of many blocks are as by definition", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...names), cellsOf(FLOATS), frames, fc.constantFrom(1, 2, 5, 16), (name, cells, own, block) =>
      check(name, "DOUBLE", cells, own, block),
    ),
    { seed: 7411, numRuns: 250 },
  );
});

test("integers over frames of many blocks are as by definition, beyond what doubles hold too", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...names), cellsOf(WHOLE), frames, fc.constantFrom(1, 2, 5, 16), (name, cells, own, block) =>
      check(name, "BIGINT", cells, own, block),
    ),
    { seed: 7412, numRuns: 250 },
  );
});
