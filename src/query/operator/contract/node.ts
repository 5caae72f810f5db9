/**
 * Plans: a tree of operators, each a stream of batches with the columns it names. Expressions read columns of the operator's input. Plans
 * are data: functions, tables and sources of rows are those that have a name. Each kind of operator lies in its folder.
 */
import type { TimeRange } from "../../../table/scan.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { type Changes, kindsOf, once, type Shape } from "../../plan-format/shape.ts";
import { AGGREGATE, type AggregateNode, GROUPING_SETS, type GroupingSetsNode } from "../aggregate/node.ts";
import { APPLY, type ApplyNode, LATERAL_JOIN, type LateralJoinNode, type SubQuery } from "../apply/node.ts";
import { FIRST_OF_EACH, type FirstOfEachNode } from "../distinct/node.ts";
import { FILL_SLOTS, type FillSlotsNode } from "../fill/node.ts";
import { FILTER, type FilterNode } from "../filter/node.ts";
import { ASOF, type AsofNode, JOIN, type JoinNode } from "../join/node.ts";
import { KEY_SHARE, type KeyShareNode } from "../key-share/node.ts";
import { LIMIT, type LimitNode } from "../limit/node.ts";
import { NEWEST_FIRST, type NewestFirstNode } from "../newest-first/node.ts";
import type { AnyNode, NodeKind } from "../node-parts/node-kind.ts";
import { OVERLAP, type OverlapNode } from "../overlap/node.ts";
import { PROJECT, type ProjectNode } from "../project/node.ts";
import { RECURSIVE, type RecursiveNode } from "../recursive/node.ts";
import { SCAN, type ScanNode } from "../scan/node.ts";
import { SET_FILTER, type SetFilterNode } from "../set/node.ts";
import { SORT, type SortNode } from "../sort/node.ts";
import { SOURCE, type SourceNode } from "../source/node.ts";
import { IF_EMPTY, type IfEmptyNode, UNION, type UnionNode } from "../union/node.ts";
import { UNNEST, type UnnestNode } from "../unnest/node.ts";
import { WINDOW, type WindowNode } from "../window/node.ts";

/** An operator. */
export type PlanNode =
  | ScanNode
  | SourceNode
  | RecursiveNode<PlanNode>
  | FilterNode<PlanNode>
  | KeyShareNode<PlanNode>
  | ProjectNode<PlanNode>
  | OverlapNode<PlanNode>
  | FillSlotsNode<PlanNode>
  | AggregateNode<PlanNode>
  | GroupingSetsNode<PlanNode>
  | SortNode<PlanNode>
  | LimitNode<PlanNode>
  | JoinNode<PlanNode>
  | AsofNode<PlanNode>
  | LateralJoinNode<PlanNode>
  | ApplyNode<PlanNode>
  | WindowNode<PlanNode>
  | UnnestNode<PlanNode>
  | IfEmptyNode<PlanNode>
  | FirstOfEachNode<PlanNode>
  | UnionNode<PlanNode>
  | SetFilterNode<PlanNode>
  | NewestFirstNode<PlanNode>;

/** An operator of one kind. */
export type NodeOf<K extends PlanNode["kind"]> = Extract<PlanNode, { kind: K }>;

/** A sub-query of a plan. */
export type SubQueryCall = SubQuery<PlanNode>;

/** What each kind tells of itself. */
const KINDS: { readonly [K in PlanNode["kind"]]: NodeKind<NodeOf<K>> } = {
  scan: SCAN,
  source: SOURCE,
  recursive: RECURSIVE,
  filter: FILTER,
  "key-share": KEY_SHARE,
  project: PROJECT,
  overlap: OVERLAP,
  "fill-slots": FILL_SLOTS,
  aggregate: AGGREGATE,
  "grouping-sets": GROUPING_SETS,
  sort: SORT,
  limit: LIMIT,
  join: JOIN,
  asof: ASOF,
  "lateral-join": LATERAL_JOIN,
  apply: APPLY,
  window: WINDOW,
  unnest: UNNEST,
  "if-empty": IF_EMPTY,
  "first-of-each": FIRST_OF_EACH,
  union: UNION,
  "set-filter": SET_FILTER,
  "newest-first": NEWEST_FIRST,
};

const KIND_OF: ReadonlyMap<string, NodeKind<PlanNode>> = new Map<string, NodeKind<PlanNode>>(Object.entries(KINDS));

function kindOf({ kind }: AnyNode): NodeKind<PlanNode> {
  const found = KIND_OF.get(kind);
  if (found === undefined) throw new Error(`a kind of operator; got ${kind}`);
  return found;
}

const shapeOf = (kind: string): Shape<AnyNode> | undefined => KIND_OF.get(kind)?.shape;

const kinds = kindsOf<AnyNode>(shapeOf);

/** Operators as they are written and read: one that is read in several places is one. */
export const planNode: Shape<PlanNode> = once(() => checked as Shape<PlanNode>); // Of each kind there is a shape.

const checked: Shape<AnyNode> = {
  write: kinds.write,
  read(from) {
    const node = kinds.read(from);
    const why = kindOf(node).wrong(node as PlanNode); // It was read by its shape.
    return why === undefined ? node : from.fail(`${node.kind}: ${why}`);
  },
};

/** The operators right below one, sub-queries last. */
export function inputsOf(node: PlanNode): readonly PlanNode[] {
  return kindOf(node).inputs(node) as readonly PlanNode[]; // Operators hold operators.
}

/** Shows each expression of an operator, but not those of the operators below it. */
export function visitExpressions(node: PlanNode, visit: (expression: TypedExpression) => void): void {
  kindOf(node).shape.visit?.(node, (each) => visit(each as TypedExpression)); // They hold such.
}

/** The same plan over other inputs, given in the order of `inputsOf`, with each of its expressions changed. */
export function rebuilt(
  node: PlanNode,
  input: (node: PlanNode) => PlanNode,
  change: (expression: TypedExpression) => TypedExpression,
): PlanNode {
  const changes = { plan: input, expression: change } as Changes; // Operators hold operators and expressions.
  return (kindOf(node).shape.map?.(node, changes) ?? node) as PlanNode;
}

/** An operator as one line of EXPLAIN: as it runs, or what it means. */
export function explainLine(node: PlanNode, what: "runs" | "means"): string {
  const kind = kindOf(node);
  if (what === "runs") return kind.explain(node);
  return kind.means?.(node) ?? kind.explain(node).replace("Exec", "");
}

/** The same plan whose scan reads another time range: of plans that read one table. */
export function withTimeRange(node: PlanNode, timeRange: TimeRange): PlanNode {
  if (node.kind === "scan") return { ...node, request: { ...node.request, timeRange } };
  return "input" in node ? { ...node, input: withTimeRange(node.input, timeRange) } : node;
}
