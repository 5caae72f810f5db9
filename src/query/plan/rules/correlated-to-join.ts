/**
 * Sub-queries that name columns of the query around become joins, so that they run once and not once a row:
 *
 *   WHERE EXISTS (SELECT … FROM r WHERE r.k = l.k AND …)       semi join, anti join under NOT
 *   WHERE l.a IN (SELECT r.b FROM r WHERE r.k = l.k)            semi join
 *   WHERE l.a [NOT] IN (SELECT r.b FROM r)                      semi join; anti join that knows what NULL means to NOT IN
 *   (SELECT max(r.b) + 1 FROM r WHERE r.k = l.k)                left join with the groups of r by r.k
 *
 * Right because: a semi join asks what EXISTS asks. Where a row finds no group, an aggregate without GROUP BY over no rows gives the value
 * that the expression has with the empty states, which is known when the query is planned. All outer names must stand in one filter, right
 * above rows that know nothing of them; anything else runs once for each distinct set of values (`operator/apply/apply.ts`).
 */
import { BOOLEAN, sameType } from "../../../column/data-type.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { fold } from "../../expression/fold.ts";
import { mapOperands } from "../../expression/expression.ts";
import {
  conjunction,
  conjunctsOf,
  hasParameter,
  inlined,
  isVolatile,
  literal,
  mapColumns,
  operandsOf,
  type TypedExpression,
} from "../../expression/expression.ts";
import { joinKeys } from "../common/join-keys.ts";
import type { GroupKey } from "../../operator/aggregate/node.ts";
import { inputsOf, type PlanNode, type SubQueryCall, visitExpressions } from "../../operator/contract/node.ts";
import { isMixed } from "../../operator/join/join-keys.ts";
import { type JoinKey, NOT_IN_KEYS_MAX } from "../../operator/join/node.ts";

/** Rows of a sub-query without what hangs on the row around, and that. */
interface Uncorrelated {
  readonly rows: PlanNode;
  /** Over the columns of `rows`, with parameters. */
  readonly conditions: readonly TypedExpression[];
}

/** Takes the conditions that name outer columns out of the filter on top of a plan. Undefined when there are such names elsewhere. */
function uncorrelated(node: PlanNode): Uncorrelated | undefined {
  if (node.kind !== "filter" || mentionsOuter(node.input)) return undefined;
  const conditions = conjunctsOf(node.predicate).filter(hasParameter);
  if (conditions.length === 0 || conditions.some(isVolatile)) return undefined;
  const predicate = conjunction(conjunctsOf(node.predicate).filter((condition) => !hasParameter(condition)));
  return { rows: predicate === undefined ? node.input : { ...node, predicate }, conditions };
}

/** Whether any expression of a plan has a parameter. */
function mentionsOuter(node: PlanNode): boolean {
  let found = false;
  visitExpressions(node, (expression) => void (found ||= hasParameter(expression)));
  return found || inputsOf(node).some(mentionsOuter);
}

/** Parameters as what they stand for over the left side, columns as those of the right side behind it. */
function overBoth(expression: TypedExpression, call: SubQueryCall, width: number): TypedExpression {
  if (expression.kind === "column") return { ...expression, index: expression.index + width };
  if (expression.kind === "parameter") return call.parameters.find(({ id }) => id === expression.id)?.expression ?? expression;
  return mapOperands(expression, (operand) => overBoth(operand, call, width));
}

/** The rows of `input` for which an EXISTS or IN holds, or does not. Undefined when the sub-query is of another kind or shape. */
export function semiJoin(input: PlanNode, call: SubQueryCall, negated: boolean): PlanNode | undefined {
  const { result, plan } = call;
  if (call.parameters.length === 0) return memberJoin(input, call, negated);
  const isIn = result.kind === "any" && result.operator === "=" && !negated;
  if (result.kind !== "exists" && !isIn) return undefined;
  // What EXISTS selects and sorts by does not matter.
  const top = plan.kind === "sort" && plan.keep === undefined ? plan.input : plan;
  const found = uncorrelated(top.kind === "project" ? top.input : top);
  if (found === undefined || (top.kind === "project" && top.expressions.some((each) => hasParameter(each) || isVolatile(each))))
    return undefined;
  const width = input.columns.length;
  const conditions = found.conditions.map((condition) => overBoth(condition, call, width));
  if (isIn) {
    const value = top.kind === "project" ? inlined(result.value, top.expressions) : result.value;
    const right = mapColumns(value, (index) => index + width);
    conditions.push(...equalities(result.operand, right));
  }
  if (conditions.some(hasUnknown(call))) return undefined;
  const { keys, rest } = joinKeys(conditions, width);
  const residual = conjunction(rest);
  return { kind: "join", join: negated ? "anti" : "semi", left: input, right: found.rows, columns: input.columns, keys, residual };
}

/** The rows of `input` whose operand is, or is not, among the values of a sub-query that knows nothing of them. */
function memberJoin(input: PlanNode, { result, plan }: SubQueryCall, negated: boolean): PlanNode | undefined {
  const isAny = result.kind === "any" && result.operator === "=";
  // What is unequal to all is what is not equal to any.
  const isNone = result.kind === "all" && result.operator === "<>";
  const [isIn, isNotIn] = negated ? [isNone, isAny] : [isAny, isNone];
  if ((!isIn && !isNotIn) || !("operand" in result) || mentionsOuter(plan)) return undefined;
  const width = input.columns.length;
  const { value, rows } = partsAsColumns(result.value, plan);
  const conditions = equalities(
    result.operand,
    mapColumns(value, (index) => index + width),
  );
  const { keys, rest } = joinKeys(conditions, width);
  if (keys.length === 0 || rest.length > 0 || hasParameter(result.operand) || isVolatile(result.operand)) return undefined;
  // A struct that is no row of values written out is equal with its NULLs.
  if (keys.length === 1 && result.value.type.kind === "struct") return undefined;
  // NULL counts in NOT IN, and what equals nothing by its sign becomes NULL.
  if (isNotIn && (keys.some(isMixed) || keys.length > NOT_IN_KEYS_MAX)) return undefined;
  return { kind: "join", join: isIn ? "semi" : "not-in", left: input, right: rows, columns: input.columns, keys, residual: undefined };
}

/** Equalities that are that of two values: of rows of values, as `(a, b)` is one, those of their parts. */
function equalities(left: TypedExpression, right: TypedExpression): TypedExpression[] {
  const [a, b] = [partsOfRow(left), partsOfRow(right)];
  const equal = (x: TypedExpression, y: TypedExpression): TypedExpression => ({
    kind: "compare",
    type: BOOLEAN,
    operator: "=",
    left: x,
    right: y,
  });
  if (a === undefined || b === undefined || a.length !== b.length) return [equal(left, right)];
  return a.flatMap((part, i) => (b[i] === undefined ? [] : [equal(part, b[i])]));
}

/** The parts of a row of values, as they are cast where it is. */
function partsOfRow(row: TypedExpression): readonly TypedExpression[] | undefined {
  if (row.kind === "call") return row.function.name === "struct" && row.args.length > 1 ? row.args : undefined;
  if (row.kind !== "cast" || row.type.kind !== "struct") return undefined;
  const { fields } = row.type;
  return partsOfRow(row.operand)?.map((operand, i): TypedExpression => {
    const type = fields[i]?.type ?? operand.type;
    return sameType(type, operand.type) ? operand : { kind: "cast", type, operand, safe: row.safe };
  });
}

/** The rows of a sub-query that makes a row of values of each, with the values as columns instead; others as they are. */
function partsAsColumns(value: TypedExpression, plan: PlanNode): { readonly value: TypedExpression; readonly rows: PlanNode } {
  const written = plan.kind === "project" ? inlined(value, plan.expressions) : value;
  const parts = partsOfRow(written);
  if (plan.kind !== "project" || parts === undefined || parts.some(isVolatile) || written.kind === "column") return { value, rows: plan };
  const columns = parts.map(({ type }, i) => ({ name: `c${i}`, type }));
  const placed = columns.map(({ name, type }, index): TypedExpression => ({ kind: "column", type, index, name }));
  return { value: withParts(written, placed), rows: { ...plan, columns, expressions: parts } };
}

/** A row of values with other parts, none of them cast. */
function withParts(row: TypedExpression, parts: readonly TypedExpression[]): TypedExpression {
  if (row.kind === "cast") return withParts(row.operand, parts);
  return row.kind === "call" ? { ...row, args: parts } : row;
}

/** Names of queries further out stay parameters, which a join's sides may not have. */
function hasUnknown(call: SubQueryCall): (expression: TypedExpression) => boolean {
  const own = new Set(call.parameters.map(({ id }) => id));
  const test = (expression: TypedExpression): boolean =>
    (expression.kind === "parameter" && own.has(expression.id)) || operandsOf(expression).some(test);
  return test;
}

/** The input with one more column: the value of a correlated aggregate. Undefined when the sub-query has another shape. */
export function aggregateJoin(input: PlanNode, call: SubQueryCall, environment: Environment): PlanNode | undefined {
  const { plan } = call;
  if (call.result.kind !== "scalar" || call.parameters.length === 0 || plan.kind !== "project") return undefined;
  const grouped = plan.input;
  if (grouped.kind !== "aggregate" || grouped.keys.length > 0 || plan.expressions.some((each) => hasParameter(each) || isVolatile(each)))
    return undefined;
  const found = uncorrelated(grouped.input);
  if (found === undefined || grouped.aggregates.some((each) => [...each.args, ...(each.filter ? [each.filter] : [])].some(hasParameter)))
    return undefined;
  const width = input.columns.length;
  const { keys, rest } = joinKeys(
    found.conditions.map((condition) => overBoth(condition, call, width)),
    width,
  );
  const [value] = plan.expressions;
  if (rest.length > 0 || keys.length === 0 || value === undefined) return undefined;
  const groupKeys = keys.map(({ right }): GroupKey => ({ kind: "row", type: right.type, expression: right }));
  const keyColumns = keys.map(({ right }, i) => ({ name: `key ${i}`, type: right.type }));
  const groups: PlanNode = {
    ...grouped,
    input: found.rows,
    keys: groupKeys,
    columns: [...keyColumns, ...grouped.columns],
    table: undefined,
  };
  const meeting = keys.map(({ left, right }, i): JoinKey => ({ left, right: { kind: "column", type: right.type, index: i, name: "key" } }));
  const present: TypedExpression = literal(BOOLEAN, true);
  const right: PlanNode = {
    kind: "project",
    input: groups,
    columns: [...keyColumns, { name: "present", type: BOOLEAN }, ...grouped.columns],
    expressions: [
      ...keyColumns.map(({ name, type }, index): TypedExpression => ({ kind: "column", type, index, name })),
      present,
      ...grouped.columns.map(({ name, type }, i): TypedExpression => ({ kind: "column", type, index: keys.length + i, name })),
    ],
  };
  const columns = [...input.columns, ...right.columns];
  const joined: PlanNode = { kind: "join", join: "left", left: input, right, columns, keys: meeting, residual: undefined };
  const states = grouped.aggregates.map((each) => literal(each.type.result, each.function.create(each.type, () => undefined).result()));
  const otherwise = emptyValue(value, states, environment);
  const at = width + keys.length;
  const when: TypedExpression = { kind: "column", type: BOOLEAN, index: at, name: "present" };
  const result = mapColumns(value, (index) => at + 1 + index);
  const shown = input.columns.map(({ name, type }, index): TypedExpression => ({ kind: "column", type, index, name }));
  return {
    kind: "project",
    input: joined,
    columns: [...input.columns, { name: "sub-query", type: call.type }],
    expressions: [...shown, { kind: "case", type: call.type, branches: [{ when, result }], otherwise }],
  };
}

/** The value of an expression over aggregates when there are no rows. */
function emptyValue(expression: TypedExpression, states: readonly TypedExpression[], environment: Environment): TypedExpression {
  if (expression.kind === "column") return states[expression.index] ?? expression;
  if (operandsOf(expression).length === 0) return expression;
  return fold(
    mapOperands(expression, (operand) => emptyValue(operand, states, environment)),
    environment,
  );
}
