import { expect, test } from "bun:test";
import { FLOAT64, INT64, STRING } from "../../column/data-type.ts";
import type { PartitionComparison, PartitionTest } from "../schema.ts";
import { partitionOf, partitionRulesOf } from "./partition-rules.ts";

const TAGS = [
  { name: "host", type: STRING },
  { name: "port", type: INT64 },
  { name: "load", type: FLOAT64 },
];

const compare = (column: string, operator: PartitionComparison, text: string): PartitionTest => ({
  kind: "compare",
  column,
  operator,
  text,
});

/** The partition of tags under these rules and one that nothing meets after them. */
function partition(texts: readonly (string | undefined)[], ...tests: readonly PartitionTest[]): number {
  const rules = partitionRulesOf({ columns: [], rules: [], tests: [...tests] }, TAGS);
  return rules === undefined ? -1 : partitionOf(rules, texts);
}

test.each([
  ["=", [false, true, false]],
  ["<>", [true, false, true]],
  ["<", [true, false, false]],
  ["<=", [true, true, false]],
  [">", [false, false, true]],
  [">=", [false, true, true]],
] as const)("values compare by %s", (operator, holds) => {
  const last = compare("host", "<>", "none");
  const never = compare("host", "=", "none");
  for (const [column, texts] of [
    ["host", ["A", "a", "b"]],
    ["port", ["9", "10", "9223372036854775807"]],
    ["load", ["-1.5", "1e-3", "Infinity"]],
  ] as const) {
    const constant = texts[1];
    for (const [i, text] of texts.entries()) {
      const set = TAGS.map(({ name }) => (name === column ? text : "7"));
      expect([column, text, partition(set, never, compare(column, operator, constant), last)]).toEqual([column, text, holds[i] ? 1 : 2]);
    }
  }
});

test("rules are joined by AND and OR, and the first that is true counts", () => {
  const [a, low] = [compare("host", "=", "a"), compare("port", "<", "10")];
  const never = compare("host", "=", "none");
  const both: PartitionTest = { kind: "all", of: [a, low] };
  const either: PartitionTest = { kind: "any", of: [a, low] };
  expect(partition(["a", "9", "0"], never, both, either)).toBe(1);
  expect(partition(["a", "11", "0"], never, both, either)).toBe(2);
  expect(partition(["b", "9", "0"], never, both, either)).toBe(2);
  expect(partition(["b", "11", "0"], never, both, either, compare("host", "=", "b"))).toBe(3);
});

test("NULL meets no rule, and is of the first partition", () => {
  const rules = [compare("port", "<", "10"), compare("port", "<>", "3"), compare("host", "=", "a")] as const;
  expect(partition([undefined, undefined, undefined], ...rules)).toBe(0);
  expect(partition(["a", undefined, undefined], ...rules)).toBe(2);
  expect(partition(["a", "no number", undefined], ...rules)).toBe(2);
});

test("without tests there are no rules", () => {
  expect(partitionRulesOf({ columns: ["host"], rules: ["host < 'a'", "host >= 'a'"] }, TAGS)).toBeUndefined();
  expect(partition(["a", "1", "1"])).toBe(-1);
});
