import { describe, expect, test } from "bun:test";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import { DbError } from "../../../base/error.ts";
import { decimalText } from "../../../column/decimal.ts";

/** The one cell of a query and its type, decimals as text. */
async function cell(expression: string, from = ""): Promise<string> {
  const fixture = new QueryFixture();
  const { rows, types } = await fixture.both(`SELECT ${expression} ${from}`);
  return shown(rows[0]?.[0], types[0] ?? "");
}

function shown(value: unknown, type: string): string {
  const scale = /^Decimal\(\d+, (\d+)\)$/.exec(type)?.[1];
  const text = scale === undefined || value === undefined ? String(value) : decimalText(value as number | bigint, Number(scale));
  return `${text} ${type}`;
}

async function check(expression: string, want: string): Promise<void> {
  expect([expression, await cell(expression)]).toEqual([expression, want]);
}

async function fails(expression: string, message: string): Promise<void> {
  const failure = await cell(expression).then(
    () => "no error",
    (thrown: unknown) => (thrown instanceof DbError ? `${thrown.code} ${thrown.message}` : String(thrown)),
  );
  expect([expression, failure]).toEqual([expression, message]);
}

function tooLarge(text: string, precision: number, most: string): string {
  return `3001 Invalid argument error: ${text} is too large to store in a Decimal128 of precision ${precision}. Max is ${most}`;
}

describe("casts", () => {
  test("of literals keep every digit written", async () => {
    await check("0.1::DECIMAL(38, 20)", "0.10000000000000000000 Decimal(38, 20)");
    await check("12345678901234567890.123456789::DECIMAL(38, 9)", "12345678901234567890.123456789 Decimal(38, 9)");
    await check("99999999999999999999999999999999999999::DECIMAL(38)", "99999999999999999999999999999999999999 Decimal(38, 0)");
    await check("-1.005::DECIMAL(5, 2)", "-1.01 Decimal(5, 2)");
    await check("'1e3'::NUMERIC", "1000.0000000000 Decimal(38, 10)");
    await check("CAST('  .5 ' AS DECIMAL(2, 1))", "0.5 Decimal(2, 1)");
  });
  test("round half away from zero", async () => {
    await check("'1.25'::DECIMAL(3, 1)", "1.3 Decimal(3, 1)");
    await check("'-1.25'::DECIMAL(3, 1)", "-1.3 Decimal(3, 1)");
    await check("'1.2499999'::DECIMAL(3, 1)", "1.2 Decimal(3, 1)");
    await check("1.25::DECIMAL(3, 2)::DECIMAL(2, 1)", "1.3 Decimal(2, 1)");
    await check("(-0.05)::DECIMAL(3, 2)::DECIMAL(2, 1)", "-0.1 Decimal(2, 1)");
  });
  test("to other types", async () => {
    await check("1.99::DECIMAL(3, 2)::INT", "1 Int32");
    await check("(-1.99)::DECIMAL(3, 2)::BIGINT", "-1 Int64");
    await check("0.1::DECIMAL(38, 20)::DOUBLE", "0.1 Float64");
    await check("12345678901234567.89::DECIMAL(20, 2)::STRING", "12345678901234567.89 String");
    await check("TRY_CAST('x' AS DECIMAL)", "undefined Decimal(38, 10)");
    await check("0.1::FLOAT::DECIMAL(20, 18)", "0.100000000000000000 Decimal(20, 18)");
    await check("NULL::DECIMAL(3, 1)", "undefined Decimal(3, 1)");
  });
  test("refuse what does not fit", async () => {
    await fails(
      "100::DECIMAL(3, 1)",
      "3001 Invalid argument error: 100.0 is too large to store in a Decimal128 of precision 3. Max is 99.9",
    );
    await fails(
      "99.95::DECIMAL(3, 1)",
      "3001 Invalid argument error: 99.95 is too large to store in a Decimal128 of precision 3. Max is 99.9",
    );
    await fails("'inf'::DOUBLE::DECIMAL(9, 1)", "3001 Cast error: Cannot cast to Decimal128(9, 1). Overflowing on inf");
    await fails("'abc'::DECIMAL", "3001 Cast error: Cannot cast string 'abc' to value of Decimal(38, 10) type");
    await fails("'1.2.3'::DECIMAL", "3001 Cast error: Cannot cast string '1.2.3' to value of Decimal(38, 10) type");
    await fails("'.'::DECIMAL", "3001 Cast error: Cannot cast string '.' to value of Decimal(38, 10) type");
    await fails("'1e99999999'::DECIMAL", tooLarge("1e99999999", 38, `${"9".repeat(28)}.9999999999`));
    await fails("128::DECIMAL(3, 0)::TINYINT", "3001 Cast error: value of 128 is out of range Int8");
    await fails(
      "true::DECIMAL",
      "3000 Failed to plan SQL: Error during planning: cannot cast Boolean to Decimal(38, 10); " +
        "cast through a type that both know, such as STRING",
    );
  });
});

describe("arithmetic", () => {
  test("is exact", async () => {
    await check("0.1::DECIMAL(2, 1) + 0.2::DECIMAL(2, 1) = 0.3", "true Boolean");
    await check("1.10::DECIMAL(4, 2) + 2", "3.10 Decimal(23, 2)");
    await check("1.5::DECIMAL(2, 1) - 0.25::DECIMAL(3, 2)", "1.25 Decimal(4, 2)");
    await check("1.5::DECIMAL(2, 1) * 0.25::DECIMAL(3, 2)", "0.375 Decimal(6, 3)");
    await check("2::DECIMAL(1, 0) / 3::DECIMAL(1, 0)", "0.6666 Decimal(5, 4)");
    await check("-(1.5::DECIMAL(2, 1))", "-1.5 Decimal(2, 1)");
    await check("7.5::DECIMAL(2, 1) % 2", "1.5 Decimal(2, 1)");
    await check("-7.5::DECIMAL(2, 1) % 2", "-1.5 Decimal(2, 1)");
    await check("1.5::DECIMAL(2, 1) + 0.5", "2 Float64");
    await check("1.5::DECIMAL(2, 1) * NULL", "undefined Decimal(5, 2)");
  });
  test("refuses too many digits and zero", async () => {
    const most = `${"9".repeat(38)}::DECIMAL(38, 0)`;
    await fails(
      `${most} + 1`,
      `3001 Invalid argument error: 1${"0".repeat(38)} is too large to store in a Decimal128 of precision 38. Max is ${"9".repeat(38)}`,
    );
    await fails(`${most} * ${most}`, tooLarge(String((10n ** 38n - 1n) ** 2n), 38, "9".repeat(38)));
    await fails("1::DECIMAL(3, 1) / 0", "3001 Divide by zero error");
    await fails("1::DECIMAL(3, 1) % 0", "3001 Divide by zero error");
  });
  test("rounds in functions without leaving decimals", async () => {
    await check("round(1.255::DECIMAL(4, 3), 2)", "1.26 Decimal(4, 2)");
    await check("round(-2.5::DECIMAL(2, 1))", "-3 Decimal(2, 0)");
    await check("round(155::DECIMAL(3, 0), -1)", "160 Decimal(4, 0)");
    await check("round(9.9::DECIMAL(2, 1))", "10 Decimal(2, 0)");
    await check("trunc(-1.99::DECIMAL(3, 2), 1)", "-1.90 Decimal(4, 2)");
    await check("floor(-1.01::DECIMAL(3, 2))", "-2.00 Decimal(4, 2)");
    await check("ceil(1.01::DECIMAL(3, 2))", "2.00 Decimal(4, 2)");
    await check("abs(-1.01::DECIMAL(3, 2))", "1.01 Decimal(3, 2)");
    await check("sqrt(2.25::DECIMAL(3, 2))", "1.5 Float64");
  });
});

describe("comparisons", () => {
  test("are exact, whatever the scales", async () => {
    const most = `'${"9".repeat(37)}.9'::DECIMAL(38, 1)`;
    await check(`${most} > ${"9".repeat(37)}::DECIMAL(38, 0)`, "true Boolean");
    await check("9007199254740993::DECIMAL(18, 0) = 9007199254740992", "false Boolean");
    await check("0.1::DECIMAL(3, 1) = 0.1", "true Boolean");
    await check("0.1::DECIMAL(3, 1) = 0.10000000000000000000001", "false Boolean");
    await check("1.5::DECIMAL(2, 1) = '1.50'", "true Boolean");
    await check("1.5::DECIMAL(2, 1) < '1.51'", "true Boolean");
    await check("1.5::DECIMAL(2, 1) BETWEEN 1.49 AND 1.500", "true Boolean");
    await check("1.5::DECIMAL(2, 1) IN (1, 1.50)", "true Boolean");
    await check("1.5::DECIMAL(2, 1) NOT IN (1, 1.51)", "true Boolean");
    await check("1::DECIMAL(2, 1) = 1::INT", "true Boolean");
    await check("1.5::DECIMAL(2, 1) > 1.25::DOUBLE", "true Boolean");
    await check("coalesce(NULL, 1.5::DECIMAL(2, 1), 2)", "1.5 Decimal(21, 1)");
  });
  test("refuse text that is no number", async () => {
    await fails("1::DECIMAL(2, 1) = 'x'", "3001 Cast error: Cannot cast string 'x' to value of Decimal(2, 1) type");
  });
});

/** Rows of one column d of a type, in a table of the memory catalog. */
async function tableOf(type: string, ...literals: readonly string[]): Promise<QueryFixture> {
  const fixture = new QueryFixture();
  await fixture.sql(`CREATE TABLE t (d ${type}, k INT, ts TIMESTAMP TIME INDEX)`);
  await fixture.sql(`INSERT INTO t VALUES ${literals.map((literal, i) => `(${literal}, ${i % 2}, ${i})`).join(", ")}`);
  return fixture;
}

async function column(fixture: QueryFixture, sql: string): Promise<string[]> {
  const { rows, types } = await fixture.both(sql);
  return rows.map((row) => row.map((value, c) => shown(value, types[c] ?? "").split(" ")[0]).join(" "));
}

describe.each(["DECIMAL(6, 2)", "DECIMAL(18, 2)", "DECIMAL(38, 2)"])("a column of type %s", (type) => {
  const rows = ["10", "9.5", "NULL", "-0.01", "9.50", "1234.56", "0"];

  test("is filtered and ordered by value", async () => {
    const fixture = await tableOf(type, ...rows);
    expect(await column(fixture, "SELECT d FROM t ORDER BY d DESC NULLS LAST")).toEqual([
      "1234.56",
      "10.00",
      "9.50",
      "9.50",
      "0.00",
      "-0.01",
      "undefined",
    ]);
    expect(await column(fixture, "SELECT k FROM t WHERE d = 9.5 ORDER BY ts")).toEqual(["1", "0"]);
    expect(await column(fixture, "SELECT d FROM t WHERE d > 9.499 AND d < 10.001 ORDER BY d")).toEqual(["9.50", "9.50", "10.00"]);
    expect(await column(fixture, "SELECT d FROM t WHERE d + 1 > 11 ORDER BY d")).toEqual(["1234.56"]);
    expect(await column(fixture, "SELECT d FROM t WHERE d IN (0, -0.01) ORDER BY d")).toEqual(["-0.01", "0.00"]);
  });

  test("is grouped and aggregated exactly", async () => {
    const fixture = await tableOf(type, ...rows);
    expect(await column(fixture, "SELECT d, count(*) FROM t GROUP BY d ORDER BY d")).toEqual([
      "-0.01 1",
      "0.00 1",
      "9.50 2",
      "10.00 1",
      "1234.56 1",
      "undefined 1",
    ]);
    expect(await column(fixture, "SELECT count(d), sum(d), min(d), max(d), avg(d) FROM t")).toEqual(["6 1263.55 -0.01 1234.56 210.591666"]);
    expect(await column(fixture, "SELECT k, sum(d), avg(d) FROM t GROUP BY k ORDER BY k")).toEqual([
      "0 19.50 6.500000",
      "1 1244.05 414.683333",
    ]);
    expect(
      await column(fixture, "SELECT count(DISTINCT d), sum(DISTINCT d), first_value(d ORDER BY ts), last_value(d ORDER BY ts) FROM t"),
    ).toEqual(["5 1254.05 10.00 0.00"]);
    expect(await column(fixture, "SELECT sum(d), avg(d), min(d) FROM t WHERE d > 9999")).toEqual(["undefined undefined undefined"]);
    expect(await column(fixture, "SELECT median(d), stddev_pop(d) > 0 FROM t")).toEqual(["9.50 true"]);
  });
});

test("sums of long decimals are exact, and refused beyond 38 digits", async () => {
  const fixture = await tableOf("DECIMAL(38, 0)", `${"9".repeat(37)}`, `${"9".repeat(37)}`, "1");
  expect(await column(fixture, "SELECT sum(d) FROM t")).toEqual([`1${"9".repeat(37)}`]);
  await fixture.sql(`INSERT INTO t VALUES (${"9".repeat(38)}, 1, 100)`);
  expect(fixture.sql("SELECT sum(d) FROM t")).rejects.toThrow("is too large to store in a Decimal128 of precision 38");
  expect(fixture.sql("SELECT sum(d) FROM t", { forceInterpreter: true })).rejects.toThrow("is too large to store");
});
