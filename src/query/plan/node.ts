/**
 * Plans: a tree of operators, each a stream of batches with the columns it names. Expressions read columns of the operator's input.
 */
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import type { DataType } from "../../column/data-type.ts";
import type { Table } from "../../table/catalog.ts";
import type { ScanRequest, TimeRange } from "../../table/scan.ts";
import type { AggregateFunction } from "../function/aggregate/accumulator.ts";
import type { FunctionType } from "../function/scalar-function.ts";
import type { TimeBuckets } from "../function/time/buckets.ts";
import type { CompareOperator, TypedExpression } from "./expression.ts";

/** One key of an ORDER BY. `nullsFirst` is resolved. */
export interface SortItem {
  readonly expression: TypedExpression;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** One aggregate of an aggregation. */
export interface AggregateCall {
  readonly function: AggregateFunction;
  readonly type: FunctionType;
  /** Empty for `count(*)`. */
  readonly args: readonly TypedExpression[];
  readonly distinct: boolean;
  readonly orderBy: readonly SortItem[];
  readonly filter: TypedExpression | undefined;
}

/** What rows are grouped by. */
export type GroupKey =
  /** Depends on tags alone: evaluated once a series. Its columns are positions in the table's schema. */
  | { readonly kind: "series"; readonly type: DataType; readonly expression: TypedExpression }
  /** A bucket of the time index, which is `column` of the input. */
  | { readonly kind: "bucket"; readonly type: DataType; readonly column: number; readonly buckets: TimeBuckets }
  /** Anything else: evaluated once a row. */
  | { readonly kind: "row"; readonly type: DataType; readonly expression: TypedExpression };

/** A scan without what the executor adds. */
export type PlannedRequest = Omit<ScanRequest, "signal">;

/** Two expressions that are equal where rows of two relations belong together: one over each, of one type. NULL equals nothing. */
export interface JoinKey {
  readonly left: TypedExpression;
  readonly right: TypedExpression;
}

/** Which rows a join gives: pairs; pairs and what is left over on the left, on both sides; rows of the left with, or without, a partner. */
export type JoinMode = "inner" | "left" | "full" | "semi" | "anti";

/** A value that a sub-plan takes from the rows of the plan around it. */
export interface PlanParameter {
  readonly id: number;
  /** Over the columns of the operator that runs the sub-plan. */
  readonly expression: TypedExpression;
}

/** What a sub-query is to the row that it is run for. */
export type SubQueryResult =
  /** Its only value; NULL without rows. */
  | { readonly kind: "scalar" }
  | { readonly kind: "exists" }
  /** Whether `operand`, over the operator's input, compares so with any or all of `value`, over the sub-query's rows; of one type. */
  | {
      readonly kind: "any" | "all";
      readonly operator: CompareOperator;
      readonly operand: TypedExpression;
      readonly value: TypedExpression;
    };

/** A sub-query whose result is one more column of each row. */
export interface SubQueryCall {
  readonly plan: PlanNode;
  readonly parameters: readonly PlanParameter[];
  readonly result: SubQueryResult;
  readonly type: DataType;
}

/** An operator. */
export type PlanNode =
  | {
      readonly kind: "scan";
      readonly table: Table;
      readonly columns: readonly ColumnHeader[];
      readonly request: PlannedRequest;
      readonly predicates: readonly string[];
    }
  /** Rows that the server computes itself. */
  | {
      readonly kind: "source";
      readonly name: string;
      readonly columns: readonly ColumnHeader[];
      readonly batches: () => Iterable<Batch> | AsyncIterable<Batch>;
    }
  | { readonly kind: "filter"; readonly input: PlanNode; readonly columns: readonly ColumnHeader[]; readonly predicate: TypedExpression }
  | {
      readonly kind: "project";
      readonly input: PlanNode;
      readonly columns: readonly ColumnHeader[];
      readonly expressions: readonly TypedExpression[];
    }
  | {
      readonly kind: "aggregate";
      readonly input: PlanNode;
      /** Keys, then aggregates. */
      readonly columns: readonly ColumnHeader[];
      readonly keys: readonly GroupKey[];
      readonly aggregates: readonly AggregateCall[];
      /** The scanned table when there are series keys. */
      readonly table: Table | undefined;
    }
  /** `keep`: only that many first rows are needed. */
  | {
      readonly kind: "sort";
      readonly input: PlanNode;
      readonly columns: readonly ColumnHeader[];
      readonly items: readonly SortItem[];
      readonly keep: number | undefined;
    }
  | {
      readonly kind: "limit";
      readonly input: PlanNode;
      readonly columns: readonly ColumnHeader[];
      readonly offset: number;
      readonly count: number | undefined;
    }
  /** Rows of `left` that meet rows of `right`: equal in all keys, and `residual`, over the columns of both, holds. */
  | {
      readonly kind: "join";
      readonly join: JoinMode;
      readonly left: PlanNode;
      readonly right: PlanNode;
      readonly columns: readonly ColumnHeader[];
      readonly keys: readonly JoinKey[];
      readonly residual: TypedExpression | undefined;
    }
  /** Runs `plan` for each row of `input` and gives the pairs for which `condition`, over the columns of both, holds. */
  | {
      readonly kind: "lateral-join";
      readonly join: "inner" | "left";
      readonly input: PlanNode;
      readonly plan: PlanNode;
      readonly columns: readonly ColumnHeader[];
      readonly parameters: readonly PlanParameter[];
      readonly condition: TypedExpression | undefined;
    }
  /** Adds a column for each sub-query. */
  | { readonly kind: "apply"; readonly input: PlanNode; readonly columns: readonly ColumnHeader[]; readonly calls: readonly SubQueryCall[] }
  /** The first row of each distinct set of values of `keys`. */
  | {
      readonly kind: "first-of-each";
      readonly input: PlanNode;
      readonly columns: readonly ColumnHeader[];
      readonly keys: readonly TypedExpression[];
    }
  /** All rows of all inputs, one input after the other. */
  | { readonly kind: "union"; readonly inputs: readonly PlanNode[]; readonly columns: readonly ColumnHeader[] }
  /** Rows of `left` that are in `right`, or are not; with `all`, as often as they are there, or are not. */
  | {
      readonly kind: "set-filter";
      readonly operator: "intersect" | "except";
      readonly all: boolean;
      readonly left: PlanNode;
      readonly right: PlanNode;
      readonly columns: readonly ColumnHeader[];
    }
  /**
   * Runs `input`, whose rows are ordered by time, newest first, on the newest stretch of the scan's time range, then on older and
   * longer ones, until `wanted` rows came out. Stretches end at borders of `buckets`, so that no group is split.
   */
  | {
      readonly kind: "newest-first";
      readonly input: PlanNode;
      readonly columns: readonly ColumnHeader[];
      readonly table: Table;
      readonly timeRange: TimeRange;
      readonly buckets: TimeBuckets | undefined;
      readonly wanted: number;
    };

/** The operators right below one, sub-queries last. */
export function inputsOf(node: PlanNode): readonly PlanNode[] {
  switch (node.kind) {
    case "scan":
    case "source":
      return [];
    case "join":
    case "set-filter":
      return [node.left, node.right];
    case "union":
      return node.inputs;
    case "lateral-join":
      return [node.input, node.plan];
    case "apply":
      return [node.input, ...node.calls.map((call) => call.plan)];
    default:
      return [node.input];
  }
}

/** The same plan whose scan reads another time range: of plans that read one table. */
export function withTimeRange(node: PlanNode, timeRange: TimeRange): PlanNode {
  if (node.kind === "scan") return { ...node, request: { ...node.request, timeRange } };
  return "input" in node ? { ...node, input: withTimeRange(node.input, timeRange) } : node;
}

/** The same plan over other inputs, given in the order of `inputsOf`, with each of its expressions changed. */
export function rebuilt(
  node: PlanNode,
  input: (node: PlanNode) => PlanNode,
  change: (expression: TypedExpression) => TypedExpression,
): PlanNode {
  const changeAll = (expressions: readonly TypedExpression[]): readonly TypedExpression[] => expressions.map(change);
  const changeSort = (items: readonly SortItem[]): readonly SortItem[] =>
    items.map((item) => ({ ...item, expression: change(item.expression) }));
  const optional = (expression: TypedExpression | undefined): TypedExpression | undefined =>
    expression === undefined ? undefined : change(expression);
  const parameters = (given: readonly PlanParameter[]): readonly PlanParameter[] =>
    given.map((each) => ({ ...each, expression: change(each.expression) }));
  switch (node.kind) {
    case "scan":
    case "source":
      return node;
    case "filter":
      return { ...node, input: input(node.input), predicate: change(node.predicate) };
    case "project":
      return { ...node, input: input(node.input), expressions: changeAll(node.expressions) };
    case "aggregate":
      return {
        ...node,
        input: input(node.input),
        keys: node.keys.map((key) => (key.kind === "bucket" ? key : { ...key, expression: change(key.expression) })),
        aggregates: node.aggregates.map((call) => ({
          ...call,
          args: changeAll(call.args),
          orderBy: changeSort(call.orderBy),
          filter: optional(call.filter),
        })),
      };
    case "sort":
      return { ...node, input: input(node.input), items: changeSort(node.items) };
    case "first-of-each":
      return { ...node, input: input(node.input), keys: changeAll(node.keys) };
    case "limit":
    case "newest-first":
      return { ...node, input: input(node.input) };
    case "join": {
      const keys = node.keys.map((key) => ({ left: change(key.left), right: change(key.right) }));
      return { ...node, left: input(node.left), right: input(node.right), keys, residual: optional(node.residual) };
    }
    case "lateral-join":
      return {
        ...node,
        input: input(node.input),
        plan: input(node.plan),
        parameters: parameters(node.parameters),
        condition: optional(node.condition),
      };
    case "apply": {
      const calls = node.calls.map((call): SubQueryCall => {
        const { result } = call;
        const changed = "operand" in result ? { ...result, operand: change(result.operand) } : result;
        return { ...call, plan: input(call.plan), parameters: parameters(call.parameters), result: changed };
      });
      return { ...node, input: input(node.input), calls };
    }
    case "union":
      return { ...node, inputs: node.inputs.map(input) };
    case "set-filter":
      return { ...node, left: input(node.left), right: input(node.right) };
  }
}
