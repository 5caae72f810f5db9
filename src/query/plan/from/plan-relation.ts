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
import { ALL_TIME } from "../../../table/scan.ts";
import { columnsOf, conjunction, isVolatile, mapColumns, type TypedExpression } from "../../expression/expression.ts";
import type { JoinKey, JoinMode } from "../../operator/join/node.ts";
import type { PlannedRequest } from "../../operator/scan/node.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import { partsOfPlan } from "../bind/plan-size.ts";
import type { Planner } from "../common/planner.ts";
import { type PlannedRelation, type Relation, type Wanted, widthOf } from "../common/relation.ts";
import { joinKeys, sidesOf } from "../common/join-keys.ts";
import { withColumns, withConditions } from "./push-down.ts";
import { connectedJoinOrder } from "../rules/connected-join-order.ts";
import { SideBySide } from "../common/side-by-side.ts";
import { intersect, type SplitWhere, splitWhere } from "../../operator/scan/split-where.ts";
import type { Steps } from "../bind/steps.ts";

/** The conditions of a WHERE on a table: what storage does, and the rest. */
export function splitFor(relation: Relation, conditions: readonly TypedExpression[], planner: Planner): SplitWhere {
  return relation.kind === "table" && planner.optimise
    ? splitWhere(conditions, relation.table.schema)
    : { timeRange: ALL_TIME, tagPredicates: [], fieldBounds: [], fieldConditions: [], residual: conditions };
}

/** The plan of a relation. */
export function* planRelation(relation: Relation, wanted: Wanted, planner: Planner): Steps<PlannedRelation> {
  switch (relation.kind) {
    case "table":
      return planLeaf(relation, wanted.columns, splitFor(relation, wanted.conditions, planner), [], {});
    case "rows":
      return filtered({ node: leafNode(relation), place: (index) => index }, wanted.conditions);
    case "derived":
      return planDerived(relation.node, wanted, planner);
    case "lateral":
      return yield* planLateral(relation, wanted, planner);
    case "asof":
      return yield* planAsof(relation, wanted, planner);
    case "join":
      return (yield* planOrdered(relation, wanted, planner)) ?? (yield* planJoins(relation, wanted, planner));
  }
}

function planDerived(node: PlanNode, { columns, conditions }: Wanted, planner: Planner): PlannedRelation {
  if (!planner.optimise) return filtered({ node, place: (index) => index }, conditions);
  planner.environment.planSize?.add(partsOfPlan(node)); // What follows makes it anew.
  const rows = withConditions(node, conditions);
  return withColumns(rows, columns);
}

type Leaf = Extract<Relation, { kind: "table" }>;

function leafNode({ name, columns, source }: Extract<Relation, { kind: "rows" }>): PlanNode {
  return { kind: "source", name, columns: columns.map((column) => ({ name: column.name, type: column.type })), source };
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

type Join = Extract<Relation, { kind: "join" }>;

/** A chain of inner joins in a better order than the written one, if there is one. */
function* planOrdered(relation: Join, wanted: Wanted, planner: Planner): Steps<PlannedRelation | undefined> {
  const ordered = planner.optimise && relation.join === "inner" ? yield* connectedJoinOrder(relation, wanted.conditions) : undefined;
  if (ordered === undefined) return undefined;
  yield;
  const columns = new Set([...wanted.columns].map(ordered.place));
  const { node, place } = yield* planRelation(ordered.relation, { columns, conditions: ordered.conditions }, planner);
  return { node, place: (index) => place(ordered.place(index)) };
}

/** A join whose conditions have found their places. */
interface SortedJoin {
  readonly relation: Join;
  /** Columns of the left side. */
  readonly width: number;
  readonly sorted: Sorted;
  /** What of the right side is wanted. */
  readonly ofRight: Wanted;
}

/** A join and those to its left: conditions sink from it to the first, then plans are put together from the first on. */
function* planJoins(relation: Join, wanted: Wanted, planner: Planner): Steps<PlannedRelation> {
  const joins: SortedJoin[] = [];
  let first: Relation = relation;
  let ofFirst = wanted;
  for (let isWithin = true; isWithin && first.kind === "join"; ) {
    const join: Join = first;
    const width = widthOf(join.left);
    const sorted = sortConditions(join.join, width, join.on, ofFirst.conditions, planner);
    const used = new Set(ofFirst.columns);
    for (const condition of [...sorted.join, ...sorted.above]) columnsOf(condition, used);
    joins.push({ relation: join, width, sorted, ofRight: side(used, width, Number.POSITIVE_INFINITY, sorted.right) });
    ofFirst = side(used, 0, width, sorted.left);
    first = join.left;
    // The order of a chain of inner joins is looked at where it ends.
    isWithin = first.kind === "join" && (first.join !== "inner" || join.join === "inner");
    yield;
  }
  let planned = yield* planRelation(first, ofFirst, planner);
  const places = new SideBySide(planned.place);
  for (let join = joins.pop(); join !== undefined; join = joins.pop()) {
    const right = yield* planRelation(join.relation.right, join.ofRight, planner);
    planned = joined(join, planned.node, right, places, planner);
    yield;
  }
  return planned;
}

/** The plan of a join over those of its sides. @param places knows where columns of the left side went, and gets those of the right */
function joined(
  { relation, width, sorted }: SortedJoin,
  left: PlanNode,
  right: PlannedRelation,
  places: SideBySide,
  planner: Planner,
): PlannedRelation {
  const isFilter = relation.join === "semi" || relation.join === "anti";
  const shift = left.columns.length;
  const placeLeft = places.place;
  const placeBoth = (index: number): number => (index < width ? placeLeft(index) : shift + right.place(index - width));
  if (!isFilter) places.add(width, shift, right.place);
  const { keys, rest } = planner.optimise ? joinKeys(sorted.join, width) : { keys: [], rest: sorted.join };
  const placedKeys = keys.map((key): JoinKey => ({ left: mapColumns(key.left, placeLeft), right: mapColumns(key.right, right.place) }));
  const residual = conjunction(rest.map((condition) => mapColumns(condition, placeBoth)));
  const columns = isFilter ? left.columns : [...left.columns, ...right.node.columns];
  const node: PlanNode = { kind: "join", join: relation.join, left, right: right.node, columns, keys: placedKeys, residual };
  return filtered({ node, place: places.place }, sorted.above);
}

/** What is wanted of the columns `[from, to)`. */
function side(used: ReadonlySet<number>, from: number, to: number, conditions: readonly TypedExpression[]): Wanted {
  const columns = new Set<number>();
  for (const index of used) if (index >= from && index < to) columns.add(index - from);
  return { columns, conditions };
}

/** Conditions on the left side alone sink below; others would change which row is the nearest. */
function* planAsof(relation: Extract<Relation, { kind: "asof" }>, wanted: Wanted, planner: Planner): Steps<PlannedRelation> {
  const width = widthOf(relation.left);
  const sorted = sortConditions("left", width, [], wanted.conditions, planner);
  const used = new Set(wanted.columns);
  for (const condition of sorted.above) columnsOf(condition, used);
  for (const { left, right } of [...relation.keys, relation.order]) {
    columnsOf(left, used);
    for (const index of columnsOf(right, new Set())) used.add(width + index);
  }
  const left = yield* planRelation(relation.left, side(used, 0, width, sorted.left), planner);
  const right = yield* planRelation(relation.right, side(used, width, Number.POSITIVE_INFINITY, []), planner);
  const placed = (key: JoinKey): JoinKey => ({ left: mapColumns(key.left, left.place), right: mapColumns(key.right, right.place) });
  const made = { ...relation, keys: relation.keys.map(placed), order: placed(relation.order) };
  const shift = left.node.columns.length;
  const place = (index: number): number => (index < width ? left.place(index) : shift + right.place(index - width));
  return filtered({ node: asofPlan(made, left.node, right.node), place }, sorted.above);
}

function* planLateral(relation: Extract<Relation, { kind: "lateral" }>, wanted: Wanted, planner: Planner): Steps<PlannedRelation> {
  const width = widthOf(relation.left);
  const sorted = sortConditions(relation.join === "left" ? "left" : "inner", width, relation.on, wanted.conditions, planner);
  const late = [...sorted.join, ...sorted.right.map((condition) => mapColumns(condition, (index) => index + width))];
  const used = new Set(wanted.columns);
  for (const expression of [...late, ...sorted.above, ...relation.parameters.map((parameter) => parameter.expression)])
    columnsOf(expression, used);
  const left = yield* planRelation(relation.left, side(used, 0, width, sorted.left), planner);
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
