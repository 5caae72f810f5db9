/**
 * Binding of a query with ALIGN. Its expressions are made of BY keys, the time, which is that of the slot, aggregates with a RANGE, and
 * constants. A RANGE goes for all aggregates of the expression before it.
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { DataType } from "../../../column/data-type.ts";
import { aggregateNamed } from "../../function/aggregate/registry.ts";
import type { Expression, FillClause } from "../../sql/syntax/ast.ts";
import { printExpression } from "../../sql/print/print.ts";
import { containsAggregate, containsSubQuery } from "../bind/ast-walk.ts";
import { type Binder, bind } from "../bind/bind.ts";
import { bindAggregate, callKey } from "../bind/bind-aggregates.ts";
import { castTo } from "../bind/coerce.ts";
import { expressionKey, type TypedExpression } from "../../expression/expression.ts";
import type { AggregateCall } from "../../operator/node-parts/aggregate-call.ts";
import type { FillRule } from "../../operator/fill/node.ts";
import { boundFill } from "./fill.ts";
import { inZone } from "./in-zone.ts";
import { lengthMillis } from "./range-length.ts";

/** An aggregate over ranges of time. */
export interface RangeCall {
  readonly call: AggregateCall;
  readonly rangeMillis: bigint;
}

/** A column of the result: a call's, filled. */
export interface RangeItem {
  /** Position in the calls. */
  readonly call: number;
  readonly rule: FillRule;
  readonly type: DataType;
}

/** What the expressions of a query with ALIGN are over. */
export interface RangeGround {
  /** Binds over the rows. */
  readonly input: Binder;
  readonly keys: readonly TypedExpression[];
  /** The time of a row. */
  readonly time: TypedExpression;
  /** Type of a slot's start, which follow the keys. */
  readonly slotType: DataType;
  /** Whose clock slots are counted by; undefined: in UTC. */
  readonly zone: string | undefined;
  /** For calls that have none of their own. */
  readonly fill: FillClause | undefined;
  readonly subQueries: Binder["subQueries"];
}

/** Collects the calls of a query while its expressions are bound. */
export class RangeScope {
  readonly calls: RangeCall[] = [];
  /** One column each, behind the keys and the slot. Without a FILL they are the calls. */
  readonly items: RangeItem[] = [];
  readonly binder: Binder;
  private readonly ground: RangeGround;
  private readonly positions: ReadonlyMap<string, number>;
  private readonly timeKey: string;
  private readonly callKeys = new Map<string, number>();
  private readonly itemKeys = new Map<string, number>();

  constructor(ground: RangeGround) {
    this.ground = ground;
    this.positions = new Map(ground.keys.map((key, i) => [expressionKey(key), i] as const));
    this.timeKey = expressionKey(ground.time);
    const { environment, outer } = ground.input;
    this.binder = { scope: [], environment, outer, subQueries: ground.subQueries, intercept: (each) => this.outside(each) };
  }

  /** Below no RANGE. */
  private outside(expression: Expression): TypedExpression | undefined {
    if (expression.kind === "range") return this.range(expression);
    if (expression.kind === "call" && aggregateNamed(expression.name) !== undefined) throw this.withoutRange(expression);
    if (containsAggregate(expression) || containsSubQuery(expression)) return undefined;
    const { input, keys, slotType, time, zone } = this.ground;
    const bound = bind(expression, input);
    const key = expressionKey(bound);
    if (key === this.timeKey) {
      const slot: TypedExpression = { kind: "column", type: slotType, index: keys.length, name: "slot" };
      return castTo(zone === undefined ? slot : inZone("at_time_zone_op", slot, zone), time.type, input.environment);
    }
    const index = this.positions.get(key);
    if (index !== undefined) return { kind: "column", type: bound.type, index, name: `key ${index}` };
    if (bound.kind === "literal" || bound.kind === "parameter") return bound;
    if (expression.kind === "column") throw this.unknown(printExpression(expression));
    return undefined;
  }

  /** The expression before a RANGE: it has aggregates, and no other RANGE. */
  private range({ operand, duration, fill }: Extract<Expression, { kind: "range" }>): TypedExpression {
    const rangeMillis = lengthMillis(duration, this.binder.environment);
    const intercept = (expression: Expression): TypedExpression | undefined =>
      expression.kind === "call" && aggregateNamed(expression.name) !== undefined
        ? this.add(expression, rangeMillis, fill ?? this.ground.fill)
        : this.outside(expression);
    return bind(operand, { ...this.binder, intercept });
  }

  private add(expression: Extract<Expression, { kind: "call" }>, rangeMillis: bigint, fill: FillClause | undefined): TypedExpression {
    const call = this.inTimeOrder(bindAggregate(expression, this.ground.input));
    const callText = `${rangeMillis} ${callKey(call)}`;
    const position = this.callKeys.get(callText) ?? this.calls.push({ call, rangeMillis }) - 1;
    this.callKeys.set(callText, position);
    const { rule, type, key } = boundFill(fill, call.type.result, this.binder.environment);
    const itemText = `${position} ${key}`;
    const item = this.itemKeys.get(itemText) ?? this.items.push({ call: position, rule, type }) - 1;
    this.itemKeys.set(itemText, item);
    return { kind: "column", type, index: this.ground.keys.length + 1 + item, name: call.function.name };
  }

  /** The first and last value are those in the order of time, unless another order is asked for. */
  private inTimeOrder(call: AggregateCall): AggregateCall {
    const { kernel } = call.function;
    if ((kernel !== "first" && kernel !== "last") || call.orderBy.length > 0) return call;
    return { ...call, orderBy: [{ expression: this.ground.time, descending: false, nullsFirst: false }] };
  }

  private withoutRange(expression: Expression): DbError {
    return this.unknown(`"${printExpression(expression)}"`, "; write RANGE behind the aggregate");
  }

  /** The error of a column that is neither a key, nor the time, nor an aggregate with a RANGE. */
  private unknown(name: string, hint = "; name it in BY, or aggregate it with a RANGE"): DbError {
    const keys = this.ground.keys.map((key) => (key.kind === "column" ? key.name : "an expression of BY"));
    const time = this.ground.time.kind === "column" ? [this.ground.time.name] : [];
    const valid = [...time, ...keys].join(", ");
    return new DbError(
      StatusCode.EngineExecuteQuery,
      `Failed to plan SQL: No field named ${name}. Valid fields are aggregates with a RANGE, ${valid}${hint}.`,
    );
  }
}
