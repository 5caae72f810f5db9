/** Options as SHOW CREATE shows them, and how ALTER takes them away. */
import { describe, expect, test } from "bun:test";
import { checkFails } from "../../../test/support/query-check.ts";
import { QueryFixture } from "../../../test/support/query-fixture.ts";

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
