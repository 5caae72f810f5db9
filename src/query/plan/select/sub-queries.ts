/**
 * Sub-queries in expressions. Each becomes a column behind those of the relation that the expression reads: an operator below the
 * expression runs it once for each distinct set of values that it takes from outside (`operator/apply/apply.ts`).
 */
import { DbError } from "../../../base/error.ts";
import { BOOLEAN, type DataType } from "../../../column/data-type.ts";
import type { SubQueryExpression } from "../bind/ast-walk.ts";
import { type Binder, bind } from "../bind/bind.ts";
import { rowInQuery } from "../bind/bind-rows.ts";
import { unify } from "../bind/coerce.ts";
import { columnsOf, mapColumns, type TypedExpression } from "../../expression/expression.ts";
import type { PlanNode, SubQueryCall } from "../../operator/contract/node.ts";
import type { SubQueryResult } from "../../operator/apply/node.ts";
import { OuterScope } from "../common/outer-scope.ts";
import { planError } from "../bind/plan-error.ts";
import type { Planner } from "../common/planner.ts";
import { aggregateJoin, semiJoin } from "../rules/correlated-to-join.ts";
import { findColumn, type Scope } from "../bind/scope.ts";
import { atOnce } from "../../../base/scheduler/pace.ts";
import type { Steps } from "../bind/steps.ts";

/** Position of the column that the first sub-query over a relation becomes, until the operator that runs it has its place. */
export const SUB_QUERY_BASE = 1_000_000;

/** Whether an expression reads the result of a sub-query. */
export function isOfSubQuery(expression: TypedExpression): boolean {
  for (const index of columnsOf(expression)) if (index >= SUB_QUERY_BASE) return true;
  return false;
}

/** What sub-queries became over a plan: its rows with more columns, or fewer rows. */
export interface Applied {
  readonly node: PlanNode;
  /** Position in `node` of a column of the relation, or of a sub-query's result. */
  readonly place: (index: number) => number;
  /** The conditions, over the relation, that the rows do not meet yet. */
  readonly conditions: readonly TypedExpression[];
}

/**
 * Most sub-queries over one relation that become joins; the others run by an operator of their own. Reason: each lies in the next, and
 * gives all columns that the ones before it gave, so that 2,000 of them were a plan of some four million columns.
 */
const JOINED_MAX = 100;

/**
 * Sub-queries over a plan whose rows shall meet `conditions`, all over the relation. Those that can be joins are; the others run by an
 * operator of their own. @param used what else reads their results
 */
export function* applied(
  input: PlanNode,
  placeInput: (index: number) => number,
  calls: readonly SubQueryCall[],
  conditions: readonly TypedExpression[],
  used: readonly TypedExpression[],
  planner: Planner,
): Steps<Applied> {
  const placed = calls.map((call) => placedCall(call, placeInput));
  const positions = new Map<number, number>();
  let node = input;
  let left = conditions;
  const readers = readersOf([...conditions, ...used]);
  for (const [i, call] of placed.entries()) {
    yield;
    const own = planner.optimise && positions.size < JOINED_MAX ? filterOf(readers.get(SUB_QUERY_BASE + i) ?? [], left) : undefined;
    const joined = own === undefined ? undefined : semiJoin(node, call, own.negated);
    if (own === undefined || joined === undefined) continue;
    node = joined;
    left = left.filter((condition) => condition !== own.condition);
    positions.set(i, -1);
  }
  for (const [i, call] of placed.entries()) {
    yield;
    const mayJoin = planner.optimise && !positions.has(i) && positions.size < JOINED_MAX;
    const joined = mayJoin ? aggregateJoin(node, call, planner.environment) : undefined;
    if (joined === undefined) continue;
    positions.set(i, node.columns.length);
    node = joined;
  }
  const rest = placed.filter((_, i) => !positions.has(i));
  if (rest.length > 0) {
    let next = node.columns.length;
    for (const i of placed.keys()) if (!positions.has(i)) positions.set(i, next++);
    const columns = [...node.columns, ...rest.map(({ type }, i) => ({ name: `sub-query ${i + 1}`, type }))];
    node = { kind: "apply", input: node, columns, calls: rest };
  }
  const place = (index: number): number => (index < SUB_QUERY_BASE ? placeInput(index) : (positions.get(index - SUB_QUERY_BASE) ?? -1));
  return { node, place, conditions: left };
}

function placedCall(call: SubQueryCall, place: (index: number) => number): SubQueryCall {
  const placed = (expression: TypedExpression): TypedExpression => mapColumns(expression, place);
  const parameters = call.parameters.map((parameter) => ({ ...parameter, expression: placed(parameter.expression) }));
  const result = "operand" in call.result ? { ...call.result, operand: placed(call.result.operand) } : call.result;
  return { ...call, parameters, result };
}

/** The expressions that read each sub-query's result. */
function readersOf(expressions: readonly TypedExpression[]): ReadonlyMap<number, readonly TypedExpression[]> {
  const readers = new Map<number, TypedExpression[]>();
  for (const expression of expressions) {
    for (const column of columnsOf(expression)) {
      if (column < SUB_QUERY_BASE) continue;
      const known = readers.get(column);
      if (known === undefined) readers.set(column, [expression]);
      else known.push(expression);
    }
  }
  return readers;
}

/** The condition that is a sub-query's result, or its negation, and nothing else; undefined when the result is read elsewhere as well. */
function filterOf(
  readers: readonly TypedExpression[],
  conditions: readonly TypedExpression[],
): { readonly condition: TypedExpression; readonly negated: boolean } | undefined {
  const [condition, second] = readers;
  if (condition === undefined || second !== undefined || !conditions.includes(condition)) return undefined;
  const operand = condition.kind === "not" ? condition.operand : condition;
  return operand.kind === "column" ? { condition, negated: condition.kind === "not" } : undefined;
}

/** A sub-query that has no column yet. */
interface PlannedSubQuery {
  /** As it is planned: `(a, b) IN (SELECT …)` asks for one value that is both. */
  readonly asked: SubQueryExpression;
  readonly plan: PlanNode;
  readonly outer: OuterScope;
}

/** Collects the sub-queries of the expressions over one relation. */
export class SubQueries {
  readonly calls: SubQueryCall[] = [];
  /** Those that were planned and not bound yet. */
  private readonly planned = new Map<SubQueryExpression, PlannedSubQuery | DbError>();
  /** Those that were bound. One that is written once is one column, also where an alias stands for it several times. */
  private readonly columns = new Map<SubQueryExpression, TypedExpression>();
  private readonly scope: Scope;
  private readonly planner: Planner;

  /** @param scope the names that sub-queries may take from the relation */
  constructor(scope: Scope, planner: Planner) {
    this.scope = scope;
    this.planner = planner;
  }

  /** The column that a sub-query's result becomes. @param binder binds names of the query around it */
  bind(expression: SubQueryExpression, binder: Binder): TypedExpression {
    const known = this.columns.get(expression);
    if (known !== undefined) return known;
    const planned = this.planned.get(expression) ?? atOnce(this.planOf(expression, binder));
    if (planned instanceof DbError) throw planned;
    const { asked, plan, outer } = planned;
    const { result, type } = resultOf(asked, plan, binder);
    const column = this.add({ plan, parameters: outer.parameters, result, type });
    this.planned.delete(expression);
    this.columns.set(expression, column);
    return column;
  }

  /**
   * Plans a sub-query that `bind` will be asked for, in steps. Whether its place allows it, `bind` says.
   *
   * @param binder as `bind` will get it
   */
  *planFirst(expression: SubQueryExpression, binder: Binder): Steps<void> {
    if (this.columns.has(expression) || this.planned.has(expression)) return;
    this.planned.set(expression, yield* this.planOf(expression, binder));
  }

  /** The plan of a sub-query, or why there is none: what it is a part of may stand for a group key, and is not bound then. */
  private *planOf(expression: SubQueryExpression, binder: Binder): Steps<PlannedSubQuery | DbError> {
    const { planner } = this;
    const outer = new OuterScope((name) => {
      if (findColumn(this.scope, name) === undefined) return planner.outer?.resolve(name);
      return bind({ kind: "column", name, quoted: true, span: expression.span }, binder);
    }, planner.newId);
    try {
      const asked = expression.kind === "in-query" ? rowInQuery(expression) : expression;
      return { asked, plan: yield* planner.plan(asked.query, { ...planner, outer }), outer };
    } catch (thrown) {
      if (thrown instanceof DbError) return thrown;
      throw thrown;
    }
  }

  /** What the sub-queries read of the relation. */
  expressions(): readonly TypedExpression[] {
    return this.calls.flatMap(({ parameters, result }) => {
      const taken = parameters.map((parameter) => parameter.expression);
      return "operand" in result ? [...taken, result.operand] : taken;
    });
  }

  private add(call: SubQueryCall): TypedExpression {
    const index = SUB_QUERY_BASE + this.calls.push(call) - 1;
    return { kind: "column", type: call.type, index, name: `sub-query ${this.calls.length}` };
  }
}

function resultOf(
  expression: SubQueryExpression,
  plan: PlanNode,
  binder: Binder,
): { readonly result: SubQueryResult; readonly type: DataType } {
  if (expression.kind === "exists") return { result: { kind: "exists" }, type: BOOLEAN };
  const [column, second] = plan.columns;
  if (column === undefined || second !== undefined) {
    throw planError(`Too many columns! The subquery should only return one column; it returns ${plan.columns.length}`);
  }
  if (expression.kind === "sub-query") return { result: { kind: "scalar" }, type: column.type };
  const first: TypedExpression = { kind: "column", type: column.type, index: 0, name: column.name };
  const operator = expression.kind === "quantified" ? expression.operator : expression.negated ? "<>" : "=";
  const quantifier = expression.kind === "quantified" ? expression.quantifier : expression.negated ? "all" : "any";
  const given = bind(expression.operand, binder);
  // Integers compare exactly whatever their widths.
  const isInteger = given.type.kind === "int" && first.type.kind === "int";
  const [operand, value] = isInteger ? [given, first] : unify([given, first], "a comparison with a sub-query", binder.environment);
  if (operand === undefined || value === undefined) throw planError("a comparison with a sub-query needs an operand");
  return { result: { kind: quantifier, operator, operand, value }, type: BOOLEAN };
}
