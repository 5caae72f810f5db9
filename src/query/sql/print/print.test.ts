import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import * as types from "../../../column/data-type.ts";
import type { BinaryOperator, Expression, FillClause, FrameEdge, ObjectName } from "../syntax/ast.ts";
import { parseInterval } from "../../../value/interval/parse-interval.ts";
import { parseSql } from "../parse.ts";
import { OPERATOR_POWER } from "../syntax/precedence.ts";
import { printName } from "./print-name.ts";
import { printExpression, printWhole } from "./print.ts";
import { SHOWN_LITERAL_CHARACTERS } from "./shown-literal.ts";

function parseExpression(text: string): Expression {
  const statement = parseSql(`SELECT ${text}`)[0];
  const item = statement?.kind === "select" ? statement.items[0] : undefined;
  if (item?.kind !== "expression") throw new Error(`no expression: ${text}`);
  return item.expression;
}

function check(input: string, want: string): void {
  expect(printWhole(parseExpression(input)), input).toBe(want);
}

describe("an expression prints", () => {
  test("as a person would write it", () => {
    check("COUNT( * )", "count(*)");
    check("MAX(Usage_User)", "max(usage_user)");
    check("a+1", "a + 1");
    check("1", "1");
    check("date_trunc('minute',greptime_timestamp)", "date_trunc('minute', greptime_timestamp)");
    check("count( distinct a )", "count(distinct a)");
    check("last_value(a order by ts desc nulls first) filter(where b)", "last_value(a order by ts desc nulls first) filter (where b)");
    check("CASE WHEN a>1 THEN 'x' ELSE NULL END", "case when a > 1 then 'x' else null end");
    check("x::BIGINT", "cast(x as bigint)");
    check("TRY_CAST(x AS TIMESTAMP(9))", "try_cast(x as timestamp(9))");
    check("a IS NOT NULL", "a is not null");
    check("a NOT IN (1,2)", "a not in (1, 2)");
    check("INTERVAL '5' minute", "interval '5 minute'");
    check("X'AB'", "x'ab'");
    check("t.A * -1", "t.a * -1");
    check("SUM(a) OVER W", "sum(a) over w");
    check(
      "sum(a)over(w partition by b ORDER BY c RANGE INTERVAL '1' hour PRECEDING)",
      "sum(a) over (w partition by b order by c range between interval '1 hour' preceding and current row)",
    );
    check("a==b", "a = b");
    check("lag(a,2)IGNORE nulls over()", "lag(a, 2) ignore nulls over ()");
    check("lag(a,2 ignore nulls)over()", "lag(a, 2) ignore nulls over ()");
    check("a is NOT distinct FROM b", "a is not distinct from b");
    check("a not SIMILAR to 'x%'", "a not similar to 'x%'");
  });
  test("with parentheses only where needed", () => {
    check("((a))", "a");
    check("(a * b) + (c / d)", "a * b + c / d");
    check("a * (b + c)", "a * (b + c)");
    check("a - (b - c)", "a - (b - c)");
    check("(a - b) - c", "a - b - c");
    check("(a and b) or (c and not (d or e))", "a and b or c and not (d or e)");
    check("not (a = b)", "not a = b");
    check("(not a) = b", "(not a) = b");
    check("-(-a)", "-(-a)");
    check("-(a + b)", "-(a + b)");
    check("(a is null) = b", "(a is null) = b");
    check("(a between 1 and 2) and b", "a between 1 and 2 and b");
    check("a between (b and c) and 2", "a between (b and c) and 2");
  });
  test("with quotes only where needed", () => {
    check('"a"', "a");
    check('"Mixed Case"', '"Mixed Case"');
    check('"select"', '"select"');
    check('t."a""b"', 't."a""b"');
    check('"trim"(a)', '"trim"(a)');
    check('"current_date"', '"current_date"');
    check("'it''s'", "'it''s'");
    expect(printName(["public", "T 1"])).toBe('public."T 1"');
  });
});

/** Trees as the parser makes them: every one must survive print and parse. */
const span = { line: 1, column: 1 };
const name = fc.oneof(
  fc.constantFrom(
    "a",
    "b1",
    "host",
    "value",
    "time",
    "Usage",
    "select",
    "left",
    "over",
    "trim",
    "current_timestamp",
    "x y",
    'q"q',
    "größe",
    "*",
  ),
  fc.string({ minLength: 1, maxLength: 4 }),
);
const objectName: fc.Arbitrary<ObjectName> = fc.array(name, { minLength: 1, maxLength: 4 });
const functionName = fc.constantFrom("max", "f", "left", "replace", "trim", "date_part", "if", "date");
const type = fc.constantFrom<types.DataType>(
  types.INT64,
  types.UINT8,
  types.FLOAT64,
  types.STRING,
  types.DATE,
  types.BINARY,
  types.TIMESTAMP_NANOSECOND,
  types.JSON_TYPE,
  { kind: "decimal", precision: 10, scale: 2 },
  { kind: "vector", dimension: 3 },
);
const operators = fc.constantFrom(...(Object.keys(OPERATOR_POWER) as BinaryOperator[]));
const intervalText = fc.constantFrom("1 day", "5s", "P1DT2H", "1 year 2 months", "-3");

function edge(offset: fc.Arbitrary<Expression>): fc.Arbitrary<FrameEdge> {
  const direction = fc.constantFrom("preceding" as const, "following" as const);
  return fc.oneof(
    fc.constantFrom<FrameEdge>({ kind: "unbounded" }, { kind: "current" }),
    fc.record({ kind: fc.constant("offset" as const), direction, offset }),
  );
}

const nothing = fc.constant<Expression>({ kind: "null", span });

/** What `x[i]` and `x[from:to]` stand for. */
function bracketed(name: "[]" | "[:]", args: readonly Expression[]): Expression {
  return { kind: "call", name, args, star: false, distinct: false, orderBy: [], filter: undefined, span };
}

const { expression } = fc.letrec<{ expression: Expression; leaf: Expression; node: Expression }>((tie) => {
  const child = tie("expression");
  const negated = fc.boolean();
  const list = fc.array(child, { minLength: 1, maxLength: 3 });
  return {
    expression: fc.oneof({ depthSize: "small", withCrossShrink: true }, tie("leaf"), tie("node")),
    leaf: fc.oneof(
      fc.constantFrom("0", "1", "1.5", ".5", "2e10").map((text): Expression => ({ kind: "number", text, span })),
      fc.string({ maxLength: 5 }).map((value): Expression => ({ kind: "string", value, span })),
      fc.boolean().map((value): Expression => ({ kind: "boolean", value, span })),
      fc.constant<Expression>({ kind: "null", span }),
      fc.uint8Array({ maxLength: 3 }).map((value): Expression => ({ kind: "binary-literal", value, span })),
      objectName.map((parts): Expression => ({ kind: "column", name: parts, quoted: false, span })),
      intervalText.map(
        (text): Expression => ({ kind: "interval", value: parseInterval(text) ?? { months: 0, days: 0, nanos: 0n }, text, span }),
      ),
    ),
    node: fc.oneof(
      fc
        .record({ operator: fc.constantFrom("-" as const, "+" as const, "not" as const, "~" as const), operand: child })
        .map((n): Expression => ({ kind: "unary", ...n, span })),
      fc.record({ operator: operators, left: child, right: child }).map((n): Expression => ({ kind: "binary", ...n, span })),
      fc
        .record({ operand: child, test: fc.constantFrom("null" as const, "true" as const, "false" as const, "unknown" as const), negated })
        .map((n): Expression => ({ kind: "is", ...n, span })),
      fc.record({ operand: child, low: child, high: child, negated }).map((n): Expression => ({ kind: "between", ...n, span })),
      fc.record({ operand: child, items: list, negated }).map((n): Expression => ({ kind: "in-list", ...n, constants: 0, span })),
      fc
        .record({
          operand: child,
          pattern: child,
          escape: fc.option(fc.constantFrom("!", "'"), { nil: undefined }),
          insensitive: fc.boolean(),
          negated,
        })
        .map((n): Expression => ({ kind: "like", ...n, span })),
      fc
        .record({
          operand: child,
          duration: fc.oneof(
            intervalText.map((value): Expression => ({ kind: "string", value, span })),
            child,
          ),
          fill: fc.option(
            fc.oneof(
              fc.constantFrom<FillClause>({ kind: "null" }, { kind: "prev" }, { kind: "linear" }),
              child.filter(({ kind }) => kind !== "null").map((value): FillClause => ({ kind: "constant", value })),
            ),
            { nil: undefined },
          ),
        })
        .map((n): Expression => ({ kind: "range", ...n, span })),
      fc.tuple(child, child).map((args): Expression => bracketed("[]", args)),
      fc.tuple(child, fc.oneof(child, nothing), fc.oneof(child, nothing)).map((args): Expression => bracketed("[:]", args)),
      fc.tuple(child, child, nothing, child).map((args): Expression => bracketed("[:]", args)),
      fc.record({ operand: child, type, safe: fc.boolean() }).map((n): Expression => ({ kind: "cast", ...n, span })),
      fc
        .record({
          operand: fc.option(child, { nil: undefined }),
          branches: fc.array(fc.record({ when: child, result: child }), { minLength: 1, maxLength: 2 }),
          otherwise: fc.option(child, { nil: undefined }),
        })
        .map((n): Expression => ({ kind: "case", ...n, span })),
      fc
        .record({
          name: functionName,
          args: list,
          distinct: fc.boolean(),
          orderBy: fc.array(
            fc.record({ expression: child, descending: fc.boolean(), nullsFirst: fc.option(fc.boolean(), { nil: undefined }) }),
            { maxLength: 2 },
          ),
          filter: fc.option(child, { nil: undefined }),
          nulls: fc.constantFrom(undefined, "ignore" as const, "respect" as const),
          over: fc.option(
            fc.record({
              base: fc.option(name, { nil: undefined }),
              partitionBy: fc.array(child, { maxLength: 2 }),
              orderBy: fc.array(fc.record({ expression: child, descending: fc.boolean(), nullsFirst: fc.constant(undefined) }), {
                maxLength: 2,
              }),
              frame: fc.option(
                fc.record({
                  unit: fc.constantFrom("rows" as const, "range" as const, "groups" as const),
                  start: edge(child),
                  end: edge(child),
                }),
                { nil: undefined },
              ),
            }),
            { nil: undefined },
          ),
        })
        .map((n): Expression => ({ kind: "call", star: false, ...n, span })),
    ),
  };
});

/** The tree without what printing does not keep, places and quotes that are not needed, and without what follows from the items of IN. */
function normal(tree: Expression): unknown {
  return JSON.parse(
    JSON.stringify(tree, (key, value: unknown) => {
      if (key === "span" || key === "quoted" || key === "constants") return undefined;
      if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
      return typeof value === "bigint" ? value.toString() : value;
    }),
  );
}

test("any tree prints to a text that parses to the same tree", () => {
  fc.assert(
    fc.property(expression, (tree) => {
      const text = printWhole(tree);
      const again = parseExpression(text);
      expect(normal(again), text).toEqual(normal(tree));
      expect(printWhole(again)).toBe(text);
    }),
    { seed: 20240131, numRuns: 800 },
  );
});

describe("an expression that names a column", () => {
  const most = SHOWN_LITERAL_CHARACTERS;
  const named = (text: string): string => printExpression(parseExpression(text));

  test("has a literal of as much as is shown as a whole", () => {
    const text = `'${"x".repeat(most)}'`;
    expect(named(text)).toBe(text);
  });

  test("has the beginning of a longer string, name or bytes", () => {
    expect(named(`length('${"''".repeat(most + 1)}')`)).toBe(`length('${"''".repeat(most)}…')`);
    expect(named(`"${"X".repeat(most + 1)}" + 1`)).toBe(`"${"X".repeat(most)}…" + 1`);
    expect(named(`"${"f".repeat(most + 1)}"(1)`)).toBe(`"${"f".repeat(most)}…"(1)`);
    expect(named(`x'${"0a".repeat(most)}'`)).toBe(`x'${"0a".repeat(most / 2)}…'`);
  });

  test("cuts no character in halves", () => {
    expect(named(`'${"x".repeat(most - 1)}😀y'`)).toBe(`'${"x".repeat(most - 1)}…'`);
  });
});

test("what tells expressions apart has whole literals", () => {
  const beginning = "x".repeat(SHOWN_LITERAL_CHARACTERS);
  const [one, other] = [parseExpression(`'${beginning}1'`), parseExpression(`'${beginning}2'`)];
  expect(printExpression(one)).toBe(printExpression(other));
  expect(printWhole(one)).not.toBe(printWhole(other));
});
