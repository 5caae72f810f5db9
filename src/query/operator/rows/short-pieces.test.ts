/** Operators whose expressions take long for a row get few rows at a time, and give the same rows. */
import { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { beforeAll, expect, test } from "bun:test";
import { QueryFixture, runSql } from "../../../../test/support/query-fixture.ts";
import type { Batch } from "../../../column/batch.ts";
import { INT64 } from "../../../column/data-type.ts";
import { valuesVector } from "../../expression/vector-values.ts";
import { Pace } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { shortPieces } from "./short-pieces.ts";
import { rowsBetween } from "./pieces.ts";

const ROWS = 10_000;
let data: QueryFixture;
beforeAll(async () => {
  data = new QueryFixture();
  await data.sql("CREATE TABLE t (k STRING PRIMARY KEY, s STRING, n INT, ts TIMESTAMP TIME INDEX)");
  for (let from = 0; from < ROWS; from += 5000) {
    const rows = Array.from({ length: 5000 }, (_, i) => `('k${(from + i) % 3}', 'text ${(from + i) % 977}', ${from + i}, ${from + i})`);
    await data.sql(`INSERT INTO t VALUES ${rows.join(", ")}`);
  }
});

/** Every operator whose expressions may take long. */
const QUERIES = [
  "SELECT upper(concat(s, n)) FROM t WHERE concat(s, n) LIKE '%7%' ORDER BY n",
  "SELECT regexp_replace(s, '[0-9]+', 'x'), k, count(*), max(length(concat(s, n))) FROM t GROUP BY 1, 2 ORDER BY 1, 2",
  "SELECT n FROM t ORDER BY reverse(concat(s, n)), n LIMIT 50",
  "SELECT DISTINCT ON (left(concat(s, n), 6)) n FROM t ORDER BY left(concat(s, n), 6), n DESC",
  "SELECT a.n, b.n FROM t AS a JOIN (SELECT n FROM t WHERE n < 20) AS b ON concat('x', a.n) = concat('x', b.n) ORDER BY 1",
  "SELECT k, concat(s, ''), count(*) FROM t GROUP BY ROLLUP (k, concat(s, '')) ORDER BY 1, 2, 3",
  "SELECT count(*) FILTER (WHERE s ~ '7$'), string_agg(concat(s, ''), ',' ORDER BY n) FROM t WHERE n < 900",
  "SELECT n, unnest([concat(s, 'a'), s]) FROM t WHERE n < 2000 ORDER BY n",
];

test.each(QUERIES)("the same rows by loops and reference: %s", async (sql) => {
  const { rows } = await data.both(sql);
  expect(rows.length).toBeGreaterThan(0);
});

test("others get a turn while functions are computed over one batch", async () => {
  let turns = 0;
  let millis = 0;
  let isOver = false;
  const clock = { ...data.context.clock, monotonicMillis: () => (millis += 1) };
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  count();
  const { rows } = await runSql("SELECT max(levenshtein(concat(s, n), concat(n, s))) FROM t", {
    ...data.context,
    clock,
    scheduler: new Scheduler(clock),
  });
  isOver = true;
  expect(rows.length).toBe(1);
  expect(turns).toBeGreaterThan(10);
});

/** A context whose time passes as `work` says, and how many rows each piece of a batch had. */
async function piecesOf(rowCount: number, millisOfRow: number): Promise<readonly number[]> {
  let millis = 0;
  const clock = { ...data.context.clock, monotonicMillis: () => millis };
  const context = { clock, pace: new Pace(new Scheduler(clock)) } as ExecContext; // what pieces look at
  const batch: ExecBatch = {
    rowCount,
    vectors: [
      valuesVector(
        INT64,
        Array.from({ length: rowCount }, (_, i) => i),
      ),
    ],
  };
  async function* batches(): AsyncGenerator<ExecBatch> {
    yield batch;
  }
  const counts: number[] = [];
  let next = 0;
  for await (const piece of shortPieces(batches(), context)) {
    const [vector] = piece.vectors;
    expect(vector?.kind === "number" ? vector.values[0] : undefined).toBe(next);
    next += piece.rowCount;
    counts.push(piece.rowCount);
    millis += piece.rowCount * millisOfRow;
  }
  expect(next).toBe(rowCount);
  return counts;
}

test("pieces grow while they are quick and shrink to what takes milliseconds", async () => {
  expect((await piecesOf(65_536, 0)).slice(0, 4)).toEqual([16, 64, 256, 1024]);
  expect((await piecesOf(2000, 0.01)).slice(0, 5)).toEqual([16, 64, 256, 512, 512]);
  expect((await piecesOf(600, 10)).slice(0, 3)).toEqual([16, 1, 1]);
});

test("the runs of a part of a batch are those of its rows", () => {
  const runs = { starts: Uint32Array.of(0, 3, 4, 9, 10), series: Uint32Array.of(7, 8, 7, 9) };
  const batch: ExecBatch & Batch = { rowCount: 10, vectors: [], runs };
  const check = (from: number, to: number, starts: number[], series: number[]): void => {
    const part = rowsBetween(batch, from, to);
    expect([part.rowCount, [...(part.runs?.starts ?? [])], [...(part.runs?.series ?? [])]]).toEqual([to - from, starts, series]);
  };
  check(0, 10, [0, 3, 4, 9, 10], [7, 8, 7, 9]);
  check(0, 3, [0, 3], [7]);
  check(2, 5, [0, 1, 2, 3], [7, 8, 7]);
  check(5, 9, [0, 4], [7]);
  check(9, 10, [0, 1], [9]);
  check(3, 4, [0, 1], [8]);
});
