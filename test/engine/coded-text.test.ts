/** Text that repeats lies in files as codes: whatever is asked of it, the answer is that of the same rows in memory. */
import { expect, test } from "bun:test";
import { EngineFixture } from "../support/engine-fixture.ts";

const ROWS = 600;

const QUERIES: readonly string[] = [
  "SELECT s, count(*), min(n) FROM %t GROUP BY s",
  "SELECT s, u, count(*) FROM %t GROUP BY s, u",
  "SELECT DISTINCT s, h FROM %t",
  "SELECT count(s), count(DISTINCT s), min(s), max(s) FROM %t",
  "SELECT count(*) FROM %t WHERE s LIKE '%2%' OR s IS NULL",
  "SELECT n FROM %t WHERE s = 'text 3' AND u <> 'ä1'",
  "SELECT n, lower(s), upper(u), concat(s, '-', u), length(s) FROM %t",
  "SELECT s, n FROM %t ORDER BY s DESC NULLS LAST, n LIMIT 50",
  "SELECT n, s FROM %t ORDER BY u, s, n LIMIT 20 OFFSET 200",
  "SELECT a.n, b.n FROM %t a JOIN %t b ON a.s = b.s AND a.n = b.n + 5",
  "SELECT n FROM %t WHERE s NOT IN (SELECT s FROM %t WHERE n < 2 AND s IS NOT NULL)",
  "SELECT s FROM %t UNION SELECT u FROM %t",
  "SELECT s FROM %t EXCEPT SELECT 'text 1'",
  "SELECT n, lag(s) OVER (PARTITION BY h ORDER BY n), rank() OVER (ORDER BY s), max(s) OVER (PARTITION BY u) FROM %t",
  "SELECT h, last_value(s ORDER BY ts), first_value(u ORDER BY ts) FROM %t GROUP BY h",
  "SELECT CASE WHEN s IS NULL THEN u ELSE s END, n FROM %t",
  "SELECT count(*) FROM %t WHERE s > u",
  "SELECT string_agg(s, ',' ORDER BY n) FROM %t WHERE n < 30",
  "SELECT n, CAST(substr(s, 6) AS BIGINT) FROM %t WHERE s LIKE 'text %'",
];

async function fill(fixture: EngineFixture, table: string, isFlushed: boolean): Promise<void> {
  await fixture.sql(
    `CREATE TABLE ${table} (h STRING, s STRING, u STRING, n BIGINT, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (h))
      WITH (merge_mode = 'last_non_null')`,
  );
  for (let part = 0; part < 3; part++) {
    const rows = Array.from({ length: ROWS / 3 }, (_, i) => {
      const n = (part * ROWS) / 4 + i; // Some are written twice.
      const s = n % 11 === 0 ? "NULL" : `'text ${(n * 7 + part) % 5}'`;
      return `('h${n % 3}', ${s}, 'ä${n % 4}', ${n}, ${n * 1000})`;
    });
    await fixture.sql(`INSERT INTO ${table} VALUES ${rows.join(",")}`);
    if (isFlushed && part < 2) await fixture.sql(`ADMIN flush_table('${table}')`);
  }
}

const textsOf = (rows: readonly (readonly unknown[])[]): string[] => rows.map((row) => row.map(String).join("|")).toSorted();

test("queries, copies and rewritten rows are those of rows in memory", async () => {
  const fixture = await EngineFixture.start();
  await fill(fixture, "files", true);
  await fill(fixture, "memory", false);
  const check = async (query: string, table = "files"): Promise<void> => {
    const [got, want] = [await fixture.both(query.replaceAll("%t", table)), await fixture.sql(query.replaceAll("%t", "memory"))];
    expect([query, ...textsOf(got.rows)]).toEqual([query, ...textsOf(want.rows)]);
  };
  for (const query of QUERIES) await check(query);
  await fixture.sql("CREATE TABLE copy AS SELECT * FROM files");
  await check("SELECT h, s, u, n, ts FROM %t", "copy");
  await fixture.sql("ADMIN flush_table('files')");
  await fixture.sql("ADMIN compact_table('files')");
  for (const query of QUERIES) await check(query);
  for (const table of ["files", "memory"]) await fixture.sql(`ALTER TABLE ${table} MODIFY COLUMN u BINARY`);
  await check("SELECT n, u FROM %t");
  await fixture.machine.engine.close();
}, 60_000);
