/**
 * INSERT … VALUES from its text to the batch that the writer takes, and INSERT … SELECT, by the number of rows.
 *
 *   bun src/query/bench/insert.bench.ts [most rows]
 *
 * Medians on 2 shared cores, Bun 1.4.5; before, every value was a tree and every row an array:
 *
 * | rows                  | 1           | 10          | 1,000           | 100,000           |
 * |-----------------------|-------------|-------------|-----------------|-------------------|
 * | constants, before     | 17 µs       | 62 µs       | 7.0 ms          | 948 ms            |
 * | constants             | 18 µs       | 56 µs       | 0.95 ms         | 109 ms            |
 * | computed, before      | 31 µs       | 141 µs      | 16.4 ms         | 1,962 ms          |
 * | computed              | 25 µs       | 88 µs       | 15.7 ms         | 1,398 ms          |
 *
 * INSERT … SELECT of 20,000 rows: 4.4 µs a row before, 1.0 µs now.
 */
import { QueryFixture } from "../../../test/support/query-fixture.ts";
import { executeStatement } from "../execute.ts";
import { parseInTurns } from "../sql/parse-in-turns.ts";
import type { QueryContext } from "../query-context.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const most = SMALL ? 10 : Number(process.argv[2] ?? 100_000);
const data = new QueryFixture();
await data.sql("CREATE TABLE t (host STRING PRIMARY KEY, a DOUBLE, b BIGINT, s STRING, ts TIMESTAMP(9) TIME INDEX)");
const write: QueryContext["writer"]["write"] = async (_database, { tables }) => {
  if (isCounted) hash = (hash * 31 + tables.reduce((sum, { rowCount }) => sum + rowCount, 0)) % 1_000_003;
  return { rowCount: 0 };
};
const context: QueryContext = { ...data.context, writer: { ...data.context.writer, write } };
const pace = { turn: () => Promise.resolve() };
let hash = 0;
/** Whether rows count for the hash: once a text. */
let isCounted = true;

const rowsOf = (count: number, row: (i: number) => string): string => Array.from({ length: count }, (_, i) => row(i)).join(", ");
const constants = (i: number): string => `('h${i % 100}', ${i}.5, ${i}, 'it is ${i}', ${1_700_000_000_000_000_000n + BigInt(i)})`;
const computed = (i: number): string => `('h' || '${i % 100}', ${i} + 1, ${i}, 'x', ${i})`;

/** Median milliseconds of a text, run for about a second. */
async function median(text: string): Promise<number> {
  const times: number[] = [];
  const begun = performance.now();
  while (times.length < 5 || (performance.now() - begun < 1500 && !SMALL && times.length < 20_000)) {
    isCounted = times.length === 0;
    const from = performance.now();
    for (const statement of (await parseInTurns(text, pace)).statements) await executeStatement(statement, context, {});
    times.push(performance.now() - from);
  }
  return times.sort((a, b) => a - b)[times.length >> 1] ?? 0;
}

function tell(name: string, count: number, millis: number): void {
  const statistics = [
    `${count} rows`.padStart(12),
    `${millis.toFixed(3)} ms`.padStart(14),
    `${((millis * 1000) / count).toFixed(2)} us a row`.padStart(18),
  ];
  process.stdout.write(`${name.padEnd(10)}${statistics.join("")}\n`);
}

for (const [name, row] of [["constants", constants] as const, ["computed", computed] as const]) {
  for (const count of [1, 10, 1000, 100_000].filter((each) => each <= most))
    tell(name, count, await median(`INSERT INTO t VALUES ${rowsOf(count, row)}`));
}
await data.sql("CREATE TABLE u (host STRING PRIMARY KEY, a DOUBLE, b BIGINT, s STRING, ts TIMESTAMP(9) TIME INDEX)");
const stored = Math.min(most, 20_000);
await data.sql(`INSERT INTO u VALUES ${rowsOf(stored, constants)}`);
tell("SELECT", stored, await median("INSERT INTO t SELECT * FROM u"));
process.stdout.write(`hash ${hash}\n`);
