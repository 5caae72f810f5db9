/**
 * `unnest(list)` in the select list, GROUP BY and ORDER BY. Each call becomes a column behind those of the relation that it reads; calls of
 * one SELECT go side by side, and calls inside calls run before the others:
 *
 *   relation → unnest (those with most calls around them) → … → unnest (those inside none) → what reads them
 *
 * `unnest(struct)` as a whole item of the select list stands for a column a field.
 */
import type { ColumnHeader } from "../../../column/batch.ts";
import { type DataType, displayName, NULL } from "../../../column/data-type.ts";
import { elementType, listOf } from "../../function/nested/parts.ts";
import type { Expression } from "../../sql/syntax/ast.ts";
import { printExpression } from "../../sql/print/print.ts";
import { contains, containsAggregate, isAggregateCall } from "../bind/ast-walk.ts";
import { type Binder, bind } from "../bind/bind.ts";
import { bindAggregate } from "../bind/bind-aggregates.ts";
import type { Placed } from "./bind-windows.ts";
import { expressionKey, mapColumns, type TypedExpression } from "../../expression/expression.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import { planError } from "../bind/plan-error.ts";
import type { OutputItem } from "./select-body.ts";

/** Position of the column that the first call over a relation becomes, until the operator that computes it has its place. */
const UNNEST_BASE = 4_000_000;

/** How far the columns of calls above GROUP BY lie behind those of calls below it. */
const UPPER_OFFSET = 500_000;

type Call = Extract<Expression, { kind: "call" }>;

/** Whether an expression is `unnest(…)`. */
function isUnnest(expression: Expression): expression is Call {
  return expression.kind === "call" && expression.name === "unnest";
}

interface Unnested {
  readonly list: TypedExpression;
  readonly column: TypedExpression;
  /** How many calls are around it. */
  readonly depth: number;
}

/** Collects the calls of the expressions over one relation. */
export class Unnests {
  /** Binds expressions that may hold calls. */
  readonly binder: Binder;
  private readonly first: number;
  private readonly calls = new Map<string, Unnested>();
  /** How many calls are around what is being bound. */
  private depth = 0;

  /** @param below binds the lists @param lower collects those below GROUP BY: what it knows is a key */
  constructor(below: Binder, lower?: Unnests) {
    this.first = UNNEST_BASE + (lower === undefined ? 0 : UPPER_OFFSET);
    const intercept: NonNullable<Binder["intercept"]> = (expression) =>
      isUnnest(expression) && lower?.known(expression) === undefined ? this.column(expression) : below.intercept?.(expression);
    this.binder = { ...below, intercept, hasNewUnnest: (expression) => this.hasNew(expression) };
  }

  /** Whether there are none. */
  get isEmpty(): boolean {
    return this.calls.size === 0;
  }

  /** What the calls read of the relation. */
  expressions(): readonly TypedExpression[] {
    return [...this.calls.values()].map((call) => call.list);
  }

  /** Whether an expression holds a call that was not bound before. */
  private hasNew(expression: Expression): boolean {
    return contains(expression, (node) => isUnnest(node) && this.known(node) === undefined);
  }

  /** The column of a call that was bound before; undefined for others, which stay unbound. */
  private known(expression: Call): TypedExpression | undefined {
    if (containsAggregate(expression)) return undefined;
    const size = this.calls.size;
    const list = this.listOf(expression);
    const found = this.calls.get(this.keyOf(list));
    if (this.calls.size > size) for (const key of [...this.calls.keys()].slice(size)) this.calls.delete(key);
    return found?.column;
  }

  /** The operators that run the calls above a plan, and where columns of the relation and elements went. */
  over(input: PlanNode, place: Placed["place"]): Placed {
    if (this.isEmpty) return { node: input, place };
    const positions = new Map<number, number>();
    const placeColumn = (index: number): number => {
      const position = positions.get(index);
      if (position !== undefined) return position;
      const placed = place({ kind: "column", type: NULL, index, name: "" });
      return placed.kind === "column" ? placed.index : -1;
    };
    const all = [...this.calls.values()];
    let node = input;
    for (let depth = Math.max(...all.map((call) => call.depth)); depth >= 0; depth--) {
      const calls = all.filter((call) => call.depth === depth);
      const lists = calls.map((call) => mapColumns(call.list, placeColumn));
      const width = node.columns.length;
      const columns: ColumnHeader[] = [...node.columns, ...calls.map((call) => ({ name: "unnest", type: call.column.type }))];
      node = { kind: "unnest", input: node, columns, lists };
      for (const [i, call] of calls.entries()) if (call.column.kind === "column") positions.set(call.column.index, width + i);
    }
    return { node, place: (expression) => mapColumns(expression, placeColumn) };
  }

  private listOf(expression: Call): TypedExpression {
    const [argument, ...rest] = expression.args;
    if (argument === undefined || rest.length > 0) throw planError(`unnest() takes one list here; got ${expression.args.length} arguments`);
    const { star, distinct, orderBy, filter, over } = expression;
    if (star || distinct || orderBy.length > 0 || filter !== undefined || over !== undefined || expression.nulls !== undefined)
      throw planError("unnest() is no aggregate: *, DISTINCT, ORDER BY, FILTER, IGNORE NULLS and OVER do not go with it");
    this.depth++;
    try {
      return bind(argument, this.binder);
    } finally {
      this.depth--;
    }
  }

  private keyOf(list: TypedExpression): string {
    return `${this.depth} ${expressionKey(list)}`;
  }

  private column(expression: Call): TypedExpression {
    const list = this.listOf(expression);
    const type = elementType(list.type);
    if (list.type.kind === "struct")
      throw planError("unnest() of a struct stands for several columns: it must be a whole item of the select list");
    if (type === undefined) throw planError(`unnest() can only be applied to a list or a struct, not to ${displayName(list.type)}`);
    const key = this.keyOf(list);
    const known = this.calls.get(key);
    if (known !== undefined) return known.column;
    const column: TypedExpression = { kind: "column", type, index: this.first + this.calls.size, name: "unnest" };
    // A NULL without a type is an empty list.
    const typed: TypedExpression = list.type.kind === "null" ? { kind: "literal", type: listOf(NULL), value: undefined } : list;
    this.calls.set(key, { list: typed, column, depth: this.depth });
    return column;
  }
}

/** The select list with a column a field in the place of `unnest(struct)`. */
export function withoutStructs(items: readonly OutputItem[], binder: Binder): readonly OutputItem[] {
  if (!items.some((item) => isUnnest(item.expression))) return items;
  return items.flatMap((item) => {
    const fields = isUnnest(item.expression) ? fieldsOf(item.expression, binder) : undefined;
    const [argument] = item.expression.kind === "call" ? item.expression.args : [];
    if (fields === undefined || argument === undefined) return [item];
    const prefix = item.alias ?? `__unnest_placeholder(${printExpression(argument)})`;
    return fields.map(
      ({ name }): OutputItem => ({
        name: `${prefix}.${name}`,
        alias: undefined,
        expression: {
          kind: "call",
          name: "get_field",
          args: [argument, { kind: "string", value: name, span: argument.span }],
          star: false,
          distinct: false,
          orderBy: [],
          filter: undefined,
          span: item.expression.span,
        },
      }),
    );
  });
}

/** The fields of the argument if it is a struct. Binds to nothing that lasts. */
function fieldsOf(expression: Call, binder: Binder): Extract<DataType, { kind: "struct" }>["fields"] | undefined {
  const [argument] = expression.args;
  if (argument === undefined) return undefined;
  const unnests = new Unnests({
    ...binder,
    intercept: (inner) => {
      if (!isAggregateCall(inner)) return binder.intercept?.(inner);
      const { type } = bindAggregate(inner, binder);
      return { kind: "column", type: type.result, index: 0, name: inner.name };
    },
  });
  const { type } = bind(argument, unnests.binder);
  return type.kind === "struct" ? type.fields : undefined;
}
