import { describe, expect, test } from "bun:test";
import { checkKnownPlans, otherConstants } from "../../../test/support/known-plans-check.ts";
import { QueryFixture } from "../../../test/support/query-fixture.ts";
import { executeStatement } from "../execute.ts";
import type { QueryContext } from "../query-context.ts";
import { parseSql } from "../sql/parse.ts";
import { type PlannedBefore, prepareSelect } from "../statement/shared/select.ts";
import { KnownPlans } from "./known-plans.ts";

const data = new QueryFixture();
await data.sql(`CREATE TABLE cpu (host STRING, rack INT, ts TIMESTAMP(3) TIME INDEX, usage DOUBLE, n BIGINT, note STRING, d DECIMAL(10, 2),
  PRIMARY KEY (host, rack))`);
await data.sql(
  `INSERT INTO cpu (host, rack, ts, usage, n, note, d) VALUES ('h1', 1, 1000, 0.5, 1, 'a', 1.25), ('h2', 2, 2000, 1.5, 2, 'b', 2.5)`,
);
await data.sql("CREATE VIEW busy AS SELECT host, ts, usage FROM cpu WHERE usage > 1");

/** Queries whose plans are found again with other constants. */
const FOUND = [
  "SELECT ts, usage FROM cpu WHERE host = 'h1' AND ts >= 1000 AND ts < 2000",
  "SELECT ts, usage FROM cpu WHERE 'h1' = host AND 1000 <= ts",
  "SELECT * FROM cpu WHERE host = 'h1' ORDER BY ts DESC LIMIT 1",
  "SELECT * FROM cpu c WHERE c.host = 'h1' AND c.rack = 1 ORDER BY 1, 2 DESC LIMIT 10 OFFSET 2",
  "SELECT host, max(usage) FROM cpu WHERE ts BETWEEN 1000 AND 2000 AND host IN ('h1', 'h2') GROUP BY host ORDER BY 2 LIMIT 5",
  "SELECT host, last_value(usage ORDER BY ts) FROM cpu WHERE ts >= 5 AND host = 'h1' OR FALSE GROUP BY host",
  "SELECT date_bin(INTERVAL '1 minute', ts) AS m, avg(n) + 1 FROM cpu WHERE ts > '1970-01-01' AND usage > 0.5 GROUP BY m HAVING max(n) > 0",
  "SELECT date_trunc('minute', ts), max(n) FROM cpu WHERE ts < '2024-01-01' GROUP BY 1 ORDER BY 1 DESC LIMIT 3",
  "SELECT usage FROM cpu WHERE rack = 1 AND ts >= 10.5 AND note LIKE 'a%' AND d = 1.25",
  "SELECT usage FROM cpu WHERE rack IN (1, 2, 3) AND n > 9007199254740993",
  "SELECT usage FROM cpu WHERE (host = 'h1' OR host = 'h2' OR host IS NULL) AND ts = 1000",
  "SELECT usage FROM cpu WHERE ts > now() - INTERVAL '1 hour' AND host = 'h1'",
  "SELECT usage FROM cpu WHERE ts > TIMESTAMP '1970-01-01 00:00:00' AND ts < CAST('2030-01-01' AS TIMESTAMP) AND host = 'x'",
  "SELECT DISTINCT host FROM cpu WHERE ts >= 100",
  "SELECT count(*), 'x' AS \"a 'b' 1\" FROM cpu WHERE host <> 'h3' AND ts >= 1",
  "SELECT host, row_number() OVER (PARTITION BY host ORDER BY ts) FROM cpu WHERE ts >= 100 AND host = 'h2'",
  "SELECT usage\nFROM cpu\r\nWHERE host =\n 'h1' AND\n\n ts\n>=\n1000;",
];

/** Queries that are planned each time, or whose constants all decide. */
const PLANNED = [
  "SELECT 1",
  "SELECT now(), usage FROM cpu WHERE host = 'h1'",
  "SELECT current_date, usage FROM cpu WHERE host = 'h1'",
  "SELECT usage FROM cpu WHERE host = 'h1' AND usage < date_part('year', now())",
  "SELECT usage FROM busy WHERE host = 'h1'",
  "SELECT usage FROM (SELECT * FROM cpu WHERE host = 'h1') q WHERE ts > 5",
  "SELECT usage FROM cpu WHERE host = (SELECT 'h1') AND ts > 5",
  "SELECT a.usage FROM cpu a JOIN cpu b ON a.host = b.host WHERE a.ts > 5",
  "SELECT host, avg(usage) RANGE '1m' FROM cpu WHERE ts > 5 ALIGN '1m'",
  "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
];

describe("a known plan is the plan that would be made", () => {
  for (const [seed, text] of FOUND.entries()) {
    test(text.replaceAll(/\s+/g, " "), async () => {
      const { known } = await checkKnownPlans(text, data.context, otherConstants(seed), 60);
      expect(known).toBeGreaterThan(3);
    });
  }

  test("and where there can be none, all are planned", async () => {
    for (const [seed, text] of PLANNED.entries()) {
      expect([text, (await checkKnownPlans(text, data.context, otherConstants(seed), 10)).known]).toEqual([text, 0]);
    }
  });
});

/** Asks for the plan of a text, and keeps it where it is new. @returns whether it was known */
async function ask(plans: KnownPlans, text: string, context: QueryContext): Promise<boolean> {
  const found = plans.ofText(text, context);
  if (found?.kind === "known") return true;
  const [statement] = parseSql(text);
  if (statement?.kind !== "select") throw new Error("a SELECT is asked for");
  let made: PlannedBefore | undefined;
  await prepareSelect(statement, context, { onPlanned: (each) => (made = each) });
  if (made !== undefined) found?.keep(statement, made);
  return false;
}

const POINT = "SELECT usage FROM t WHERE host = 'h1'";

describe("plans are forgotten", () => {
  for (const change of [
    "ALTER TABLE t ADD COLUMN b DOUBLE",
    "ALTER TABLE t MODIFY COLUMN usage BIGINT",
    "DROP TABLE t; CREATE TABLE t (host STRING PRIMARY KEY, usage DOUBLE, ts TIMESTAMP(3) TIME INDEX)",
  ]) {
    test(`after ${change}`, async () => {
      const own = new QueryFixture();
      const plans = new KnownPlans(1e6);
      await own.sql("CREATE TABLE t (host STRING PRIMARY KEY, usage DOUBLE, ts TIMESTAMP(3) TIME INDEX)");
      expect([await ask(plans, POINT, own.context), await ask(plans, POINT, own.context)]).toEqual([false, true]);
      await own.sql(change);
      expect([await ask(plans, POINT, own.context), await ask(plans, POINT, own.context)]).toEqual([false, true]);
    });
  }

  test("when their table is gone, and a view has its name", async () => {
    const own = new QueryFixture();
    const plans = new KnownPlans(1e6);
    await own.sql("CREATE TABLE t (host STRING PRIMARY KEY, usage DOUBLE, ts TIMESTAMP(3) TIME INDEX)");
    expect([await ask(plans, POINT, own.context), await ask(plans, POINT, own.context)]).toEqual([false, true]);
    await own.sql("DROP TABLE t; CREATE VIEW t AS SELECT 'h1' AS host, 1 AS usage");
    expect(plans.ofText(POINT, own.context)?.kind).toBe("new");
  });

  test("in another time zone, database and protocol", async () => {
    const plans = new KnownPlans(1e6);
    const text = "SELECT usage FROM cpu WHERE ts >= '1970-01-01 00:00:01'";
    expect([await ask(plans, text, data.context), await ask(plans, text, data.context)]).toEqual([false, true]);
    const inZone = { ...data.context, variables: { database: "public", timeZone: "+05:00" } };
    expect([await ask(plans, text, inZone), await ask(plans, text, inZone)]).toEqual([false, true]);
  });

  test("where they take more than they may, least lately used first", async () => {
    const plans = new KnownPlans(20_000);
    for (let i = 0; i < 20; i++) {
      await ask(plans, `SELECT usage AS u${i} FROM cpu WHERE host = 'h1'`, data.context);
      expect(plans.bytes()).toBeLessThanOrEqual(20_000);
    }
    expect(await ask(plans, "SELECT usage AS u19 FROM cpu WHERE host = 'h2'", data.context)).toBe(true);
    expect(await ask(plans, "SELECT usage AS u0 FROM cpu WHERE host = 'h2'", data.context)).toBe(false);
    plans.giveBack(20_000);
    expect(plans.bytes()).toBe(0);
  });

  test("at once where none may be kept", async () => {
    const plans = new KnownPlans(0);
    expect([await ask(plans, POINT.replace("t WHERE", "cpu WHERE"), data.context), plans.bytes()]).toEqual([false, 0]);
    expect(plans.ofText(POINT, data.context)).toBeUndefined();
  });
});

test("constants that plans hang on have plans of their own, a few", async () => {
  const plans = new KnownPlans(1e6);
  const text = (limit: number): string => `SELECT usage FROM cpu WHERE host = 'h1' LIMIT ${limit}`;
  expect([await ask(plans, text(1), data.context), await ask(plans, text(2), data.context)]).toEqual([false, false]);
  expect([await ask(plans, text(1), data.context), await ask(plans, text(2), data.context)]).toEqual([true, true]);
  for (let limit = 3; limit < 40; limit++) await ask(plans, text(limit), data.context);
  expect([await ask(plans, text(39), data.context), await ask(plans, text(1), data.context)]).toEqual([true, false]);
});

test("rows of a known plan are those of its constants", async () => {
  const plans = new KnownPlans(1e6);
  const rows: number[] = [];
  for (const host of ["h1", "h2", "h3"]) {
    const text = `SELECT usage FROM cpu WHERE host = '${host}' AND ts >= 0`;
    const found = plans.ofText(text, data.context);
    const [parsed] = parseSql(text);
    if (parsed?.kind !== "select" || found === undefined) throw new Error("a SELECT is asked for");
    const options = found.kind === "known" ? { known: found } : { onPlanned: (made: PlannedBefore) => found.keep(parsed, made) };
    const result = await executeStatement(found.kind === "known" ? found.statement : parsed, data.context, options);
    let count = 0;
    if (result.kind === "rows") for await (const batch of result.batches) count += batch.rowCount;
    rows.push(count);
  }
  expect([rows, plans.hits, plans.misses]).toEqual([[1, 1, 0], 2, 1]);
});
