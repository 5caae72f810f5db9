/** Frames against what the words of the frame say, row by row. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Lying, WindowOfQuery } from "../../../../test/support/window-rows.ts";
import { scalarAt } from "../../../column/scalar.ts";
import { FramesOf } from "./frames.ts";
import { chunkAfter } from "./sorted-rows.ts";

type Unit = "ROWS" | "GROUPS" | "RANGE";
/** Steps or distance from the current row, in rows, groups or units of the key; undefined: unbounded. */
type Bound = number | undefined;

/** Rows `part` and `key`, and an order and a frame over them. */
interface Case {
  readonly rows: readonly (readonly [part: number, key: number | undefined])[];
  readonly unit: Unit;
  readonly start: Bound;
  readonly end: Bound;
  readonly isDescending: boolean;
  readonly nullsFirst: boolean;
  /** The key as times, hours from 1970 on, with distances as durations. */
  readonly isTime: boolean;
}

const HOUR_MS = 3_600_000;

function boundText(bound: Bound, side: "PRECEDING" | "FOLLOWING", of: Case): string {
  if (bound === undefined) return `UNBOUNDED ${side}`;
  if (bound === 0 && of.unit !== "RANGE") return "CURRENT ROW";
  const size = of.unit === "RANGE" && of.isTime ? `INTERVAL '${Math.abs(bound)} hours'` : String(Math.abs(bound));
  return `${size} ${bound < 0 ? "PRECEDING" : "FOLLOWING"}`;
}

function sqlOf(of: Case): string {
  const key = (value: number | undefined): string => (value === undefined ? "NULL" : String(of.isTime ? value * HOUR_MS : value));
  const values = of.rows.map(([part, value]) => `(${part}, ${key(value)})`).join(", ");
  const order = `ORDER BY k ${of.isDescending ? "DESC" : "ASC"} NULLS ${of.nullsFirst ? "FIRST" : "LAST"}`;
  const frame = `${of.unit} BETWEEN ${boundText(of.start, "PRECEDING", of)} AND ${boundText(of.end, "FOLLOWING", of)}`;
  const source = `SELECT column1 AS p, column2::${of.isTime ? "BIGINT::TIMESTAMP" : "DOUBLE"} AS k FROM (VALUES ${values}) AS v`;
  return `SELECT p, k, count(*) OVER (PARTITION BY p ${order} ${frame}) FROM (${source}) AS t`;
}

/** Sorted rows as the case wants them. */
function sorted(of: Case): readonly (readonly [part: number, key: number | undefined])[] {
  const place = (key: number | undefined): number => (key === undefined ? (of.nullsFirst ? -1 : 1) : 0);
  const sign = of.isDescending ? -1 : 1;
  return [...of.rows].sort(([p, a], [q, b]) => p - q || place(a) - place(b) || sign * ((a ?? 0) - (b ?? 0)));
}

/** Whether row `other` of the partition `keys` is in the frame of row `own`. */
function isIn(of: Case, keys: readonly (number | undefined)[], own: number, other: number): boolean {
  const { unit, start, end } = of;
  if (unit === "RANGE") {
    const [key, otherKey] = [keys[own], keys[other]];
    // NULL has its peers for a distance, and lies on one side of all others.
    const away = otherKey !== undefined && key !== undefined ? (otherKey - key) * (of.isDescending ? -1 : 1) : undefined;
    const side = key === otherKey ? 0 : Math.sign(other - own);
    if (away !== undefined) return (start === undefined || away >= start) && (end === undefined || away <= end);
    return (start === undefined || side >= 0) && (end === undefined || side <= 0);
  }
  let steps = other - own;
  if (unit === "GROUPS") {
    steps = 0;
    for (let i = Math.min(own, other); i < Math.max(own, other); i++) if (keys[i] !== keys[i + 1]) steps++;
    if (other < own) steps = -steps;
  }
  return (start === undefined || steps >= start) && (end === undefined || steps <= end);
}

/** The rows of each frame, as positions among all sorted rows. */
function wanted(of: Case): readonly (readonly number[])[] {
  const rows = sorted(of);
  return rows.map(([part], own) => {
    const first = rows.findIndex(([p]) => p === part);
    const keys = rows.filter(([p]) => p === part).map(([, key]) => key);
    return keys.flatMap((_, other) => (isIn(of, keys, own - first, other) ? [first + other] : []));
  });
}

async function framesOf(of: Case, lying: Lying): Promise<readonly (readonly number[])[]> {
  const query = new WindowOfQuery(sqlOf(of));
  const [call] = query.node.calls;
  if (call?.kind !== "aggregate") throw new Error("a window with one aggregate");
  const frames: number[][] = [];
  const order: string[] = [];
  await query.over(lying, async (rows) => {
    const base = frames.length;
    const own = new FramesOf(call.frame, query.node.orderBy[0], rows, query.context);
    for (let chunk = await chunkAfter(rows, undefined); chunk !== undefined; chunk = await chunkAfter(rows, chunk)) {
      const { starts, ends } = await own.of(chunk);
      const [, key] = chunk.batch.vectors;
      for (const [i, start] of starts.entries()) {
        const count = (ends[i] as number) - start;
        frames.push(Array.from({ length: count }, (_, at) => base + start + at));
        order.push(String(key === undefined ? key : scalarAt(key, query.node.columns[1]?.type ?? { kind: "null" }, i)));
      }
    }
  });
  const inMillis = (key: number | undefined): string => String(key === undefined || !of.isTime ? key : key * HOUR_MS);
  expect(order, "the order of the rows").toEqual(sorted(of).map(([, key]) => inMillis(key)));
  return frames;
}

async function check(of: Case, lying: Lying): Promise<void> {
  expect(await framesOf(of, lying), `${sqlOf(of)} in chunks of ${lying.chunkRows}, ${lying.place}`).toEqual(
    [...wanted(of)].map((frame) => [...frame]),
  );
}

const bounds = fc
  .tuple(fc.constantFrom(undefined, -7, -3, -1, 0, 0, 1, 2), fc.constantFrom(undefined, -2, -1, 0, 0, 1, 3, 9))
  .filter(([start, end]) => start === undefined || end === undefined || start <= end);
const anyCase: fc.Arbitrary<Case> = fc
  .record({
    rows: fc.array(fc.tuple(fc.constantFrom(1, 1, 1, 2, 3), fc.constantFrom(undefined, 0, 1, 1, 2, 3, 5, 8, 9)), {
      minLength: 1,
      maxLength: 24,
    }),
    unit: fc.constantFrom<Unit>("ROWS", "GROUPS", "RANGE"),
    bounds,
    isDescending: fc.boolean(),
    nullsFirst: fc.boolean(),
    isTime: fc.boolean(),
  })
  .map(({ bounds: [start, end], ...rest }) => ({ ...rest, start, end }));
const lying = fc.record<Lying>({ place: fc.constantFrom("held", "large"), chunkRows: fc.constantFrom(1, 2, 3, 5, 64) });

test("frames of rows, groups and distances hold the rows that their words say", async () => {
  await fc.assert(fc.asyncProperty(anyCase, lying, check), { seed: 7421, numRuns: 400 });
});
