/** Conditions and first rows that scans test by some columns before they read the others, over rows in files, in memory and in both. */
import { beforeAll, describe, expect, test } from "bun:test";
import { seededRandom } from "../../bench/macro/random.ts";
import { EngineFixture } from "../support/engine-fixture.ts";

const FILES = 3;
const ROWS_PER_FILE = 5000;

/** Files that overlap at their ends, as those of one load do, and rows that are still in memory. */
async function tableOf(options: string, key: string): Promise<EngineFixture> {
  const fixture = await EngineFixture.start();
  await fixture.sql(
    `CREATE TABLE t (host STRING${key}, ts TIMESTAMP(3) TIME INDEX, n BIGINT, big BIGINT, f DOUBLE, s STRING, w STRING) ${options}`,
  );
  const random = seededRandom(7);
  for (let file = 0; file < FILES; file++) {
    const rows: string[] = [];
    for (let i = 0; i < ROWS_PER_FILE; i++) {
      const time = file * ROWS_PER_FILE + i - file * 3; // The last rows of a file and the first of the next share times.
      const n = random.below(20) === 0 ? "NULL" : random.below(1000);
      const big =
        random.below(10) === 0 ? "NULL" : `${2n ** 60n + BigInt(random.below(500)) * (random.below(2) === 0 ? 1n : -(2n ** 52n))}`;
      const f = random.below(30) === 0 ? "'NaN'" : random.below(100) / 4;
      const s = random.below(3) === 0 ? "" : `text ${random.below(300)}`;
      rows.push(
        `('h${random.below(2)}', ${time}, ${n}, ${big}, ${f}, '${s}', 'w${random.below(1_000_000)} ${"x".repeat(random.below(80))}')`,
      );
    }
    await fixture.sql(`INSERT INTO t VALUES ${rows.join(", ")}`);
    if (file < FILES - 1) await fixture.sql("ADMIN flush_table('t')");
  }
  return fixture;
}

const CONDITIONS = [
  "n = 7",
  "n BETWEEN 990 AND 2000",
  "n > 500",
  "n IS NULL AND s <> ''",
  `big = ${2n ** 60n + 3n}`,
  `big <> ${2n ** 60n + 3n} AND n < 30`,
  `big IN (${2n ** 60n + 1n}, ${2n ** 60n + 2n}, 5)`,
  `big NOT IN (${2n ** 60n + 1n}, 4)`,
  `big < ${2n ** 60n}`,
  `big >= ${2n ** 60n} AND big <= ${2n ** 60n + 100n}`,
  "s = 'text 17' AND f > 3",
  "w LIKE '%77%' AND s <> ''",
  "length(w) > 80 OR f <> f",
  "n > 500 AND n / (n - 500) > 1",
  "ts >= 4990 AND ts < 5020 AND n < 900",
  "false",
];

const ORDERS = [
  "ts",
  "ts DESC, n",
  "n DESC NULLS LAST",
  "s, n",
  "s DESC NULLS FIRST",
  "big, ts",
  "f DESC, w",
  "f, n",
  "n + 1, w",
  "host, big DESC",
];

describe.each([
  ["append", "WITH (append_mode = 'true')", ""],
  ["the last row", "", " PRIMARY KEY"],
  ["not NULL", "WITH (merge_mode = 'last_non_null')", " PRIMARY KEY"],
])("%s", (_, options, key) => {
  let fixture: EngineFixture;
  beforeAll(async () => {
    fixture = await tableOf(options, key);
  }, 120_000);

  test("conditions leave the rows that the interpreter leaves", async () => {
    for (const condition of CONDITIONS) {
      await fixture.both(`SELECT * FROM t WHERE ${condition} ORDER BY ts, host, w`);
      await fixture.both(`SELECT count(*), min(w), sum(n) FROM t WHERE ${condition}`);
      await fixture.both(`SELECT host, s, count(*) FROM t WHERE ${condition} GROUP BY host, s ORDER BY 1, 2`);
    }
  }, 120_000);

  test("first rows are the first of all", async () => {
    for (const [i, order] of ORDERS.entries()) {
      const by = `${order}, ts, host, w, n`;
      const condition = i % 2 === 0 ? "" : `WHERE ${CONDITIONS[(i * 3) % CONDITIONS.length]}`;
      const all = (await fixture.sql(`SELECT *, n + 1 AS more FROM t ${condition} ORDER BY ${by}`)).rows;
      for (const [limit, offset] of [[10, 0], [3, 20], [500, 0], ...(i === 0 ? [[5000, 100] as const] : [])] as const) {
        const wanted = all.slice(offset, offset + limit);
        const got = await fixture.sql(`SELECT *, n + 1 AS more FROM t ${condition} ORDER BY ${by} LIMIT ${limit} OFFSET ${offset}`);
        expect(got.rows).toEqual(wanted);
      }
      await fixture.both(`SELECT w, n FROM t ${condition} ORDER BY ${by} LIMIT 7`);
    }
  }, 120_000);
});

test("what overlaps at the ends of files is merged alone, and pages without a row are not read", async () => {
  const fixture = await tableOf("WITH (append_mode = 'true')", "");
  await fixture.sql("ADMIN flush_table('t')");
  const figures = (sql: string) => fixture.statistics(sql, "pages_skipped", "rows_scanned");
  // Three pages of n are all that one file has; of rows that are listed in order, too, pages are ruled out.
  const [skipped] = await figures("SELECT w FROM t WHERE ts < 100 AND n > 5000");
  expect(skipped).toBeGreaterThan(0);
  // Once the first page has given ten rows, no later one is read, and what overlaps is not merged.
  for (const order of ["ts", "ts, s"]) {
    const [behind, scanned] = await figures(`SELECT w FROM t ORDER BY ${order} LIMIT 10`);
    expect(behind).toBe(2);
    expect(scanned).toBe(10);
  }
});
