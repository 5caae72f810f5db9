/**
 * A part of a plan that other threads run over parts of its scan: a scan with operators above it, each over the one before.
 *
 *   scan ─► [filter | project | overlap …] ─► [aggregate | sort ─► [newest-first]?]?
 *
 * Not every plan can go: what gives another value each time, or reads the query around it, keeps it here.
 */
import { hasParameter, isVolatile, readsCatalog, type TypedExpression } from "../../expression/expression.ts";
import { type NodeOf, type PlanNode, visitExpressions } from "../contract/node.ts";
import { encodePlan } from "../contract/plan-bytes.ts";
import type { ScanNode } from "../scan/node.ts";

/** Operators that may be above the scan. */
type StepNode = NodeOf<"filter" | "project" | "overlap" | "aggregate" | "sort" | "newest-first">;

const STEPS: ReadonlySet<PlanNode["kind"]> = new Set(["filter", "project", "overlap", "aggregate", "sort", "newest-first"]);

/** See the file header. */
export interface Fragment {
  readonly scan: ScanNode;
  /** From the scan up; each is the input of the next. */
  readonly steps: readonly StepNode[];
}

/** The plan below and with `node`, if it is such a plan. */
export function fragmentOf(node: PlanNode): Fragment | undefined {
  const steps: StepNode[] = [];
  for (let at = node; ; at = at.input) {
    if (at.kind === "scan") return { scan: at, steps: steps.reverse() };
    if (!isStep(at) || !mayBeBelow(at, steps.at(-1)) || !isClosed(at)) return undefined;
    steps.push(at);
  }
}

function isStep(node: PlanNode): node is StepNode {
  return STEPS.has(node.kind);
}

/** Whether an operator may be right below another of a fragment; undefined: below none. */
function mayBeBelow({ kind }: StepNode, above: StepNode | undefined): boolean {
  if (above?.kind === "newest-first") return kind === "sort" && above.buckets === undefined;
  return above === undefined || ["filter", "project", "overlap"].includes(kind);
}

/**
 * Its bytes. Tag predicates stay behind where the snapshot has the series that meet them.
 *
 * @param keepsTags see `SharedScan`
 * @throws DbError Unsupported when it is too large
 */
export function fragmentBytes({ scan, steps }: Fragment, keepsTags = false): Uint8Array<ArrayBuffer> {
  const { request } = scan;
  let plan: PlanNode = { ...scan, request: keepsTags ? request : { ...request, tagPredicates: [] }, predicates: [] };
  for (const step of steps) plan = { ...step, input: plan };
  return encodePlan(plan);
}

/** Whether an operator gives the same values each time, and reads nothing of the query around it and nothing that only this thread has. */
export function isClosed(step: PlanNode): boolean {
  let ok = true;
  visitExpressions(step, (expression) => void (ok &&= isClosedExpression(expression)));
  return ok;
}

/** The same of one expression: those of a scan's conditions on tags are its own, and not among those of operators. */
export function isClosedExpression(expression: TypedExpression): boolean {
  return !hasParameter(expression) && !isVolatile(expression) && !readsCatalog(expression);
}
