/** What functions give at the edges of their arguments, as DataFusion 53 gives it where nothing else is said. */
import { describe, expect, test } from "bun:test";
import { checkAggregate, checkExpression, checkOverRows, failsExpression as fails } from "../../../test/support/expression-check.ts";
import { QueryFixture } from "../../../test/support/query-fixture.ts";

type Case = readonly [expression: string, want: Parameters<typeof checkExpression>[1], type?: string];

/** Expressions, their values and, where it matters, their types. */
async function checkAll(cases: readonly Case[]): Promise<void> {
  for (const [expression, want, type] of cases) await checkExpression(expression, want, type);
}

describe("text", () => {
  test("is cut and padded by what a reader takes for a character", async () => {
    await checkAll([
      ["lpad('e\u0301', 3, 'ab')", "abe\u0301"],
      ["rpad('e\u0301x', 1)", "e\u0301"],
      ["translate('Hello', 'e\u0301', 'abc')", "Hello"],
      ["replace('😀x', '', '-')", "-😀-x-"],
      ["replace('', '', '-')", "-"],
      ["reverse('a😀')", "😀a"],
      ["find_in_set('', '')", 1],
      ["find_in_set('b', '')", 0],
      ["substring('abcdef' FOR 2)", "ab"],
      ["substring('abcdef' FOR 2 FROM 3)", "cd"],
      ["position('ba', 'a')", 2],
    ]);
  });

  test("is asked for where numbers have no letters", async () => {
    await fails("initcap(12)", "3000 Failed to plan SQL: Error during planning: No function matches initcap(Int64)");
    await fails("initcap(12)", "Argument 1 cannot be Int64.");
    await fails("split_part('a,b', 1, 1)", "Argument 2 cannot be Int64 here.");
    await fails("split_part('a,b')", "It takes 3 arguments, not 1.");
    await fails("concat()", "It takes at least 1 argument");
    await fails("1 || 2", "3000 Failed to plan SQL: Error during planning: Cannot infer common string type");
    await fails("123 ~ '1'", "No function matches");
    await checkAll([
      ["1 || 'a'", "1a"],
      ["concat(1, true, NULL)", "1true"],
    ]);
  });

  test("meets the classes of Unicode in patterns", async () => {
    await checkAll([
      ["'äöü' ~ '^\\w+$'", true],
      ["'ä' ~ '\\W'", false],
      ["regexp_replace('1٣x', '\\d', 'N', 'g')", "NNx"],
      ["'a\u00a0b' ~ '^a\\sb$'", true],
      ["regexp_match('x=ä;', '[\\w=]+')::STRING", "[x=ä]"],
      ["'a]' ~ '^[]\\d]$'", false],
      ["'[' ~ '^[[:punct:]]$'", true],
      ["regexp_like('ab', 'a  b # both', 'x')", true],
      ["regexp_match('aaa', 'a+', 'U')::STRING", "[a]"],
      ["regexp_count('abxc', 'x*')", 4],
      ["regexp_count(NULL, 'a')", 0],
      ["regexp_like('a', 'a', NULL)", true],
      ["regexp_replace('a', 'a', 'b', NULL)", undefined],
      ["regexp_instr('', 'x*')", 0],
    ]);
    await fails("regexp_like('a', 'a', 'q')", "flag 'q' does not go with it");
  });
});

describe("numbers", () => {
  test("keep their widths, signs and limits", async () => {
    await checkAll([
      ["arrow_cast(200, 'UInt8') << arrow_cast(3, 'UInt8')", 64, "UInt8"],
      ["arrow_cast(-3, 'Int8') & arrow_cast(3, 'UInt8')", 1, "Int16"],
      ["1 << 64", 1, "Int64"],
      ["-1 >> 63", -1],
      ["round(-0.0)", -0],
      ["nanvl(1.5, NULL)", 1.5],
      ["NULL * CAST(1 AS DECIMAL(5, 2))", undefined, "Decimal(11, 4)"],
      ["NULL + 1::TINYINT", undefined, "Int8"],
    ]);
    await fails("gcd(0, -9223372036854775808)", "3001 Arithmetic overflow");
    await fails("lcm(9223372036854775807, 2)", "3001 Arithmetic overflow");
    await checkOverRows("power(v, 'NaN'::DOUBLE)", ["1.0", "2.0", "NULL"], [1, Number.NaN, undefined]);
    await checkOverRows("power(v, 'inf'::DOUBLE)", ["-1.0", "0.5"], [1, 0]);
  });

  test("are compared by greatest and least, not spelled", async () => {
    await checkAll([
      ["greatest('10', 9)", 10],
      ["least('b', 'a')", "a"],
      ["greatest(NULL, 1)", 1],
      ["greatest(1, 'NaN'::DOUBLE)", Number.NaN],
    ]);
    await fails("greatest('a', 1)", "Cannot cast string 'a'");
  });

  test("round decimals to as many digits as they ask for", async () => {
    await checkAll([
      ["round(12.345::DECIMAL(10, 3), 2)::STRING", "12.35"],
      ["round(12.345::DECIMAL(10, 3))::STRING", "12"],
      ["round(-99.95::DECIMAL(4, 2), 1)::STRING", "-100.0"],
      ["round(995::DECIMAL(3, 0), -1)::STRING", "1000"],
      ["round(12.345::DECIMAL(10, 3), 9)::STRING", "12.345"],
    ]);
    await checkOverRows("round(12.345::DECIMAL(10, 3), v)::STRING", ["1", "-1"], ["12.300", "10.000"]);
  });
});

describe("times", () => {
  test("have parts before 1970 and in leap years, durations too", async () => {
    await checkAll([
      ["extract(isodow FROM DATE '2024-02-29')", 3],
      ["extract(dow FROM DATE '2024-02-29')", 4],
      ["date_part('doy', DATE '1960-12-31')", 366],
      ["date_part('hour', DATE '2024-01-03'::TIMESTAMP - DATE '2024-01-01'::TIMESTAMP)", 48],
      ["date_part('week', arrow_cast(1209600, 'Duration(Second)'))", 2],
      ["date_part('epoch', arrow_cast(-1500, 'Duration(Millisecond)'))", -1.5],
      ["date_trunc('hour', '12:34:56'::TIME)::STRING", "12:00:00"],
      ["date_bin(INTERVAL '15 minutes', '12:34:56'::TIME)::STRING", "12:30:00"],
    ]);
    await fails("date_part('month', arrow_cast(1, 'Duration(Second)'))", "Date part 'month' not supported: use one of week, day");
    await fails("date_trunc('day', '12:34:56'::TIME)", "3001 cannot truncate a time: a time of day has no day");
    await fails("to_char('12:34:56'::TIME, '%Y')", "3001 cannot format a time");
  });

  test("are added where that means something", async () => {
    await checkAll([
      ["(DATE '2024-02-28' + 2)::STRING", "2024-03-01"],
      ["(1 + DATE '1969-12-31')::STRING", "1970-01-01"],
      ["(DATE '2024-01-01' - INTERVAL '36 hours')::STRING", "2023-12-31"],
      ["(DATE '2024-01-01' - INTERVAL '1 hour')::STRING", "2024-01-01"],
      ["(DATE '2024-01-31' + INTERVAL '1 month')::STRING", "2024-02-29"],
      ["(DATE '2024-01-01' + '12:34:56'::TIME)::STRING", "2024-01-01T12:34:56"],
      ["(arrow_cast(60, 'Duration(Second)') + INTERVAL '1 day')::STRING", "1 days 1 mins"],
      ["(arrow_cast(60, 'Duration(Second)') + TIMESTAMP '2024-01-01')::STRING", "2024-01-01T00:01:00"],
      ["NULL + INTERVAL '1 day'", undefined, "IntervalMonthDayNano"],
      ["TIMESTAMP '2024-01-01' - NULL", undefined, "DurationMillisecond"],
      ["arrow_cast(90061500, 'Duration(Millisecond)')::STRING", "1 days 1 hours 1 mins 1.500 secs"],
      ["arrow_cast(-1500, 'Duration(Millisecond)')::STRING", "0 days 0 hours 0 mins -1.500 secs"],
    ]);
    await fails("TIMESTAMP '2024-01-01' - 1", "3000 Failed to plan SQL: Error during planning: Cannot coerce arithmetic expression");
    await fails("DATE '2024-01-01' + 1.5", "Cannot coerce arithmetic expression Date + Float64");
    await fails("DATE '2024-01-01' + 3000000000", "3001 Arithmetic overflow");
    await fails("INTERVAL '1 day' * 2", "Cannot coerce arithmetic expression");
  });

  test("lose digits that their unit has not", async () => {
    await checkAll([
      ["to_timestamp_seconds(-1.5)::STRING", "1969-12-31T23:59:59"],
      ["to_timestamp_nanos(1.5)::BIGINT", 1],
      ["to_timestamp(1.1)::STRING", "1970-01-01T00:00:01.100"],
      ["to_date(-1.5)::STRING", "1969-12-31"],
      ["CAST('20240229' AS DATE)::STRING", "2024-02-29"],
      ["arrow_cast(arrow_cast(-1500, 'Duration(Millisecond)'), 'Duration(Second)')::BIGINT", -1],
      ["arrow_cast(TIMESTAMP '1970-01-01 00:00:01.5', 'Float64')", 1500],
      ["arrow_cast(INTERVAL '90 minutes', 'Duration(Second)')::BIGINT", 5400],
    ]);
    await fails("arrow_cast(INTERVAL '1 day', 'Duration(Second)')", "months and days have no fixed length");
    await fails("arrow_cast(18446744073709551615, 'Duration(Second)')", "3001 Cast error");
    await fails("CAST('20240230' AS DATE)", "3001 Cast error");
  });
});

describe("lists", () => {
  test("are sets whose unknown members are unknown", async () => {
    await checkAll([
      ["array_union(NULL, [1])", undefined],
      ["array_except([1], CAST(NULL AS BIGINT[]))", undefined],
      ["array_remove([1, NULL], NULL)", undefined],
      ["array_dims([])", undefined],
      ["[1, 2] @> [2]", true],
      ["[3] <@ [1, 2]", false],
      ["([1] || NULL)::STRING", "[1, ]"],
      ["{'a': 1, b: [2, 3]}['b'][2]", 3],
      ["MAP {'a': 1, 'b': 2}['b']", 2],
      ["map_extract(MAP {'1': 'x'}, 1)::STRING", "[x]"],
      ["element_at(MAP {'a': 1}, NULL)::STRING", "[]"],
      ["arrow_metadata(1, 'x')", undefined],
      ["cardinality(arrow_metadata(1))", 0],
    ]);
    await fails("1 @> [1]", "No function matches @>");
    await fails("MAP {'a': 1, 'a': 2}", "map key must be unique");
  });
});

describe("aggregates", () => {
  test("of decimals, durations and texts keep what they are of", async () => {
    await checkAggregate("median(column1)::STRING", ["1.25::DECIMAL(5, 2)", "1.50::DECIMAL(5, 2)"], "1.37");
    await checkAggregate(
      "sum(column1)::STRING",
      ["arrow_cast(5, 'Duration(Second)')", "NULL", "arrow_cast(4, 'Duration(Second)')"],
      secondsText(9),
    );
    await checkAggregate(
      "avg(column1)::STRING",
      ["arrow_cast(5, 'Duration(Second)')", "NULL", "arrow_cast(4, 'Duration(Second)')"],
      secondsText(4),
    );
    await checkAggregate("string_agg(column1, column2 ORDER BY column1)", ["'a', '-'", "'b', '+'", "'c', NULL"], "a+bc");
    await checkAggregate("regr_r2(column1, column2)", ["1, 1", "1, 2"], undefined);
    await checkAggregate("percentile_cont(column1, 0.5)", ["1.5::FLOAT", "2.5::FLOAT"], 2);
    await checkAggregate("approx_percentile_cont(column1, 1)", ["18446744073709551615", "1::BIGINT UNSIGNED"], 18446744073709551615n);
    await checkAggregate("approx_percentile_cont(column1, 0)", ["'NaN'::DOUBLE", "-2.0", "1.5"], -2);
    await checkAggregate("approx_percentile_cont(column1, 1)", ["'NaN'::DOUBLE", "-2.0", "1.5"], Number.NaN);
    await checkAggregate("approx_percentile_cont_with_weight(column1, column2, 0.5)", ["10, 1", "20, 1"], 15);
  });

  test("refuse what is no portion, no number and no argument of theirs", async () => {
    const over = (call: string): string => `${call} FROM (VALUES (1, 'a'), (2, 'b')) AS t (k, x)`;
    await fails(
      over("percentile_cont(k, NULL)"),
      "3001 Error during planning: Percentile value must be between 0.0 and 1.0 inclusive, NULL",
    );
    await fails(over("percentile_cont(k, 1.5)"), "inclusive, 1.5 is invalid");
    await fails(over("median(x)"), "Argument 1 cannot be String.");
    await fails(over("corr(k)"), "It takes 2 arguments, not 1.");
    await fails(over("regr_slopee(k, k)"), "Did you mean 'regr_slope'?");
  });
});

function secondsText(seconds: number): string {
  return `0 days 0 hours 0 mins ${seconds} secs`;
}

test("the type of a call hangs on no constant that is folded first", async () => {
  const { types } = await new QueryFixture().both(
    "SELECT round(d, 1 + 1), round(d, n) FROM (VALUES (1.234::DECIMAL(5, 3), 1)) AS t (d, n)",
  );
  expect(types).toEqual(["Decimal(5, 2)", "Decimal(6, 3)"]);
});
