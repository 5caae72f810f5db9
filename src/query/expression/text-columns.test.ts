/** Expressions over texts by columns: the same as the interpreter gives, in each form that a vector may have. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { codedOf, plainOf } from "../../../test/support/coded-text.ts";
import { planContext } from "../../../test/support/plan-run.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { BOOLEAN, INT64, STRING } from "../../column/data-type.ts";
import { slice } from "../../column/slice.ts";
import type { Vector } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { Value } from "../function/value/value.ts";
import { bind } from "../plan/bind/bind.ts";
import { parseSql } from "../sql/parse.ts";
import { FilterEvaluator, VectorEvaluator } from "./evaluator.ts";
import type { TypedExpression } from "./expression.ts";
import { evaluate } from "./interpreter.ts";
import { columnRun } from "./text-columns.ts";
import { valueAt } from "./vector-values.ts";

const HEADERS: readonly ColumnHeader[] = [
  { name: "s", type: STRING },
  { name: "t", type: STRING },
  { name: "n", type: INT64 },
  { name: "b", type: BOOLEAN },
];
const context = planContext({} as never); // no source of rows is asked for
const SCOPE = HEADERS.map(({ name, type }, index) => ({
  qualifier: undefined,
  name,
  expression: { kind: "column" as const, type, index, name },
}));

function bound(text: string): TypedExpression {
  const [statement] = parseSql(`SELECT ${text}`);
  const item = statement?.kind === "select" ? statement.items[0] : undefined;
  if (item?.kind !== "expression") throw new Error(`an expression; got ${text}`);
  return bind(item.expression, { scope: SCOPE, environment: context.environment });
}

/** Rows of the columns above. */
interface Rows {
  readonly s: readonly (string | undefined)[];
  readonly t: readonly (string | undefined)[];
  readonly n: readonly (number | undefined)[];
  readonly b: readonly (boolean | undefined)[];
}

/** Texts as bytes that have something below NULL, behind some other rows. */
function slicedOf(texts: readonly (string | undefined)[]): Vector {
  const vector = vectorOf(
    STRING,
    ["Before ", ...texts, "after"].map((text) => text ?? "Nothing"),
  );
  const validity = Uint8Array.from(["", ...texts, ""], (text) => (text === undefined ? 0 : 1));
  return slice(vector.kind === "bytes" ? { ...vector, validity } : vector, 1, texts.length + 1);
}

function stringsOf(texts: readonly (string | undefined)[]): Vector {
  const distinct = [...new Set(texts.filter((text) => text !== undefined))];
  const codes = Uint32Array.from(texts, (text) => (text === undefined ? 0 : distinct.indexOf(text) + 1));
  return { kind: "dictionary", codes, dictionary: [undefined, ...distinct] };
}

const FORMS: readonly ((texts: readonly (string | undefined)[]) => Vector)[] = [plainOf, slicedOf, codedOf, stringsOf];

function batchesOf({ s, t, n, b }: Rows): readonly Batch[] {
  const numbers = vectorOf(INT64, n);
  const truths = vectorOf(BOOLEAN, b);
  const pairs = FORMS.flatMap((first, i) => [[first, first] as const, [first, FORMS[(i + 1) % FORMS.length] ?? plainOf] as const]);
  return pairs.map(([first, second]) => ({ rowCount: s.length, vectors: [first(s), second(t), numbers, truths] }));
}

function valueOf(expression: TypedExpression, rows: Rows, row: number): Value | Error {
  const values = [rows.s[row], rows.t[row], rows.n[row], rows.b[row]];
  try {
    return evaluate(expression, (column) => values[column], context.environment);
  } catch (thrown) {
    return thrown as Error; // what evaluation throws
  }
}

async function outcomeOf<T>(run: () => T | Promise<T>): Promise<T | Error> {
  try {
    return await run();
  } catch (thrown) {
    return thrown as Error; // what evaluation throws
  }
}

const failureOf = (outcome: unknown): string => (outcome instanceof Error ? outcome.message : "none");

async function check(text: string, rows: Rows): Promise<void> {
  const expression = bound(text);
  const outcomes = rows.s.map((_, row) => valueOf(expression, rows, row));
  const failed = outcomes.find((value) => value instanceof Error);
  const want = outcomes.filter((value): value is Value => !(value instanceof Error));
  for (const batch of batchesOf(rows)) {
    const evaluator = new VectorEvaluator(expression, HEADERS, context);
    for (const run of [() => evaluator.vector(batch), () => evaluator.vectorInTurns(batch)]) {
      const vector = await outcomeOf(run);
      if (failed !== undefined || vector instanceof Error)
        expect({ text, failure: failureOf(vector) }).toEqual({ text, failure: failureOf(failed) });
      else
        expect({ text, rows, values: rows.s.map((_, row) => valueAt(vector, expression.type, row)) }).toEqual({ text, rows, values: want });
    }
    if (expression.type.kind === "boolean" && failed === undefined) await checkFilter(expression, text, batch, want);
  }
}

async function checkFilter(expression: TypedExpression, text: string, batch: Batch, want: readonly Value[]): Promise<void> {
  const evaluator = new FilterEvaluator(expression, HEADERS, context);
  const passing = want.flatMap((value, row) => (value === true ? [row] : []));
  for (const run of [() => evaluator.select(batch), () => evaluator.selectInTurns(batch)]) {
    const { selection, count } = await run();
    expect([text, [...selection.subarray(0, count)]]).toEqual([text, passing]);
  }
}

const LETTERS = [
  "a",
  "A",
  "b",
  "ab",
  "Abc",
  " ",
  "-",
  "%",
  "_",
  "\\",
  "/",
  "1",
  "27",
  "é",
  "ß",
  "İ",
  "K",
  "ſ",
  "e\u0301",
  "😀",
  "漢",
  "\n",
  "\0",
];
const text = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(undefined, "", " ", "a") },
  { weight: 3, arbitrary: fc.array(fc.constantFrom(...LETTERS.slice(0, 13)), { maxLength: 9 }).map((parts) => parts.join("")) },
  { weight: 3, arbitrary: fc.array(fc.constantFrom(...LETTERS), { maxLength: 9 }).map((parts) => parts.join("")) },
  { weight: 1, arbitrary: fc.nat(80).map((count) => "ab-".repeat(count)) },
);
const number = fc.oneof(fc.integer({ min: -4, max: 9 }), fc.constant(undefined));
const rowsOf = fc
  .array(fc.tuple(text, text, number, fc.constantFrom(true, false, undefined)), { minLength: 1, maxLength: 12 })
  .map((rows) => ({
    s: rows.map(([s]) => s),
    t: rows.map(([, t]) => t),
    n: rows.map(([, , n]) => n),
    b: rows.map(([, , , b]) => b),
  }));

/** Expressions of each function, with and without constants. */
const TEXTS_OF = [
  ["lower(X)", "upper(X)", "trim(X)", "ltrim(X)", "rtrim(X, 'ab ')", "btrim(X, 'é')", "trim(X, '')"],
  ["substr(X, 2)", "substr(X, 2, 3)", "substr(X, -1, 3)", "substr(X, n)", "substr(X, n, 2)", "substr(X, 1, n)", "substr(X, 0)"],
  ["left(X, 2)", "left(X, -2)", "left(X, n)", "right(X, 2)", "right(X, -1)", "right(X, n)", "left(X, 0)", "right(X, 0)"],
  ["concat(X, '-', Y)", "X || Y", "X || '!'", "concat_ws('é', X, Y, 'z')", "concat_ws(Y, X, X)", "concat(X)", "concat(X, n)"],
  ["replace(X, 'ab', 'é')", "replace(X, 'a', '')", "replace(X, '', 'x')", "replace(X, Y, 'a')", "replace(X, 'ab-', 'longer')"],
  ["split_part(X, '-', 2)", "split_part(X, '-', -1)", "split_part(X, 'ab', 1)", "split_part(X, 'ab', -2)", "split_part(X, '', 1)"],
  ["coalesce(X, Y)", "coalesce(X, 'none')", "nullif(X, '')", "nullif(X, Y)", "ifnull(Y, X)", "if(b, X, Y)", "if(n > 2, X, 'no')"],
  [
    "CASE WHEN X LIKE 'a%' THEN X WHEN n > 3 THEN 'many' END",
    "CASE X WHEN '' THEN 'empty' ELSE Y END",
    "CASE WHEN b THEN lower(X) ELSE X END",
  ],
  [
    "regexp_replace(X, '^([^-]*)-.*$', '\\\\1')",
    "regexp_replace(X, '^a(b)?', '<\\\\1>', 'g')",
    "regexp_replace(X, 'b', 'c')",
    "regexp_replace(X, '[a-z]+', '<\\\\0>', 'g')",
    "regexp_replace(X, '(b)[^c]', '\\\\1', 'g')",
    "regexp_extract(X, 'b.')",
    "regexp_extract(X, '^[^b]+')",
  ],
  ["initcap(X)", "reverse(X)", "cast(n AS string)", "cast(X AS string)"],
].flat();
const OTHERS_OF = [
  ["length(X)", "octet_length(X)", "bit_length(X)", "ascii(X)", "strpos(X, 'b')", "strpos(X, Y)", "position('é' IN X)", "locate('b', X)"],
  ["contains(X, 'ab')", "contains(X, '')", "contains(X, Y)", "starts_with(X, 'a')", "ends_with(X, 'é')", "starts_with(X, Y)"],
  [
    "X = 'ab'",
    "X <> ''",
    "X < 'b'",
    "X >= 'é'",
    "X = Y",
    "X < Y",
    "'a' <= X",
    "X IS NULL",
    "X IS NOT NULL",
    "X = NULL",
    "lower(X) = 'ab'",
    "upper(X) >= 'AB'",
    "lower(X) <> Y",
  ],
  ["X IN ('a', 'ab', '')", "X NOT IN ('a', 'é', '😀')", "X IN ('a', NULL)", "X BETWEEN 'a' AND 'b'"],
  ["X LIKE 'a%'", "X LIKE '%b'", "X LIKE '%ab%'", "X LIKE 'ab'", "X LIKE '%'", "X LIKE ''", "X LIKE '%é%'", "X NOT LIKE '%b%'"],
  ["X LIKE '_b%'", "X LIKE '%_'", "X LIKE '_'", "X LIKE '%a_b%'", "X LIKE '%a%b%a%'", "X LIKE 'a%b_c%'", "X LIKE '%\\%%'", "X LIKE '%__'"],
  ["X LIKE 'a%a'", "X LIKE '%!_%' ESCAPE '!'", "X ILIKE '%AB%'", "X ILIKE 'K%'", "X ILIKE '%ß'", "X ILIKE '_\u212a%'", "X NOT ILIKE 'a%'"],
  [
    "X ~ '^a.*b$'",
    "X ~ 'ab'",
    "X !~ '[aé]+-'",
    "X ~* '^A_?b'",
    "X ~* 'k'",
    "X ~ '\\\\w$'",
    "regexp_like(X, '[^-]b', 'i')",
    "X ~ '\\\\bab'",
    "X !~* Y",
  ],
  ["try_cast(X AS BIGINT)", "try_cast(X AS DOUBLE)", "try_cast(X AS FLOAT)", "try_cast(X AS TINYINT)", "try_cast(right(X, 2) AS INT) + 1"],
  ["cast(concat(n, '5') AS BIGINT)", "cast(concat('-0', n, '.5') AS DOUBLE)", "cast(X AS INT)"],
  ["regexp_count(X, 'a')", "regexp_count(X, '[ab]+-?')", "regexp_count(X, 'A', 1, 'i')"],
  ["X LIKE Y", "length(X) > 2 AND X <> 'a'", "X LIKE 'a%' AND n > 1", "X LIKE 'a%' OR b", "NOT (X LIKE '%a%')", "length(X) + n > 3"],
  ["X LIKE '%a%' AND Y LIKE '%b%' AND X <> 'ab'", "n > 0 AND X <> '' AND Y NOT LIKE '%-%'", "b AND lower(X) > 'a' AND length(Y) = 2"],
  ["n > 0 AND initcap(X) <> 'A' AND X LIKE '%a%'", "initcap(Y) > 'A' AND b", "X <> '' AND (initcap(X) = X OR n > 2)"],
].flat();

const column = fc.constantFrom("s", "t");
const nested: fc.Arbitrary<string> = fc.oneof(
  { weight: 2, arbitrary: column },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...TEXTS_OF), column, column).map(([of, x, y]) => put(of, x, y)),
  },
);

const put = (of: string, x: string, y: string): string => of.replaceAll(/\bX\b/g, () => `(${x})`).replaceAll(/\bY\b/g, () => `(${y})`);

test("each expression, over each form of text, is what the interpreter gives", async () => {
  const samples = fc.sample(rowsOf, { numRuns: 4, seed: 11 });
  for (const of of [...TEXTS_OF, ...OTHERS_OF]) for (const rows of samples) await check(put(of, "s", "t"), rows);
}, 60_000);

test("expressions within each other, over random texts, are what the interpreter gives", async () => {
  const expression = fc.tuple(fc.constantFrom(...TEXTS_OF, ...OTHERS_OF), nested, nested).map(([of, x, y]) => put(of, x, y));
  await fc.assert(
    fc.asyncProperty(expression, rowsOf, (of, rows) => check(of, rows)),
    { seed: 5, numRuns: Number(Bun.env["VARVE_FUZZ_TEXTS"] ?? 300) },
  );
}, 120_000);

/** What only the interpreter computes. */
const SLOW = ["initcap(X)", "X LIKE Y"];

test("what bytes tell is computed from bytes", () => {
  const slow = [...TEXTS_OF, ...OTHERS_OF].filter((of) => {
    const expression = bound(put(of, "s", "t"));
    return columnRun(expression, { environment: context.environment, other: () => () => undefined }) === undefined;
  });
  expect(slow).toEqual(SLOW);
});

test("more bytes than one piece has come out in pieces", () => {
  const texts = Array.from({ length: 70 }, (_, row) =>
    row % 9 === 0 ? undefined : `${row % 3 === 0 ? "ab" : "é"}${"x".repeat(row * 4000)}`,
  );
  const batch = { rowCount: texts.length, vectors: [slicedOf(texts)] };
  for (const text of ["upper(s)", "length(s) + 1", "right(s, 3)", "s LIKE 'ab%' OR length(s) > 200000", "coalesce(s, 'none')"]) {
    const expression = bound(text);
    const want = texts.map((s) => evaluate(expression, () => s, context.environment));
    const vector = new VectorEvaluator(expression, HEADERS, context).vector(batch);
    expect(texts.map((_, row) => valueAt(vector, expression.type, row))).toEqual(want);
    if (expression.type.kind !== "boolean") continue;
    const { selection, count } = new FilterEvaluator(expression, HEADERS, context).select(batch);
    expect([...selection.subarray(0, count)]).toEqual(want.flatMap((value, row) => (value === true ? [row] : [])));
  }
}, 30_000);

test("a large table of entries is computed whole once there were rows enough, and several are told apart", () => {
  const tables = ["a", "b"].map((letter) => Array.from({ length: 5000 }, (_, i) => (i % 7 === 0 ? undefined : `${letter}${i % 1800}`)));
  for (const text of ["upper(s)", "nullif(left(s, 3), 'a10')", "coalesce(s, 'none')", "length(s)", "s < 'a2'", "strpos(s, '7') + 1"]) {
    const expression = bound(text);
    const evaluator = new VectorEvaluator(expression, HEADERS, context);
    const vectors = tables.map((texts) => ({ texts, vector: codedOf(texts) }));
    for (const [from, to] of [
      [0, 10],
      [10, 900],
      [900, 5000],
      [3, 300],
    ] as const) {
      for (const { texts, vector } of vectors) {
        const made = evaluator.vector({ rowCount: to - from, vectors: [slice(vector, from, to)] });
        const want = texts.slice(from, to).map((s) => evaluate(expression, () => s, context.environment));
        expect(want.map((_, row) => valueAt(made, expression.type, row))).toEqual(want);
      }
    }
  }
}, 30_000);
