/**
 * Rule: inner joins are made in an order in which each relation has an equality with those before it.
 *
 *   SELECT … FROM a, b, c WHERE a.x = c.x AND c.y = b.y        as written: (a × b) ⋈ c; by the rule: (a ⋈ c) ⋈ b
 *
 * Holds for chains of inner joins, since these are associative and commutative; nothing changes where the written order has no product of
 * unrelated relations that another order avoids, or where a condition gives another answer each time. Rows come out in the order of the
 * first relation, as they did.
 */
import { columnsOf, isVolatile, mapColumns, type TypedExpression } from "../expression.ts";
import { type Relation, widthOf } from "../relation.ts";

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

/** Longest chain that is looked at. Reason: each relation is tried with each equality. */
const LEAVES_MAX = 256;

/** The chain in a better order, or undefined when the written one is as good. `where` are conditions over the columns of the chain. */
export function connectedJoinOrder(join: Join, where: readonly TypedExpression[]): ReorderedJoin | undefined {
  const leaves: Leaf[] = [];
  const conditions = [...where];
  collect(join, 0, leaves, conditions);
  if (leaves.length < 3 || leaves.length > LEAVES_MAX || conditions.some(isVolatile)) return undefined;
  const order = connectedOrder(leaves, edgesOf(leaves, conditions));
  if (order.every((leaf, i) => leaf === leaves[i])) return undefined;
  const starts = new Map<Leaf, number>();
  let width = 0;
  for (const leaf of order) {
    starts.set(leaf, width);
    width += leaf.width;
  }
  const place = (index: number): number => {
    const leaf = leaves.findLast(({ start }) => start <= index);
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

/** The two sides of each equality, as the leaves that they read. */
type Edge = readonly [ReadonlySet<Leaf>, ReadonlySet<Leaf>];

function edgesOf(leaves: readonly Leaf[], conditions: readonly TypedExpression[]): readonly Edge[] {
  const read = (expression: TypedExpression): ReadonlySet<Leaf> =>
    new Set([...columnsOf(expression)].flatMap((index) => leaves.findLast(({ start }) => start <= index) ?? []));
  return conditions.flatMap((condition): Edge[] =>
    condition.kind === "compare" && condition.operator === "=" ? [[read(condition.left), read(condition.right)]] : [],
  );
}

/** The written order, except that a relation without an equality to those before it waits until there is no other. */
function connectedOrder(leaves: readonly Leaf[], edges: readonly Edge[]): readonly Leaf[] {
  const order = new Set<Leaf>();
  const waiting = [...leaves];
  for (let next = waiting.shift(); next !== undefined; ) {
    order.add(next);
    const connected = waiting.findIndex((leaf) => edges.some(([a, b]) => connects(a, b, leaf, order) || connects(b, a, leaf, order)));
    [next] = waiting.splice(Math.max(connected, 0), 1);
  }
  return [...order];
}

/** Whether one side of an equality reads the leaf alone, and the other nothing but leaves that are placed. */
function connects(own: ReadonlySet<Leaf>, others: ReadonlySet<Leaf>, leaf: Leaf, placed: ReadonlySet<Leaf>): boolean {
  return own.size === 1 && own.has(leaf) && others.size > 0 && [...others].every((other) => placed.has(other));
}
