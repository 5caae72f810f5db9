/** Columns of the queries around a sub-query. Each that it names becomes a parameter, whose value comes with the row it is run for. */
import type { ObjectName } from "../../sql/syntax/ast.ts";
import { expressionKey, type TypedExpression } from "../../expression/expression.ts";
import type { PlanParameter } from "../../operator/node-parts/parameter.ts";

/** Finds what a name stands for in the query around; undefined when it stands for nothing there. */
export type OuterLookup = (name: ObjectName) => TypedExpression | undefined;

/** What one sub-query takes from outside. */
export class OuterScope {
  private readonly found = new Map<string, { readonly parameter: TypedExpression; readonly source: PlanParameter }>();
  private readonly lookup: OuterLookup;
  private readonly newId: () => number;

  constructor(lookup: OuterLookup, newId: () => number) {
    this.lookup = lookup;
    this.newId = newId;
  }

  /** The parameter that a name stands for, or undefined. */
  resolve(name: ObjectName): TypedExpression | undefined {
    const expression = this.lookup(name);
    if (expression === undefined) return undefined;
    const key = expressionKey(expression);
    const known = this.found.get(key);
    if (known !== undefined) return known.parameter;
    const id = this.newId();
    const parameter: TypedExpression = { kind: "parameter", type: expression.type, id, name: name.join(".") };
    this.found.set(key, { parameter, source: { id, expression } });
    return parameter;
  }

  /** Where the values of the parameters found so far come from. */
  get parameters(): readonly PlanParameter[] {
    return [...this.found.values()].map(({ source }) => source);
  }
}
