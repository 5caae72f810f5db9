import { describe, expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { displayName } from "../../column/data-type.ts";
import type { Expression } from "./syntax/ast.ts";
import { parseSql } from "./parse.ts";

/** The tree as nested lists: `(+ a (* b c))`. */
function shape(e: Expression): string {
  const list = (...parts: (string | undefined)[]): string => `(${parts.filter((part) => part !== undefined).join(" ")})`;
  const not = (negated: boolean, name: string): string => (negated ? `not-${name}` : name);
  switch (e.kind) {
    case "number":
      return e.text;
    case "string":
      return JSON.stringify(e.value);
    case "binary-literal":
      return `#${Buffer.from(e.value).toString("hex")}`;
    case "boolean":
      return String(e.value);
    case "placeholder":
      return `$${e.index + 1}`;
    case "null":
    case "default":
      return e.kind;
    case "interval":
      return list("interval", `${e.value.months}`, `${e.value.days}`, `${e.value.nanos}`);
    case "column":
      return e.name.join(".");
    case "unary":
      return list(e.operator, shape(e.operand));
    case "binary":
      return list(e.operator, shape(e.left), shape(e.right));
    case "is":
      return list(not(e.negated, `is-${e.test}`), shape(e.operand));
    case "between":
      return list(not(e.negated, "between"), shape(e.operand), shape(e.low), shape(e.high));
    case "in-list":
      return list(not(e.negated, "in"), shape(e.operand), ...e.items.map(shape));
    case "like":
      return list(not(e.negated, e.insensitive ? "ilike" : "like"), shape(e.operand), shape(e.pattern), e.escape);
    case "cast":
      return list(e.safe ? "try-cast" : "cast", displayName(e.type), shape(e.operand));
    case "case":
      return list(
        "case",
        e.operand && shape(e.operand),
        ...e.branches.map((b) => list(shape(b.when), shape(b.result))),
        e.otherwise && shape(e.otherwise),
      );
    case "range":
      return list("range", shape(e.operand), shape(e.duration), e.fill?.kind);
    case "sub-query":
    case "exists":
      return list(e.kind);
    case "in-query":
      return list(not(e.negated, "in-query"), shape(e.operand));
    case "quantified":
      return list(e.operator, e.quantifier, shape(e.operand));
    case "call": {
      const order = e.orderBy.map(
        (o) => `${shape(o.expression)}${o.descending ? " desc" : ""}${o.nullsFirst === undefined ? "" : o.nullsFirst ? " first" : " last"}`,
      );
      return list(
        `${e.name}${e.distinct ? "-distinct" : ""}`,
        e.star ? "*" : undefined,
        ...e.args.map(shape),
        order.length === 0 ? undefined : list("order", ...order),
        e.filter && list("filter", shape(e.filter)),
      );
    }
  }
}

function parseExpression(text: string): Expression {
  const statement = parseSql(`SELECT ${text}`)[0];
  const item = statement?.kind === "select" ? statement.items[0] : undefined;
  if (item?.kind !== "expression") throw new Error(`no expression: ${text}`);
  return item.expression;
}

test("= may be written twice", () => {
  check("a == 1 AND b==c", "(and (= a 1) (= b c))");
  expect(() => parseExpression("a = = 1")).toThrow("found '='");
  expect(() => parseExpression("a === 1")).toThrow("found '='");
});

function check(input: string, want: string): void {
  expect(shape(parseExpression(input)), input).toBe(want);
}

function checkRejects(input: string, why: string | RegExp): void {
  expect(() => parseExpression(input), input).toThrow(why);
  expect(() => parseExpression(input), input).toThrow(DbError);
}

describe("operators bind", () => {
  test("arithmetic before comparison before NOT before AND before OR", () => {
    check("a + b * c", "(+ a (* b c))");
    check("(a + b) * c", "(* (+ a b) c)");
    check("a - b - c", "(- (- a b) c)");
    check("a / b % c", "(% (/ a b) c)");
    check("a + 1 > b and c or d", "(or (and (> (+ a 1) b) c) d)");
    check("a or b and c", "(or a (and b c))");
    check("not a = b and c", "(and (not (= a b)) c)");
    check("not not a", "(not (not a))");
    check("a = not b", "(= a (not b))");
    check("a = b = c", "(= (= a b) c)");
  });
  test("bit operators between concatenation and sums, each at its own power", () => {
    check("a | b ^ c & d << 1 + 2", "(| a (^ b (& c (<< d (+ 1 2)))))");
    check("a # b", "(^ a b)");
    check("a || b || c", "(|| (|| a b) c)");
    check("a || b = c", "(= (|| a b) c)");
    check("a || 1 + 2", "(|| a (+ 1 2))");
    check("a >> 2 < 4", "(< (>> a 2) 4)");
  });
  test("signs before products, casts before signs", () => {
    check("-a * b", "(* (- a) b)");
    check("a - -1", "(- a (- 1))");
    check("-a::int", "(- (cast Int32 a))");
    check("~a & +b", "(& (~ a) (+ b))");
    check("a::int::string", "(cast String (cast Int32 a))");
    check("- - 1", "(- (- 1))");
  });
  test("predicates before comparison, IS after it", () => {
    check("a = b is null", "(is-null (= a b))");
    check("a is not null and b is true", "(and (not-is-null a) (is-true b))");
    check("a is false or a is unknown or a is not unknown", "(or (or (is-false a) (is-unknown a)) (not-is-unknown a))");
    check("a between 1 and 2 and b", "(and (between a 1 2) b)");
    check("a not between 1 + 1 and -2 or b", "(or (not-between a (+ 1 1) (- 2)) b)");
    check("a in (1, b + 2, 'c') = true", '(= (in a 1 (+ b 2) "c") true)');
    check("a not in (1)", "(not-in a 1)");
    check("not a in (1)", "(not (in a 1))");
    check("a + 1 like b || '%'", '(like (+ a 1) (|| b "%"))');
    check("INTERVAL f(a) - 1 DAY + b", '(+ (interval_of (- (f a) 1) "day") b)');
    check("INTERVAL ? HOUR", '(interval_of $1 "hour")');
    check("INTERVAL t.n minute < interval", '(< (interval_of t.n "minute") interval)');
    check("a regexp 'x' and b NOT RLIKE concat(c, 'y') or regexp = 1", '(or (and (~ a "x") (!~ b (concat c "y"))) (= regexp 1))');
    check("a not like 'x!%' escape '!' and b ilike 'Y'", '(and (not-like a "x!%" !) (ilike b "Y"))');
    check("a ~ 'x' and b !~ 'y' or c ~* 'z' and d !~* 'w'", '(or (and (~ a "x") (!~ b "y")) (and (~* c "z") (!~* d "w")))');
    check("msg @@ 'error'", '(@@ msg "error")');
    check("a <> b or a != c", "(or (<> a b) (<> a c))");
  });
});

describe("literals", () => {
  test("numbers keep their text", () => {
    check("1", "1");
    check("1.50", "1.50");
    check(".5", ".5");
    check("1.", "1.");
    check("2e38", "2e38");
    check("1.5E-3", "1.5E-3");
    check("18446744073709551615", "18446744073709551615");
  });
  test("strings double their quotes and keep backslashes and line ends", () => {
    check("'it''s'", '"it\'s"');
    check("''", '""');
    check("''''", '"\'"');
    check("'a\\n'", '"a\\\\n"');
    check("'a\nb'", '"a\\nb"');
    check("'日本語 🎉'", '"日本語 🎉"');
  });
  test("hex in both forms", () => {
    check("x'61FF'", "#61ff");
    check("X''", "#");
    check("0x61ff", "#61ff");
    checkRejects("x'6'", "odd number of hex digits");
    checkRejects("0x123", "odd number of hex digits");
    checkRejects("x'zz'", "no hex digits");
  });
  test("dates and timestamps are casts of strings", () => {
    check("DATE '2024-01-31'", '(cast Date "2024-01-31")');
    check("timestamp '2024-01-31 10:00:00'", '(cast TimestampMillisecond "2024-01-31 10:00:00")');
    check("timestamp '2024-01-31T10:00:00.123456Z'", '(cast TimestampMicrosecond "2024-01-31T10:00:00.123456Z")');
    check("timestamp '2024-01-31 10:00:00.123456789'", '(cast TimestampNanosecond "2024-01-31 10:00:00.123456789")');
    check("timestamp_s '2024-01-31'", '(cast TimestampSecond "2024-01-31")');
  });
  test("intervals in every spelling", () => {
    check("INTERVAL '1' day", "(interval 0 1 0)");
    check("INTERVAL '1 year 2 months 3 days 4 hours'", "(interval 14 3 14400000000000)");
    check("INTERVAL '5s'", "(interval 0 0 5000000000)");
    check("INTERVAL 90 MINUTES", "(interval 0 0 5400000000000)");
    check("INTERVAL 'P1DT1S'", "(interval 0 1 1000000000)");
    check("'3 hours'::interval", "(interval 0 0 10800000000000)");
    check("CAST('1 day' AS INTERVAL)", "(interval 0 1 0)");
    check("now() - INTERVAL '1 day'", "(- (now) (interval 0 1 0))");
    check("TRY_CAST('x' AS INTERVAL)", '(try-cast IntervalMonthDayNano "x")');
    checkRejects("INTERVAL 'soon'", "'soon' is no interval");
    checkRejects("INTERVAL 5 parsecs", "is no interval");
    checkRejects("'x'::interval", "is no interval");
  });
  test("strings with a mark", () => {
    check("E'a\\n\\'b\\''", "\"a\\n'b'\"");
    check("e'it''s'", `"it's"`);
    check("U&'d\\0061t\\+000061'", '"data"');
    check("N'a\\n'", '"a\\\\n"');
    check("b'1'", "#01");
    check("B'000000011'", "#0003");
    check("b''", "#");
    checkRejects("E'\\x00'", "stands for no character");
    checkRejects("E'\\xff'", "no UTF-8");
    checkRejects("U&'\\d800'", "stands for no character");
    checkRejects("b'012'", "no bits");
    checkRejects("foo 'a'", "found ''a''");
  });
  test("placeholders are counted from the left, or have numbers", () => {
    check("? + ? * ?", "(+ $1 (* $2 $3))");
    check("$2 || $1", "(|| $2 $1)");
    checkRejects("$0", "'$0' is no parameter");
    checkRejects("$65536", "'$65536' is no parameter");
    checkRejects("$a", "'$a' is no parameter");
    checkRejects("$1 + ?", "parameters ? or $1, not both");
    checkRejects("$$a", "the string '$$a' is not closed");
  });
  test("strings between dollars hold anything, quotes and line ends too", () => {
    check('$$it\'s "a" \\n$$', JSON.stringify('it\'s "a" \\n'));
    check("$tag$ a $$ b\n$tag$", JSON.stringify(" a $$ b\n"));
    check("$$$$ || $a$$b$$a$", '(|| "" "$b$")');
    checkRejects("$tag$ a $$", "the string '$tag$ a $$' is not closed");
  });
  test("system variables keep their marks", () => {
    check("@@Version", "(@@version)");
    check("@@session.time_zone", "(@@session.time_zone)");
    checkRejects("@@", "expected the name of a system variable");
    checkRejects("@@a.", "expected");
  });
  test("a list in parentheses is a row", () => {
    check("(a, 1)", "(struct a 1)");
    check("(a)", "a");
    check("(a, b) IN ((1, 2), (3, 4))", "(in (struct a b) (struct 1 2) (struct 3 4))");
    check("(a, (b, c)) < d", "(< (struct a (struct b c)) d)");
    checkRejects("(a, )", "expected an expression");
    checkRejects("()", "expected an expression");
  });
  test("DIV and <=> are operators", () => {
    check("a DIV 2 * 3 + 1", "(+ (* (div a 2) 3) 1)");
    check("div div div", "(div div div)");
    check("a <=> NULL", "(is not distinct from a null)");
    checkRejects("a DIV", "expected an expression");
  });
  test("functions of pg_catalog are those of every schema", () => {
    check("pg_catalog.version()", "(version)");
    check("pg_catalog.quote_ident(a || b)", "(quote_ident (|| a b))");
    check("pg_catalog.a", "pg_catalog.a");
    checkRejects("other.f(1)", "'('");
  });
  test("AT TIME ZONE binds tighter than signs and looser than casts", () => {
    check("a AT TIME ZONE 'UTC' AT TIME ZONE b", '(at time zone (at time zone a "UTC") b)');
    check("-a AT TIME ZONE 'UTC'", '(- (at time zone a "UTC"))');
    check("a::date AT TIME ZONE 'UTC' + b", '(+ (at time zone (cast Date a) "UTC") b)');
    checkRejects("a AT TIME 'UTC'", "expected ZONE");
  });
});

describe("names", () => {
  test("fold to lower case unless quoted", () => {
    check("HostName", "hostname");
    check('"HostName"', "HostName");
    check("`Host``Name`", "Host`Name");
    check('"a""b"', 'a"b');
    check("T.A", "t.a");
    check('public."T".a', "public.T.a");
    check("größe", "größe");
    check("a@b", "a@b");
    check("t.select", "t.select");
  });
  test("may be words that mean something elsewhere", () => {
    const words =
      "value ts host time date level type name key status index interval timestamp position trim extract substring first last format " +
      "comment engine database schema tables values show use set full left right over filter range fill to zone " +
      "replace insert explain row if";
    for (const word of words.split(" ")) check(`${word} + 1`, `(+ ${word} 1)`);
  });
  test("may not be reserved words", () => {
    for (const word of "select from where group order limit and or in is as on join union when then end distinct".split(" ")) {
      checkRejects(`1 + ${word} + 1`, / at Line: 1, Column: 12$/);
      check(`1 + "${word}" + 1`, `(+ (+ 1 ${word}) 1)`);
    }
  });
  test("have as many parts as documents nest below a column", () => {
    const path = Array.from({ length: 132 }, (_, i) => `p${i}`).join(".");
    check(path, path);
    checkRejects(`${path}.more`, "too many parts");
  });
});

describe("calls", () => {
  test("take arguments, star, DISTINCT, ORDER BY and FILTER", () => {
    check("now()", "(now)");
    check("COUNT(*)", "(count *)");
    check("coalesce(a, b + 1, 'c')", '(coalesce a (+ b 1) "c")');
    check("count(DISTINCT a, b)", "(count-distinct a b)");
    check("last_value(a ORDER BY ts DESC NULLS LAST, b)", "(last_value a (order ts desc last b))");
    check("sum(a) FILTER (WHERE b > 1) + 1", "(+ (sum a (filter (> b 1))) 1)");
    check("f(g(h(a)))", "(f (g (h a)))");
    check("left(a, 2)", "(left a 2)");
    check("replace(a, 'b', 'c')", '(replace a "b" "c")');
    check("current_timestamp", "(current_timestamp)");
    check("CURRENT_TIMESTAMP()", "(current_timestamp)");
    check('"current_timestamp"', "current_timestamp");
    checkRejects("sum(*)", "only count takes *");
    checkRejects("f(a,)", "expected an expression");
    checkRejects("f(a", "the text ends too early, expected ')'");
    checkRejects("f(,a)", "found ','");
  });
  test("with keywords become plain calls", () => {
    check("EXTRACT(YEAR FROM ts)", '(date_part "year" ts)');
    check("extract('Dow' from ts + x)", '(date_part "dow" (+ ts x))');
    check("SUBSTRING(a FROM 2 FOR 3)", "(substr a 2 3)");
    check("OVERLAY(a PLACING b FROM 2 FOR 3)", "(overlay a b 2 3)");
    check("overlay(a, b, 2)", "(overlay a b 2)");
    check("substring(a from 2)", "(substr a 2)");
    check("substring(a, 2, 3)", "(substr a 2 3)");
    check("POSITION('x' IN a || b)", '(strpos (|| a b) "x")');
    check("position(a, 'x')", '(strpos a "x")');
    check("substring(a for 3)", "(substr a 1 3)");
    check("substring(a for 3 from 2)", "(substr a 2 3)");
    check("TRIM(a)", "(btrim a)");
    check("TRIM(a, 'x')", '(btrim a "x")');
    check("TRIM(BOTH 'x' FROM a)", '(btrim a "x")');
    check("TRIM(LEADING FROM a)", "(ltrim a)");
    check("TRIM(TRAILING 'x' FROM a)", '(rtrim a "x")');
    check("TRIM('x' FROM a)", '(btrim a "x")');
    check("trim.a + position", "(+ trim.a position)");
    checkRejects("SUBSTRING(a FOR)", "expected");
    checkRejects("TRIM(BOTH)", "TRIM needs a text");
    checkRejects("TRIM('x', 'y' FROM a)", "TRIM takes a text");
    checkRejects("EXTRACT(YEAR, ts)", "expected FROM");
    checkRejects("POSITION('x')", "expected IN or ','");
    checkRejects("SUBSTRING(a)", "expected ',', FROM or FOR");
    checkRejects("OVERLAY(a PLACING b)", "expected FROM");
  });
  test("CASE and CAST", () => {
    check("CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 3 END", "(case (a 1) (b 2) 3)");
    check("CASE a WHEN 1 THEN 'x' END", '(case a (1 "x"))');
    check("CAST(a AS DOUBLE PRECISION)", "(cast Float64 a)");
    check("TRY_CAST(a + 1 AS BIGINT UNSIGNED)", "(try-cast UInt64 (+ a 1))");
    check("a::TIMESTAMP(9)", "(cast TimestampNanosecond a)");
    check("a::timestamp with time zone", "(cast TimestampMillisecond a)");
    check("a::decimal(10, 2)", "(cast Decimal(10, 2) a)");
    checkRejects("CASE a END", "expected WHEN");
    checkRejects("CASE WHEN a THEN 1", "expected END");
    checkRejects("CAST(a, INT)", "expected AS");
    checkRejects("a::nothing", "unknown type 'nothing'");
    checkRejects("a::timestamp(4)", "must have precision 0, 3, 6 or 9");
    check("a::time(3)", "(cast TimeMillisecond a)");
    checkRejects("a::timetz", "not supported: type TIMETZ");
    check("a::int[]", "(cast List<Int32> a)");
    check("a::text[][]", "(cast List<List<String>> a)");
    checkRejects(`a::int${"[]".repeat(17)}`, "deeper than 16 levels");
    checkRejects("a::int(1.5)", "whole numbers");
  });
});

test("lists and subscripts are calls", () => {
  check("[1, a]", "(make_array 1 a)");
  check("{'a': 1, b: [2]}['b']", '([] (named_struct "a" 1 "b" (make_array 2)) "b")');
  check("MAP {'a': 1, b + 1: 2}", '(make_map "a" 1 (+ b 1) 2)');
  check("map.a + map", "(+ map.a map)");
  check("a @> [1] AND [1] <@ a", "(and (@> a (make_array 1)) (<@ (make_array 1) a))");
  checkRejects("a {'b': 1}", "found '{', expected an operator");
  checkRejects("{1: 2}", "expected '}'");
  check("ARRAY[1] || []", "(|| (make_array 1) (make_array))");
  check("a[1][2]", "([] ([] a 1) 2)");
  check("-a[1]", "(- ([] a 1))");
  check("t.a['k']", '([] t.a "k")');
  check("a[1:2]", "([:] a 1 2)");
  check("a[:2:3]", "([:] a null 2 3)");
  check("a[1].b.c", '(get_field (get_field ([] a 1) "b") "c")');
  check("f(a)[1]", "([] (f a) 1)");
  check("a::text[1]", "([] (cast String a) 1)");
  check("a = ANY(b)", "(array_has b a)");
  check("a <> ALL(b || [1])", "(not (array_has (|| b (make_array 1)) a))");
  checkRejects("a[]", "expected a subscript");
  checkRejects("a[1, 2]", "a subscript is one value");
  checkRejects("array[1:2]", "found ':'");
  checkRejects("[1", "expected");
  checkRejects("a[1", "expected");
});

test("broken expressions say what was expected", () => {
  checkRejects("", "expected a column or expression");
  checkRejects("1 +", "the text ends too early, expected an expression");
  checkRejects("(1", "expected ')'");
  checkRejects("1)", "keyword: ')', expected the end of the statement");
  checkRejects("a between 1", "expected AND");
  checkRejects("a in ()", "expected an expression");
  checkRejects("a in 1", "expected '('");
  checkRejects("a is 1", "expected NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM");
  checkRejects("a like 'x' escape 'ab'", "ESCAPE must be one character");
  checkRejects("DEFAULT", "DEFAULT can only be a value");
  checkRejects("12ab", "'12ab' is neither a number nor a name");
  checkRejects("a b c", "keyword: 'c', expected the end of the statement");
  checkRejects("t.* + 1", "can only stand alone");
  checkRejects("f(t.*)", "found '*', expected a name");
});

test("spans point at the beginning of each node", () => {
  const e = parseExpression("a +\n  b.c * 2");
  expect(e.span).toEqual({ line: 1, column: 8 });
  expect(e.kind === "binary" && e.right.span).toEqual({ line: 2, column: 3 });
  expect(e.kind === "binary" && e.right.kind === "binary" && e.right.right.span).toEqual({ line: 2, column: 9 });
});

test("long chains of OR become balanced, short ones lean left", () => {
  const height = (e: Expression): number => (e.kind === "binary" ? 1 + Math.max(height(e.left), height(e.right)) : 1);
  const leaves = (e: Expression): string[] => (e.kind === "binary" ? [...leaves(e.left), ...leaves(e.right)] : [shape(e)]);
  const names = Array.from({ length: 5000 }, (_, i) => `c${i}`);
  const long = parseExpression(names.join(" or "));
  expect(height(long)).toBeLessThan(20);
  expect(leaves(long)).toEqual(names);
  expect(height(parseExpression(names.slice(0, 64).join(" or ")))).toBe(64);
});
