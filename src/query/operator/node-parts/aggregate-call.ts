/** Calls of aggregates, in groupings and over windows. */
import { assert } from "../../../base/assert.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { expression, functionType } from "../../expression/expression-shape.ts";
import { expressionText } from "../../expression/expression-text.ts";
import type { AggregateFunction } from "../../function/aggregate/accumulator.ts";
import { anyAggregateNamed } from "../../function/aggregate/registry.ts";
import type { FunctionType } from "../../function/signature/scalar-function.ts";
import { bool, list, optional, record, type Shape } from "../../plan-format/shape.ts";
import { TAG } from "../../plan-format/tags.ts";
import { itemText, type SortItem, sortItem } from "./sort-item.ts";

/** One aggregate of an aggregation. */
export interface AggregateCall {
  /** The registry's own under its name. */
  readonly function: AggregateFunction;
  readonly type: FunctionType;
  /** Empty for `count(*)`. */
  readonly args: readonly TypedExpression[];
  readonly distinct: boolean;
  readonly orderBy: readonly SortItem[];
  readonly filter: TypedExpression | undefined;
}

const aggregateFunction: Shape<AggregateFunction> = {
  write: (given, to) => {
    assert(anyAggregateNamed(given.name) === given, `an aggregate is the registry's own under its name; got ${given.name}`);
    to.tag(TAG.aggregate);
    to.word(given.name);
  },
  read: (from) => {
    from.expect(TAG.aggregate, "an aggregate");
    const name = from.word();
    return anyAggregateNamed(name) ?? from.fail(`there is no aggregate ${name.slice(0, 80)}`);
  },
};

/** Its shape. */
export const aggregateCall: Shape<AggregateCall> = record<AggregateCall>({
  function: aggregateFunction,
  type: functionType,
  args: list(expression),
  distinct: bool,
  orderBy: list(sortItem),
  filter: optional(expression),
});

/** The same aggregate with each of its expressions changed. */
export function changedAggregate(call: AggregateCall, change: (expression: TypedExpression) => TypedExpression): AggregateCall {
  const { args, orderBy, filter } = call;
  const items = orderBy.length === 0 ? orderBy : orderBy.map((item): SortItem => ({ ...item, expression: change(item.expression) }));
  return { ...call, args: args.map(change), orderBy: items, filter: filter && change(filter) };
}

/** The call as a person would write it. */
export function callText(call: AggregateCall): string {
  const args = call.function.name === "count" && call.args.length === 0 ? "*" : call.args.map(expressionText).join(", ");
  const order = call.orderBy.length === 0 ? "" : ` ORDER BY [${call.orderBy.map(itemText).join(", ")}]`;
  const filter = call.filter === undefined ? "" : ` FILTER (WHERE ${expressionText(call.filter)})`;
  return `${call.function.name}(${call.distinct ? "DISTINCT " : ""}${args})${order}${filter}`;
}
