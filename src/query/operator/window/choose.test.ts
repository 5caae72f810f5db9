/** Values of other rows against plain lists. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Lying, WindowOfQuery } from "../../../../test/support/window-rows.ts";
import type { Scalar } from "../../../column/vector.ts";

type Cell = string | undefined;
type Name = "lag" | "lead" | "first_value" | "last_value" | "nth_value";

interface Call {
  readonly name: Name;
  /** Rows of lag and lead; `n` of nth_value. */
  readonly steps: number;
  readonly ignoreNulls: boolean;
  /** The value where lag and lead find no row: a text, or the row's own number. */
  readonly otherwise: "none" | "own" | undefined;
  /** Rows before and behind; undefined: unbounded. */
  readonly start: number | undefined;
  readonly end: number | undefined;
}

interface Row {
  readonly part: number;
  readonly cell: Cell;
}

const isShift = ({ name }: Call): boolean => name === "lag" || name === "lead";

function callText(call: Call): string {
  const otherwise = call.otherwise === "none" ? ", 'none'" : call.otherwise === "own" ? ", i::STRING" : "";
  const args = isShift(call) ? `s, ${call.steps}${otherwise}` : call.name === "nth_value" ? `s, ${call.steps}` : "s";
  const bound = (steps: number | undefined, side: string): string =>
    steps === undefined ? `UNBOUNDED ${side}` : `${Math.abs(steps)} ${steps < 0 ? "PRECEDING" : "FOLLOWING"}`;
  const frame = isShift(call) ? "" : ` ROWS BETWEEN ${bound(call.start, "PRECEDING")} AND ${bound(call.end, "FOLLOWING")}`;
  return `${call.name}(${args})${call.ignoreNulls ? " IGNORE NULLS" : ""} OVER (PARTITION BY p ORDER BY i${frame})`;
}

/** Tells calls apart as the planner does, which computes what means the same once. */
function meaning(call: Call): string {
  const { name, steps, ignoreNulls, otherwise, start, end } = call;
  if (isShift(call)) return `shift ${name === "lag" ? steps : -steps} ${ignoreNulls} ${otherwise}`;
  return `pick ${name === "first_value" ? 1 : name === "last_value" ? -1 : steps} ${ignoreNulls} ${start} ${end}`;
}

/** The value of a call at row `at` of a partition. @param numbers those of its rows */
function naive(call: Call, cells: readonly Cell[], at: number, numbers: readonly number[]): Scalar {
  const rows = cells.map((cell, row) => ({ cell, row }));
  const kept = (list: typeof rows): typeof rows => (call.ignoreNulls ? list.filter(({ cell }) => cell !== undefined) : list);
  if (isShift(call)) {
    const back = call.name === "lag" ? call.steps : -call.steps;
    if (back === 0) return cells[at];
    const others = back > 0 ? kept(rows.slice(0, at)).reverse() : kept(rows.slice(at + 1));
    const found = others[Math.abs(back) - 1];
    if (found !== undefined) return found.cell;
    return call.otherwise === "own" ? String(numbers[at]) : call.otherwise;
  }
  const isIn = (row: number): boolean =>
    (call.start === undefined || row - at >= call.start) && (call.end === undefined || row - at <= call.end);
  const frame = kept(rows.filter(({ row }) => isIn(row)));
  if (call.name === "first_value") return frame[0]?.cell;
  if (call.name === "last_value") return frame.at(-1)?.cell;
  return frame.at(call.steps > 0 ? call.steps - 1 : call.steps)?.cell;
}

async function check(rows: readonly Row[], calls: readonly Call[], lying: Lying): Promise<void> {
  const values = rows.map(({ part, cell }, i) => `(${i}, ${part}, ${cell === undefined ? "NULL" : `'${cell}'`})`).join(", ");
  const source = `SELECT column1 AS i, column2 AS p, column3::STRING AS s FROM (VALUES ${values}) AS v`;
  const sql = `SELECT i, ${calls.map(callText).join(", ")} FROM (${source}) AS t`;
  const numbered = rows.map((row, i) => ({ ...row, i }));
  const want = [1, 2].flatMap((part) => {
    const own = numbered.filter((row) => row.part === part);
    const cells = own.map(({ cell }) => cell);
    const numbers = own.map(({ i }) => i);
    return own.map((_, at) => calls.map((call) => naive(call, cells, at, numbers)));
  });
  const got = await new WindowOfQuery(sql).rows(lying);
  expect(
    got.map((row) => row.slice(-calls.length)),
    `${sql} in chunks of ${lying.chunkRows}, ${lying.place}`,
  ).toEqual(want);
}

const row: fc.Arbitrary<Row> = fc.record({
  part: fc.constantFrom(1, 1, 2),
  cell: fc.constantFrom(undefined, undefined, "a", "b", "c", "d"),
});
const frame = fc
  .tuple(fc.constantFrom(undefined, -5, -2, 0, 1), fc.constantFrom(undefined, -1, 0, 2, 6))
  .filter(([start, end]) => start === undefined || end === undefined || start <= end);
const call: fc.Arbitrary<Call> = fc
  .record({
    name: fc.constantFrom<Name>("lag", "lead", "first_value", "last_value", "nth_value"),
    steps: fc.constantFrom(-3, -2, -1, 1, 2, 4),
    isOwn: fc.boolean(),
    ignoreNulls: fc.boolean(),
    otherwise: fc.constantFrom<Call["otherwise"]>("none", "own", undefined),
    frame,
  })
  .map(({ frame: [start, end], isOwn, ...rest }) => ({
    ...rest,
    steps: isOwn && (rest.name === "lag" || rest.name === "lead") ? 0 : rest.steps,
    start,
    end,
  }));
const lying = fc.record<Lying>({ place: fc.constantFrom("held", "large"), chunkRows: fc.constantFrom(1, 2, 3, 7, 64) });

test("lag, lead, first, last and n-th values are those of the list, past NULLs too", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 30 }),
      fc.uniqueArray(call, { minLength: 1, maxLength: 3, selector: meaning }),
      lying,
      check,
    ),
    { seed: 7431, numRuns: 400 },
  );
});
