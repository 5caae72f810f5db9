import { beforeEach, expect, test } from "bun:test";
import { StatusCode } from "../../../base/status-code.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

let fixture: QueryFixture;
beforeEach(() => {
  fixture = new QueryFixture();
});

const create = (clause: string): string =>
  `CREATE TABLE t (a INT, b STRING, c DOUBLE, ts TIMESTAMP TIME INDEX, PRIMARY KEY (a, b)) ${clause}`;

async function accepts(clause: string, printed: string): Promise<void> {
  await fixture.sql(`DROP TABLE IF EXISTS t; ${create(clause)}`);
  const [row] = (await fixture.sql("SHOW CREATE TABLE t")).rows;
  expect(String(row?.[1])).toContain(`\n)\n${printed}\nENGINE=mito\n`);
}

async function rejects(clause: string, message: string, code: number = StatusCode.InvalidArguments): Promise<void> {
  const failure = await new QueryFixture().sql(create(clause)).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect([clause, failure]).toEqual([clause, expect.objectContaining({ code, message: expect.stringContaining(message) })]);
}

test("rules are kept and shown", async () => {
  await accepts(
    "PARTITION ON COLUMNS (a) (a < 5, a >= 5 and a < 9, 9 <= a)",
    'PARTITION ON COLUMNS ("a") (\n  a < 5,\n  a >= 5 AND a < 9,\n  9 <= a\n)',
  );
  await accepts(
    "PARTITION ON COLUMNS (b) (b < 'm', b = 'm' or b > 'm')",
    "PARTITION ON COLUMNS (\"b\") (\n  b < 'm',\n  b = 'm' OR b > 'm'\n)",
  );
  await accepts("PARTITION ON COLUMNS (a) (a <> 0, a = 0)", 'PARTITION ON COLUMNS ("a") (\n  a <> 0,\n  a = 0\n)');
  await accepts("PARTITION ON COLUMNS (a) (a < -1, a >= -1)", 'PARTITION ON COLUMNS ("a") (\n  a < -1,\n  a >= -1\n)');
  await accepts("PARTITION ON COLUMNS (a) ()", 'PARTITION ON COLUMNS ("a") (\n)');
  await accepts("", "");
});

test("rules of several columns cover the plane", async () => {
  await accepts(
    "PARTITION ON COLUMNS (a, b) (a < 10, a >= 10 AND b < 'k', a >= 10 AND b >= 'k')",
    "PARTITION ON COLUMNS (\"a\", \"b\") (\n  a < 10,\n  a >= 10 AND b < 'k',\n  a >= 10 AND b >= 'k'\n)",
  );
  await rejects("PARTITION ON COLUMNS (a, b) (a < 10, a >= 10 AND b < 'k')", "Checkpoint `a=10, b=k` is not covered");
});

test("rules that leave rows out or claim them twice are refused", async () => {
  await rejects("PARTITION ON COLUMNS (a) (a < 5, a > 5)", "Checkpoint `a=5` is not covered");
  await rejects("PARTITION ON COLUMNS (a) (a <= 5, a >= 5)", "Checkpoint `a=5` is overlapped");
  await rejects("PARTITION ON COLUMNS (a) (a > 5)", "Checkpoint `a<5` is not covered");
  await rejects("PARTITION ON COLUMNS (a) (a <= 5)", "Checkpoint `a>5` is not covered");
  await rejects("PARTITION ON COLUMNS (a) (a < 10, a >= 20)", "Checkpoint `a=10` is not covered");
  await rejects("PARTITION ON COLUMNS (a) (a < 10, a > 9)", "Checkpoint `a<10` is overlapped");
});

test("rules of tags are kept as tests of them, with the values that they compare with", async () => {
  const testsOf = async (clause: string): Promise<unknown> => {
    await fixture.sql(`DROP TABLE IF EXISTS t; ${create(clause)}`);
    return fixture.catalog.table("public", "t")?.schema.partitions?.tests;
  };
  const compare = (column: string, operator: string, text: string) => ({ kind: "compare", column, operator, text });
  expect(
    await testsOf("PARTITION ON COLUMNS (a, b) (a < +05 or 10 < a or a = 5 and b < 'it''s', a > 5 AND a <= 10, a = 5 AND b >= 'it''s')"),
  ).toEqual([
    {
      kind: "any",
      of: [compare("a", "<", "5"), compare("a", ">", "10"), { kind: "all", of: [compare("a", "=", "5"), compare("b", "<", "it's")] }],
    },
    { kind: "all", of: [compare("a", ">", "5"), compare("a", "<=", "10")] },
    { kind: "all", of: [compare("a", "=", "5"), compare("b", ">=", "it's")] },
  ]);
  expect(await testsOf("PARTITION ON COLUMNS (a, c) (c < 5, c >= 5)")).toBeUndefined();
  expect(await testsOf("PARTITION ON COLUMNS (a) ()")).toBeUndefined();
});

test("clauses that make no sense are refused", async () => {
  await rejects("PARTITION ON COLUMNS (x) (x < 5, x >= 5)", "Column x of PARTITION ON COLUMNS not exists", StatusCode.TableColumnNotFound);
  await rejects("PARTITION ON COLUMNS (a, a) ()", "column a is named twice");
  await rejects("PARTITION ON COLUMNS (a) (b < 'x', b >= 'x')", "Invalid partition rule: b < 'x'");
  await rejects("PARTITION ON COLUMNS (a) (a < b)", "Invalid partition rule: a < b");
  await rejects("PARTITION ON COLUMNS (a) (a + 1 < 5)", "Invalid partition rule: a + 1 < 5");
  await rejects("PARTITION ON COLUMNS (a) (a LIKE 'x')", "Invalid partition rule: a LIKE 'x'");
  await rejects("PARTITION ON COLUMNS (a) (a = NULL)", "Invalid partition rule: a = NULL");
  await rejects("PARTITION ON COLUMNS (a) (a < 'x', a >= 'x')", "column a", StatusCode.InvalidSyntax);
});

test("what rules cost is bounded", async () => {
  const many = Array.from({ length: 1025 }, (_, i) => `a = ${i}`).join(", ");
  await rejects(`PARTITION ON COLUMNS (a) (${many})`, "there are 1025, at most 1024 are allowed");
  const side = (column: string): string => Array.from({ length: 60 }, (_, i) => `${column} < ${i}`).join(" AND ");
  await rejects(`PARTITION ON COLUMNS (a, c, ts) (${side("a")} AND ${side("c")} AND ${side("ts")})`, "combinations, at most 100000");
});

test("partitions are listed", async () => {
  await fixture.sql(create("PARTITION ON COLUMNS (a, b) (a < 5, a >= 5)"));
  const rows = await fixture.sql(`SELECT partition_name, partition_ordinal_position, partition_method, partition_expression,
    partition_description FROM information_schema.partitions WHERE table_name = 't' ORDER BY 1`);
  expect(rows.rows as unknown).toEqual([
    ["p0", 1, "RANGE", "a, b", "a < 5"],
    ["p1", 2, "RANGE", "a, b", "a >= 5"],
  ]);
});

test("rows are those of one table all the same", async () => {
  await fixture.sql(`${create("PARTITION ON COLUMNS (a) (a < 5, a >= 5)")}; INSERT INTO t (a, ts) VALUES (1, 1), (9, 2)`);
  expect((await fixture.both("SELECT sum(a) FROM t")).rows as unknown).toEqual([[10]]);
});

test("columns of partitions stay as they are", async () => {
  await fixture.sql(create("PARTITION ON COLUMNS (c) (c < 5, c >= 5)"));
  for (const sql of ["ALTER TABLE t DROP COLUMN c", "ALTER TABLE t MODIFY COLUMN c INT"]) {
    const failure = await fixture.sql(sql).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({
      code: StatusCode.InvalidArguments,
      message: expect.stringContaining("column c is one of PARTITION ON"),
    });
  }
});

test("as many partitions as there may be are checked, longer rules are refused before", async () => {
  const ranges = Array.from({ length: 1022 }, (_, i) => `a >= ${i} AND a < ${i + 1}`);
  await fixture.sql(create(`PARTITION ON COLUMNS (a) (a < 0, ${ranges.join(", ")}, a >= 1022)`));
  const many = Array.from({ length: 3000 }, (_, i) => `a = ${i}`);
  await rejects(`PARTITION ON COLUMNS (a) (${many.join(" OR ")} OR a < 0 OR a >= 3000)`, "comparisons, at most 5000000 are allowed");
});
