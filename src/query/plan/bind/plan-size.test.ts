/** Plans that grow beyond their text: they are refused by name, or shared, and never held in full. */
import { beforeEach, describe, expect, test } from "bun:test";
import { GROUP_KEYS_MAX, WINDOWS_MAX } from "../../../base/limits.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import { parseSql } from "../../sql/parse.ts";
import type { Query } from "../../sql/syntax/ast.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import { newPlanner, planInSteps } from "../plan-query.ts";
import { environmentOf } from "../common/planner.ts";
import { PLAN_PARTS_MAX, PlanSize, partsOfPlan } from "./plan-size.ts";
import { atOnce } from "../../../base/scheduler/pace.ts";
import type { Steps } from "./steps.ts";

let fixture: QueryFixture;
beforeEach(async () => {
  fixture = new QueryFixture();
  await fixture.sql("CREATE TABLE t (host STRING, x BIGINT, ts TIMESTAMP TIME INDEX, PRIMARY KEY (host))");
  await fixture.sql("INSERT INTO t VALUES ('a', 1, 1), ('b', 2, 2), ('c', NULL, 3)");
});

/** `WITH c0 AS (first), c1 AS (next of c0), … last`. */
function levels(count: number, first: string, next: (name: string) => string, last: (name: string) => string): string {
  const tables = Array.from({ length: count }, (_, i) => `c${i + 1} AS (${next(`c${i}`)})`);
  return `WITH c0 AS (${first}), ${tables.join(", ")} ${last(`c${count}`)}`;
}

const failure = (text: string): Promise<string> => fixture.sql(text).then(() => "accepted", String);

const planning = (text: string): Steps<PlanNode> =>
  planInSteps(
    parseSql(text)[0] as Query,
    newPlanner(fixture.context, environmentOf(fixture.context.clock, fixture.context.variables), true),
  );

/** How many steps the planning of a text takes. */
function stepsOf(text: string): number {
  let steps = 0;
  for (const plan = planning(text); plan.next().done !== true; ) steps++;
  return steps;
}

describe("a query of WITH that is read twice at each level", () => {
  const union = (c: string): string => `SELECT * FROM ${c} UNION ALL SELECT * FROM ${c}`;

  test("is refused when its rows would be computed a million times", async () => {
    const joins = (c: string): string => `SELECT a.x FROM ${c} a JOIN ${c} b ON a.x = b.x`;
    const nested = (c: string): string => `SELECT x FROM ${c} WHERE x IN (SELECT x FROM ${c})`;
    for (const next of [union, joins, nested]) {
      expect(await failure(levels(20, "SELECT 1 AS x", next, (c) => `SELECT x FROM ${c} LIMIT 1`))).toContain(
        `the plan has more than ${PLAN_PARTS_MAX} parts`,
      );
    }
  });

  test("runs where they are few", async () => {
    const { rows } = await fixture.sql(levels(8, "SELECT 1 AS x", union, (c) => `SELECT count(*) FROM ${c}`));
    expect(rows).toEqual([[256]]);
  });

  test("by views is refused, too", async () => {
    await fixture.sql("CREATE VIEW v0 AS SELECT x FROM t");
    const outcomes: string[] = [];
    for (let i = 0; i < 12; i++) outcomes.push(await failure(`CREATE VIEW v${i + 1} AS SELECT a.x FROM v${i} a JOIN v${i} b ON a.x = b.x`));
    expect(outcomes.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => "accepted"));
    expect(outcomes.some((outcome) => outcome.includes("the statement reads more than 256 views"))).toBe(true);
  });
});

describe("what costs an operator or a table each is limited by name", () => {
  const list = (count: number, part: (i: number) => string): string => Array.from({ length: count }, (_, i) => part(i)).join(", ");

  test("keys of GROUP BY, and of BY", async () => {
    expect(await failure(`SELECT count(*) FROM t GROUP BY ${list(GROUP_KEYS_MAX + 1, (i) => `x + ${i}`)}`)).toContain(
      `GROUP BY has ${GROUP_KEYS_MAX + 1} keys; it may have ${GROUP_KEYS_MAX}`,
    );
    expect(await failure(`SELECT count(*) RANGE '1s' FROM t ALIGN '1s' BY (${list(GROUP_KEYS_MAX + 1, (i) => `x + ${i}`)})`)).toContain(
      `BY has ${GROUP_KEYS_MAX + 1} keys; it may have ${GROUP_KEYS_MAX}`,
    );
    expect((await fixture.sql(`SELECT count(*) FROM t GROUP BY ${list(100, (i) => `x + ${i}`)}`)).rows.length).toBe(3);
  });

  test("columns of a SELECT, before they are made", async () => {
    await fixture.sql(`CREATE TABLE wide (ts TIMESTAMP TIME INDEX, ${list(500, (i) => `f${i} BIGINT`)})`);
    expect(await failure(`SELECT ${list(20_000, () => "*")} FROM wide`)).toContain("a SELECT gives 4096 columns at most; this one gives");
    expect((await fixture.sql(`SELECT ${list(8, () => "wide.*")} FROM wide`)).columns.length).toBe(8 * 501);
  });

  test("correlated sub-queries that become joins", async () => {
    const queries = list(150, (i) => `(SELECT max(x) + ${i} FROM t AS u WHERE u.host = t.host)`);
    const { rows } = await fixture.both(`SELECT host, ${queries} FROM t ORDER BY host`);
    expect(rows.map((row) => [row[0], row[1], row[150]])).toEqual([
      ["a", 1, 150],
      ["b", 2, 151],
      ["c", undefined, undefined],
    ]);
    const { rows: plan } = await fixture.sql(`EXPLAIN SELECT ${queries} FROM t`);
    expect(String(plan[0]?.[1]).split("Join").length - 1).toBe(100);
  });

  test("windows of a SELECT, of which calls may share one", async () => {
    const windows = list(WINDOWS_MAX + 1, (i) => `sum(x) OVER (ORDER BY x + ${i})`);
    expect(await failure(`SELECT ${windows} FROM t`)).toContain(`more than ${WINDOWS_MAX} different windows`);
    const shared = list(WINDOWS_MAX + 1, (i) => `sum(x + ${i}) OVER (ORDER BY x)`);
    expect((await fixture.sql(`SELECT ${shared} FROM t`)).rows.length).toBe(3);
  });
});

test("conditions stay above projections that would double them", async () => {
  const text = levels(
    40,
    "SELECT x FROM t",
    (c) => `SELECT x + x AS x FROM ${c}`,
    (c) => `SELECT x FROM ${c} WHERE x > 2000000000000`,
  );
  expect((await fixture.both(text)).rows).toEqual([[2 * 2 ** 40]]);
});

test("parts count as often as they are read, and memory with them", () => {
  const one = atOnce(planning("SELECT x FROM t"));
  const columns = one.columns;
  expect(partsOfPlan({ kind: "union", inputs: [one, one, one], columns })).toBe(3 * partsOfPlan(one) + 2);
  let bytes = 0;
  const size = new PlanSize((more) => (bytes += more));
  size.add(1000);
  expect(bytes).toBe(0);
  size.add(100_000);
  expect(bytes).toBeGreaterThan(10_000_000);
  expect(() => size.add(PLAN_PARTS_MAX)).toThrow("the plan has more than");
});

test("names that many full joins share grow with their number, and not at each by as much again", () => {
  const partsOfJoins = (count: number): number => {
    const joins = Array.from({ length: count }, (_, i) => `FULL JOIN t AS t${i + 1} USING (x)`).join(" ");
    return partsOfPlan(atOnce(planning(`SELECT x FROM t AS t0 ${joins}`)));
  };
  expect(partsOfJoins(10)).toBeLessThan(1000);
  expect(partsOfJoins(40)).toBeLessThan(16 * partsOfJoins(10));
});

describe("planning yields", () => {
  const chain = (count: number, term: (i: number) => string, separator: string): string =>
    Array.from({ length: count }, (_, i) => term(i)).join(separator);

  test("within long expressions, wherever they stand", () => {
    const or = chain(5000, (i) => `abs(x) = ${i}`, " OR ");
    for (const text of [
      `SELECT * FROM t WHERE ${or}`,
      `SELECT CASE WHEN ${or} THEN 1 END FROM t`,
      `SELECT host FROM t GROUP BY host, ${or}`,
      `SELECT host, sum(x) FROM t GROUP BY host HAVING ${chain(5000, (i) => `sum(x) <> ${i}`, " AND ")}`,
      `SELECT count(*) FROM t AS a JOIN t AS b ON ${chain(5000, (i) => `a.x <> b.x + ${i}`, " AND ")}`,
      `SELECT x FROM t WHERE x IN (${chain(20_000, String, ", ")})`,
      `SELECT x FROM t WHERE (x, host) IN (${chain(3000, (i) => `(${i}, 'a')`, ", ")})`,
      `SELECT * FROM (VALUES ${chain(20_000, (i) => `(${i})`, ", ")}) AS v`,
      `SELECT [${chain(20_000, (i) => `x + ${i}`, ", ")}] FROM t`,
    ])
      expect([text.slice(0, 50), stepsOf(text) >= 15]).toEqual([text.slice(0, 50), true]);
  });

  test("between and within sub-queries of one expression", async () => {
    const list = chain(100, (i) => `(SELECT max(x) + ${i} FROM t AS u WHERE u.x >= t.x)`, ", ");
    for (const text of [
      `SELECT [${list}] FROM t`,
      `SELECT [${list}] AS l FROM t ORDER BY l`,
      `SELECT count(*) FROM t WHERE x IN (${list})`,
      `SELECT max(array_length([${list}])) FROM t`,
      `SELECT max(1 + x) FROM t GROUP BY [${list}]`,
      `SELECT row_number() OVER (ORDER BY array_length([${list}])) FROM t`,
      `SELECT max(x) FROM t HAVING max(array_length([${list}])) > 1`,
    ])
      expect([text.replace(list, "…"), stepsOf(text) >= 500]).toEqual([text.replace(list, "…"), true]);
  });

  test("between queries, relations and columns", () => {
    expect(stepsOf(chain(200, (i) => `SELECT ${i} AS x`, " UNION ALL "))).toBeGreaterThan(200);
    expect(stepsOf(`SELECT ${chain(500, (i) => `x + ${i}`, ", ")} FROM t`)).toBeGreaterThan(500);
    expect(stepsOf(`SELECT 1 FROM t t0 ${chain(50, (i) => `JOIN t t${i + 1} ON t${i}.x = t${i + 1}.x`, " ")}`)).toBeGreaterThan(150);
  });

  test("a chain of UNION looks for equal rows once", async () => {
    const countOf = async (text: string): Promise<number> => {
      const { rows } = await fixture.sql(`EXPLAIN ${text}`);
      return String(rows[0]?.[1]).split("Aggregate").length - 1;
    };
    const chained = chain(5, (i) => `SELECT ${i % 3} AS x`, " UNION ");
    expect(await countOf(chained)).toBe(1);
    expect((await fixture.both(chained)).rows.length).toBe(3);
    expect((await fixture.both(`${chained} UNION ALL SELECT 1 UNION ALL SELECT 1`)).rows.length).toBe(5);
    expect((await fixture.both(`SELECT 1 AS x UNION ALL SELECT 1 UNION SELECT 2.5 UNION SELECT 1`)).rows).toEqual([[1], [2.5]]);
    expect((await fixture.both(`SELECT 1 AS x UNION SELECT 1 EXCEPT SELECT 2 UNION ALL SELECT 1`)).rows).toEqual([[1], [1]]);
  });

  test("and ends when the statement is cancelled", async () => {
    const controller = new AbortController();
    const cancelled = new QueryFixture(controller.signal);
    const running = cancelled.sql(chain(900, (i) => `SELECT ${i} AS x`, " UNION ALL ")).then(() => "ran", String);
    controller.abort();
    expect(await running).toContain("cancelled");
  });
});

describe("many comparisons of one column with constants", () => {
  const many = (operator: string, word: string, from = 0): string =>
    Array.from({ length: 30 }, (_, i) => `x ${operator} ${from + i}`).join(` ${word} `);

  test("are a set, with the same answers", async () => {
    expect((await fixture.both(`SELECT host FROM t WHERE ${many("=", "OR", 2)}`)).rows).toEqual([["b"]]);
    expect((await fixture.both(`SELECT host FROM t WHERE ${many("<>", "AND", 2)}`)).rows).toEqual([["a"]]);
    expect((await fixture.both(`SELECT host, (${many("=", "OR", 2)}) IS NULL AS n FROM t ORDER BY host`)).rows).toEqual([
      ["a", false],
      ["b", false],
      ["c", true],
    ]);
    expect((await fixture.both(`SELECT host FROM t WHERE ${many("=", "OR", 2)} OR host = 'a' ORDER BY host`)).rows).toEqual([["a"], ["b"]]);
    const { rows } = await fixture.sql(`EXPLAIN SELECT host FROM t WHERE ${many("=", "OR")}`);
    expect(String(rows[0]?.[1])).toContain("IN (");
  });
});
