/** Runs plans: each operator is an async iterator that pulls batches from the one below. */
import { unreachable } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { sameType } from "../../column/data-type.ts";
import type { Vector } from "../../column/vector.ts";
import { newScanMetrics } from "../../table/scan.ts";
import { columnsOf, type TypedExpression } from "../expression/expression.ts";
import { inputsOf, type PlanNode } from "./contract/node.ts";
import { aggregate } from "./aggregate/aggregate.ts";
import { apply, lateralJoin } from "./apply/apply.ts";
import { aggregateInterpreted } from "./aggregate/aggregate-interpreted.ts";
import { asof } from "./join/asof.ts";
import { computedFirst } from "./rows/computed-first.ts";
import { FilterEvaluator, VectorEvaluator } from "../expression/evaluator.ts";
import { checkCancelled } from "../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "./contract/exec-context.ts";
import { fillSlots } from "./fill/fill-slots.ts";
import { fillSlotsInterpreted } from "./fill/fill-slots-interpreted.ts";
import { firstOfEach } from "./distinct/first-of-each.ts";
import { bytesOfBatch, gatherBatch } from "./rows/held-rows.ts";
import { groupingSets } from "./aggregate/grouping-sets.ts";
import { join } from "./join/join.ts";
import { gatherRuns } from "./kernels/gather.ts";
import { sliceBatch } from "../../column/slice.ts";
import { newestFirst } from "./scan/newest-first.ts";
import { newNodeMetrics } from "./contract/node-metrics.ts";
import { overlap, overlapInterpreted } from "./overlap/overlap.ts";
import { sharedAggregate, sharedRows, sharedTop } from "./parallel/shared-run.ts";
import { recursive } from "./recursive/recursive.ts";
import { setFilter } from "./set/set-filter.ts";
import { shortPieces, takesLong } from "./rows/short-pieces.ts";
import { sort } from "./sort/sort.ts";
import { unnest } from "./unnest/unnest.ts";
import { window } from "./window/window.ts";
import { windowInterpreted } from "./window/window-interpreted.ts";

/** Columns that are computed between two looks at the clock: of 65,536 rows each takes 0.1 ms. */
const COLUMNS_PER_TURN = 16;

type NodeOf<K extends PlanNode["kind"]> = Extract<PlanNode, { kind: K }>;

/**
 * The batches of a plan. Nothing happens before the first is asked for.
 *
 * @param needed columns that the reader looks at: others may be NULL where copying them is work
 */
export function run(node: PlanNode, context: ExecContext, needed?: ReadonlySet<number>): AsyncIterable<ExecBatch> {
  const batches = node.kind === "unnest" ? unnest(node, run(node.input, context), context, needed) : operator(node, context);
  return context.metrics === undefined ? batches : measured(node, batches, context);
}

/** Large scans go to other threads, with the operators right above them. */
function operator(node: PlanNode, context: ExecContext): AsyncIterable<ExecBatch> {
  if (context.workers === undefined) return here(node, context);
  switch (node.kind) {
    case "aggregate":
      return sharedAggregate(node, context, here);
    case "filter":
    case "project":
      return sharedRows(node, context, here);
    case "sort":
      return sharedTop(node, context, here, (input) => computedFirst(node, input, context, sort));
    default:
      return here(node, context);
  }
}

/** Runs an operator on this thread. */
function here(node: PlanNode, context: ExecContext): AsyncIterable<ExecBatch> {
  switch (node.kind) {
    case "scan":
      return scan(node, context);
    case "source":
      return source(node, context);
    case "filter":
      return filter(node, context);
    case "project":
      return project(node, context);
    case "aggregate":
      return computedFirst(node, run(node.input, context), context, context.interpretOnly ? aggregateInterpreted : groups);
    case "overlap":
      return (context.interpretOnly ? overlapInterpreted : overlap)(node, rowsFor(node, node.input, context), context);
    case "fill-slots":
      return (context.interpretOnly ? fillSlotsInterpreted : fillSlots)(node, run(node.input, context), context);
    case "sort":
      return computedFirst(node, run(node.input, context), context, sort);
    case "limit":
      return limit(node, context);
    case "newest-first":
      return newestFirst(node, (plan) => runCopy(node.input, plan, context));
    case "join":
      return join(node, rowsFor(node, node.left, context), rowsFor(node, node.right, context), context);
    case "asof":
      return asof(node, rowsFor(node, node.input, context), context);
    case "lateral-join":
      return lateralJoin(node, rowsFor(node, node.input, context), (plan) => runCopy(node.plan, plan, context), context);
    case "apply":
      return apply(node, rowsFor(node, node.input, context), (original, plan) => runCopy(original, plan, context), context);
    case "window":
      return computedFirst(node, run(node.input, context), context, context.interpretOnly ? windowInterpreted : window);
    case "grouping-sets":
      return groupingSets(node, rowsFor(node, node.input, context), context);
    case "unnest":
      return unnest(node, rowsFor(node, node.input, context), context);
    case "if-empty":
      return ifEmpty(node, context);
    case "first-of-each":
      return firstOfEach(node, rowsFor(node, node.input, context), context);
    case "recursive":
      return recursive(node, run(node.first, context), (step) => runCopy(node.step, step, context), context);
    case "union":
      return union(node, context);
    case "set-filter":
      return setFilter(node, run(node.left, context), run(node.right, context), context);
    default:
      return unreachable(node);
  }
}

/** A grouping; keys that are computed once a series may take long. */
function groups(node: NodeOf<"aggregate">, input: AsyncIterable<ExecBatch>, context: ExecContext): AsyncIterable<ExecBatch> {
  return aggregate(node, takesLong(node) ? shortPieces(input, context) : input, context);
}

/** What an operator reads: few rows at a time where it takes long for one. */
function rowsFor(reader: PlanNode, input: PlanNode, context: ExecContext, needed?: ReadonlySet<number>): AsyncIterable<ExecBatch> {
  const batches = run(input, context, needed);
  return takesLong(reader) ? shortPieces(batches, context) : batches;
}

/** Runs a copy of a plan, which counts as the plan itself. What it holds goes back when it ends, since it may run once a row. */
async function* runCopy(original: PlanNode, copy: PlanNode, context: ExecContext): AsyncIterable<ExecBatch> {
  if (copy !== original) shareMetrics(original, copy, context);
  const budget = context.budget.part("sub-plan");
  try {
    yield* run(copy, { ...context, budget });
  } finally {
    budget.close();
  }
}

async function* union(node: NodeOf<"union">, context: ExecContext): AsyncIterable<ExecBatch> {
  for (const input of node.inputs) yield* run(input, context);
}

async function* ifEmpty(node: NodeOf<"if-empty">, context: ExecContext): AsyncIterable<ExecBatch> {
  let isEmpty = true;
  for await (const batch of run(node.input, context)) {
    isEmpty &&= batch.rowCount === 0;
    yield batch;
  }
  if (isEmpty) yield* run(node.otherwise, context);
}

/** Lets a copy of a plan count into the figures of the original. */
function shareMetrics(original: PlanNode, copy: PlanNode, context: ExecContext): void {
  if (context.metrics === undefined) return;
  const metrics = context.metrics.get(original) ?? newNodeMetrics();
  context.metrics.set(original, metrics);
  context.metrics.set(copy, metrics);
  for (const [i, input] of inputsOf(original).entries()) {
    const other = inputsOf(copy)[i];
    if (other !== undefined) shareMetrics(input, other, context);
  }
}

async function* measured(node: PlanNode, batches: AsyncIterable<ExecBatch>, context: ExecContext): AsyncIterable<ExecBatch> {
  const metrics = context.metrics?.get(node) ?? newNodeMetrics();
  context.metrics?.set(node, metrics);
  let since = context.clock.monotonicMillis();
  for await (const batch of batches) {
    metrics.elapsedMs += context.clock.monotonicMillis() - since;
    metrics.rows += batch.rowCount;
    metrics.batches++;
    metrics.bytes += bytesOfBatch(batch);
    yield batch;
    since = context.clock.monotonicMillis();
  }
  metrics.elapsedMs += context.clock.monotonicMillis() - since;
}

async function* scan(node: NodeOf<"scan">, context: ExecContext): AsyncIterable<ExecBatch> {
  const { start, end } = node.request.timeRange;
  if (start >= end) return;
  const metrics = context.metrics?.get(node);
  if (metrics !== undefined) metrics.scan ??= newScanMetrics();
  checkTypes(node); // From here to the scan's first batch nothing waits.
  for await (const batch of node.table.scan(
    { ...node.request, signal: context.signal, numbers: context.series.of(node.table) },
    metrics?.scan,
  )) {
    checkCancelled(context);
    yield batch;
    await context.pace.turn();
  }
}

/** The types that the plan was made for still hold. @throws DbError RequestOutdated */
function checkTypes({ table, request, columns }: NodeOf<"scan">): void {
  for (const [i, name] of request.projection.entries()) {
    const planned = columns[i]?.type;
    const now = table.schema.columns.find((column) => column.name === name);
    if (planned === undefined || now === undefined || now.semantic !== "field" || sameType(planned, now.type)) continue;
    throw new DbError(
      StatusCode.RequestOutdated,
      `cannot read table ${table.schema.name}: the type of column ${name} changed while the statement began; run it again`,
    );
  }
}

async function* source(node: NodeOf<"source">, context: ExecContext): AsyncIterable<ExecBatch> {
  for await (const batch of node.batches(context)) {
    checkCancelled(context);
    yield batch;
    await context.pace.turn();
  }
}

async function* filter(node: NodeOf<"filter">, context: ExecContext): AsyncIterable<ExecBatch> {
  const evaluator = new FilterEvaluator(node.predicate, node.input.columns, context);
  for await (const batch of rowsFor(node, node.input, context)) {
    const { selection, count } = await evaluator.selectInTurns(batch);
    if (count === batch.rowCount) yield batch;
    else if (count > 0) {
      const runs = batch.runs === undefined ? undefined : gatherRuns(batch.runs, selection, count);
      yield { ...gatherBatch(batch, selection, count), runs };
    }
    await context.pace.turn();
  }
}

async function* project(node: NodeOf<"project">, context: ExecContext): AsyncIterable<ExecBatch> {
  const evaluators = node.expressions.map((expression) => new VectorEvaluator(expression, node.input.columns, context));
  const needed = new Set<number>();
  for (const expression of node.expressions) columnsOf(expression, needed);
  const isLong = node.expressions.some(computesText);
  const mayBeLong = takesLong(node);
  let rowsAtOnce = TEXT_ROWS_FIRST;
  for await (const batch of rowsFor(node, node.input, context, needed)) {
    for (let from = 0; from < batch.rowCount; ) {
      const to = isLong ? Math.min(batch.rowCount, from + rowsAtOnce) : batch.rowCount;
      const piece = sliceBatch(batch, from, to);
      const vectors: Vector[] = [];
      for (const evaluator of evaluators) {
        vectors.push(isLong || mayBeLong ? await evaluator.vectorInTurns(piece) : evaluator.vector(piece));
        if (vectors.length % COLUMNS_PER_TURN === 0) await context.pace.turn();
      }
      const made = { rowCount: to - from, vectors };
      if (isLong) rowsAtOnce = bytesOfBatch(made) > TEXT_BYTES ? Math.max(1, rowsAtOnce >> 1) : Math.min(TEXT_ROWS_MAX, rowsAtOnce * 2);
      yield made;
      checkCancelled(context);
      from = to;
    }
  }
}

/** Rows of which texts are computed first, and at most at a time: fewer while they take more than `TEXT_BYTES`, since each may be long. */
const TEXT_ROWS_FIRST = 32;
const TEXT_ROWS_MAX = 8192;
const TEXT_BYTES: number = 8 * 1024 * 1024;

/** Whether an expression builds texts, other than one that all rows share. */
function computesText(expression: TypedExpression): boolean {
  return expression.kind !== "column" && expression.kind !== "literal" && expression.type.kind === "string";
}

async function* limit(node: NodeOf<"limit">, context: ExecContext): AsyncIterable<ExecBatch> {
  let skip = node.offset;
  let left = node.count ?? Number.POSITIVE_INFINITY;
  if (left === 0) return;
  for await (const batch of run(node.input, context)) {
    if (skip >= batch.rowCount) {
      skip -= batch.rowCount;
      continue;
    }
    const to = Math.min(batch.rowCount, skip + left);
    yield sliceBatch(batch, skip, to);
    left -= to - skip;
    skip = 0;
    if (left === 0) return;
  }
}
