import { expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { parseSql } from "./parse.ts";
import { printStatement } from "./print/print-statement.ts";

/** The text prints as `want`, which parses to the same tree. */
function check(text: string, want: string): void {
  const printed = parseSql(text).map(printStatement).join("; ");
  expect(printed).toBe(want);
  expect(parseSql(printed).map(printStatement).join("; ")).toBe(want);
}

function checkRefused(text: string, why: string): void {
  const parse = (): unknown => parseSql(text);
  expect(parse).toThrow(DbError);
  expect(parse).toThrow(why);
}

test("columns are added, alone and together, with their place", () => {
  check("alter table t add a int", "ALTER TABLE t ADD COLUMN a INT");
  check(
    "ALTER TABLE d.t ADD COLUMN IF NOT EXISTS a int not null default -3 comment 'x' first, add b string primary key after a",
    "ALTER TABLE d.t ADD COLUMN IF NOT EXISTS a INT NOT NULL DEFAULT (-3) COMMENT 'x' FIRST, ADD COLUMN b STRING PRIMARY KEY AFTER a",
  );
  check("ALTER TABLE t ADD COLUMN column INT", "ALTER TABLE t ADD COLUMN column INT");
});

test("columns are dropped and modified", () => {
  check("ALTER TABLE t DROP COLUMN a, DROP b", "ALTER TABLE t DROP COLUMN a, DROP COLUMN b");
  check("ALTER TABLE t DROP column", "ALTER TABLE t DROP COLUMN column");
  check("ALTER TABLE t MODIFY a int unsigned", "ALTER TABLE t MODIFY COLUMN a INT UNSIGNED");
  check(
    "ALTER TABLE t MODIFY COLUMN a SET DEFAULT 'x', MODIFY COLUMN b DROP DEFAULT",
    "ALTER TABLE t MODIFY COLUMN a SET DEFAULT 'x', MODIFY COLUMN b DROP DEFAULT",
  );
  check(
    "ALTER TABLE t MODIFY COLUMN a SET FULLTEXT INDEX WITH(analyzer = 'Chinese'), MODIFY b UNSET SKIPPING INDEX",
    "ALTER TABLE t MODIFY COLUMN a SET FULLTEXT INDEX WITH ('analyzer' = 'Chinese'), MODIFY COLUMN b UNSET SKIPPING INDEX",
  );
});

test("options are set, reset and unset", () => {
  check("ALTER TABLE t SET ttl = '1d', 'skip_wal' = NULL", "ALTER TABLE t SET 'ttl' = '1d', 'skip_wal' = NULL");
  check("ALTER TABLE t UNSET 'ttl', compaction.twcs.time_window", "ALTER TABLE t UNSET 'ttl', 'compaction.twcs.time_window'");
  check("ALTER DATABASE d SET ttl = '1d'", "ALTER DATABASE d SET 'ttl' = '1d'");
  check("ALTER SCHEMA d UNSET 'ttl'", "ALTER DATABASE d SET 'ttl' = NULL");
});

test("tables are renamed, emptied and commented on", () => {
  check("ALTER TABLE t RENAME u", "ALTER TABLE t RENAME u");
  check("ALTER TABLE t RENAME TO u; SELECT 1", "ALTER TABLE t RENAME u; SELECT 1");
  check("ALTER TABLE t RENAME to", "ALTER TABLE t RENAME to");
  check("TRUNCATE d.t", "TRUNCATE TABLE d.t");
  check("TRUNCATE TABLE t FILE RANGE (0, 5), ('a', 7)", "TRUNCATE TABLE t FILE RANGE (0, 5), ('a', 7)");
  check("COMMENT ON TABLE t IS 'it''s'", "COMMENT ON TABLE t IS 'it''s'");
  check("COMMENT ON COLUMN d.t.c IS NULL", "COMMENT ON COLUMN d.t.c IS NULL");
  check("comment on flow f is 'x'", "COMMENT ON FLOW f IS 'x'");
});

test("what is left out or unknown is named", () => {
  checkRefused("ALTER TABLE t", "expected ADD, DROP, MODIFY, SET, UNSET or RENAME");
  checkRefused("ALTER TABLE t MODIFY COLUMN a", "expected a type, SET, UNSET or DROP DEFAULT");
  checkRefused("ALTER TABLE t ADD COLUMN a INT xxx", "keyword: 'xxx'");
  checkRefused("ALTER TABLE t ADD COLUMN a INT AFTER", "the text ends too early");
  checkRefused("ALTER VIEW v", "expected TABLE or DATABASE");
  checkRefused("TRUNCATE t FILE RANGE 1, 2", "expected a range");
  checkRefused("COMMENT ON COLUMN c IS 'x'", "expected table.column");
  checkRefused("COMMENT ON VIEW v IS 'x'", "expected TABLE, COLUMN or FLOW");
});
