/**
 * Plans: a tree of operators, each a stream of batches with the columns it names. Expressions read columns of the operator's input.
 */
import type { Pace } from "../../../base/scheduler/pace.ts";
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { ScannedTable, Table } from "../../../table/catalog.ts";
import type { ScanRequest, TimeRange } from "../../../table/scan.ts";
import type { AggregateFunction } from "../../function/aggregate/accumulator.ts";
import type { FunctionType } from "../../function/signature/scalar-function.ts";
import type { FixedBuckets, TimeBuckets } from "../../function/time/buckets.ts";
import type { Value } from "../../function/value/value.ts";
import type { Expression } from "../../sql/syntax/ast.ts";
import type { CompareOperator, TypedExpression } from "../../expression/expression.ts";

/** What a source may take of the query that reads it. */
export interface SourceRun {
  readonly signal: AbortSignal;
  readonly pace: Pace;
  /** Memory that it holds between batches. */
  readonly budget: { readonly reserve: (bytes: number) => void; readonly release: (bytes: number) => void };
}

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

/** Where a frame begins or ends. */
export type FrameBound =
  | { readonly kind: "unbounded" }
  | { readonly kind: "current" }
  /** Rows or peer groups from the current one; negative: before it. */
  | { readonly kind: "steps"; readonly steps: number }
  /** Rows count whose `key`, the only one of the order, has passed `value` of the current row; where that is NULL, its peers. */
  | { readonly kind: "value"; readonly key: TypedExpression; readonly value: TypedExpression };

/** Rows of its partition that a window call sees from a row. Rows that are equal in the order are peers, a group. */
export interface WindowFrame {
  readonly unit: "rows" | "range" | "groups";
  readonly start: FrameBound;
  readonly end: FrameBound;
}

/** Window calls that look at the order alone. */
export type RankName = "row_number" | "rank" | "dense_rank" | "percent_rank" | "cume_dist" | "ntile";

/** Scores of a row's value among those of its frame. */
export type AnomalyName = "zscore" | "mad" | "iqr";

/** One window call. */
export type WindowCall =
  /** `buckets`: of ntile, at least 1. */
  | { readonly kind: "rank"; readonly name: RankName; readonly type: DataType; readonly buckets: number }
  /** The value so many rows before (positive) or after; `otherwise`, over the current row, where there is none. */
  | {
      readonly kind: "shift";
      readonly type: DataType;
      readonly value: TypedExpression;
      readonly steps: number;
      readonly otherwise: TypedExpression;
      readonly ignoreNulls: boolean;
    }
  /** The value of the n-th row of the frame, from 1; negative: counted from its end. */
  | {
      readonly kind: "pick";
      readonly type: DataType;
      readonly value: TypedExpression;
      readonly nth: number;
      readonly ignoreNulls: boolean;
      readonly frame: WindowFrame;
    }
  | { readonly kind: "aggregate"; readonly type: DataType; readonly call: AggregateCall; readonly frame: WindowFrame }
  /** `factor`: of iqr, constant or not. */
  | {
      readonly kind: "anomaly";
      readonly name: AnomalyName;
      readonly type: DataType;
      readonly value: TypedExpression;
      readonly factor: TypedExpression | undefined;
      readonly frame: WindowFrame;
    };

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

/** What takes the place of a NULL in a series of slots. `none` and `null` leave it; `linear`: what lies between the neighbours. */
export type FillRule = { readonly kind: "none" | "null" | "prev" | "linear" } | { readonly kind: "constant"; readonly value: Value };

/** A column of a series of slots. */
export interface FilledColumn {
  /** Position in the input. */
  readonly column: number;
  readonly rule: FillRule;
  /** The value in slots without rows. */
  readonly empty: Value;
}

/** An operator. */
export type PlanNode =
  | {
      readonly kind: "scan";
      readonly table: ScannedTable;
      readonly columns: readonly ColumnHeader[];
      readonly request: PlannedRequest;
      /** As they were written, which only EXPLAIN prints. */
      readonly predicates: readonly Expression[];
    }
  /** Rows that the server computes itself. */
  | {
      readonly kind: "source";
      readonly name: string;
      readonly columns: readonly ColumnHeader[];
      readonly batches: (run: SourceRun) => Iterable<Batch> | AsyncIterable<Batch>;
      /** Of rows that are as many as a LIMIT right above wants: that many. */
      readonly rowsFor?: ((rowCount: number) => Iterable<Batch>) | undefined;
    }
  /** Rows of `first`, then those of `step` over the rows of the round before, which `step` reads as the source called `working`. */
  | {
      readonly kind: "recursive";
      readonly first: PlanNode;
      readonly step: PlanNode;
      readonly columns: readonly ColumnHeader[];
      readonly working: string;
      /** Whether rows that were there before count again. */
      readonly all: boolean;
    }
  | { readonly kind: "filter"; readonly input: PlanNode; readonly columns: readonly ColumnHeader[]; readonly predicate: TypedExpression }
  | {
      readonly kind: "project";
      readonly input: PlanNode;
      readonly columns: readonly ColumnHeader[];
      readonly expressions: readonly TypedExpression[];
    }
  /**
   * Gives each row `copies` times, for the bucket that `time` lies in and those before it. Two columns follow those of the input: a time in
   * the bucket, and with `ages` the whole milliseconds from its start to the row.
   */
  | {
      readonly kind: "overlap";
      readonly input: PlanNode;
      readonly columns: readonly ColumnHeader[];
      readonly time: TypedExpression;
      readonly buckets: FixedBuckets;
      readonly copies: number;
      readonly ages: boolean;
    }
  /** Gives each series of slots, `width` apart, without gaps. Columns: `keyCount` keys, which tell series apart, the slot, `items`. */
  | {
      readonly kind: "fill-slots";
      readonly input: PlanNode;
      readonly columns: readonly ColumnHeader[];
      readonly keyCount: number;
      readonly width: bigint;
      readonly items: readonly FilledColumn[];
    }
  | {
      readonly kind: "aggregate";
      readonly input: PlanNode;
      /** Keys, then aggregates. */
      readonly columns: readonly ColumnHeader[];
      readonly keys: readonly GroupKey[];
      readonly aggregates: readonly AggregateCall[];
      /** The scanned table when there are series keys. */
      readonly table: ScannedTable | undefined;
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
  /** Rows sorted by `partitionBy`, then `orderBy`, with a column more for each call. */
  | {
      readonly kind: "window";
      readonly input: PlanNode;
      readonly columns: readonly ColumnHeader[];
      readonly partitionBy: readonly SortItem[];
      readonly orderBy: readonly SortItem[];
      readonly calls: readonly WindowCall[];
    }
  /**
   * Each row once for each set, with a column more for each expression of `keys`, NULL where it is not of the set, and the number of
   * the set at the end.
   */
  | {
      readonly kind: "grouping-sets";
      readonly input: PlanNode;
      readonly columns: readonly ColumnHeader[];
      readonly keys: readonly TypedExpression[];
      readonly sets: readonly (readonly number[])[];
    }
  /** Each row once for each place of its longest list, with a column more for each of `lists`, which holds its element. */
  | {
      readonly kind: "unnest";
      readonly input: PlanNode;
      readonly columns: readonly ColumnHeader[];
      readonly lists: readonly TypedExpression[];
    }
  /** The rows of `input`, and if there are none, those of `otherwise`. */
  | { readonly kind: "if-empty"; readonly input: PlanNode; readonly otherwise: PlanNode; readonly columns: readonly ColumnHeader[] }
  /** The first row of each distinct set of values of `keys`. */
  | {
      readonly kind: "first-of-each";
      readonly input: PlanNode;
      readonly columns: readonly ColumnHeader[];
      readonly keys: readonly TypedExpression[];
    }
  /** All rows of all inputs, one input after the other. */
  | { readonly kind: "union"; readonly inputs: readonly PlanNode[]; readonly columns: readonly ColumnHeader[] }
  /**
   * Pairs of an ASOF JOIN (`plan/from/asof.ts`). The input's columns are keys, the order, the side, then those of the left and the right
   * side; the side is `isLeftLast` in rows of the left. Columns: those of both sides.
   */
  | {
      readonly kind: "asof";
      readonly join: "inner" | "left";
      readonly input: PlanNode;
      readonly columns: readonly ColumnHeader[];
      readonly keyCount: number;
      readonly leftWidth: number;
      readonly isLeftLast: boolean;
    }
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
    case "recursive":
      return [node.first, node.step];
    case "if-empty":
      return [node.input, node.otherwise];
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

type Change = (expression: TypedExpression) => TypedExpression;

function changedSort(items: readonly SortItem[], change: Change): readonly SortItem[] {
  return items.map((item) => ({ ...item, expression: change(item.expression) }));
}

function changedResult(result: SubQueryResult, change: Change): SubQueryResult {
  return "operand" in result ? { ...result, operand: change(result.operand) } : result;
}

/** The same aggregate with each of its expressions changed. */
export function changedAggregate(call: AggregateCall, change: Change): AggregateCall {
  const orderBy = changedSort(call.orderBy, change);
  return { ...call, args: call.args.map(change), orderBy, filter: call.filter === undefined ? undefined : change(call.filter) };
}

function changedFrame({ unit, start, end }: WindowFrame, change: Change): WindowFrame {
  const changed = (bound: FrameBound): FrameBound =>
    bound.kind === "value" ? { ...bound, key: change(bound.key), value: change(bound.value) } : bound;
  return { unit, start: changed(start), end: changed(end) };
}

/** The same window call with each of its expressions changed. */
export function changedWindowCall(call: WindowCall, change: Change): WindowCall {
  switch (call.kind) {
    case "rank":
      return call;
    case "shift":
      return { ...call, value: change(call.value), otherwise: change(call.otherwise) };
    case "pick":
      return { ...call, value: change(call.value), frame: changedFrame(call.frame, change) };
    case "aggregate":
      return { ...call, call: changedAggregate(call.call, change), frame: changedFrame(call.frame, change) };
    case "anomaly": {
      const factor = call.factor === undefined ? undefined : change(call.factor);
      return { ...call, value: change(call.value), factor, frame: changedFrame(call.frame, change) };
    }
  }
}

function changedParameters(
  given: readonly PlanParameter[],
  change: (expression: TypedExpression) => TypedExpression,
): readonly PlanParameter[] {
  return given.map((each) => ({ ...each, expression: change(each.expression) }));
}

function changedSubQuery(call: SubQueryCall, change: Change): SubQueryCall {
  return { ...call, parameters: changedParameters(call.parameters, change), result: changedResult(call.result, change) };
}

type Pairs = Extract<PlanNode, { kind: "join" | "lateral-join" | "apply" }>;

/** `rebuilt` of plans that bring rows of two relations together. */
function rebuiltPairs(node: Pairs, input: (node: PlanNode) => PlanNode, change: Change): PlanNode {
  const optional = (expression: TypedExpression | undefined): TypedExpression | undefined =>
    expression === undefined ? undefined : change(expression);
  switch (node.kind) {
    case "join": {
      const keys = node.keys.map((key) => ({ left: change(key.left), right: change(key.right) }));
      return { ...node, left: input(node.left), right: input(node.right), keys, residual: optional(node.residual) };
    }
    case "lateral-join":
      return {
        ...node,
        input: input(node.input),
        plan: input(node.plan),
        parameters: changedParameters(node.parameters, change),
        condition: optional(node.condition),
      };
    case "apply": {
      const calls = node.calls.map((call) => changedSubQuery({ ...call, plan: input(call.plan) }, change));
      return { ...node, input: input(node.input), calls };
    }
  }
}

/** The same plan over other inputs, given in the order of `inputsOf`, with each of its expressions changed. */
export function rebuilt(
  node: PlanNode,
  input: (node: PlanNode) => PlanNode,
  change: (expression: TypedExpression) => TypedExpression,
): PlanNode {
  const changeAll = (expressions: readonly TypedExpression[]): readonly TypedExpression[] => expressions.map(change);
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
        aggregates: node.aggregates.map((call) => changedAggregate(call, change)),
      };
    case "sort":
      return { ...node, input: input(node.input), items: changedSort(node.items, change) };
    case "first-of-each":
      return { ...node, input: input(node.input), keys: changeAll(node.keys) };
    case "overlap":
      return { ...node, input: input(node.input), time: change(node.time) };
    case "window":
      return {
        ...node,
        input: input(node.input),
        partitionBy: changedSort(node.partitionBy, change),
        orderBy: changedSort(node.orderBy, change),
        calls: node.calls.map((call) => changedWindowCall(call, change)),
      };
    case "grouping-sets":
      return { ...node, input: input(node.input), keys: changeAll(node.keys) };
    case "unnest":
      return { ...node, input: input(node.input), lists: changeAll(node.lists) };
    case "if-empty":
      return { ...node, input: input(node.input), otherwise: input(node.otherwise) };
    case "limit":
    case "fill-slots":
    case "asof":
    case "newest-first":
      return { ...node, input: input(node.input) };
    case "join":
    case "lateral-join":
    case "apply":
      return rebuiltPairs(node, input, change);
    case "union":
      return { ...node, inputs: node.inputs.map(input) };
    case "recursive":
      return { ...node, first: input(node.first), step: input(node.step) };
    case "set-filter":
      return { ...node, left: input(node.left), right: input(node.right) };
  }
}
