/**
 * Conditions and columns of a planned query that is read by another one: conditions sink to its scans, and columns that nobody reads go.
 *
 * | operator            | conditions that pass                                    |
 * |---------------------|---------------------------------------------------------|
 * | project             | over expressions that give the same value twice         |
 * | filter              | that cannot fail: it may keep rows away from others     |
 * | sort                | all                                                     |
 * | aggregate           | over keys alone; those of a series go to its scan       |
 * | join                | over one side, unless that side may be NULL for no rows |
 * | union, set-filter   | all                                                     |
 * | apply               | over what the sub-queries are run for                   |
 * | anything with a LIMIT, DISTINCT ON, lateral joins | none                      |
 */
import {
  columnsOf,
  conjunction,
  inlined,
  isVolatile,
  mapColumns,
  operandsOf,
  partsOf,
  type TypedExpression,
} from "../../expression/expression.ts";
import type { GroupKey } from "../../operator/aggregate/node.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import { pushedIntoScan } from "../../operator/scan/push-filter.ts";
import { intersect, splitWhere } from "../../operator/scan/split-where.ts";

type NodeOf<K extends PlanNode["kind"]> = Extract<PlanNode, { kind: K }>;

/** The rows of a plan that meet conditions over its columns. */
export function withConditions(node: PlanNode, conditions: readonly TypedExpression[]): PlanNode {
  if (conditions.length === 0) return node;
  switch (node.kind) {
    case "project":
      return ofProject(node, conditions);
    case "filter": {
      // One that may fail must not meet rows that this filter keeps away from it.
      const { input } = node;
      const [below, rest] = parted(conditions, (condition) => !mayFail(condition) || isLookup(condition, input));
      return above({ ...node, input: withConditions(node.input, below) }, rest);
    }
    case "sort":
      return node.keep === undefined ? { ...node, input: withConditions(node.input, conditions) } : above(node, conditions);
    case "scan":
      return isWhole(node) ? pushedIntoScan(above(node, conditions)) : above(node, conditions);
    case "aggregate":
      return ofAggregate(node, conditions);
    case "join":
      return ofJoin(node, conditions);
    case "union":
      return { ...node, inputs: node.inputs.map((input) => withConditions(input, conditions)) };
    case "set-filter":
      return { ...node, left: withConditions(node.left, conditions) };
    case "apply": {
      const width = node.input.columns.length;
      const [below, rest] = parted(conditions, (condition) => reads(condition, 0, width));
      return above({ ...node, input: withConditions(node.input, below) }, rest);
    }
    default:
      return above(node, conditions);
  }
}

/** A filter right above a plan. */
function above(node: PlanNode, conditions: readonly TypedExpression[]): PlanNode {
  const predicate = conjunction(conditions);
  return predicate === undefined ? node : { kind: "filter", input: node, columns: node.columns, predicate };
}

/** Whether a row may make an expression fail: a cast of a text, an overflow, a function that refuses its argument. */
function mayFail(expression: TypedExpression): boolean {
  const { kind } = expression;
  if (kind === "arithmetic" || kind === "call") return true;
  if (kind === "cast" && !expression.safe && !isCounted(expression.type.kind)) return true;
  return operandsOf(expression).some(mayFail);
}

/** Whether a scan does the whole of a condition by a range of times and lists of tags, without computing anything. */
function isLookup(condition: TypedExpression, node: PlanNode): boolean {
  if (node.kind !== "scan" || !isWhole(node)) return false;
  const scan = pushedIntoScan({ kind: "filter", input: node, columns: node.columns, predicate: condition });
  return scan.kind === "scan" && scan.request.tagPredicates.every((predicate) => predicate.kind !== "test");
}

/** Kinds of type that a tag's text or another unit of time is cast to where a column stands for it. */
function isCounted(kind: TypedExpression["type"]["kind"]): boolean {
  return kind === "timestamp" || kind === "duration" || kind === "string";
}

function parted(
  conditions: readonly TypedExpression[],
  passes: (condition: TypedExpression) => boolean,
): readonly [readonly TypedExpression[], readonly TypedExpression[]] {
  const sinking: TypedExpression[] = [];
  const rest: TypedExpression[] = [];
  for (const condition of conditions) (!isVolatile(condition) && passes(condition) ? sinking : rest).push(condition);
  return [sinking, rest];
}

/** Whether an expression reads columns of `[from, to)` alone, and at least one. */
function reads(expression: TypedExpression, from: number, to: number): boolean {
  const columns = [...columnsOf(expression)];
  return columns.length > 0 && columns.every((index) => index >= from && index < to);
}

/** Whether every row of the scan's series and time range comes out: then it may as well read fewer. */
function isWhole({ request }: NodeOf<"scan">): boolean {
  return request.limit === undefined && request.newestPerSeries !== true && request.summaries === undefined;
}

function ofProject(node: NodeOf<"project">, conditions: readonly TypedExpression[]): PlanNode {
  const steady = (index: number): boolean => {
    const expression = node.expressions[index];
    return expression !== undefined && !isVolatile(expression);
  };
  const [below, rest] = parted(
    conditions,
    (condition) => [...columnsOf(condition)].every(steady) && staysSmall(condition, node.expressions),
  );
  const inner = below.map((condition) => inlined(condition, node.expressions));
  return above({ ...node, input: withConditions(node.input, inner) }, rest);
}

function ofAggregate(node: NodeOf<"aggregate">, conditions: readonly TypedExpression[]): PlanNode {
  let made: PlanNode = node;
  const rest: TypedExpression[] = [];
  const inner: TypedExpression[] = [];
  for (const condition of conditions) {
    const keys = [...columnsOf(condition)].map((index) => node.keys[index]);
    if (isVolatile(condition) || keys.length === 0 || !staysSmall(condition, expressionsOf(node.keys))) rest.push(condition);
    else if (keys.every((key) => key?.kind === "row") && givesRows(node.input)) {
      inner.push(
        inlined(
          condition,
          node.keys.map((key) => (key.kind === "row" ? key.expression : NEVER)),
        ),
      );
    } else {
      const scanned: PlanNode | undefined = keys.every((key) => key?.kind === "series") ? ofSeriesKeys(made, condition) : undefined;
      if (scanned === undefined) rest.push(condition);
      else made = scanned;
    }
  }
  if (made.kind !== "aggregate") return above(made, rest);
  return above({ ...made, input: withConditions(made.input, inner) }, rest);
}

/**
 * Most parts of a condition that has grown by what its columns stand for. Reason: each column may stand for one that reads the column
 * below twice, so that a condition would double at each projection that it sinks through.
 */
const INLINED_PARTS_MAX = 256;

/** Whether a condition may be put over the input of a projection: it does not grow, or not beyond some parts. */
function staysSmall(condition: TypedExpression, expressions: readonly TypedExpression[]): boolean {
  if ([...columnsOf(condition)].every((index) => operandsOf(expressions[index] ?? NEVER).length === 0)) return true;
  return partsOf(inlined(condition, expressions), INLINED_PARTS_MAX) < INLINED_PARTS_MAX;
}

/** Stands where no condition looks. */
const NEVER: TypedExpression = { kind: "literal", type: { kind: "null" }, value: undefined };

/** A condition over keys that tags decide, done by the scan; undefined when that cannot do the whole of it. */
function ofSeriesKeys(node: PlanNode, condition: TypedExpression): PlanNode | undefined {
  if (node.kind !== "aggregate" || node.table === undefined) return undefined;
  const overSchema = inlined(
    condition,
    node.keys.map((key) => (key.kind === "series" ? key.expression : NEVER)),
  );
  const split = splitWhere([overSchema], node.table.schema);
  if (split.residual.length > 0) return undefined;
  const input = ofScan(node.input, (scan) => {
    const { request } = scan;
    const tagPredicates = [...request.tagPredicates, ...split.tagPredicates];
    return { ...scan, request: { ...request, timeRange: intersect(request.timeRange, split.timeRange), tagPredicates } };
  });
  return input === undefined ? undefined : { ...node, input };
}

/** Changes the scan below filters; undefined when there is none. */
function ofScan(node: PlanNode, change: (scan: NodeOf<"scan">) => PlanNode): PlanNode | undefined {
  if (node.kind === "scan") return change(node);
  const input = node.kind === "filter" ? ofScan(node.input, change) : undefined;
  return node.kind === "filter" && input !== undefined ? { ...node, input } : undefined;
}

const expressionsOf = (keys: readonly GroupKey[]): readonly TypedExpression[] =>
  keys.map((key) => (key.kind === "bucket" ? NEVER : key.expression));

/** Whether a plan gives every row as a row: scans of statistics or of newest rows do not, and a filter above them would see others. */
function givesRows(node: PlanNode): boolean {
  if (node.kind === "filter") return givesRows(node.input);
  return node.kind !== "scan" || isWhole(node);
}

function ofJoin(node: NodeOf<"join">, conditions: readonly TypedExpression[]): PlanNode {
  const width = node.left.columns.length;
  const [left, others] = parted(conditions, (condition) => node.join !== "full" && !mayFail(condition) && reads(condition, 0, width));
  const [right, rest] = parted(
    others,
    (condition) => node.join === "inner" && !mayFail(condition) && reads(condition, width, Number.POSITIVE_INFINITY),
  );
  const moved = right.map((condition) => mapColumns(condition, (index) => index - width));
  return above({ ...node, left: withConditions(node.left, left), right: withConditions(node.right, moved) }, rest);
}

/** A plan with fewer columns, and where the others went. */
export interface Pruned {
  readonly node: PlanNode;
  /** Position of a column that was asked for. */
  readonly place: (index: number) => number;
}

const AS_IT_IS = (node: PlanNode): Pruned => ({ node, place: (index) => index });

/** The same rows without the columns that nobody needs, as far as operators let go of them. */
export function withColumns(node: PlanNode, needed: ReadonlySet<number>): Pruned {
  if (needed.size === node.columns.length && node.kind !== "project") return AS_IT_IS(node);
  switch (node.kind) {
    case "scan":
      return isWhole(node) ? ofScanColumns(node, needed) : AS_IT_IS(node);
    case "project":
      return ofProjectColumns(node, needed);
    case "filter": {
      const { node: input, place } = withColumns(node.input, union(needed, [node.predicate]));
      return { node: { ...node, input, columns: input.columns, predicate: mapColumns(node.predicate, place) }, place };
    }
    case "limit": {
      const { node: input, place } = withColumns(node.input, needed);
      return { node: { ...node, input, columns: input.columns }, place };
    }
    case "sort": {
      const { node: input, place } = withColumns(
        node.input,
        union(
          needed,
          node.items.map((item) => item.expression),
        ),
      );
      const items = node.items.map((item) => ({ ...item, expression: mapColumns(item.expression, place) }));
      return { node: { ...node, input, columns: input.columns, items }, place };
    }
    default:
      return AS_IT_IS(node);
  }
}

function union(needed: ReadonlySet<number>, expressions: readonly TypedExpression[]): ReadonlySet<number> {
  const all = new Set(needed);
  for (const expression of expressions) columnsOf(expression, all);
  return all;
}

function placesOf(kept: readonly number[]): (index: number) => number {
  const positions = new Map(kept.map((index, position) => [index, position] as const));
  return (index) => positions.get(index) ?? -1;
}

function ofScanColumns(node: NodeOf<"scan">, needed: ReadonlySet<number>): Pruned {
  const kept = [...needed].sort((a, b) => a - b);
  const columns = kept.flatMap((index) => node.columns[index] ?? []);
  const request = { ...node.request, projection: columns.map(({ name }) => name) };
  return { node: { ...node, columns, request }, place: placesOf(kept) };
}

function ofProjectColumns(node: NodeOf<"project">, needed: ReadonlySet<number>): Pruned {
  const kept = [...needed].sort((a, b) => a - b);
  const expressions = kept.flatMap((index) => node.expressions[index] ?? []);
  const { node: input, place } = withColumns(node.input, union(new Set(), expressions));
  const columns = kept.flatMap((index) => node.columns[index] ?? []);
  const placed = expressions.map((expression) => mapColumns(expression, place));
  return { node: { ...node, input, columns, expressions: placed }, place: placesOf(kept) };
}
