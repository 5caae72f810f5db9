/**
 * A part of a plan as plain data, for a structured clone: operators from the scan up, each over the one before, functions by their names.
 *
 *   Fragment { scan, steps: [filter | project | overlap | sort …, aggregate?] }
 *
 * Not every plan can go: a function that is not the registry's own under its name, or gives another value each time, keeps it here.
 */
import { assert } from "../../../base/assert.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { ScannedTable } from "../../../table/catalog.ts";
import type { ScanRequest } from "../../../table/scan.ts";
import { aggregateNamed } from "../../function/aggregate/registry.ts";
import { hasParameter, isVolatile, type TypedExpression } from "../../expression/expression.ts";
import type { AggregateCall } from "../node-parts/aggregate-call.ts";
import type { GroupKey } from "../aggregate/node.ts";
import { type PlanNode, rebuilt } from "./node.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { decodeExpression, encodeExpression } from "../../expression/expression-shape.ts";

type PlainExpression = Uint8Array<ArrayBuffer>;

type NodeOf<K extends PlanNode["kind"]> = Extract<PlanNode, { kind: K }>;

/** Operators that may be above the scan. */
export type StepNode = NodeOf<"filter" | "project" | "overlap" | "aggregate" | "sort">;

/** A plan that other threads can run. */
export interface FragmentPlan {
  readonly scan: NodeOf<"scan">;
  /** From the scan up; each is the input of the next. */
  readonly steps: readonly StepNode[];
}

interface PlainCall extends Omit<AggregateCall, "function" | "args" | "orderBy" | "filter"> {
  readonly name: string;
  readonly args: readonly PlainExpression[];
  readonly orderBy: readonly PlainItem[];
  readonly filter: PlainExpression | undefined;
}

interface PlainItem extends Omit<SortItem, "expression"> {
  readonly expression: PlainExpression;
}

type PlainKey =
  | Extract<GroupKey, { kind: "bucket" }>
  | { readonly kind: "series" | "row"; readonly type: DataType; readonly expression: PlainExpression };

type PlainStep =
  | { readonly kind: "filter"; readonly columns: readonly ColumnHeader[]; readonly predicate: PlainExpression }
  | { readonly kind: "project"; readonly columns: readonly ColumnHeader[]; readonly expressions: readonly PlainExpression[] }
  | (Omit<NodeOf<"overlap">, "input" | "time"> & { readonly time: PlainExpression })
  | (Omit<NodeOf<"sort">, "input" | "items"> & { readonly items: readonly PlainItem[] })
  | {
      readonly kind: "aggregate";
      readonly columns: readonly ColumnHeader[];
      readonly keys: readonly PlainKey[];
      readonly aggregates: readonly PlainCall[];
      readonly readsTable: boolean;
    };

/** See the file header. */
export interface Fragment {
  readonly columns: readonly ColumnHeader[];
  /** Tag predicates stay behind: the snapshot has the series that meet them. */
  readonly request: Omit<ScanRequest, "tagPredicates" | "signal">;
  readonly steps: readonly PlainStep[];
}

/** The plan below and with `node`, if it is a scan with such operators above it alone. */
export function fragmentPlan(node: PlanNode): FragmentPlan | undefined {
  const steps: StepNode[] = [];
  for (let at = node; ; at = at.input) {
    if (at.kind === "scan") return { scan: at, steps: steps.reverse() };
    if (at.kind !== "filter" && at.kind !== "project" && at.kind !== "overlap" && at.kind !== "aggregate" && at.kind !== "sort") {
      return undefined;
    }
    steps.push(at);
  }
}

/** The plan as plain data; undefined where it cannot be told by names. */
export function encodeFragment({ scan, steps }: FragmentPlan): Fragment | undefined {
  if (!steps.every(isPlain)) return undefined;
  const { tagPredicates: _, ...request } = scan.request;
  return { columns: scan.columns, request, steps: steps.map(encodeStep) };
}

/** The plan again, over a table of this thread. */
export function decodeFragment(fragment: Fragment, table: ScannedTable): PlanNode {
  const { columns, request } = fragment;
  let node: PlanNode = { kind: "scan", table, columns, request: { ...request, tagPredicates: [] }, predicates: [] };
  for (const step of fragment.steps) node = decodeStep(step, node, table);
  return node;
}

/** Whether all functions of an operator are known by name and give the same value each time. */
function isPlain(step: StepNode): boolean {
  let ok = step.kind !== "aggregate" || step.aggregates.every((call) => aggregateNamed(call.function.name) === call.function);
  const look = (expression: TypedExpression): TypedExpression => {
    ok &&= !hasParameter(expression) && !isVolatile(expression);
    return expression;
  };
  rebuilt(step, (input) => input, look);
  return ok;
}

const encodeItem = (item: SortItem): PlainItem => ({ ...item, expression: encodeExpression(item.expression) });
const decodeItem = (item: PlainItem): SortItem => ({ ...item, expression: decodeExpression(item.expression) });

function encodeCall(call: AggregateCall): PlainCall {
  const { type, distinct, filter } = call;
  const args = call.args.map(encodeExpression);
  const orderBy = call.orderBy.map(encodeItem);
  return { name: call.function.name, type, distinct, args, orderBy, filter: filter === undefined ? undefined : encodeExpression(filter) };
}

function decodeCall({ name, type, distinct, filter, ...call }: PlainCall): AggregateCall {
  const named = aggregateNamed(name);
  assert(named !== undefined, `an aggregate function; got ${name}`);
  const args = call.args.map(decodeExpression);
  const orderBy = call.orderBy.map(decodeItem);
  return { function: named, type, distinct, args, orderBy, filter: filter === undefined ? undefined : decodeExpression(filter) };
}

function encodeStep(step: StepNode): PlainStep {
  const { kind, columns } = step;
  switch (kind) {
    case "filter":
      return { kind, columns, predicate: encodeExpression(step.predicate) };
    case "project":
      return { kind, columns, expressions: step.expressions.map(encodeExpression) };
    case "overlap": {
      const { input: _, ...rest } = step;
      return { ...rest, time: encodeExpression(step.time) };
    }
    case "sort":
      return { kind, columns, items: step.items.map(encodeItem), keep: step.keep };
    case "aggregate": {
      const keys = step.keys.map(
        (key): PlainKey => (key.kind === "bucket" ? key : { ...key, expression: encodeExpression(key.expression) }),
      );
      return { kind, columns, keys, aggregates: step.aggregates.map(encodeCall), readsTable: step.table !== undefined };
    }
  }
}

function decodeStep(step: PlainStep, input: PlanNode, table: ScannedTable): PlanNode {
  switch (step.kind) {
    case "filter":
      return { kind: "filter", input, columns: step.columns, predicate: decodeExpression(step.predicate) };
    case "project":
      return { kind: "project", input, columns: step.columns, expressions: step.expressions.map(decodeExpression) };
    case "overlap":
      return { ...step, input, time: decodeExpression(step.time) };
    case "sort":
      return { ...step, input, items: step.items.map(decodeItem) };
    case "aggregate": {
      const { columns, readsTable } = step;
      const keys = step.keys.map(
        (key): GroupKey => (key.kind === "bucket" ? key : { ...key, expression: decodeExpression(key.expression) }),
      );
      const aggregates = step.aggregates.map(decodeCall);
      return { kind: "aggregate", input, columns, keys, aggregates, table: readsTable ? table : undefined };
    }
  }
}
