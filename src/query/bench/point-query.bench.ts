/**
 * What every query pays, however few rows it reads: from the tree of its text to its plan, and to its rows, on a small table in memory.
 *
 *   bun src/query/bench/point-query.bench.ts
 *
 * The least of 120 runs of some calls each, in turns with the state before plans were data, in one process; 2 shared cores, Bun 1.4.5, µs:
 *
 * | query                         | plan, before | plan | with rows, before | with rows |
 * |-------------------------------|--------------|------|-------------------|-----------|
 * | one series, a range of time | 12.5         | 12.9 | 26.2              | 26.2      |
 * | a test of tags, newest rows   | 16.2         | 16.4 | 91                | 94        |
 * | groups by tag and minute      | 31.1         | 30.5 | 95                | 100       |
 * | a join and a sub-query        | 45.8         | 47.2 | 507               | 545       |
 */
import { QueryFixture } from "../../../test/support/query-fixture.ts";
import { executeStatement } from "../execute.ts";
import { parseSql } from "../sql/parse.ts";
import type { Query } from "../sql/syntax/ast.ts";
import { prepareSelect } from "../statement/shared/select.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const TURNS: number = SMALL ? 1 : 200;
const data = new QueryFixture();
await data.sql("CREATE TABLE cpu (host STRING PRIMARY KEY, usage DOUBLE, idle DOUBLE, ts TIMESTAMP(3) TIME INDEX)");
const rows = Array.from({ length: 200 }, (_, i) => `('h${i % 10}', ${i}, ${i / 2}, ${i * 1000})`);
await data.sql(`INSERT INTO cpu VALUES ${rows.join(", ")}`);

const QUERIES: Readonly<Record<string, string>> = {
  "one series, a range of time": "SELECT usage, idle FROM cpu WHERE host = 'h3' AND ts >= 5000 AND ts < 60000",
  "a test of tags, newest rows": "SELECT usage FROM cpu WHERE host LIKE 'h%3' AND usage > 4.5 ORDER BY ts DESC LIMIT 5",
  "groups by tag and minute": "SELECT host, date_trunc('minute', ts), max(usage), avg(idle) FROM cpu GROUP BY 1, 2",
  "a join and a sub-query": "SELECT a.usage FROM cpu a JOIN cpu b ON a.ts = b.ts WHERE a.usage > (SELECT avg(usage) FROM cpu) LIMIT 10",
};

async function rowsOf(query: Query): Promise<number> {
  const result = await executeStatement(query, data.context);
  let count = 0;
  if (result.kind === "rows") for await (const batch of result.batches) count += batch.rowCount;
  return count;
}

/** The least microseconds of one call, of which `calls` are timed together: other work on the machine only ever adds. */
async function least(calls: number, run: () => Promise<unknown>): Promise<number> {
  let micros = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < TURNS; turn++) {
    const since = Bun.nanoseconds();
    for (let i = 0; i < calls; i++) await run();
    micros = Math.min(micros, (Bun.nanoseconds() - since) / calls / 1000);
  }
  return micros;
}

let hash = 0;
for (const [name, sql] of Object.entries(QUERIES)) {
  const query = parseSql(sql)[0] as Query;
  const plan = await least(SMALL ? 1 : 50, () => prepareSelect(query, data.context, {}));
  const all = await least(SMALL ? 1 : 10, () => rowsOf(query));
  hash = (hash * 31 + (await rowsOf(query))) % 1_000_003;
  console.log(`${name}: plan ${plan.toFixed(1)} µs, with its rows ${all.toFixed(1)} µs`);
}
console.log(`hash ${hash}`);
