import { describe, expect, test } from "bun:test";
import { failsExpression as fails } from "../../../../test/support/expression-check.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

/** The one value of an aggregate over rows whose only column is `x`, and its type. */
async function check(expression: string, rows: string, want: unknown, type: string): Promise<void> {
  const answer = await new QueryFixture().both(`SELECT ${expression} FROM (VALUES ${rows}) AS t(x)`);
  expect([expression, answer.rows[0]?.[0] as unknown, answer.types[0]]).toEqual([expression, want, type]);
}

describe("aggregates of NULL alone", () => {
  test("are NULL", async () => {
    await check("bool_and(NULL)", "(1)", undefined, "Boolean");
    await check("bool_or(NULL)", "(1)", undefined, "Boolean");
    await check("bit_and(NULL)", "(1)", undefined, "Int64");
    await check("bit_xor(x)", "(NULL)", undefined, "Int64");
  });
});

describe("numbers of distinct values", () => {
  test("have the type of their function and count NULL not", async () => {
    await check("approx_distinct(x)", "(1), (2), (2), (NULL)", 2, "UInt64");
    await check("count_hash(x)", "('a'), ('b'), ('a'), (NULL)", 2, "Int64");
  });
  test("are of one argument", async () => {
    await fails("count_hash(1, 2)", "3000");
    await fails("approx_distinct(1, 2)", "3000");
    await fails("count_hash()", "3000");
  });
});

describe("percentile_cont", () => {
  test("takes portions from 0 to 1", async () => {
    await check("percentile_cont(x, 0)", "(1), (2), (4)", 1, "Float64");
    await check("percentile_cont(1) WITHIN GROUP (ORDER BY x)", "(1), (2), (4)", 4, "Float64");
  });
  test("refuses others", async () => {
    const why = "3001 Error during planning: Percentile value must be between 0.0 and 1.0 inclusive";
    await fails("percentile_cont(1, 1.5)", `${why}, 1.5 is invalid`);
    await fails("quantile_cont(1, -0.1)", `${why}, -0.1 is invalid`);
  });
});
