/** Runs plans: each operator is an async iterator that pulls batches from the one below. */
import { columnsOf } from "../expression/expression.ts";
import { aggregate } from "./aggregate/aggregate.ts";
import { distinct } from "./aggregate/distinct-rows.ts";
import { aggregateInterpreted } from "./aggregate/aggregate-interpreted.ts";
import { groupingSets } from "./aggregate/grouping-sets.ts";
import { apply, lateralJoin } from "./apply/apply.ts";
import type { ExecBatch, ExecContext } from "./contract/exec-context.ts";
import { inputsOf, type NodeOf, type PlanNode, visitExpressions } from "./contract/node.ts";
import { newNodeMetrics } from "./contract/node-metrics.ts";
import { firstOfEach } from "./distinct/first-of-each.ts";
import { fillSlots } from "./fill/fill-slots.ts";
import { fillSlotsInterpreted } from "./fill/fill-slots-interpreted.ts";
import { filter } from "./filter/filter.ts";
import { asof } from "./join/asof.ts";
import { join } from "./join/join.ts";
import { neededOfSides } from "./join/read-columns.ts";
import { keyShare } from "./key-share/key-share.ts";
import { limit } from "./limit/limit.ts";
import { newestFirst } from "./newest-first/newest-first.ts";
import { overlap, overlapInterpreted } from "./overlap/overlap.ts";
import { sharedAggregate, sharedNewest, sharedRows, sharedTop } from "./parallel/shared-run.ts";
import { project } from "./project/project.ts";
import { recursive } from "./recursive/recursive.ts";
import { computedFirst } from "./rows/computed-first.ts";
import { bytesOfBatch } from "./rows/held-rows.ts";
import { shortPieces, takesLong } from "./rows/short-pieces.ts";
import type { RowTest } from "../../table/scan.ts";
import { rowTestsOf } from "./scan/row-tests.ts";
import { scan } from "./scan/scan.ts";
import { setFilter } from "./set/set-filter.ts";
import { FirstRowsTests, sortedScan } from "./sort/first-rows-tests.ts";
import { sort } from "./sort/sort.ts";
import { source } from "./source/source.ts";
import { ifEmpty, union } from "./union/union.ts";
import { unnest } from "./unnest/unnest.ts";
import { window } from "./window/window.ts";
import { windowInterpreted } from "./window/window-interpreted.ts";

type Batches = AsyncIterable<ExecBatch>;
/** A function whose argument is of one kind, as one of all kinds: it is only given its own. */
type Runs<N> = { run(node: N, context: ExecContext): Batches }["run"];

/** How each operator runs on this thread. */
const OPERATORS: { readonly [K in PlanNode["kind"]]: Runs<NodeOf<K>> } = {
  scan: (node, context) => scan(node, context),
  source,
  filter: (node, context) => filtered(node, context),
  "key-share": (node, context) => keyShare(node, rowsFor(node, node.input, context), context),
  project: (node, context) => project(node, (needed) => rowsFor(node, node.input, context, needed), context),
  aggregate: (node, context) => grouped(node, context),
  "grouping-sets": (node, context) => groupingSets(node, rowsFor(node, node.input, context), context),
  overlap: (node, context) => (context.interpretOnly ? overlapInterpreted : overlap)(node, rowsFor(node, node.input, context), context),
  "fill-slots": (node, context) => (context.interpretOnly ? fillSlotsInterpreted : fillSlots)(node, run(node.input, context), context),
  sort: (node, context) => sortedHere(node, context, 0),
  limit: (node, context) => limited(node, context),
  "newest-first": (node, context) => newestFirst(node, context, (plan) => runCopy(node.input, plan, context)),
  join: (node, context) => joined(node, context),
  asof: (node, context) => asof(node, rowsFor(node, node.input, context), context),
  "lateral-join": (node, context) =>
    lateralJoin(node, rowsFor(node, node.input, context), (plan) => runCopy(node.plan, plan, context), context),
  apply: (node, context) => apply(node, rowsFor(node, node.input, context), (original, plan) => runCopy(original, plan, context), context),
  window: (node, context) => computedFirst(node, run(node.input, context), context, context.interpretOnly ? windowInterpreted : window),
  unnest: (node, context) => unnest(node, rowsFor(node, node.input, context), context),
  "first-of-each": (node, context) => firstOfEach(node, rowsFor(node, node.input, context), context),
  recursive: (node, context) => recursive(node, run(node.first, context), (round) => runCopy(node.step, node.step, round), context),
  union: (node, context) => union(node, (input) => run(input, context)),
  "if-empty": (node, context) => ifEmpty(node, (input) => run(input, context)),
  "set-filter": (node, context) => setFilter(node, run(leftOf(node, context), context), run(node.right, context), context),
};

/**
 * The batches of a plan. Nothing happens before the first is asked for.
 *
 * @param needed columns that the reader looks at: others may be NULL where copying them is work
 */
export function run(node: PlanNode, context: ExecContext, needed?: ReadonlySet<number>): Batches {
  const batches = needed === undefined ? operator(node, context) : withColumns(node, context, needed);
  return context.metrics === undefined ? batches : measured(node, batches, context);
}

/** Operators that leave out columns which nobody reads. */
function withColumns(node: PlanNode, context: ExecContext, needed: ReadonlySet<number>): Batches {
  if (node.kind === "unnest") return unnest(node, run(node.input, context), context, needed);
  return node.kind === "join" ? joined(node, context, needed) : operator(node, context, needed);
}

/** Pairs, of sides that give what is read of them. */
function joined(node: NodeOf<"join">, context: ExecContext, needed?: ReadonlySet<number>): Batches {
  const { left, right } = neededOfSides(node, needed);
  return join(node, rowsFor(node, node.left, context, left), rowsFor(node, node.right, context, right), context, needed);
}

/** Columns of its input that an operator reads. */
function columnsRead(node: PlanNode): ReadonlySet<number> {
  const read = new Set<number>();
  visitExpressions(node, (expression) => void columnsOf(expression, read));
  if (node.kind === "aggregate") for (const key of node.keys) if (key.kind === "bucket") read.add(key.column);
  return read;
}

/** Large scans go to other threads, with the operators right above them. */
function operator(node: PlanNode, context: ExecContext, needed?: ReadonlySet<number>): Batches {
  const hereFor = (own: PlanNode, ownContext: ExecContext): Batches =>
    own === node && needed !== undefined ? hereWith(own, ownContext, needed) : here(own, ownContext);
  if (context.workers === undefined) return hereFor(node, context);
  switch (node.kind) {
    case "aggregate":
      return sharedAggregate(node, context, here, run);
    case "filter":
    case "project":
      return sharedRows(node, context, hereFor, run);
    case "sort":
      return sharedTop(node, context, here, run, (input) => computedFirst(node, input, context, sort));
    case "newest-first":
      return newest(node, context);
    default:
      return here(node, context);
  }
}

/** A filter, whose reader looks at some columns, or at all. */
function filtered(node: NodeOf<"filter">, context: ExecContext, needed?: ReadonlySet<number>): Batches {
  const own = needed === undefined ? undefined : new Set([...needed, ...columnsOf(node.predicate)]);
  return filter(node, testedRows(node, context, needed) ?? rowsFor(node, node.input, context, own), context, needed);
}

/** LIMIT and OFFSET; above a sort, that does not even gather the rows that are left out. */
function limited(node: NodeOf<"limit">, context: ExecContext): Batches {
  const { input, offset } = node;
  if (input.kind !== "sort" || offset === 0) return limit(node, run(input, context));
  const sorted = (batches: Batches): Batches => computedFirst(input, batches, context, (own, rows, held) => sort(own, rows, held, offset));
  const alone = (_: PlanNode, own: ExecContext): Batches => sortedHere(input, own, offset);
  const batches = context.workers === undefined ? alone(input, context) : sharedTop(input, context, alone, run, sorted);
  return limit({ ...node, offset: 0 }, context.metrics === undefined ? batches : measured(input, batches, context));
}

/** The newest rows; those that others found are sorted again. */
function newest(node: NodeOf<"newest-first">, context: ExecContext): Batches {
  const { input } = node;
  if (input.kind !== "sort") return here(node, context);
  return sharedNewest(node, context, here, (batches) => computedFirst(input, batches, context, sort));
}

/** The left side of a set operation, whose equal rows other threads put together where there are some. */
function leftOf({ all, left }: NodeOf<"set-filter">, { workers }: ExecContext): PlanNode {
  return all || workers === undefined || left.kind === "aggregate" ? left : distinct(left);
}

function here(node: PlanNode, context: ExecContext): Batches {
  const runs: Runs<PlanNode> = OPERATORS[node.kind];
  return runs(node, context);
}

/** As `here`, for a reader that looks at some columns. */
function hereWith(node: PlanNode, context: ExecContext, needed: ReadonlySet<number>): Batches {
  if (node.kind === "filter") return filtered(node, context, needed);
  return node.kind === "aggregate" ? grouped(node, context, needed) : here(node, context);
}

/** A grouping; keys that are computed once a series may take long. */
function grouped(node: NodeOf<"aggregate">, context: ExecContext, needed?: ReadonlySet<number>): Batches {
  const groups = (own: NodeOf<"aggregate">, input: Batches, held: ExecContext): Batches =>
    aggregate(own, takesLong(own) ? shortPieces(input, held) : input, held, needed);
  return computedFirst(
    node,
    run(node.input, context, columnsRead(node)),
    context.groupWatch === undefined || context.groupWatch.node === node ? context : { ...context, groupWatch: undefined },
    context.interpretOnly ? aggregateInterpreted : groups,
  );
}

/** What a filter right above a scan reads: storage tests rows before it reads all of their columns. Undefined elsewhere. */
function testedRows(node: NodeOf<"filter">, context: ExecContext, needed: ReadonlySet<number> | undefined): Batches | undefined {
  const { input, predicate } = node;
  if (input.kind !== "scan" || context.interpretOnly) return undefined;
  const tests = rowTestsOf(predicate, input.columns, context);
  if (tests === undefined) return undefined;
  const rows = testedScan(input, tests, context, needed);
  return takesLong(node) ? shortPieces(rows, context) : rows;
}

/** @param needed columns that are looked at once rows are tested; undefined: all */
function testedScan(node: NodeOf<"scan">, rowTests: readonly RowTest[], context: ExecContext, needed?: ReadonlySet<number>): Batches {
  const unread = needed === undefined ? [] : [...node.columns.keys()].filter((place) => !needed.has(place));
  const batches = scan(node, context, { rowTests, unread });
  return context.metrics === undefined ? batches : measured(node, batches, context);
}

/** A sort without its first `skip` rows. Of first rows over a scan storage reads the keys before it reads the rest. */
function sortedHere(node: NodeOf<"sort">, context: ExecContext, skip: number): Batches {
  const over = context.interpretOnly ? undefined : sortedScan(node);
  const tests = over?.filter === undefined ? [] : rowTestsOf(over.filter.predicate, over.scan.columns, context);
  if (over === undefined || tests === undefined) {
    return computedFirst(node, run(node.input, context), context, (plan, rows, held) => sort(plan, rows, held, skip));
  }
  const first = new FirstRowsTests(over, context);
  const { scan: input, filter: condition, projections } = over;
  let rows = testedScan(input, first.around(tests), context);
  if (condition !== undefined) {
    const filtered = filter(condition, takesLong(condition) ? shortPieces(rows, context) : rows, context);
    rows = context.metrics === undefined ? filtered : measured(condition, filtered, context);
  }
  for (const projection of projections) {
    const below = rows;
    const projected = project(projection, () => (takesLong(projection) ? shortPieces(below, context) : below), context);
    rows = context.metrics === undefined ? projected : measured(projection, projected, context);
  }
  return computedFirst(node, rows, context, (plan, given, held) => sort(plan, given, held, skip, first.tighten));
}

/** What an operator reads: few rows at a time where it takes long for one. */
function rowsFor(reader: PlanNode, input: PlanNode, context: ExecContext, needed?: ReadonlySet<number>): Batches {
  const batches = run(input, context, needed);
  return takesLong(reader) ? shortPieces(batches, context) : batches;
}

/** Runs a copy of a plan, which counts as the plan itself. What it holds goes back when it ends, since it may run once a row. */
async function* runCopy(original: PlanNode, copy: PlanNode, context: ExecContext): Batches {
  if (copy !== original) shareMetrics(original, copy, context);
  const budget = context.budget.part("sub-plan");
  try {
    yield* run(copy, { ...context, budget });
  } finally {
    budget.close();
  }
}

/** Lets a copy of a plan count into the statistics of the original. */
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

async function* measured(node: PlanNode, batches: Batches, context: ExecContext): Batches {
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
