/**
 * `FROM unnest(list, …)`: the elements of lists side by side as rows, one column each; a struct gives a row with a column a field. With
 * names of relations before it, as in `FROM t, unnest(t.list)`, it runs for each of their rows.
 */
import { type DataType, displayName, INT64 } from "../../../column/data-type.ts";
import { elementType } from "../../function/nested/parts.ts";
import { operatorFunction } from "../../function/registry.ts";
import { fold } from "../../expression/fold.ts";
import type { Expression } from "../../sql/syntax/ast.ts";
import { printExpression } from "../../sql/print/print.ts";
import { type Binder, bind } from "../bind/bind.ts";
import { fieldOf } from "../bind/bind-nested.ts";
import { literal, type TypedExpression } from "../../expression/expression.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import { ONE_ROW } from "../../operator/source/node.ts";
import type { OuterScope } from "../common/outer-scope.ts";
import { planError } from "../bind/plan-error.ts";
import type { Planner } from "../common/planner.ts";

/** The plan of `unnest(args)`. @param outer names of the relations before it @throws DbError PlanQuery for what is no list */
export function unnestPlan(args: readonly Expression[], planner: Planner, outer: OuterScope | undefined, ordinality = false): PlanNode {
  if (args.length === 0) throw planError("unnest() takes one or more lists");
  const binder: Binder = { scope: [], environment: planner.environment, outer };
  const lists: TypedExpression[] = [];
  const shown: { readonly name: string; readonly expression: TypedExpression }[] = [];
  for (const argument of args) {
    const bound = bind(argument, binder);
    const name = printExpression(argument);
    if (bound.type.kind === "struct") {
      for (const field of bound.type.fields)
        shown.push({ name: `__unnest_placeholder(${name}).${field.name}`, expression: fieldOf(bound, field.name, planner.environment) });
      continue;
    }
    const type = elementType(bound.type);
    if (type === undefined) throw planError(`unnest() can only be applied to a list or a struct, not to ${displayName(bound.type)}`);
    shown.push({ name: `unnest(${name})`, expression: { kind: "column", type, index: lists.length, name: "unnest" } });
    lists.push(bound.type.kind === "null" ? literal(listType(type), undefined) : bound);
  }
  if (ordinality) {
    const numbers = operatorFunction("row_ordinals_op");
    const type = { args: lists.map((list) => list.type), result: listType(INT64) };
    shown.push({ name: "ordinality", expression: { kind: "column", type: INT64, index: lists.length, name: "ordinality" } });
    lists.push(fold({ kind: "call", type: type.result, function: numbers, functionType: type, args: lists.slice() }, planner.environment));
  }
  const elements = lists.map((list) => ({ name: "unnest", type: elementType(list.type) ?? list.type }));
  const rows: PlanNode = lists.length === 0 ? ONE_ROW : { kind: "unnest", input: ONE_ROW, columns: elements, lists };
  const columns = shown.map(({ name, expression }) => ({ name, type: expression.type }));
  return { kind: "project", input: rows, columns, expressions: shown.map(({ expression }) => expression) };
}

const listType = (element: DataType): DataType => ({ kind: "list", element });

/** The plan of a function whose list is rows: a column a field where they are structs. @throws DbError PlanQuery for other arguments */
export function rowCallPlan(
  call: Extract<Expression, { kind: "call" }>,
  planner: Planner,
  outer: OuterScope | undefined,
  ordinality: boolean,
): PlanNode {
  const node = unnestPlan([call], planner, outer, ordinality);
  const [rows, ...rest] = node.columns;
  if (rows?.type.kind !== "struct") return node;
  const element: TypedExpression = { kind: "column", type: rows.type, index: 0, name: rows.name };
  const fields = rows.type.fields.map(({ name }) => ({ name, expression: fieldOf(element, name, planner.environment) }));
  const others = rest.map((column, i) => ({ ...column, expression: { kind: "column", index: i + 1, ...column } as const }));
  const all = [...fields, ...others];
  const columns = all.map(({ name, expression }) => ({ name, type: expression.type }));
  return { kind: "project", input: node, columns, expressions: all.map(({ expression }) => expression) };
}

/** The plan of a series whose ends are no constants: its values as rows, in a column called `value`. */
export function seriesPlan(call: Extract<Expression, { kind: "call" }>, planner: Planner, outer: OuterScope | undefined): PlanNode {
  const node = unnestPlan([call], planner, outer);
  return { ...node, columns: node.columns.map((column) => ({ ...column, name: "value" })) };
}
