/**
 * Conditions and the choice of columns go into a sub-query of FROM, or a view:
 *
 *   SELECT a FROM (SELECT a, b, ts FROM t WHERE b > 1) WHERE ts > 5   ─►   scan of t: a, b, ts > 5 in storage; b > 1 above it
 *
 * They pass a projection, where what they read is a column or a cast of one, and a filter, since rows are kept or not one by one in both.
 * They stay above anything else: LIMIT counts rows, aggregates need all of them, and above a join `plan-relation.ts` has sorted them.
 * A scan with a limit gives its rows up to that limit whoever reads them, so it takes no condition.
 */
import {
  columnsOf,
  conjunction,
  conjunctsOf,
  hasParameter,
  isVolatile,
  mapColumns,
  operandsOf,
  type TypedExpression,
  withOperands,
} from "../expression.ts";
import type { PlanNode } from "../node.ts";
import type { PlannedRelation, Wanted } from "../relation.ts";
import type { Planner } from "../planner.ts";
import { pushedIntoScan } from "../push-filter.ts";

type Project = Extract<PlanNode, { kind: "project" }>;
type Filter = Extract<PlanNode, { kind: "filter" }>;
type Scan = Extract<PlanNode, { kind: "scan" }>;

/** The same rows with the columns that are wanted, of those that meet the conditions. */
export function intoDerived(node: PlanNode, wanted: Wanted, planner: Planner): PlannedRelation {
  switch (node.kind) {
    case "project":
      return intoProject(node, wanted, planner);
    case "filter":
      return intoFilter(node, wanted, planner);
    case "scan":
      return intoScan(node, wanted, planner);
    default:
      return above({ node, place: (index) => index }, wanted.conditions);
  }
}

/** Rows of a planned relation that meet conditions over the columns as they were. */
function above({ node, place }: PlannedRelation, conditions: readonly TypedExpression[]): PlannedRelation {
  const predicate = conjunction(conditions.map((condition) => mapColumns(condition, place)));
  return predicate === undefined ? { node, place } : { node: { kind: "filter", input: node, columns: node.columns, predicate }, place };
}

/** Columns wanted above and by conditions, in order. */
function keptOf({ columns }: Wanted, conditions: readonly TypedExpression[]): readonly number[] {
  const kept = new Set(columns);
  for (const condition of conditions) columnsOf(condition, kept);
  return [...kept].sort((a, b) => a - b);
}

function placeIn(kept: readonly number[]): (index: number) => number {
  const places = new Map(kept.map((index, at) => [index, at] as const));
  return (index) => places.get(index) ?? -1;
}

function intoProject(node: Project, wanted: Wanted, planner: Planner): PlannedRelation {
  const inside: TypedExpression[] = [];
  const outside: TypedExpression[] = [];
  for (const condition of wanted.conditions) {
    const below = isVolatile(condition) ? undefined : substituted(condition, node.expressions);
    if (below === undefined) outside.push(condition);
    else inside.push(below);
  }
  const kept = keptOf(wanted, outside);
  const expressions = kept.flatMap((index) => node.expressions[index] ?? []);
  const used = new Set<number>();
  for (const expression of expressions) columnsOf(expression, used);
  const input = intoDerived(node.input, { columns: used, conditions: inside }, planner);
  const project: PlanNode = {
    kind: "project",
    input: input.node,
    columns: kept.flatMap((index) => node.columns[index] ?? []),
    expressions: expressions.map((expression) => mapColumns(expression, input.place)),
  };
  return above({ node: project, place: placeIn(kept) }, outside);
}

/** A condition over what is projected as one over what is projected from; undefined when it reads anything but columns and their casts. */
function substituted(condition: TypedExpression, expressions: readonly TypedExpression[]): TypedExpression | undefined {
  if (condition.kind === "column") {
    const expression = expressions[condition.index];
    const inner = expression?.kind === "cast" ? expression.operand : expression;
    return inner?.kind === "column" ? expression : undefined;
  }
  const operands: TypedExpression[] = [];
  for (const operand of operandsOf(condition)) {
    const below = substituted(operand, expressions);
    if (below === undefined) return undefined;
    operands.push(below);
  }
  return operands.length === 0 ? condition : withOperands(condition, operands);
}

function intoFilter(node: Filter, wanted: Wanted, planner: Planner): PlannedRelation {
  if (node.input.kind === "scan") return intoScan(node.input, wanted, planner, [node.predicate]);
  const kept = keptOf(wanted, [node.predicate, ...wanted.conditions]);
  const input = intoDerived(node.input, { columns: new Set(kept), conditions: [] }, planner);
  return above(input, [node.predicate, ...wanted.conditions]);
}

/**
 * The scan of the columns that are read; what storage can do of the conditions goes into its request. `own` conditions stay as they are
 * and are tested before the rest, which may fail on rows that they keep away from it.
 */
function intoScan(node: Scan, wanted: Wanted, planner: Planner, own: readonly TypedExpression[] = []): PlannedRelation {
  const { limit, newestPerSeries, summaries } = node.request;
  const isWhole = limit === undefined && newestPerSeries !== true && summaries === undefined;
  if (!isWhole || wanted.conditions.some((each) => isVolatile(each) || hasParameter(each))) {
    return scanOf(node, wanted, [...own, ...wanted.conditions]);
  }
  const filter = above({ node, place: (index) => index }, wanted.conditions);
  const pushed = pushedIntoScan(filter.node, planner.environment);
  if (pushed.kind === "filter" && pushed.input.kind === "scan")
    return scanOf(pushed.input, wanted, [...own, ...conjunctsOf(pushed.predicate)]);
  return scanOf(pushed.kind === "scan" ? pushed : node, wanted, own);
}

/** A scan of the columns that are read, below a filter. */
function scanOf(node: Scan, wanted: Wanted, conditions: readonly TypedExpression[]): PlannedRelation {
  const kept = keptOf(wanted, conditions);
  const columns = kept.flatMap((index) => node.columns[index] ?? []);
  const scan: Scan = { ...node, columns, request: { ...node.request, projection: columns.map(({ name }) => name) } };
  return above({ node: scan, place: placeIn(kept) }, conditions);
}
