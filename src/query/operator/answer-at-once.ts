/**
 * The rows of a small query within one turn of the thread: of a scan of few rows that are in memory, and of columns of it. Nothing waits,
 * so there is nothing to cancel, no iterator and no promise; what is not so simple is told by undefined and runs as all plans do.
 */
import type { Batch } from "../../column/batch.ts";
import type { Vector } from "../../column/vector.ts";
import type { TagPredicate } from "../../table/scan.ts";
import type { TypedExpression } from "../expression/expression.ts";
import type { NodeOf, PlanNode } from "./contract/node.ts";
import type { PlannedTagPredicate } from "./scan/node.ts";
import { checkTypes } from "./scan/scan.ts";

/** Whether a plan may be answered so, by what it is made of. */
export function mayAnswerAtOnce(plan: PlanNode): boolean {
  if (plan.kind === "project") return plan.expressions.every(isColumn) && plan.input.kind === "scan" && isPoint(plan.input);
  return plan.kind === "scan" && isPoint(plan);
}

function isColumn({ kind }: TypedExpression): boolean {
  return kind === "column";
}

function isPoint({ table, request }: NodeOf<"scan">): boolean {
  const { tagPredicates, fieldBounds, fieldConditions, summaries, newestPerSeries } = request;
  if (table.scanAtOnce === undefined || fieldBounds.length > 0 || (fieldConditions ?? []).length > 0) return false;
  return summaries === undefined && newestPerSeries !== true && tagPredicates.length > 0 && tagPredicates.every(isList);
}

function isList(predicate: PlannedTagPredicate): predicate is Extract<TagPredicate, { kind: "in" }> {
  return predicate.kind === "in";
}

/** The rows of such a plan; undefined where they are many, or not in memory. @throws DbError RequestOutdated */
export function answerAtOnce(plan: PlanNode): Batch | undefined {
  if (plan.kind === "scan") return rowsOf(plan);
  if (plan.kind !== "project" || plan.input.kind !== "scan") return undefined;
  const batch = rowsOf(plan.input);
  if (batch === undefined) return undefined;
  const vectors: Vector[] = [];
  for (const expression of plan.expressions) {
    const vector = expression.kind === "column" ? batch.vectors[expression.index] : undefined;
    if (vector === undefined) return undefined;
    vectors.push(vector);
  }
  return { rowCount: batch.rowCount, vectors };
}

function rowsOf(node: NodeOf<"scan">): Batch | undefined {
  const { table, request } = node;
  const { tagPredicates } = request;
  if (!tagPredicates.every(isList)) return undefined;
  checkTypes(node);
  return table.scanAtOnce?.({ ...request, tagPredicates });
}
