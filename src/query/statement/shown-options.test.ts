/** Options as SHOW CREATE shows them, and how ALTER takes them away. */
import { describe, expect, test } from "bun:test";
import { checkFails } from "../../../test/support/query-check.ts";
import { FIXTURE_NOW, QueryFixture } from "../../../test/support/query-fixture.ts";

async function shown(fixture: QueryFixture, what: string): Promise<string> {
  const { rows } = await fixture.sql(`SHOW CREATE ${what}`);
  return String(rows[0]?.[1]);
}

describe("SHOW CREATE TABLE", () => {
  const options =
    "ttl = 'forever', 'compaction.type' = 'twcs', 'compaction.twcs.time_window' = '1h', append_mode = 'true', sst_format = 'flat', " +
    "'memtable.type' = 'time_series', comment = 'it''s', skip_wal = 'false', write_buffer_size = '10MB'";

  test("shows every option that was set, and makes the same table again", async () => {
    const fixture = new QueryFixture();
    await fixture.sql(`CREATE TABLE t (h STRING PRIMARY KEY, v BIGINT UNSIGNED, ts TIMESTAMP TIME INDEX) WITH (${options})`);
    const text = await shown(fixture, "TABLE t");
    for (const part of ["ttl = 'forever'", "'compaction.type' = 'twcs'", "'compaction.twcs.time_window' = '1h'", "skip_wal = 'false'"])
      expect(text).toContain(part);
    await fixture.sql(`DROP TABLE t; ${text}`);
    expect(await shown(fixture, "TABLE t")).toBe(text);
  });

  test("shows those of the database where the table has none", async () => {
    const fixture = new QueryFixture();
    await fixture.sql("CREATE DATABASE d WITH (ttl = '7d', append_mode = 'true'); CREATE TABLE d.t (ts TIMESTAMP TIME INDEX)");
    expect(await shown(fixture, "TABLE d.t")).toContain("WITH(\n  append_mode = 'true',\n  ttl = '7days'\n)");
    await fixture.sql("ALTER TABLE d.t SET 'ttl' = 'forever'");
    expect(await shown(fixture, "TABLE d.t")).toContain("ttl = 'forever'");
    await fixture.sql("ALTER TABLE d.t UNSET 'ttl'");
    expect(await shown(fixture, "TABLE d.t")).toContain("ttl = '7days'");
  });

  test("of a logical table has its own names of time, field and tags", async () => {
    const fixture = new QueryFixture();
    await fixture.sql(`CREATE TABLE phy (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH ("physical_metric_table" = "");
      CREATE TABLE up (at TIMESTAMP TIME INDEX, reading DOUBLE, job STRING PRIMARY KEY) ENGINE=metric WITH ("on_physical_table" = "phy")`);
    const text = await shown(fixture, "TABLE up");
    for (const part of ['"reading" DOUBLE NULL', 'TIME INDEX ("at")', 'PRIMARY KEY ("job")', "on_physical_table = 'phy'"])
      expect(text).toContain(part);
    await fixture.sql(`DROP TABLE up; ${text}`);
    expect(await shown(fixture, "TABLE up")).toBe(text);
  });
});

describe("the option spread", () => {
  const made = async (options: string): Promise<QueryFixture> => {
    const fixture = new QueryFixture();
    await fixture.sql(`CREATE TABLE t (h STRING PRIMARY KEY, ts TIMESTAMP(0) TIME INDEX) ${options}`);
    return fixture;
  };
  const spreadsOf = (fixture: QueryFixture): unknown => fixture.catalog.table("public", "t")?.schema.spreads;
  /** Seconds. */
  const anHourAhead = FIXTURE_NOW / 1_000_000_000n + 3601n;

  test("is shown, and makes the same table again", async () => {
    const fixture = await made("WITH (spread = 08)");
    const text = await shown(fixture, "TABLE t");
    expect(text).toContain("WITH(\n  spread = '8'\n)");
    await fixture.sql(`DROP TABLE t; ${text}; CREATE TABLE u LIKE t`);
    expect([await shown(fixture, "TABLE t"), await shown(fixture, "TABLE u")]).toEqual([text, text.replace('"t"', '"u"')]);
    expect(spreadsOf(fixture)).toBeUndefined();
  });

  test("changes for times an hour ahead, beside other options", async () => {
    const fixture = await made("");
    await fixture.sql("ALTER TABLE t SET 'spread' = '8', 'ttl' = '7d'");
    expect(await shown(fixture, "TABLE t")).toContain("WITH(\n  spread = '8',\n  ttl = '7days'\n)");
    expect(spreadsOf(fixture)).toEqual([{ spread: 4 }, { from: anHourAhead, spread: 8 }]);
    await fixture.sql("ALTER TABLE t SET 'spread' = '8'; ALTER TABLE t SET 'ttl' = '8d'");
    expect(spreadsOf(fixture)).toEqual([{ spread: 4 }, { from: anHourAhead, spread: 8 }]);
    await fixture.sql("ALTER TABLE t UNSET 'spread'");
    expect(await shown(fixture, "TABLE t")).not.toContain("spread");
    expect(spreadsOf(fixture)).toBeUndefined();
    await fixture.sql("ALTER TABLE t UNSET 'spread'; ALTER TABLE t SET 'spread' = NULL");
  });

  test("changes for times after those of all rows", async () => {
    const fixture = await made("WITH ('spread' = '2')");
    await fixture.sql("INSERT INTO t (h, ts) VALUES ('a', '2100-01-01 00:00:00'); ALTER TABLE t SET 'spread' = '3'");
    expect(spreadsOf(fixture)).toEqual([{ spread: 2 }, { from: BigInt(Date.UTC(2100, 0)) / 1000n + 3602n, spread: 3 }]);
  });

  test("is refused where it says nothing", async () => {
    const fixture = await made("PARTITION ON COLUMNS (h) (h < 'a', h >= 'a')");
    for (const value of ["0", "1025", "-1", "1.5", "many", ""]) {
      const refused = `1004 DbError: Invalid table option, spread must be a whole number from 1 to 1024, got ${value}`;
      await checkFails(fixture, `CREATE TABLE u (ts TIMESTAMP TIME INDEX) WITH ('spread' = '${value}')`, refused);
      await checkFails(fixture, `ALTER TABLE t SET 'spread' = '${value}'`, refused);
    }
    const divided = "1004 DbError: Invalid table option, spread: PARTITION ON COLUMNS says on how many shards rows lie";
    await checkFails(fixture, "ALTER TABLE t SET 'spread' = '8'", divided);
    await checkFails(
      fixture,
      `CREATE TABLE u (h INT PRIMARY KEY, ts TIMESTAMP TIME INDEX) PARTITION ON COLUMNS (h) () WITH (spread = 2)`,
      divided,
    );
    const physical = `CREATE TABLE u (ts TIMESTAMP TIME INDEX, v DOUBLE) ENGINE=metric WITH ("physical_metric_table" = ""`;
    await fixture.sql(`${physical})`);
    const metric = "1004 DbError: Invalid table option, spread is one of tables of engine mito; rows of engine metric lie on all shards";
    await checkFails(fixture, `${physical}, spread = 4)`, metric);
    await checkFails(fixture, "ALTER TABLE u SET 'spread' = '8'", metric);
    await fixture.sql("ALTER TABLE t UNSET 'spread'; ALTER TABLE u UNSET 'spread'");
    await checkFails(fixture, "CREATE DATABASE d WITH (spread = 4)", "1004 DbError: Unrecognized database option key: spread");
  });
});

test("UNSET and NULL of an option that there is not are errors", async () => {
  const fixture = new QueryFixture();
  await fixture.sql("CREATE TABLE t (ts TIMESTAMP TIME INDEX); CREATE DATABASE d");
  const refused = "1004 DbError: Invalid unset table option request: Invalid unset region option request, key: ";
  for (const key of ["nothing", "compaction.typo", "comment", "greptime.semantic.nothing", "greptime.semantic.entity.x"]) {
    await checkFails(fixture, `ALTER TABLE t UNSET '${key}'`, refused + key);
    await checkFails(fixture, `ALTER TABLE t SET '${key}' = NULL`, refused + key);
  }
  await checkFails(fixture, "ALTER DATABASE d UNSET 'nothing'", "1004 DbError: Unrecognized database option key: nothing");
  await fixture.sql("ALTER TABLE t UNSET 'ttl'; ALTER TABLE t UNSET 'greptime.semantic.source'; ALTER DATABASE d UNSET 'compaction.type'");
});
