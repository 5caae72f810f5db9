/**
 * A relation of FROM as a plan that gives the columns and rows that are needed. Conditions sink as far as they may: to the scans of tables,
 * below joins, into join keys.
 *
 * | join  | condition of ON           | condition of WHERE        |
 * |-------|---------------------------|---------------------------|
 * | inner | to the side that it reads | to the side that it reads |
 * | left  | right side only           | left side only            |
 * | full  | stays                     | stays above               |
 * | semi  | to the side that it reads | left side                 |
 * | anti  | right side only           | left side                 |
 */
import { asofPlan } from "./asof.ts";
import { ALL_TIME } from "../../table/scan.ts";
import { columnsOf, conjunction, isVolatile, mapColumns, type TypedExpression } from "./expression.ts";
import type { JoinKey, JoinMode, PlannedRequest, PlanNode } from "./node.ts";
import { partsOfPlan } from "./plan-size.ts";
import type { Planner } from "./planner.ts";
import { type PlannedRelation, type Relation, type Wanted, widthOf } from "./relation.ts";
import { joinKeys, sidesOf } from "./join-keys.ts";
import { withColumns, withConditions } from "./push-down.ts";
import { connectedJoinOrder } from "./rules/connected-join-order.ts";
import { intersect, type SplitWhere, splitWhere } from "./split-where.ts";

/** The conditions of a WHERE on a table: what storage does, and the rest. */
export function splitFor(relation: Relation, conditions: readonly TypedExpression[], planner: Planner): SplitWhere {
  return relation.kind === "table" && planner.optimise
    ? splitWhere(conditions, relation.table.schema, planner.environment)
    : { timeRange: ALL_TIME, tagPredicates: [], fieldBounds: [], fieldConditions: [], residual: conditions };
}

/** The plan of a relation. */
export function planRelation(relation: Relation, wanted: Wanted, planner: Planner): PlannedRelation {
  switch (relation.kind) {
    case "table":
      return planLeaf(relation, wanted.columns, splitFor(relation, wanted.conditions, planner), [], {});
    case "rows":
      return filtered({ node: leafNode(relation), place: (index) => index }, wanted.conditions);
    case "derived":
      return planDerived(relation.node, wanted, planner);
    case "lateral":
      return planLateral(relation, wanted, planner);
    case "asof":
      return planAsof(relation, wanted, planner);
    case "join":
      return planOrdered(relation, wanted, planner) ?? planJoin(relation, wanted, planner);
  }
}

function planDerived(node: PlanNode, { columns, conditions }: Wanted, planner: Planner): PlannedRelation {
  if (!planner.optimise) return filtered({ node, place: (index) => index }, conditions);
  planner.environment.planSize?.add(partsOfPlan(node)); // What follows makes it anew.
  const rows = withConditions(node, conditions, planner.environment);
  return withColumns(rows, columns);
}

type Leaf = Extract<Relation, { kind: "table" }>;

function leafNode({ name, columns, batches, rowsFor }: Extract<Relation, { kind: "rows" }>): PlanNode {
  return { kind: "source", name, columns, batches, rowsFor };
}

/** The scan of a table with the filter that storage leaves. */
export function planLeaf(
  relation: Leaf,
  needed: ReadonlySet<number>,
  split: SplitWhere,
  predicates: readonly string[],
  extra: Partial<PlannedRequest>,
): PlannedRelation {
  const used = new Set(needed);
  for (const expression of split.residual) columnsOf(expression, used);
  const kept = [...used].sort((a, b) => a - b);
  const columns = kept.flatMap((index) => relation.columns[index] ?? []);
  const { timeRange, tagPredicates, fieldBounds, fieldConditions } = split;
  const request: PlannedRequest = {
    projection: columns.map((column) => column.name),
    timeRange: intersect(timeRange, ALL_TIME),
    tagPredicates,
    fieldBounds,
    fieldConditions,
    order: "none",
    ...extra,
  };
  const positions = new Map(kept.map((index, position) => [index, position] as const));
  const node: PlanNode = { kind: "scan", table: relation.table, columns, request, predicates };
  return filtered({ node, place: (index) => positions.get(index) ?? -1 }, split.residual);
}

/** Rows of a planned relation that meet conditions over the relation's columns. */
function filtered(planned: PlannedRelation, conditions: readonly TypedExpression[]): PlannedRelation {
  const predicate = conjunction(conditions.map((condition) => mapColumns(condition, planned.place)));
  if (predicate === undefined) return planned;
  const { node, place } = planned;
  return { node: { kind: "filter", input: node, columns: node.columns, predicate }, place };
}

/** Conditions of a join by where they are tested. Those of `right` count from the right side's first column. */
interface Sorted {
  readonly left: readonly TypedExpression[];
  readonly right: readonly TypedExpression[];
  readonly join: readonly TypedExpression[];
  readonly above: readonly TypedExpression[];
}

function sortConditions(
  join: JoinMode,
  width: number,
  on: readonly TypedExpression[],
  where: readonly TypedExpression[],
  planner: Planner,
): Sorted {
  const sorted = {
    left: [] as TypedExpression[],
    right: [] as TypedExpression[],
    join: [] as TypedExpression[],
    above: [] as TypedExpression[],
  };
  const move = (condition: TypedExpression, left: boolean, right: boolean, otherwise: TypedExpression[]): void => {
    const side = isVolatile(condition) ? "both" : sidesOf(condition, width);
    if (planner.optimise && side === "left" && left) sorted.left.push(condition);
    else if (planner.optimise && side === "right" && right) sorted.right.push(mapColumns(condition, (index) => index - width));
    else otherwise.push(condition);
  };
  for (const condition of on) move(condition, join === "inner" || join === "semi", join !== "full", sorted.join);
  for (const condition of where) {
    if (join === "inner") move(condition, true, true, sorted.join);
    else move(condition, join !== "full", false, sorted.above);
  }
  return sorted;
}

/** A chain of inner joins in a better order than the written one, if there is one. */
function planOrdered(relation: Extract<Relation, { kind: "join" }>, wanted: Wanted, planner: Planner): PlannedRelation | undefined {
  const ordered = planner.optimise && relation.join === "inner" ? connectedJoinOrder(relation, wanted.conditions) : undefined;
  if (ordered === undefined) return undefined;
  const columns = new Set([...wanted.columns].map(ordered.place));
  const { node, place } = planRelation(ordered.relation, { columns, conditions: ordered.conditions }, planner);
  return { node, place: (index) => place(ordered.place(index)) };
}

function planJoin(relation: Extract<Relation, { kind: "join" }>, wanted: Wanted, planner: Planner): PlannedRelation {
  const width = widthOf(relation.left);
  const sorted = sortConditions(relation.join, width, relation.on, wanted.conditions, planner);
  const used = new Set(wanted.columns);
  for (const condition of [...sorted.join, ...sorted.above]) columnsOf(condition, used);
  const ofLeft = side(used, 0, width, sorted.left);
  // The order of a chain of inner joins was looked at where it ends.
  const isChain = relation.join === "inner" && relation.left.kind === "join" && relation.left.join === "inner";
  const left = isChain ? planJoin(relation.left, ofLeft, planner) : planRelation(relation.left, ofLeft, planner);
  const right = planRelation(relation.right, side(used, width, Number.POSITIVE_INFINITY, sorted.right), planner);
  const shift = left.node.columns.length;
  const placeBoth = (index: number): number => (index < width ? left.place(index) : shift + right.place(index - width));
  const { keys, rest } = planner.optimise ? joinKeys(sorted.join, width) : { keys: [], rest: sorted.join };
  const placedKeys = keys.map((key): JoinKey => ({ left: mapColumns(key.left, left.place), right: mapColumns(key.right, right.place) }));
  const residual = conjunction(rest.map((condition) => mapColumns(condition, placeBoth)));
  const isFilter = relation.join === "semi" || relation.join === "anti";
  const columns = isFilter ? left.node.columns : [...left.node.columns, ...right.node.columns];
  const node: PlanNode = { kind: "join", join: relation.join, left: left.node, right: right.node, columns, keys: placedKeys, residual };
  return filtered({ node, place: isFilter ? left.place : placeBoth }, sorted.above);
}

/** What is wanted of the columns `[from, to)`. */
function side(used: ReadonlySet<number>, from: number, to: number, conditions: readonly TypedExpression[]): Wanted {
  const columns = new Set<number>();
  for (const index of used) if (index >= from && index < to) columns.add(index - from);
  return { columns, conditions };
}

/** Conditions on the left side alone sink below; others would change which row is the nearest. */
function planAsof(relation: Extract<Relation, { kind: "asof" }>, wanted: Wanted, planner: Planner): PlannedRelation {
  const width = widthOf(relation.left);
  const sorted = sortConditions("left", width, [], wanted.conditions, planner);
  const used = new Set(wanted.columns);
  for (const condition of sorted.above) columnsOf(condition, used);
  for (const { left, right } of [...relation.keys, relation.order]) {
    columnsOf(left, used);
    for (const index of columnsOf(right, new Set())) used.add(width + index);
  }
  const left = planRelation(relation.left, side(used, 0, width, sorted.left), planner);
  const right = planRelation(relation.right, side(used, width, Number.POSITIVE_INFINITY, []), planner);
  const placed = (key: JoinKey): JoinKey => ({ left: mapColumns(key.left, left.place), right: mapColumns(key.right, right.place) });
  const made = { ...relation, keys: relation.keys.map(placed), order: placed(relation.order) };
  const shift = left.node.columns.length;
  const place = (index: number): number => (index < width ? left.place(index) : shift + right.place(index - width));
  return filtered({ node: asofPlan(made, left.node, right.node), place }, sorted.above);
}

function planLateral(relation: Extract<Relation, { kind: "lateral" }>, wanted: Wanted, planner: Planner): PlannedRelation {
  const width = widthOf(relation.left);
  const sorted = sortConditions(relation.join === "left" ? "left" : "inner", width, relation.on, wanted.conditions, planner);
  const late = [...sorted.join, ...sorted.right.map((condition) => mapColumns(condition, (index) => index + width))];
  const used = new Set(wanted.columns);
  for (const expression of [...late, ...sorted.above, ...relation.parameters.map((parameter) => parameter.expression)])
    columnsOf(expression, used);
  const left = planRelation(relation.left, side(used, 0, width, sorted.left), planner);
  const shift = left.node.columns.length;
  const place = (index: number): number => (index < width ? left.place(index) : shift + index - width);
  const node: PlanNode = {
    kind: "lateral-join",
    join: relation.join,
    input: left.node,
    plan: relation.node,
    columns: [...left.node.columns, ...relation.node.columns],
    parameters: relation.parameters.map((parameter) => ({ ...parameter, expression: mapColumns(parameter.expression, left.place) })),
    condition: conjunction(late.map((condition) => mapColumns(condition, place))),
  };
  return filtered({ node, place }, sorted.above);
}
