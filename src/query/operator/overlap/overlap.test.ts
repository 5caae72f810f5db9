import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

interface Row {
  readonly host: string;
  readonly ms: number;
  readonly v: number | null;
}

interface Case {
  readonly rows: readonly Row[];
  readonly align: number;
  readonly ranges: readonly [number, number];
  readonly origin: number;
  readonly fill: "" | "NULL" | "PREV" | "LINEAR" | "7";
  readonly by: "" | "BY ()";
  readonly unit: 0 | 3 | 6 | 9;
}

const lengths = fc.constantFrom(1000, 2000, 3000, 5000, 7000, 12_000);
const cases: fc.Arbitrary<Case> = fc
  .record({
    rows: fc.uniqueArray(
      fc.record({
        host: fc.constantFrom("a", "b", "c"),
        ms: fc.integer({ min: -20, max: 60 }).map((n) => n * 1000),
        v: fc.option(fc.integer({ min: -9, max: 9 })),
      }),
      { minLength: 1, maxLength: 40, selector: (row) => `${row.host} ${row.ms}` },
    ),
    align: lengths,
    ranges: fc.tuple(lengths, lengths),
    origin: fc.integer({ min: -30, max: 30 }).map((n) => n * 500),
    fill: fc.constantFrom("", "NULL", "PREV", "LINEAR", "7"),
    by: fc.constantFrom("", "BY ()"),
    unit: fc.constantFrom(0, 3, 6, 9),
  })
  .map((each): Case => each as Case);

const mean = (values: readonly number[]): number | null => (values.length === 0 ? null : values.reduce((a, b) => a + b, 0));

/** The answer from the definition: every slot that could be, and the rows that it holds. */
function expected({ rows, align, ranges, origin, fill, by, unit }: Case): readonly string[] {
  const lines: string[] = [];
  for (const host of by === "" ? ["a", "b", "c"] : ["*"]) {
    const own = rows.filter((row) => host === "*" || row.host === host);
    const slots: { readonly start: number; sum: number | null; readonly count: number; readonly held: number }[] = [];
    for (let k = -100; k < 120; k++) {
      const start = origin + k * align;
      const [first, second] = ranges.map((range) => own.filter((row) => row.ms >= start && row.ms < start + range));
      const held = Math.max(first?.length ?? 0, second?.length ?? 0);
      slots.push({ start, sum: mean((first ?? []).flatMap(({ v }) => v ?? [])), count: second?.length ?? 0, held });
    }
    const from = slots.findIndex(({ held }) => held > 0);
    const to = slots.findLastIndex(({ held }) => held > 0);
    const kept = from < 0 ? [] : slots.slice(from, to + 1).filter(({ held }) => fill !== "" || held > 0);
    const sums = kept.map((slot, i) => slot.sum ?? filled(kept, i, fill));
    for (const [i, { start, count }] of kept.entries()) {
      // The time keeps its unit, and a second holds no half.
      const shown = unit === 0 ? Math.floor(start / 1000) : start * 10 ** (unit - 3);
      lines.push(`${host} ${shown} ${sums[i] === null ? "-" : Number(sums[i]).toPrecision(9)} ${count}`);
    }
  }
  return lines.sort();
}

function filled(slots: readonly { readonly start: number; readonly sum: number | null }[], i: number, fill: Case["fill"]): number | null {
  if (fill === "7") return 7;
  const known = slots.flatMap(({ start, sum }, at) => (sum === null ? [] : [{ at, start, sum }]));
  const before = known.filter(({ at }) => at < i);
  if (fill === "PREV") return before.at(-1)?.sum ?? null;
  if (fill !== "LINEAR" || known.length < 2) return null;
  const behind = known.filter(({ at }) => at > i);
  const [a, b] = before.length === 0 ? behind : behind.length === 0 ? before.slice(-2) : [before.at(-1), behind[0]];
  if (a === undefined || b === undefined) return null;
  return a.sum + ((b.sum - a.sum) * ((slots[i]?.start ?? 0) - a.start)) / (b.start - a.start);
}

describe("aggregates over ranges of time", () => {
  test("are what the definition says, whatever the lengths, origin, unit, keys and fill", async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (each) => {
        const { rows, align, ranges, origin, fill, by, unit } = each;
        const fixture = new QueryFixture();
        await fixture.sql(`CREATE TABLE t (host STRING PRIMARY KEY, v BIGINT, ts TIMESTAMP(${unit}) TIME INDEX)`);
        const values = rows.map(({ host, ms, v }) => `('${host}', ${v}, ${unit === 0 ? ms / 1000 : `${ms}${"0".repeat(unit - 3)}`})`);
        await fixture.sql(`INSERT INTO t VALUES ${values.join(", ")}`.replaceAll(/ 0(0+)\)/g, " 0)"));
        const to = `TO (to_timestamp_millis(${origin}))`;
        const wanted = fill === "" ? "" : `FILL ${fill}`;
        const key = by === "" ? "host" : "'*'";
        const answer = await fixture.both(
          `SELECT ${key}, ts, sum(v) RANGE '${ranges[0]}ms' ${wanted}, ` +
            `count(*) RANGE '${ranges[1]}ms' FROM t ALIGN '${align}ms' ${to} ${by}`,
        );
        const got = answer.rows.map(([host, time, sum, count]) => {
          const shown = sum === undefined ? "-" : Number(sum).toPrecision(9);
          return `${String(host)} ${String(time)} ${shown} ${String(count)}`;
        });
        expect(got.sort()).toEqual([...expected(each)]);
      }),
      { numRuns: 60, seed: 20_260_101 },
    );
  });
});
