import { describe, test } from "bun:test";
import { checkExpression as check, checkOverRows, failsExpression as fails } from "../../../test/support/expression-check.ts";

describe("text beside other types", () => {
  test("stays text where one of both is chosen", async () => {
    await check("CASE WHEN 1 = 2 THEN 1 ELSE 'a' END", "a");
    await check("CASE WHEN 1 = 1 THEN 1.5 ELSE 'a' END", "1.5");
    await check("coalesce(NULL, 7, 'a')", "7");
    await check("(SELECT min(column1) FROM (VALUES (1), (true), ('x')) AS v)", "1");
  });

  test("is read as a number where both are compared", async () => {
    await check("'10' > 9", true);
    await fails("coalesce(timestamp '1970-01-01', 'no time')", "Error parsing timestamp from 'no time'");
    await fails("'a' > 9", "Cannot cast string 'a'");
  });

  test("is equal to a whole number that is written like it", async () => {
    await checkOverRows("v = 1", ["'1'", "'h'", "'1.0'", "NULL"], [true, false, false, undefined]);
    await checkOverRows("2 <> v", ["'2'", "'h'"], [false, true]);
    await checkOverRows("v IN (1, 'h')", ["'1'", "'h'", "'x'"], [true, true, false]);
    await checkOverRows("v NOT IN (1, 2)", ["'1'", "'h'"], [false, true]);
    await checkOverRows("CASE v WHEN 1 THEN 'one' ELSE 'other' END", ["'1'", "'h'"], ["one", "other"]);
    await checkOverRows("v > 9", ["'10'", "'8'"], [true, false]);
    await check("json_get(parse_json('{\"a\":\"01\"}'), 'a') = 1", undefined);
    await check("'01' = 1", true);
  });
});

describe("numbers", () => {
  test("compute", async () => {
    await check("abs(-3)", 3);
    await check("round(2.5)", 3);
    await check("round(-2.5)", -3);
    await check("round(1.005, 2)", 1.01);
    await check("trunc(-2.7)", -2);
    await check("mod(7, -3)", 1);
    await check("7 / -2", -3);
    await check("power(2, 10)", 1024);
    await check("log(2, 8)", 3);
    await check("gcd(12, 18) + lcm(4, 6)", 18);
    await check("factorial(20)", 2432902008176640000n);
    await check("9223372036854775807", 9223372036854775807n);
    await check("-9223372036854775808", -9223372036854775808n);
    await check("5 & 3 | 8", 9);
    await check("clamp(15, 0, 10)", 10);
    await check("sqrt(NULL)", undefined);
  });

  test("keep floats that have no digits to round", async () => {
    await check("round(-1e300, 2)", -1e300);
    await check("round(1e300, -400)", 0);
    await check("trunc(1e300, 20)", 1e300);
    await check("trunc(12.5, -400)", 0);
  });

  test("keep whole numbers whole and decimals exact", async () => {
    await check("arrow_typeof(clamp(5, 1, 3))", "Int64");
    await check("arrow_typeof(clamp_min(5, 1.5))", "Float64");
    await check("clamp_max(9223372036854775807, 9223372036854775806)", 9223372036854775806n);
    await check("mod(12.34::DECIMAL(10, 2), 5)::STRING", "2.34");
    await check("mod(NULL, 5::DECIMAL(5, 1))", undefined);
    await fails("mod(1::DECIMAL(5, 1), 0)", "Divide by zero error");
  });

  test("refuse what has no result", async () => {
    await fails("9223372036854775807 + 1", "Arithmetic overflow");
    await fails("mod(18, 0)", "Divide by zero error");
    await fails("factorial(21)", "the argument must be 0..20");
    await fails("clamp(1, 12, 0)", "min '12' > max '0'");
  });
});

describe("text", () => {
  test("counts characters, not bytes", async () => {
    await check("length('grüße😀')", 6);
    await check("octet_length('ü')", 2);
    await check("reverse('a😀b')", "b😀a");
    await check("substr('hello', 2, 3)", "ell");
    await check("substr('hello', -1, 3)", "h");
    await check("strpos('hello', 'll')", 3);
    await check("left('hello', -2)", "hel");
    await check("lpad('7', 3, '0')", "007");
    await check("split_part('a,b,c', ',', -1)", "c");
    await check("concat('a', NULL, 1)", "a1");
    await check("'a' || NULL", undefined);
    await check("concat_ws('-', 'a', NULL, 'b')", "a-b");
    await check("initcap('hello WORLD')", "Hello World");
    await check("btrim('xxaxx', 'x')", "a");
    await check("translate('12345', '143', 'ax')", "a2x5");
    await check("regexp_replace('abc123', '[0-9]+', '#')", "abc#");
    await check("'Abc' ~* '^a'", true);
    await check("'a.c' LIKE 'a.c' AND NOT 'abc' LIKE 'a.c'", true);
    await check("'50%' LIKE '50\\%'", true);
    await check("'dog/cat' @@ 'cat' AND NOT 'concat' @@ 'cat'", true);
  });

  test("refuses what cannot be done", async () => {
    await fails("'a' ~ '('", "cannot compile regular expression '('");
    await fails("split_part('a', ',', 0)", "field position must not be zero");
    await fails("repeat('abc', 100000000)", "at most 16777216 are allowed");
  });
});

describe("times", () => {
  test("compute", async () => {
    await check("date_part('year', '2024-05-06'::TIMESTAMP)", 2024);
    await check("date_part('dow', '2024-05-05'::DATE)", 0);
    await check("date_part('week', '2021-01-03'::DATE)", 53);
    await check("date_part('epoch', '1970-01-01 00:00:01.5'::TIMESTAMP)", 1.5);
    await check("to_unixtime('1970-01-01 00:01:00')", 60);
    await check("to_timestamp_millis(1500)", 1500n);
    await check("to_timestamp(1.5)", 1_500_000_000n);
    await check("date_bin(INTERVAL '15 minutes', '1970-01-01 00:44:00'::TIMESTAMP, '1970-01-01 00:05:00'::TIMESTAMP)", 35n * 60_000n);
    await check("'2024-03-31'::DATE - INTERVAL '1 month'", 19_782);
    await check("'2024-03-01'::DATE - '2024-02-01'::DATE", 29);
    await check("CAST('2024-01-01 00:00:00.5'::TIMESTAMP AS STRING)", "2024-01-01T00:00:00.500");
    await check("now()", 1_704_067_200_000_000_000n);
    await check("date_add('2024-01-31'::DATE, INTERVAL '1 month')", 19_782);
  });

  test("refuse what is none", async () => {
    await fails("date_trunc('fortnight', now())", "Unsupported date_trunc granularity 'fortnight'");
    await fails("date_part('parsec', now())", "Date part 'parsec' not supported");
    await fails("date_bin(INTERVAL '0 seconds', now())", "must be longer than zero");
  });
});

describe("choices and casts", () => {
  test("unify types", async () => {
    await check("coalesce(NULL, 1, 2.5)", 1);
    await check("greatest(1, 3, NULL, 2)", 3);
    await check("nullif(2, 2)", undefined);
    await check("if(1 < 2, 'a', 'b')", "a");
    await check("if(1, 7, 'x')", "7");
    await check("CASE 2 WHEN 1 THEN 'one' ELSE 'many' END", "many");
    await check("NULL IN (1, NULL)", undefined);
    await check("1 NOT IN (2, NULL)", undefined);
    await check("TRY_CAST('abc' AS INT)", undefined);
    await check("'NaN'::DOUBLE = 'NaN'::DOUBLE AND 'NaN'::DOUBLE > 1e300", true);
    await check("CAST(1e17 AS STRING)", "1e17");
    await check("CAST(-0.5 AS BIGINT)", 0);
    await check("NULL AND false", false);
  });

  test("refuse what does not fit", async () => {
    await fails("CAST(200 AS TINYINT)", "Cast error: Can't cast value 200 to type Int8");
    await fails("CAST('NaN'::DOUBLE AS INT)", "Can't cast value NaN to type Int32");
    await fails("CASE WHEN true THEN 1 ELSE now() - now() END", "CASE mixes");
  });
});
