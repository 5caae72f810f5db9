/** All calls over frames, in chunks of few rows, in memory and on disk, against the oracle. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Lying, sameRows, WindowOfQuery } from "../../../../test/support/window-rows.ts";

/** `i` tells rows apart; `x` has NaN and infinities, `w` whole numbers beyond what doubles hold. */
const row = fc.tuple(
  fc.constantFrom("1", "1", "2"),
  fc.constantFrom("NULL", "0", "1", "1", "2", "5"),
  fc.constantFrom("NULL", "0.5", "-1.25", "3", "'NaN'", "'inf'", "'-inf'"),
  fc.constantFrom("NULL", "'a'", "'bb'", "'c'"),
  fc.constantFrom("NULL", "1", "7000", "86400000", "-1", "9007199254740990"),
  fc.constantFrom("NULL", "3", "-4", "9007199254740993", "288230376151711744", "-288230376151711744"),
);

const calls = [
  "count(*)",
  "count(x)",
  "count(n) FILTER (WHERE x > 0)",
  "sum(n)",
  "sum(x)",
  "sum(w)",
  "avg(n)",
  "avg(x)",
  "avg(w)",
  "min(x)",
  "max(x)",
  "min(n)",
  "max(w)",
  "min(d)",
  "max(d)",
  "max(s)",
  "sum(x) FILTER (WHERE n > 0)",
  "stddev(n)",
  "stddev_pop(x)",
  "count(DISTINCT s)",
  "string_agg(s, ',' ORDER BY s, i)",
  "median(n)",
  "anomaly_score_zscore(n)",
  "anomaly_score_mad(n)",
  "anomaly_score_iqr(n, 0.5)",
  "lag(x) IGNORE NULLS",
  "nth_value(s, 2)",
  "dense_rank()",
  "cume_dist()",
  "ntile(3)",
];

const bounds = (unit: "ROWS" | "GROUPS" | "RANGE"): fc.Arbitrary<string> =>
  fc
    .constantFrom(
      ["UNBOUNDED PRECEDING", "CURRENT ROW"],
      ["UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING"],
      ["3 PRECEDING", "CURRENT ROW"],
      ["12 PRECEDING", "1 PRECEDING"],
      ["9 PRECEDING", "8 PRECEDING"],
      ["1 FOLLOWING", "2 FOLLOWING"],
      ["20 FOLLOWING", "21 FOLLOWING"],
      ["2 PRECEDING", "5 FOLLOWING"],
      ["1 FOLLOWING", "UNBOUNDED FOLLOWING"],
    )
    .map(([start = "", end = ""]) => `${unit} BETWEEN ${start} AND ${end}`);
const window = fc
  .tuple(
    fc.constantFrom("", "PARTITION BY p "),
    fc.oneof(
      fc.tuple(fc.constantFrom("ORDER BY i", "ORDER BY n, i DESC", "ORDER BY s NULLS FIRST, i"), bounds("ROWS")),
      fc.tuple(fc.constantFrom("ORDER BY n", "ORDER BY x DESC", "ORDER BY d NULLS FIRST"), bounds("GROUPS")),
      fc.tuple(fc.constantFrom("ORDER BY i DESC", "ORDER BY n", "ORDER BY n DESC NULLS LAST"), bounds("RANGE")),
    ),
  )
  .map(([partition, [order, frame]]) => `${partition}${order} ${frame}`);
const lying = fc.record<Lying>({ place: fc.constantFrom("held", "large"), chunkRows: fc.constantFrom(1, 2, 3, 7, 64) });

async function check(rows: readonly (readonly string[])[], called: readonly string[], over: string, where: Lying): Promise<void> {
  const values = rows.map((cells, i) => `(${i}, ${cells.join(", ")})`).join(", ");
  const source =
    "SELECT i, p, n::INT AS n, x::DOUBLE AS x, s::STRING AS s, d::BIGINT::TIMESTAMP AS d, w::BIGINT AS w " +
    `FROM (VALUES ${values}) AS v (i, p, n, x, s, d, w)`;
  const sql = `SELECT i, ${called.map((call) => `${call} OVER (${over})`).join(", ")} FROM (${source}) AS t`;
  const query = new WindowOfQuery(sql);
  const want = await query.wanted();
  const got = await query.rows(where);
  if (!sameRows(got, want)) expect(got, `${sql} in chunks of ${where.chunkRows}, ${where.place}`).toEqual([...want]);
}

test("calls in chunks of few rows give what the oracle does, wherever rows lie", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 26 }),
      fc.array(fc.constantFrom(...calls), { minLength: 1, maxLength: 4 }),
      window,
      lying,
      check,
    ),
    { seed: 7441, numRuns: 250 },
  );
});
