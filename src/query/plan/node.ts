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
import type { TypedExpression } from "./expression.ts";

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
  | { readonly kind: "source"; readonly name: string; readonly columns: readonly ColumnHeader[]; readonly batches: () => Iterable<Batch> }
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

/** The operators right below one. */
export function inputsOf(node: PlanNode): readonly PlanNode[] {
  return node.kind === "scan" || node.kind === "source" ? [] : [node.input];
}

/** The same plan whose scan reads another time range. */
export function withTimeRange(node: PlanNode, timeRange: TimeRange): PlanNode {
  if (node.kind === "scan") return { ...node, request: { ...node.request, timeRange } };
  return node.kind === "source" ? node : { ...node, input: withTimeRange(node.input, timeRange) };
}
