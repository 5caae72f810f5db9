/** Queries on worker threads beside everything else that happens to their table. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdir, readlink } from "node:fs/promises";
import { failureOf } from "../support/failure-of.ts";
import { ThreadedEngine } from "../support/threaded-engine.ts";
import { regionsOf } from "./regions.ts";

const HOSTS = 10;
const ROWS = 2000;

let threads: ThreadedEngine;
beforeEach(async () => {
  threads = await ThreadedEngine.start();
  await threads.engine.sql("CREATE TABLE m (host STRING PRIMARY KEY, v BIGINT, x DOUBLE, s STRING, ts TIMESTAMP(3) TIME INDEX)");
});
afterEach(() => threads.close());

/** Inserts rows of `ROWS` times; `v` counts from `from`. */
async function insert(from: number, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, i) => {
    const v = from + i;
    return `('h${v % HOSTS}', ${v}, ${v / 8}, 'text ${v % 100}', ${v * 1000})`;
  });
  await threads.engine.sql(`INSERT INTO m VALUES ${rows.join(", ")}`);
}

async function dataFiles(): Promise<readonly string[]> {
  const entries = await readdir(threads.folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

test("each sees one moment of a table that is written, flushed and compacted beside them", async () => {
  let written = 0;
  let seen = 0;
  let isOver = false;
  const write = async (): Promise<void> => {
    // As long as it takes to be read beside: writers may be much faster.
    for (let round = 0; round < 30 || seen < 6; round++) {
      await insert(written, 100);
      written += 100;
      if (round % 4 === 1) await threads.engine.sql("ADMIN flush_table('m')");
      if (round % 8 === 7) await threads.engine.sql("ADMIN compact_table('m')");
    }
    isOver = true;
  };
  const read = async (): Promise<void> => {
    while (!isOver) {
      const before = written;
      const { rows } = await threads.sql("SELECT count(v), sum(v), min(v), max(v) FROM m WHERE x >= 0");
      const [count = -1, sum, least, most] = (rows[0] ?? []).map(Number);
      expect(count).toBeGreaterThanOrEqual(before);
      expect(count % 100).toBe(0); // No half of a request.
      if (count > 0) expect([sum, least, most]).toEqual([(count * (count - 1)) / 2, 0, count - 1]);
      seen++;
    }
  };
  await Promise.all([write(), read(), read(), read()]);
  expect(seen).toBeGreaterThanOrEqual(6);
  expect(threads.pool.counts.pulls).toBeGreaterThan(seen);
  await threads.settled();
});

test("queries of several tables and shapes side by side do not get each other's rows", async () => {
  await insert(0, ROWS);
  await threads.engine.sql("ADMIN flush_table('m')");
  await threads.engine.sql("CREATE TABLE other (host STRING PRIMARY KEY, v BIGINT, ts TIMESTAMP(3) TIME INDEX)");
  await threads.engine.sql(`INSERT INTO other VALUES ${Array.from({ length: 500 }, (_, i) => `('o${i % 7}', ${-i}, ${i})`).join(", ")}`);
  const queries = [
    "SELECT host, sum(v), avg(x) FROM m GROUP BY host",
    "SELECT host, v FROM m WHERE v % 3 = 1",
    "SELECT host, sum(v) FROM other GROUP BY host",
    "SELECT s, count(*) FROM m GROUP BY s",
    "SELECT host, v FROM other ORDER BY v LIMIT 20",
    "SELECT v FROM m WHERE x > 5 LIMIT 3",
  ];
  const wanted = await Promise.all(queries.map((query) => threads.engine.sql(query)));
  const asked = Array.from({ length: 60 }, (_, i) => i % queries.length);
  const answers = await Promise.all(asked.map((i) => threads.sql(queries[i] ?? "")));
  for (const [n, i] of asked.entries()) {
    expect(answers[n]?.rows.length).toBe(wanted[i]?.rows.length ?? -1);
    if (i !== 5) expect(answers[n]?.rows.map(String).sort()).toEqual(wanted[i]?.rows.map(String).sort() ?? []);
  }
  await threads.settled();
});

test("a query whose table is dropped while it runs ends with its rows, and the files go when it has", async () => {
  await insert(0, ROWS);
  await threads.engine.sql("ADMIN flush_table('m')");
  const answer = threads.sql("SELECT host, s, v FROM m WHERE v >= 0");
  while (threads.pool.counts.open === 0) await Bun.sleep(0);
  await threads.engine.sql("DROP TABLE m");
  expect((await answer).rows.length).toBe(ROWS);
  await threads.settled();
  for (let i = 0; i < 200 && (await dataFiles()).length > 0; i++) await Bun.sleep(10);
  expect(await dataFiles()).toEqual([]);
  expect(String(await failureOf(threads.sql("SELECT sum(v) FROM m WHERE v > 1")))).toContain("not found");
});

test("files that compaction replaced stay until the query that reads them has ended", async () => {
  for (let part = 0; part < 4; part++) {
    await insert((part * ROWS) / 4, ROWS / 4);
    await threads.engine.sql("ADMIN flush_table('m')");
  }
  const answers = Array.from({ length: 6 }, () => threads.sql("SELECT host, sum(v), count(s) FROM m GROUP BY host"));
  while (threads.pool.counts.open === 0) await Bun.sleep(0);
  await threads.engine.sql("ADMIN compact_table('m')");
  const wanted = (await threads.engine.sql("SELECT host, sum(v), count(s) FROM m GROUP BY host")).rows.map(String).sort();
  for (const answer of answers) expect((await answer).rows.map(String).sort()).toEqual(wanted);
  await threads.settled();
  const files = regionsOf(threads.engine.machine.engine, "m").length; // One each.
  for (let i = 0; i < 200 && (await dataFiles()).length > files; i++) await Bun.sleep(10);
  expect((await dataFiles()).length).toBe(files);
});

test("a worker keeps no descriptor of a file that no query reads", async () => {
  await insert(0, ROWS);
  await threads.engine.sql("ADMIN flush_table('m')");
  expect(await threads.pullsOf("SELECT host, sum(v) FROM m GROUP BY host")).toBeGreaterThan(0);
  await threads.engine.sql("DROP TABLE m");
  await threads.settled();
  const deleted = async (): Promise<readonly string[]> => {
    const links = await readdir("/proc/self/fd");
    const targets: string[] = [];
    for (const link of links) {
      try {
        targets.push(await readlink(`/proc/self/fd/${link}`));
      } catch {
        // It was closed since.
      }
    }
    return targets.filter((target) => target.startsWith(threads.folder) && target.endsWith("(deleted)"));
  };
  for (let i = 0; i < 200 && (await deleted()).length > 0; i++) await Bun.sleep(10);
  expect(await deleted()).toEqual([]);
});

test("a query that is cancelled at any moment ends, gives its memory back and lets go of the table", async () => {
  await insert(0, ROWS);
  await threads.engine.sql("ADMIN flush_table('m')");
  await insert(ROWS, 100);
  for (let delay = 0; delay < 12; delay++) {
    const canceller = new AbortController();
    const answer = threads.sql("SELECT host, v, s, sum(x), count(*) FROM m WHERE v >= 0 GROUP BY host, v, s", {}, canceller.signal);
    setTimeout(() => canceller.abort(), delay);
    const outcome = await Promise.race([answer.then(() => "answered", String), Bun.sleep(5000).then(() => "it hangs")]);
    expect(outcome).toMatch(/^answered$|cancelled/);
    await threads.settled();
  }
  expect(await threads.pullsOf("SELECT host, sum(v) FROM m GROUP BY host")).toBeGreaterThan(0);
});
