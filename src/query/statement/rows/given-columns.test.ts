/** What is written column by column is what the rows say one after the other, and fails as they do. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import { errorText } from "../../../base/error.ts";
import { BOOLEAN, FLOAT32, FLOAT64, INT64, STRING, TIMESTAMP_MICROSECOND, UINT64 } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import { RowBatchBuilder } from "../../../table/rows/row-batch-builder.ts";
import type { WriteBatch } from "../../../table/write-batch.ts";
import { textOf } from "../../../value/any-value.ts";
import { executeStatement } from "../../execute.ts";
import { literal } from "../../expression/expression.ts";
import type { Placeholders } from "../../function/signature/environment.ts";
import { environmentOf } from "../../plan/common/planner.ts";
import type { ParameterValue } from "../../prepared-query.ts";
import type { QueryContext } from "../../query-context.ts";
import { parseInSteps } from "../../sql/parse-in-turns.ts";
import { parseSql } from "../../sql/parse.ts";
import { treeRows } from "../../sql/syntax/row-trees.ts";
import type { Insert, Statement } from "../../sql/syntax/statement-ast.ts";
import { valueForColumn } from "../shared/literal-value.ts";
import { execContextOf } from "../shared/select.ts";
import { completeRow, rowColumns } from "./complete-row.ts";
import { rowByRow } from "./given-columns.ts";

const TABLE = `CREATE TABLE t (
  h STRING, n INT DEFAULT 7, x DOUBLE, PRIMARY KEY (h, n, x),
  a BIGINT, b SMALLINT NOT NULL DEFAULT 3, c BIGINT UNSIGNED, d DOUBLE, e FLOAT, f DECIMAL(20, 3), g BOOLEAN, i STRING, j DATE,
  k TIMESTAMP(0), l TIMESTAMP(9), m JSON, o BINARY, ts TIMESTAMP(6) NOT NULL TIME INDEX)`;
const COLUMNS = ["h", "n", "x", "a", "b", "c", "d", "e", "f", "g", "i", "j", "k", "l", "m", "o"];

/** Values of every kind, most of which most columns take. */
const WHOLE = ["0", "1", "-7", "-0", "007", "123456789012345", "32767"] as const;
const NUMBERS = ["1.5", "-.5", "5.", "1e3", "-0.0", "0.0", "0.1", "40000", "-1234567890123456", "9223372036854775807"] as const;
const LARGE = ["18446744073709551615", "-9223372036854775808", "9223372036854775808", "1e39", "1e400", "99999999999999999999"] as const;
const TEXTS = ["''", "'a'", "'it''s'", "'é😀'", "'12'", "'true'", "'2024-01-31'", "'2024-01-31 12:00:00.5'", "'{\"a\": 1}'"] as const;
const WORDS = ["NULL", "null", "TRUE", "False", "DEFAULT"] as const;
const COMPUTED = ["1 + 1", "'a' || 'b'", "now()", "+5", "- 3", '"text"', "(2)", "X'6162'", "5::INT", "-'1'", "/* c */ 4"] as const;
const GOOD_FOR: Readonly<Record<string, readonly string[]>> = {
  h: ["'a'", "'b'", "''", "NULL", "'é'", "'it''s'"],
  n: ["1", "-7", "NULL", "DEFAULT", "'12'"],
  x: ["1", "1.5", "-0.0", "NULL", "0"],
  a: [...WHOLE, "NULL", "-9223372036854775808", "9223372036854775807", "'12'", "TRUE", "1 + 1"],
  b: ["1", "-7", "32767", "-0", "DEFAULT"],
  c: ["1", "0", "18446744073709551615", "NULL"],
  d: [...WHOLE, ...NUMBERS, "18446744073709551615", "NULL", "TRUE"],
  e: ["1.5", "0.1", "-0", "-0.0", "3", "NULL"],
  f: ["1.5", "12", "-0.125", "NULL", "'1.25'"],
  g: ["TRUE", "False", "NULL", "1", "'true'"],
  i: ["'a'", "'it''s'", "'é😀'", "''", "NULL", '"text"', "'a' || 'b'"],
  j: ["'2024-01-31'", "NULL", "5"],
  k: ["1", "'2024-01-31 12:00:00.5'", "'12'", "NULL", "now()", "-5"],
  l: ["1700000000000000001", "-1700000000000000001", "'2024-01-31'", "NULL", "1", "1e3"],
  m: ["'{\"a\": 1}'", "'12'", "NULL"],
  o: ["X'6162'", "'a'", "NULL"],
};
const TIMES = ["1", "2", "-3", "1700000000000000", "9007199254740993", "-9223372036854775808", "9223372036854775807", "'2024-01-31'"];

const any = fc.constantFrom<string>(...WHOLE, ...NUMBERS, ...LARGE, ...TEXTS, ...WORDS, ...COMPUTED);
const good = (name: string): fc.Arbitrary<string> => fc.constantFrom(...(GOOD_FOR[name] ?? ["NULL"]));

/** Columns that are named, and rows: of good values, with one of any kind here and there, or one too few. */
const inserts = fc.subarray(COLUMNS, { minLength: 1 }).chain((names) =>
  fc.record({
    names: fc.constant([...names, "ts"]),
    rows: fc.array(fc.tuple(...names.map(good), fc.constantFrom(...TIMES)), { minLength: 1, maxLength: 60 }),
    odd: fc.option(fc.record({ row: fc.nat(59), column: fc.nat(names.length), value: fc.option(any) }), { freq: 5 }),
    blanks: fc.constantFrom("", " ", "\n\t"),
  }),
);

interface Case {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly odd: { readonly row: number; readonly column: number; readonly value: string | null } | null;
  readonly blanks: string;
}

function statementOf({ names, rows, odd, blanks }: Case): string {
  const given = rows.map((row, i) => {
    if (odd === null || i !== odd.row % rows.length) return row;
    const { value, column } = odd;
    return value === null ? row.slice(1) : row.map((each, at) => (at === column ? value : each));
  });
  const list = given.map((row) => `(${blanks}${row.join(`${blanks},`)})${blanks}`).join(`,${blanks}`);
  return `INSERT INTO t (${names.join(", ")})${" ".repeat(2048)} VALUES ${list}`;
}

/** The rows of a batch as texts, for comparing. */
function rowsOf({ dictionary, tables }: WriteBatch): readonly string[] {
  return tables.flatMap(({ rowCount, keys, times, fields }) =>
    Array.from({ length: rowCount }, (_, row) => {
      const { names, values, nulls = [] } = dictionary.tagsOf(keys[row] ?? 0);
      const tags = names.map((name, i) => `${name}=${values[i]}`);
      const others = fields.map(({ name, type, vector }) => {
        const value = scalarAt(vector, type, row);
        return `${name}=${Object.is(value, -0) ? "-0" : String(value)} (${typeof value})`;
      });
      return [...tags, nulls.join(","), times.base + BigInt(times.offsets[row] ?? 0), ...others].join("; ");
    }),
  );
}

async function insertOf(statement: Statement | undefined, context: QueryContext): Promise<unknown> {
  const written: string[] = [];
  const write: QueryContext["writer"]["write"] = async (_database, batch) => {
    written.push(...rowsOf(batch));
    return { rowCount: 0 };
  };
  try {
    await executeStatement(statement as Statement, { ...context, writer: { write, delete: write as never } }, {});
    return written;
  } catch (error) {
    return errorText(error);
  }
}

/** The reference: every row by itself. */
async function byRows(insert: Insert, context: QueryContext): Promise<unknown> {
  const table = context.catalog.table("public", "t");
  if (table === undefined || insert.source.kind !== "values") return expect.unreachable();
  const { schema } = table;
  const named = schema.columns
    .filter(({ name }) => insert.columns?.includes(name))
    .sort((a, b) => orderIn(insert, a.name) - orderIn(insert, b.name));
  const environment = environmentOf(context.clock, context.variables);
  try {
    const rows = await rowByRow([...treeRows(insert.source.rows)], { schema, named, environment }, execContextOf(environment, context, {}));
    const builder = new RowBatchBuilder("t", rowColumns(schema));
    for (const row of rows) builder.add(row);
    return rowsOf(builder.batch());
  } catch (error) {
    return errorText(error);
  }
}

const orderIn = ({ columns }: Insert, name: string): number => columns?.indexOf(name) ?? 0;

function inBlocks(text: string): Statement | undefined {
  const steps = parseInSteps(text);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value.statements[0];
  }
}

function kindsOf(statement: Statement | undefined): ReadonlySet<string> {
  const isOfRows = statement?.kind === "insert" && statement.source.kind === "values";
  return new Set(isOfRows && statement.source.kind === "values" ? statement.source.rows.map(({ kind }) => kind) : []);
}

test("blocks of constants, trees, and both among each other write what the rows say", async () => {
  const data = new QueryFixture();
  await data.sql(TABLE);
  let refused = 0;
  let ofBlocks = 0;
  await fc.assert(
    fc.asyncProperty(inserts, async (each) => {
      const text = statementOf(each);
      const [statement] = parseSql(text);
      if (statement?.kind !== "insert") return expect.unreachable();
      const wanted = await byRows(statement, data.context);
      if (typeof wanted === "string") refused++;
      expect(await insertOf(statement, data.context), `trees: ${text}`).toEqual(wanted);
      const blocks = inBlocks(text);
      if (kindsOf(blocks).has("constants")) ofBlocks++;
      expect(await insertOf(blocks, data.context), `blocks: ${text}`).toEqual(wanted);
    }),
    { seed: 20260301, numRuns: 400 },
  );
  expect(refused).toBeGreaterThan(40);
  expect(refused).toBeLessThan(300);
  expect(ofBlocks).toBeGreaterThan(100);
});

/** What clients give for placeholders: of each kind, and what no column or few take. */
const GIVEN: readonly ParameterValue[] = [
  { type: INT64, value: 5 },
  { type: INT64, value: -7 },
  { type: INT64, value: 40_000 },
  { type: INT64, value: 5_000_000_000 },
  { type: INT64, value: 2n ** 62n },
  { type: { kind: "int", bits: 16, signed: true }, value: 3 },
  { type: UINT64, value: 2n ** 64n - 1n },
  { type: FLOAT64, value: 1.5 },
  { type: FLOAT64, value: -0 },
  { type: FLOAT64, value: 1e300 },
  { type: FLOAT64, value: Number.NaN },
  { type: FLOAT32, value: Math.fround(0.1) },
  { type: BOOLEAN, value: true },
  { type: { kind: "decimal", precision: 38, scale: 2 }, value: 125n },
  { type: TIMESTAMP_MICROSECOND, value: 1_700_000_000_123_456n },
  { type: { kind: "date" }, value: 19_000 },
  { type: { kind: "binary" }, value: new Uint8Array([97, 255]) },
  ...["a", "", "12", "1.5", "true", "2024-01-31 12:00:00.5", '{"a": 1}'].map((value): ParameterValue => ({ type: STRING, value })),
  { type: STRING, value: undefined },
  { type: { kind: "null" }, value: undefined },
];

test("given values are written as their kind is converted to each column's", async () => {
  const data = new QueryFixture();
  await data.sql(TABLE);
  const schema = data.context.catalog.table("public", "t")?.schema;
  const time = schema?.columns.find(({ name }) => name === "ts");
  if (schema === undefined || time === undefined) return expect.unreachable();
  let written = 0;
  for (const column of schema.columns.filter(({ name }) => name !== "ts")) {
    const [statement] = parseSql(`INSERT INTO t (${column.name}, ts) VALUES ($1, 1)`);
    for (const given of GIVEN) {
      const placeholders: Placeholders = { valueOf: () => given, note: () => expect.unreachable() };
      const context = { ...data.context, variables: { ...data.context.variables, placeholders } };
      const environment = environmentOf(context.clock, context.variables);
      const want = (): unknown => {
        try {
          const value = valueForColumn(literal(given.type, given.value), column.name, column.type, environment);
          const builder = new RowBatchBuilder("t", rowColumns(schema));
          builder.add(completeRow([{ value }, { value: 1n }], { schema, named: [column, time], environment }));
          written++;
          return rowsOf(builder.batch());
        } catch (error) {
          return errorText(error);
        }
      };
      const what = `${column.name} ${JSON.stringify(given.type)} ${textOf(given.value)}`;
      expect([what, await insertOf(statement, context)]).toEqual([what, want()]);
    }
  }
  expect(written).toBeGreaterThan(GIVEN.length * 4);
});

test("many rows: constants, computed ones between them, and an error far behind", async () => {
  const data = new QueryFixture();
  await data.sql(TABLE);
  const list = (odd: string): string =>
    Array.from({ length: 8000 }, (_, i) =>
      i % 1000 === 999 ? `('c' || '${i}', ${i} + 1, ${i})` : i === 7500 ? odd : `('h${i % 9}', ${i}, ${i})`,
    ).join(", ");
  for (const odd of ["('x', 1, 2)", "('x', 'y', 2)", "('x', 1)", "('x', 1, NULL)", "('x', nope, 2)", "('x', 1e400, 2)"]) {
    const text = `INSERT INTO t (h, d, ts) VALUES ${list(odd)}`;
    const [statement] = parseSql(text);
    if (statement?.kind !== "insert") return expect.unreachable();
    const wanted = await byRows(statement, data.context);
    const blocks = inBlocks(text);
    expect([...kindsOf(blocks)].sort()).toEqual(["constants", "trees", "unread"]);
    expect(await insertOf(blocks, data.context)).toEqual(wanted);
    if (odd !== "('x', 1, 2)") expect(wanted).toBeString();
  }
});

test("rows of a query that are of the columns' types, and others, are those of the table they come from", async () => {
  const data = new QueryFixture();
  await data.sql(`${TABLE}; ${TABLE.replace("TABLE t", "TABLE u")}`);
  const rows = Array.from({ length: 3000 }, (_, i) => {
    const value = (name: string): string => GOOD_FOR[name]?.[i % GOOD_FOR[name].length] ?? "NULL";
    return `(${COLUMNS.map(value).join(", ")}, ${i})`;
  });
  await data.sql(`INSERT INTO t (${COLUMNS.join(", ")}, ts) VALUES ${rows.join(", ")}`);
  await data.sql("INSERT INTO u SELECT * FROM t");
  const of = async (table: string): Promise<unknown> => (await data.sql(`SELECT * FROM ${table} ORDER BY ts, h, n, x`)).rows;
  expect(await of("u")).toEqual(await of("t"));
  await data.sql("DROP TABLE u");
  await data.sql(TABLE.replace("TABLE t", "TABLE u"));
  await data.sql(
    "INSERT INTO u SELECT h, n, x::STRING, a::DECIMAL(38, 0), b::STRING, c::STRING, d, e, f::STRING, g, i, j, k, l::STRING, m, o, ts " +
      "FROM t",
  );
  expect(await of("u")).toEqual(await of("t"));
});
