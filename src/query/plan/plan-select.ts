/**
 * SELECT → plan:
 *
 *   scan → filter → [aggregate → having] → [window … → qualify] → project → [distinct] → sort → limit → project without helper columns
 *
 * ORDER BY expressions that are not selected ride along as helper columns behind the selected ones.
 */
import { DbError } from "../../base/error.ts";
import { SELECT_COLUMNS_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { displayName } from "../../column/data-type.ts";
import type { Expression, Select } from "../sql/ast.ts";
import { printExpression } from "../sql/print.ts";
import { containsAggregate, containsRange, windowParts } from "./ast-walk.ts";
import { type Binder, bindConstant } from "./bind.ts";
import type { TypedExpression } from "./expression.ts";
import { inputPlan } from "./input-plan.ts";
import type { PlanNode } from "./node.ts";
import { planAggregate } from "./plan-aggregate.ts";
import { planError } from "./plan-error.ts";
import { planRows } from "./plan-rows.ts";
import { planRange } from "./range/plan-range.ts";
import { rangeError } from "./range/range-error.ts";
import type { Planner } from "./planner.ts";
import type { Scope } from "./scope.ts";
import type { Limits, OutputItem } from "./select-body.ts";
import { sourceOf } from "./source.ts";

/** The plan of a SELECT. @throws DbError PlanQuery, TableNotFound, Unsupported */
export function planSelect(select: Select, planner: Planner): PlanNode {
  const source = sourceOf(select.from, planner);
  const input = inputPlan(source, select.where, planner);
  const pinned = new Map<Expression, TypedExpression>();
  const items = outputItems(select, source.scope, pinned);
  if (items.length === 0) throw planError("SELECT list is empty");
  if (items.length > SELECT_COLUMNS_MAX)
    throw planError(`a SELECT gives ${SELECT_COLUMNS_MAX} columns at most; this one gives ${items.length}`);
  const binder: Binder = { ...input.binder, intercept: (expression) => pinned.get(expression) };
  const limits = limitsOf(select, planner);
  const expressions = [
    ...items.map((item) => item.expression),
    ...select.orderBy.map((item) => item.expression),
    ...(select.windows ?? []).flatMap((each) => windowParts(each.window)),
    ...(select.qualify === undefined ? [] : [select.qualify]),
  ];
  const aggregated =
    select.groupBy.length > 0 || select.groupingSets !== undefined || select.having !== undefined || expressions.some(containsAggregate);
  const body = { select, input: { ...input, binder }, items, limits, planner };
  if (select.align !== undefined) return planRange(body, select.align);
  if (expressions.some(containsRange)) throw rangeError("ALIGN argument cannot be omitted in the range select query");
  return aggregated ? planAggregate(body) : planRows(body);
}

/** @param pinned takes what the columns of a `*` stand for, which their names need not tell apart */
function outputItems(select: Select, scope: Scope, pinned: Map<Expression, TypedExpression>): readonly OutputItem[] {
  return select.items.flatMap((item): readonly OutputItem[] => {
    if (item.kind === "expression")
      return [{ name: item.alias ?? nameOf(item.expression), expression: item.expression, alias: item.alias }];
    if (scope.length === 0) throw planError("SELECT * needs a FROM clause");
    const shown = scope.filter((column) => (item.table === undefined ? column.shown !== "hidden" : column.qualifier === item.table));
    if (shown.length === 0) throw planError(`Invalid qualifier ${item.table ?? "*"}: no table of this query has that name`);
    return shown.map(({ name, qualifier, expression, shown: other }) => {
      const path = qualifier === undefined ? [name] : [qualifier, name];
      const column: Expression = { kind: "column", name: path, quoted: true, span: item.span };
      pinned.set(column, item.table !== undefined || other === undefined || other === "hidden" ? expression : other);
      return { name, expression: column, alias: undefined };
    });
  });
}

/** The name of a column that has no alias: a column keeps its own, whatever table it is of. */
function nameOf(expression: Expression): string {
  return expression.kind === "column" ? (expression.name.at(-1) ?? "") : printExpression(expression);
}

function limitsOf(select: Select, planner: Planner): Limits {
  return { offset: limitOf(select.offset, "OFFSET", planner) ?? 0, count: limitOf(select.limit, "LIMIT", planner) };
}

function limitOf(expression: Expression | undefined, clause: string, planner: Planner): number | undefined {
  if (expression === undefined) return undefined;
  const { type, value } = bindConstant(expression, planner.environment);
  if (value === undefined) return undefined;
  if (type.kind !== "int") {
    throw new DbError(
      StatusCode.EngineExecuteQuery,
      `Error during planning: Expected ${clause} to be an integer or null, but got ${displayName(type)}`,
    );
  }
  const count = Number(value);
  if (count < 0) throw planError(`${clause} must be >= 0, '${count}' was provided.`);
  return count;
}
