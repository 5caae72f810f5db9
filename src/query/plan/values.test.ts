/** VALUES of a long text, in blocks of constants, is what it is value by value. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { QueryFixture } from "../../../test/support/query-fixture.ts";
import { errorText } from "../../base/error.ts";
import { displayName } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import { executeStatement } from "../execute.ts";
import { parseInSteps } from "../sql/parse-in-turns.ts";
import { parseSql } from "../sql/parse.ts";
import type { Statement } from "../sql/syntax/statement-ast.ts";

const data = new QueryFixture();

async function answerOf(parse: () => Statement | undefined): Promise<unknown> {
  try {
    const result = await executeStatement(parse() as Statement, data.context, {});
    if (result.kind !== "rows") return expect.unreachable();
    const rows: string[] = [];
    for await (const { rowCount, vectors } of result.batches) {
      for (let row = 0; row < rowCount; row++) {
        const values = result.headers.map(({ type }, i) => (vectors[i] === undefined ? undefined : scalarAt(vectors[i], type, row)));
        rows.push(values.map((value) => `${Object.is(value, -0) ? "-0" : String(value)} (${typeof value})`).join(", "));
      }
    }
    return { types: result.headers.map(({ type }) => displayName(type)), rows };
  } catch (error) {
    return errorText(error);
  }
}

function inBlocks(text: string): Statement | undefined {
  const steps = parseInSteps(text);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value.statements[0];
  }
}

const WHOLE = ["0", "1", "-7", "-0", "123456789012345"];
const FRACTIONS = ["1.5", "-0.0", "1e3", ".5", "5."];
const KINDS: readonly (readonly string[])[] = [
  WHOLE,
  [...WHOLE, ...FRACTIONS],
  FRACTIONS,
  ["'a'", "'it''s'", "''", "'é'"],
  ["TRUE", "false"],
  ["NULL"],
  [...WHOLE, "1234567890123456789", "-9223372036854775808"],
  [...WHOLE, "18446744073709551615"],
  [...FRACTIONS, "9223372036854775807", "99999999999999999999"],
  [...WHOLE, "'a'"],
  ["TRUE", "1"],
  ["'a'", "1 + 1", "2"],
  ["DEFAULT", "1"],
];

test("types and values are the same, and what is wrong", async () => {
  const column = fc.tuple(fc.constantFrom(...KINDS), fc.boolean()).map(([kind, hasNull]) => (hasNull ? [...kind, "NULL"] : kind));
  const rows = fc
    .array(column, { minLength: 1, maxLength: 4 })
    .chain((columns) => fc.array(fc.tuple(...columns.map((each) => fc.constantFrom(...each))), { minLength: 1, maxLength: 50 }));
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      const list = given.map((row) => `(${row.join(", ")})`).join(", ");
      // Blocks are of long texts, and of lists that do not end soon: many rows stand for one another.
      const text = `VALUES ${Array.from({ length: 80 }, () => list).join(", ")}`;
      expect(await answerOf(() => inBlocks(`${text}${" ".repeat(2048)}`)), text.slice(0, 2000)).toEqual(
        await answerOf(() => parseSql(text)[0]),
      );
    }),
    { seed: 20260301, numRuns: 60 },
  );
});

test("rows of different lengths are refused wherever they are", async () => {
  for (const odd of ["(1, 2, 3)", "(1)", "(1, now(), 3)"]) {
    const text = `VALUES ${"(1, 2), ".repeat(1000)}${odd}, (3, 4)`;
    const wanted = await answerOf(() => parseSql(text)[0]);
    expect(wanted).toContain("Inconsistent data length across values list");
    expect(await answerOf(() => inBlocks(text))).toEqual(wanted);
  }
});
