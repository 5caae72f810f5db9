/** Rules of PARTITION ON COLUMNS, tested on tag sets: each belongs to the partition of the first rule that is true of it. */
import { assert } from "../../base/assert.ts";
import type { DataType } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import type { PartitionComparison, PartitionTest, TablePartitions } from "../schema.ts";
import { compareCodePoints } from "../../column/code-points.ts";
import { compareTagValues, tagValue } from "../tag-value.ts";

/** A tag that rules compare. */
interface ComparedTag {
  readonly name: string;
  readonly type: DataType;
}

/** A rule over positions of tags and values of their types. */
type Rule =
  | { readonly kind: "all"; readonly of: readonly Rule[] }
  | { readonly kind: "any"; readonly of: readonly Rule[] }
  | { readonly kind: "compare"; readonly position: number; readonly operator: PartitionComparison; readonly value: Scalar };

/** The rules of a table, in order. */
export interface PartitionRules {
  readonly rules: readonly Rule[];
  readonly types: readonly DataType[];
}

/** The rules, where they can be tested on tags; undefined where there are none or their tests were not kept. */
export function partitionRulesOf({ tests }: TablePartitions, tags: readonly ComparedTag[]): PartitionRules | undefined {
  if (tests === undefined || tests.length === 0) return undefined;
  return { rules: tests.map((test) => ruleOf(test, tags)), types: tags.map(({ type }) => type) };
}

function ruleOf(test: PartitionTest, tags: readonly ComparedTag[]): Rule {
  if (test.kind !== "compare") return { kind: test.kind, of: test.of.map((one) => ruleOf(one, tags)) };
  const position = tags.findIndex(({ name }) => name === test.column);
  const tag = tags[position];
  assert(tag !== undefined, `rules compare tags; got ${test.column}`);
  return { kind: "compare", position, operator: test.operator, value: valueOf(test.text, tag.type) };
}

/** No row has a text that is no value of its type, but a query may ask for one: it is as good as NULL. */
function valueOf(text: string, type: DataType): Scalar {
  const parsed = tagValue(text, type);
  return parsed.ok ? parsed.value : undefined;
}

/**
 * The partition of a tag set: 0 for the first rule. No comparison is true of NULL; a tag set of which no rule is true, which has one, is of
 * the first partition.
 *
 * @param texts of all tags, by position
 */
export function partitionOf({ rules, types }: PartitionRules, texts: readonly (string | undefined)[]): number {
  const values = types.map((type, position) => {
    const text = texts[position];
    return text === undefined ? undefined : valueOf(text, type);
  });
  return Math.max(
    0,
    rules.findIndex((rule) => holds(rule, values)),
  );
}

function holds(rule: Rule, values: readonly Scalar[]): boolean {
  if (rule.kind === "all") return rule.of.every((one) => holds(one, values));
  if (rule.kind === "any") return rule.of.some((one) => holds(one, values));
  const value = values[rule.position];
  if (value === undefined) return false;
  const order =
    typeof value === "string" && typeof rule.value === "string"
      ? compareCodePoints(value, rule.value)
      : compareTagValues(value, rule.value);
  switch (rule.operator) {
    case "=":
      return order === 0;
    case "<>":
      return order !== 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
  }
}
