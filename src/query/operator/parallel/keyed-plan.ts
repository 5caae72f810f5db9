/**
 * A plan of groups that threads divide by their keys: each runs the same scan, keeps the rows of its share of the keys, and has whole
 * groups.
 *
 *   [top-N | aggregate]? ◄ [filter | project]… ◄ aggregate ◄ [filter | project | overlap]… ◄ scan
 *
 *   share    the same, with   aggregate ◄ key-share ◄ projection to keys and arguments ◄ …   in the middle
 *   above    rows of all shares one after another; of a top-N the first of those; an aggregation of the groups in two steps
 *
 * Since groups are whole, any aggregate will do below: those of distinct values, medians, lists. A thread's table has fewer groups, so more
 * of it is in its cache. What is done twice is reading, and hashes of keys.
 */
import type { ColumnHeader } from "../../../column/batch.ts";
import { columnsOf, mapColumns, type TypedExpression } from "../../expression/expression.ts";
import type { AggregateCall } from "../node-parts/aggregate-call.ts";
import type { GroupKey } from "../aggregate/node.ts";
import { type NodeOf, type PlanNode } from "../contract/node.ts";
import { mayShareBy } from "../key-share/key-share.ts";
import type { ScanNode } from "../scan/node.ts";
import { fragmentOf, isClosed } from "./fragment.ts";
import { type TwoPhases, twoPhases } from "./two-phase.ts";

type Aggregate = NodeOf<"aggregate">;
type UpperStep = NodeOf<"filter" | "project" | "sort" | "aggregate">;

/** First rows that shares keep for a top-N: beyond, their answers are no smaller than the groups. */
const KEEP_MAX = 10_000;

/** See the file header. */
export interface KeyedPlan {
  readonly scan: ScanNode;
  /** Whose groups are divided. */
  readonly groups: Aggregate;
  /** Whether a filter is below the groups. */
  readonly isFiltered: boolean;
  /** Of an aggregation of the groups. */
  readonly phases: TwoPhases | undefined;
  /** What a thread runs, over `scan` or another table with the same rows. */
  shareOf(share: number, shares: number, scan: ScanNode): SharePlan;
}

/** What a thread runs. */
export interface SharePlan {
  readonly top: PlanNode;
  /** From the scan up: what the operators stand for; undefined: they are only in shares. */
  readonly originals: readonly (PlanNode | undefined)[];
  /** Operators from here on see each row in one share only. */
  readonly dividedFrom: number;
}

/** The plan below and with `node`, if it is such a plan. */
export function keyedPlanOf(node: PlanNode): KeyedPlan | undefined {
  const above: UpperStep[] = [];
  let at = node;
  if (at.kind === "sort") {
    if (at.keep === undefined || at.keep > KEEP_MAX || !isClosed(at)) return undefined;
    above.push(at);
    at = at.input;
  }
  let phases: TwoPhases | undefined;
  if (node.kind === "aggregate" && groupsBelow(node.input) !== undefined) {
    phases = isClosed(node) ? twoPhases(node) : undefined;
    if (phases === undefined) return undefined;
    above.push(phases.partial);
    at = node.input;
  }
  for (; at.kind === "filter" || at.kind === "project"; at = at.input) {
    if (!isClosed(at)) return undefined;
    above.push(at);
  }
  if (at.kind !== "aggregate" || !mayBeDivided(at)) return undefined;
  const groups = at;
  const below = fragmentOf(groups.input);
  if (below === undefined || below.scan.request.summaries !== undefined) return undefined;
  if (below.steps.some(({ kind }) => kind === "aggregate" || kind === "sort")) return undefined;
  const { scan, steps } = below;
  above.reverse();
  return {
    scan,
    groups,
    isFiltered: steps.some(({ kind }) => kind === "filter"),
    phases,
    shareOf(share, shares, own) {
      let input: PlanNode = own;
      for (const step of steps) input = { ...step, input };
      const table = groups.table === undefined ? undefined : own.table;
      let top: PlanNode = dividedGroups({ ...groups, table, input }, share, shares);
      for (const step of above) top = { ...step, input: top };
      const originals = [scan, ...steps, undefined, undefined, groups, ...above.map((step) => (step === phases?.partial ? node : step))];
      return { top, originals, dividedFrom: steps.length + 2 };
    },
  };
}

/** The grouping right below, with filters and projections between. */
function groupsBelow(node: PlanNode): Aggregate | undefined {
  let at = node;
  while (at.kind === "filter" || at.kind === "project") at = at.input;
  return at.kind === "aggregate" && at.keys.length > 0 ? at : undefined;
}

function mayBeDivided(node: Aggregate): boolean {
  return node.keys.length > 0 && isClosed(node) && node.keys.every(({ kind, type }) => kind === "row" && mayShareBy(type));
}

/** Some of the groups of an aggregation by keys of rows. */
function dividedGroups(node: Aggregate, share: number, shares: number): Aggregate {
  const columns: ColumnHeader[] = [];
  const expressions: TypedExpression[] = [];
  const placeOf = new Map<number, number>();
  const place = (column: number): number => {
    const known = placeOf.get(column);
    if (known !== undefined) return known;
    const header = node.input.columns[column] ?? { name: "", type: { kind: "null" } as const };
    const made = columns.push(header) - 1;
    expressions.push({ kind: "column", index: column, ...header });
    placeOf.set(column, made);
    return made;
  };
  const keyPlaces: number[] = [];
  const keys = node.keys.map((key, i): GroupKey => {
    if (key.kind !== "row") return key; // `mayBeDivided`: there are none.
    const { expression, type } = key;
    const name = expression.kind === "column" ? expression.name : `key ${i}`;
    let index: number;
    if (expression.kind === "column") index = place(expression.index);
    else {
      index = columns.push({ name, type }) - 1;
      expressions.push(expression);
    }
    keyPlaces.push(index);
    return { kind: "row", type, expression: { kind: "column", type, index, name } };
  });
  const read = new Set<number>();
  for (const call of node.aggregates) for (const each of expressionsOf(call)) columnsOf(each, read);
  for (const column of read) place(column);
  const moved = (each: TypedExpression): TypedExpression => mapColumns(each, place);
  const aggregates = node.aggregates.map(
    (call): AggregateCall => ({
      ...call,
      args: call.args.map(moved),
      orderBy: call.orderBy.map((item) => ({ ...item, expression: moved(item.expression) })),
      filter: call.filter === undefined ? undefined : moved(call.filter),
    }),
  );
  const projection: PlanNode = { kind: "project", input: node.input, columns, expressions };
  const input: PlanNode = { kind: "key-share", input: projection, columns, keys: keyPlaces, share, shares };
  return { ...node, input, keys, aggregates };
}

function expressionsOf({ args, orderBy, filter }: AggregateCall): readonly TypedExpression[] {
  return [...args, ...orderBy.map(({ expression }) => expression), ...(filter === undefined ? [] : [filter])];
}
