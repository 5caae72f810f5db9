import { expect, test } from "bun:test";
import { type DataType, INT64, JSON_TYPE, STRING } from "../../column/data-type.ts";
import type { SemanticType } from "../../table/schema.ts";
import { type IndexSpec, indexSpecsOf } from "./index-spec.ts";
import { FILTER_ROWS_MAX, FILTER_ROWS_MIN } from "./limits.ts";

/** What the clauses of one column ask for. */
function check(
  clauses: readonly string[],
  want: readonly Partial<IndexSpec>[],
  type: DataType = STRING,
  semantic: SemanticType = "field",
): void {
  const column = { id: 9, name: "c", type, semantic, nullable: true, indexes: clauses };
  const got = indexSpecsOf({ columns: [column] });
  expect(got.length).toBe(want.length);
  for (const [i, spec] of got.entries()) expect(spec).toMatchObject({ columnId: 9, position: 0, ...want[i] });
}

test("clauses name kinds, options and their defaults", () => {
  check(
    ["FULLTEXT INDEX WITH(analyzer = 'English', false_positive_rate = '0.05', granularity = '2048')", "SKIPPING INDEX", "INVERTED INDEX"],
    [
      { kind: "words", granularity: 2048, falsePositiveRate: 0.05 },
      { kind: "values", granularity: 10_240, falsePositiveRate: 0.01 },
      { kind: "list" },
    ],
  );
});

test("the rows of a filter stay within bounds", () => {
  check(["SKIPPING INDEX WITH(granularity = '1')"], [{ granularity: FILTER_ROWS_MIN }]);
  check(["SKIPPING INDEX WITH(granularity = '999999999')"], [{ granularity: FILTER_ROWS_MAX }]);
});

test("tags, times and types without keys have none", () => {
  check(["INVERTED INDEX"], [], STRING, "tag");
  check(["SKIPPING INDEX"], [], { kind: "timestamp", unit: "second" }, "timestamp");
  check(["SKIPPING INDEX"], [], JSON_TYPE);
  check(["FULLTEXT INDEX"], [], INT64);
  check(["VECTOR INDEX"], []);
});
