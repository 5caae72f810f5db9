/**
 * PARTITION ON COLUMNS of CREATE TABLE (contract query.md 1.4): every row must belong to exactly one partition.
 *
 * The rules compare columns with constants, so between two constants of a column nothing changes: it is enough to look at each constant,
 * between each two, and beyond the ends, in every combination of the columns. Places are numbered along a column:
 *
 *   constants        5       9
 *   places       0   1   2   3   4        rule `id >= 5 AND id < 9` holds at 1 and 2
 *
 * The rules are kept and shown. Where rows lie on several shards they say on which, if all of their columns are tags; on one machine all
 * rows lie in one region.
 */
import { assert } from "../../../base/assert.ts";
import { DbError, invalidArguments } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { ColumnDefinition, PartitionComparison as Comparison, PartitionTest, TablePartitions } from "../../../table/schema.ts";
import { tagText } from "../../../table/tag-value.ts";
import type { Environment } from "../../function/signature/environment.ts";
import type { Value } from "../../function/value/value.ts";
import { isInterval, textOf } from "../../function/value/value.ts";
import type { Expression } from "../../sql/syntax/ast.ts";
import type { PartitionClause } from "../../sql/syntax/definition-ast.ts";
import { printCondition } from "../../sql/print/print-statement.ts";
import { literalValue } from "../shared/literal-value.ts";

/** Most partitions, and most combinations of places. Reason: each rule is tested at each, and rules are in every catalogue row. */
const PARTITIONS_MAX = 1024;
const PLACES_MAX = 100_000;
/** Most comparisons that are tested, all places together. Reason: the thread stands still meanwhile, some 50 ms. */
const TESTS_MAX = 5_000_000;

/** A rule over places: positions of columns, and places instead of constants. */
type Rule =
  | { readonly kind: "both"; readonly left: Rule; readonly right: Rule }
  | { readonly kind: "either"; readonly left: Rule; readonly right: Rule }
  | { readonly kind: "compare"; readonly column: number; readonly operator: Comparison; readonly text: string; place: number };

/** The constants of a column, by their text, in order. */
interface Axis {
  readonly column: ColumnDefinition;
  readonly constants: Map<string, Value>;
  order: readonly string[];
  /** Index of each constant in `order`. */
  readonly indexOf: Map<string, number>;
}

/** What a clause says, checked. @throws DbError TableColumnNotFound, InvalidArguments, InvalidSyntax for a constant of another type */
export function tablePartitions(
  { columns, rules }: PartitionClause,
  defined: readonly ColumnDefinition[],
  environment: Environment,
): TablePartitions {
  const axes = columns.map((name, i): Axis => {
    const column = defined.find((candidate) => candidate.name === name);
    if (column === undefined) throw new DbError(StatusCode.TableColumnNotFound, `Column ${name} of PARTITION ON COLUMNS not exists`);
    if (columns.indexOf(name) !== i) throw invalidArguments(`Invalid partition columns: column ${name} is named twice`);
    return { column, constants: new Map(), order: [], indexOf: new Map() };
  });
  if (rules.length > PARTITIONS_MAX)
    throw invalidArguments(`Invalid partition rules: there are ${rules.length}, at most ${PARTITIONS_MAX} are allowed`);
  const parsed = rules.map((rule) => parsedRule(rule, axes, environment));
  for (const axis of axes) {
    axis.order = [...axis.constants.keys()].sort((a, b) => compareValues(axis.constants.get(a), axis.constants.get(b)));
    for (const [i, text] of axis.order.entries()) axis.indexOf.set(text, i);
  }
  for (const rule of parsed) place(rule, axes);
  if (parsed.length > 0) checkCover(parsed, axes);
  const isTested = parsed.length > 0 && axes.every(({ column }) => column.semantic === "tag");
  const tests = isTested ? { tests: parsed.map((rule) => testOf(rule, axes)) } : {};
  return { columns, rules: rules.map(printCondition), ...tests };
}

/** A rule as rows are tested by it. */
function testOf(rule: Rule, axes: readonly Axis[]): PartitionTest {
  if (rule.kind !== "compare") {
    const { kind } = rule;
    const parts: Rule[] = [];
    let left: Rule = rule;
    for (; left.kind === kind; left = left.left) parts.push(left.right);
    const of = [left, ...parts.reverse()].map((part) => testOf(part, axes));
    return { kind: kind === "both" ? "all" : "any", of };
  }
  const axis = axes[rule.column];
  const value = axis?.constants.get(rule.text);
  assert(axis !== undefined && value !== undefined && !isInterval(value), `a constant of a tag; got ${rule.text}`);
  return { kind: "compare", column: axis.column.name, operator: rule.operator, text: tagText(value, axis.column.type) ?? "" };
}

/** Each comparison as it reads from the other side. */
const SWAPPED: Readonly<Record<Comparison, Comparison>> = {
  "=": "=",
  "<>": "<>",
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
};

function parsedRule(rule: Expression, axes: readonly Axis[], environment: Environment): Rule {
  if (rule.kind === "binary" && (rule.operator === "and" || rule.operator === "or")) {
    const [left, right] = [parsedRule(rule.left, axes, environment), parsedRule(rule.right, axes, environment)];
    return { kind: rule.operator === "and" ? "both" : "either", left, right };
  }
  const refused = invalidArguments(
    `Invalid partition rule: ${printCondition(rule)}; it compares columns with constants by <, <=, >, >=, = or <>, joined by AND and OR`,
  );
  if (rule.kind !== "binary" || !isComparison(rule.operator)) throw refused;
  const isLeft = axisOf(rule.left, axes) >= 0;
  const [name, constant, operator] = isLeft ? [rule.left, rule.right, rule.operator] : [rule.right, rule.left, SWAPPED[rule.operator]];
  const column = axisOf(name, axes);
  const axis = axes[column];
  if (axis === undefined) throw refused;
  if (constant.kind === "column" && !constant.quoted) throw refused;
  const value = literalValue(constant, axis.column.name, axis.column.type, environment);
  if (value === undefined) throw refused;
  const text = textOf(value);
  axis.constants.set(text, value);
  return { kind: "compare", column, operator, text, place: 0 };
}

function isComparison(operator: string): operator is Comparison {
  return operator in SWAPPED;
}

function axisOf(expression: Expression, axes: readonly Axis[]): number {
  if (expression.kind !== "column" || expression.name.length !== 1) return -1;
  return axes.findIndex(({ column }) => column.name === expression.name[0]);
}

/** Numbers by size, everything else by its text. */
function compareValues(a: Value, b: Value): number {
  if ((typeof a === "number" || typeof a === "bigint") && (typeof b === "number" || typeof b === "bigint"))
    return a < b ? -1 : a > b ? 1 : 0;
  const [x, y] = [textOf(a), textOf(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Puts places instead of constants: constant `i` of an axis is at `2 i + 1`. */
function place(rule: Rule, axes: readonly Axis[]): void {
  if (rule.kind === "compare") {
    rule.place = 2 * (axes[rule.column]?.indexOf.get(rule.text) ?? 0) + 1;
    return;
  }
  place(rule.left, axes);
  place(rule.right, axes);
}

/** @throws DbError InvalidArguments naming a place that no rule covers, or two */
function checkCover(rules: readonly Rule[], axes: readonly Axis[]): void {
  const sizes = axes.map(({ order }) => 2 * order.length + 1);
  const total = sizes.reduce((product, size) => product * size, 1);
  if (total > PLACES_MAX)
    throw invalidArguments(`Invalid partition rules: their constants make ${total} combinations, at most ${PLACES_MAX} are allowed`);
  const tests = total * rules.reduce((sum, rule) => sum + comparisonsOf(rule), 0);
  if (tests > TESTS_MAX)
    throw invalidArguments(`Invalid partition rules: to check them takes ${tests} comparisons, at most ${TESTS_MAX} are allowed`);
  const at = axes.map(() => 0);
  for (let n = 0; n < total; n++) {
    let rest = n;
    for (const [c, size] of sizes.entries()) {
      at[c] = rest % size;
      rest = Math.floor(rest / size);
    }
    let holders = 0;
    for (const rule of rules) if (holds(rule, at)) holders++;
    if (holders !== 1) throw invalidArguments(`Checkpoint \`${pointText(at, axes)}\` is ${holders === 0 ? "not covered" : "overlapped"}`);
  }
}

function comparisonsOf(rule: Rule): number {
  return rule.kind === "compare" ? 1 : comparisonsOf(rule.left) + comparisonsOf(rule.right);
}

function holds(rule: Rule, at: readonly number[]): boolean {
  if (rule.kind !== "compare") {
    return rule.kind === "both" ? holds(rule.left, at) && holds(rule.right, at) : holds(rule.left, at) || holds(rule.right, at);
  }
  const here = at[rule.column] ?? 0;
  switch (rule.operator) {
    case "=":
      return here === rule.place;
    case "<>":
      return here !== rule.place;
    case "<":
      return here < rule.place;
    case "<=":
      return here <= rule.place;
    case ">":
      return here > rule.place;
    case ">=":
      return here >= rule.place;
  }
}

/** `id=5`, or `id<5` for a place before a constant, `id>9` for one behind the last. */
function pointText(at: readonly number[], axes: readonly Axis[]): string {
  return axes
    .map(({ column, order }, c) => {
      const here = at[c] ?? 0;
      const constant = order[Math.min(here >> 1, order.length - 1)] ?? "";
      return `${column.name}${here % 2 === 1 ? "=" : here < 2 * order.length ? "<" : ">"}${constant}`;
    })
    .join(", ");
}
