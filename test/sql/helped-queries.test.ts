/** Queries that a worker helps end as they should: cancelled, or short of memory for their share of the groups. */
import { afterAll, beforeAll, expect } from "bun:test";
import { rowsHere } from "../support/cluster/rows-here.ts";
import { failureOf } from "../support/failure-of.ts";
import { MemorySpill } from "../support/memory-spill.ts";
import { sameAnswers } from "../support/query-fixture.ts";
import { ThreadedEngine } from "../support/threaded-engine.ts";

const { test } = rowsHere("threads of its process");

const ROWS = 20_000;
const CASES = [
  ["byKeys", "SELECT concat(v % 7000, 'x') AS g, count(*), sum(v), median(v) FROM m GROUP BY g"],
  ["besides", "SELECT v % 7, count(*), max(v) FROM m WHERE md5(md5(md5(concat(v)))) > '0' GROUP BY 1"],
] as const;

let threads: ThreadedEngine;
beforeAll(async () => {
  threads = await ThreadedEngine.start();
  await threads.engine.sql("CREATE TABLE m (v BIGINT, ts TIMESTAMP(3) TIME INDEX) WITH (append_mode = 'true')");
  const rows = Array.from({ length: ROWS }, (_, i) => `(${i}, ${i * 1000})`);
  await threads.engine.sql(`INSERT INTO m VALUES ${rows.join(", ")}`);
});
afterAll(() => threads.close());

for (const [pool, sql] of CASES) {
  test(`${pool}: answers are those of one thread, and a cancelled query leaves nothing`, async () => {
    const workers = threads[pool];
    const before = workers.counts.pulls;
    const alone = await threads.engine.sql(sql);
    sameAnswers(sql, ["helped", await threads.sql(sql, { workers })], ["alone", alone]);
    expect(workers.counts.pulls).toBeGreaterThan(before);
    const canceller = new AbortController();
    const failure = failureOf(threads.sql(sql, { workers }, canceller.signal));
    setTimeout(() => canceller.abort(), 1);
    expect(String(await failure)).toMatch(/cancel/i);
    await threads.settled();
    sameAnswers(sql, ["again", await threads.sql(sql, { workers })], ["alone", alone]);
  });
}

test("groups that do not fit go over the disk here", async () => {
  const sql = "SELECT v, count(*), max(ts) FROM m GROUP BY v";
  const little = { memoryBytesMax: 1024 * 1024, spill: new MemorySpill() };
  const got = await threads.sql(sql, { workers: threads.byKeys, ...little });
  sameAnswers(sql, ["with little memory", got], ["alone", await threads.engine.sql(sql)]);
  await threads.settled();
});
