import { describe, expect, test } from "bun:test";
import { checkFails } from "../../../../test/support/query-check.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

const fixture = new QueryFixture();

async function check(sql: string, ...want: readonly (string | number | bigint)[]): Promise<void> {
  const { rows } = await fixture.both(sql);
  expect(
    rows.map((row) => row.map(String).join(" ")),
    sql,
  ).toEqual(want.map(String));
}

const fails = (sql: string, why: string): Promise<void> => checkFails(fixture, sql, why);

describe("a series of numbers", () => {
  test("goes to its end, or stops before it", async () => {
    await check("SELECT * FROM generate_series(1, 5, 2)", 1, 3, 5);
    await check("SELECT * FROM range(1, 5, 2)", 1, 3);
    await check("SELECT * FROM range(1, 6, 2)", 1, 3, 5);
    await check("SELECT * FROM generate_series(2)", 0, 1, 2);
    await check("SELECT * FROM range(2)", 0, 1);
    await check("SELECT * FROM generate_series(2, -2, -2)", 2, 0, -2);
    await check("SELECT * FROM range(1 + 1, abs(-4))", 2, 3);
  });
  test("is empty when it leads away from its end, or an end is NULL", async () => {
    await check("SELECT * FROM generate_series(5, 1)");
    await check("SELECT * FROM range(1, 1)");
    await check("SELECT * FROM generate_series(1, 5, -1)");
    await check("SELECT * FROM generate_series(1, NULL)");
  });
  test("is exact at the ends of 64 bits", async () => {
    await check("SELECT * FROM generate_series(9223372036854775806, 9223372036854775807)", 9223372036854775806n, 9223372036854775807n);
    await check("SELECT * FROM range(-9223372036854775808, 9223372036854775807, 9223372036854775807)", -(2n ** 63n), -1, 2n ** 63n - 2n);
  });
  test("is a relation like others", async () => {
    await check("SELECT a.n, b.value FROM range(2) AS a (n) JOIN generate_series(1, 3) b ON a.n = b.value", "1 1");
    await check("SELECT count(*), sum(value) FROM generate_series(1, 100000) WHERE value % 2 = 0", "50000 2500050000");
    await check("SELECT generate_series.value FROM generate_series(1, 1000000000000) LIMIT 2 OFFSET 10000", 10001, 10002);
  });
});

describe("a series of times", () => {
  test("adds its step again and again", async () => {
    await check(
      "SELECT CAST(value AS STRING) FROM generate_series('2024-01-31'::TIMESTAMP, '2024-05-01'::TIMESTAMP, INTERVAL '1 month')",
      "2024-01-31T00:00:00",
      "2024-02-29T00:00:00",
      "2024-03-29T00:00:00",
      "2024-04-29T00:00:00",
    );
    await check("SELECT count(*) FROM range('2024-01-01'::TIMESTAMP, '2024-01-02'::TIMESTAMP, INTERVAL '1 minute')", 1440);
    await check("SELECT value FROM generate_series('1970-01-03'::DATE, '1970-01-01', INTERVAL '-1 day') LIMIT 1", 172_800_000_000_000n);
  });
  test("is in the unit of its ends, in nanoseconds where a step is none of them", async () => {
    const typeOf = async (step: string): Promise<readonly string[]> =>
      (await fixture.both(`SELECT * FROM range('2024-01-01'::TIMESTAMP(0), '2024-01-01 00:00:02'::TIMESTAMP(0), INTERVAL '${step}')`))
        .types;
    expect(await typeOf("1 s")).toEqual(["TimestampSecond"]);
    expect(await typeOf("500 ms")).toEqual(["TimestampNanosecond"]);
  });
});

test("a table function says what it takes", async () => {
  await fails("SELECT * FROM generate_series(1, 5, 0)", "the step cannot be zero");
  await fails("SELECT * FROM generate_series(now(), now(), INTERVAL '0 days')", "the step cannot be zero");
  await fails("SELECT * FROM generate_series(1, 'x')", "takes whole numbers, or two times and an interval as its step; got Int64, String");
  await fails("SELECT * FROM generate_series(now(), now())", "takes whole numbers, or two times and an interval");
  await fails("SELECT * FROM generate_series(1, 2, 0.5)", "takes a whole number as its step, not Float64");
  await fails("SELECT * FROM generate_series(1, 18446744073709551615)", "the numbers of a series are of type Int64");
  await fails("SELECT * FROM range()", "range takes one to three arguments");
  await fails("SELECT * FROM range(1, 2, 3, 4)", "range takes one to three arguments");
  await fails("SELECT * FROM nothing(1)", "Not supported: table function nothing");
});

test("numbers has a hundred rows, and as many as a LIMIT right above it wants", async () => {
  await check("SELECT count(*), sum(number), max(number) FROM numbers", "100 4950 99");
  await check("SELECT count(*), max(n) FROM (SELECT number * 2 AS n FROM numbers LIMIT 20000)", "20000 39998");
  await check("SELECT number FROM numbers LIMIT 2 OFFSET 8191", 8191, 8192);
  await check("SELECT number FROM numbers LIMIT 2", 0, 1);
  // What stands between the LIMIT and the table sees the hundred rows.
  await check("SELECT number FROM numbers WHERE number > 97 LIMIT 300", 98, 99);
  await check("SELECT number FROM numbers ORDER BY number DESC LIMIT 1", 99);
  await check("SELECT count(*) FROM numbers LIMIT 300", 100);
  await check("SELECT count(*) FROM (SELECT DISTINCT number FROM numbers LIMIT 300)", 100);
});
