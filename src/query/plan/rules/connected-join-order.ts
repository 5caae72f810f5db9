/**
 * Rule: inner joins are made in an order in which each relation has an equality with those before it.
 *
 *   SELECT … FROM a, b, c WHERE a.x = c.x AND c.y = b.y        as written: (a × b) ⋈ c; by the rule: (a ⋈ c) ⋈ b
 *
 * Holds for chains of inner joins, since these are associative and commutative; nothing changes where the written order has no product of
 * unrelated relations that another order avoids, or where a condition gives another answer each time. Rows come out in the order of the
 * first relation, as they did.
 */
import { columnsOf, isVolatile, mapColumns, type TypedExpression } from "../../expression/expression.ts";
import { type Relation, widthOf } from "../common/relation.ts";
import { lastNotAbove } from "../common/side-by-side.ts";
import type { Steps } from "../bind/steps.ts";

type Join = Extract<Relation, { kind: "join" }>;

/** A chain in another order. */
export interface ReorderedJoin {
  readonly relation: Relation;
  /** All conditions of the chain, over the columns of `relation`. */
  readonly conditions: readonly TypedExpression[];
  /** Where a column of the chain as written is in `relation`. */
  readonly place: (index: number) => number;
}

/** A relation of the chain and its first column in the chain as written. */
interface Leaf {
  readonly relation: Relation;
  readonly start: number;
  readonly width: number;
}

/** Longest chain that is looked at. Reason: each time, all that wait are looked through. */
const LEAVES_MAX = 256;

/** The chain in a better order, or undefined when the written one is as good. `where` are conditions over the columns of the chain. */
export function* connectedJoinOrder(join: Join, where: readonly TypedExpression[]): Steps<ReorderedJoin | undefined> {
  const leaves: Leaf[] = [];
  const conditions = [...where];
  collect(join, 0, leaves, conditions);
  yield;
  if (leaves.length < 3 || leaves.length > LEAVES_MAX || conditions.some(isVolatile)) return undefined;
  const order = connectedOrder(leaves, yield* linksOf(leaves, conditions));
  if (order.every((leaf, i) => leaf === leaves[i])) return undefined;
  const written = leaves.map(({ start }) => start);
  const starts = new Map<Leaf, number>();
  let width = 0;
  for (const leaf of order) {
    starts.set(leaf, width);
    width += leaf.width;
  }
  const place = (index: number): number => {
    const leaf = leaves[lastNotAbove(written, index)];
    return leaf === undefined ? -1 : index - leaf.start + (starts.get(leaf) ?? 0);
  };
  const relation = order
    .map((leaf) => leaf.relation)
    .reduce((left, right): Relation => ({ kind: "join", join: "inner", left, right, on: [] }));
  return { relation, conditions: conditions.map((condition) => mapColumns(condition, place)), place };
}

/** Takes a chain of inner joins apart. */
function collect(relation: Relation, start: number, leaves: Leaf[], conditions: TypedExpression[]): void {
  if (relation.kind !== "join" || relation.join !== "inner") {
    leaves.push({ relation, start, width: widthOf(relation) });
    return;
  }
  collect(relation.left, start, leaves, conditions);
  collect(relation.right, start + widthOf(relation.left), leaves, conditions);
  for (const condition of relation.on) conditions.push(mapColumns(condition, (index) => index + start));
}

/** An equality as it connects one relation, which one side of it reads alone, to those that the other side reads. */
interface Link {
  readonly leaf: number;
  readonly others: ReadonlySet<number>;
}

/** Each equality from both of its sides; relations by their number in the written order. */
function* linksOf(leaves: readonly Leaf[], conditions: readonly TypedExpression[]): Steps<readonly Link[]> {
  const starts = leaves.map(({ start }) => start);
  const read = (expression: TypedExpression): ReadonlySet<number> =>
    new Set([...columnsOf(expression)].map((index) => lastNotAbove(starts, index)));
  const link = (own: ReadonlySet<number>, others: ReadonlySet<number>): Link[] => {
    const [leaf, second] = own;
    return leaf === undefined || second !== undefined || others.size === 0 || others.has(leaf) ? [] : [{ leaf, others }];
  };
  const links: Link[] = [];
  for (const [i, condition] of conditions.entries()) {
    if (i % CONDITIONS_AT_ONCE === CONDITIONS_AT_ONCE - 1) yield;
    if (condition.kind !== "compare" || condition.operator !== "=") continue;
    const [left, right] = [read(condition.left), read(condition.right)];
    links.push(...link(left, right), ...link(right, left));
  }
  return links;
}

/** Conditions between two turns of others: each takes about two microseconds. */
const CONDITIONS_AT_ONCE = 1024;

/**
 * The written order, except that a relation without an equality to those before it waits until there is no other. Each link counts the
 * relations that it still waits for, so that placing all takes a look at each link and not one at each relation, each time.
 */
function connectedOrder(leaves: readonly Leaf[], links: readonly Link[]): readonly Leaf[] {
  const waitsFor = links.map(({ others }) => others.size);
  const linksTo: number[][] = leaves.map(() => []);
  for (const [i, { others }] of links.entries()) for (const other of others) linksTo[other]?.push(i);
  const isConnected = leaves.map(() => false);
  const waiting = leaves.map((_, i) => i);
  const order: Leaf[] = [];
  for (let next = waiting.shift(); next !== undefined; ) {
    const leaf = leaves[next];
    if (leaf !== undefined) order.push(leaf);
    for (const i of linksTo[next] ?? []) {
      const left = (waitsFor[i] ?? 0) - 1;
      waitsFor[i] = left;
      const link = links[i];
      if (left === 0 && link !== undefined) isConnected[link.leaf] = true;
    }
    const connected = waiting.findIndex((other) => isConnected[other] === true);
    [next] = waiting.splice(Math.max(connected, 0), 1);
  }
  return order;
}
