/**
 * DELETE: rows that the WHERE matches are deleted by their tags and time (contract query.md 1.6).
 *
 * A WHERE of tags and times alone goes to the table as a range. Any other is evaluated over a scan, where the rows are
 * (`delete-matching.ts`), after its sub-queries where those are not (`settled-input.ts`).
 */
import { assert } from "../../../base/assert.ts";
import { DbError, invalidArguments } from "../../../base/error.ts";
import { mergeModeOf, timeIndexOf } from "../../../table/schema.ts";
import { inTurns } from "../../../base/scheduler/pace.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Table } from "../../../table/catalog.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import { fragmentBytes, fragmentOf, isClosedExpression } from "../../operator/parallel/fragment.ts";
import type { Environment } from "../../function/signature/environment.ts";
import type { TimeRange } from "../../../table/scan.ts";
import { testsOf } from "../../operator/scan/scan.ts";
import { type ExecOptions, execContextOf, travelledPlan } from "../shared/select.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { inputPlan, prunedInput } from "../../plan/select/input-plan.ts";
import { newPlanner } from "../../plan/plan-query.ts";
import { environmentOf } from "../../plan/common/planner.ts";
import { sourceOf } from "../../plan/from/source.ts";
import type { QueryContext } from "../../query-context.ts";
import type { Delete } from "../../sql/syntax/statement-ast.ts";
import type { StatementResult } from "../../statement-result.ts";
import { deleteMatching } from "./delete-matching.ts";
import { tableToChange } from "../table/table-to-change.ts";
import { settledInput } from "./settled-input.ts";

/** Deletes rows; the count is that of rows that matched. @throws DbError TableNotFound, InvalidArguments, PlanQuery */
export async function deleteFrom(statement: Delete, context: QueryContext, options: ExecOptions): Promise<StatementResult> {
  const { table } = tableToChange(statement.table, context);
  if (mergeModeOf(table.schema) === "append") {
    throw invalidArguments("Invalid request to region, reason: DELETE is not allowed under append mode");
  }
  const environment = environmentOf(context.clock, context.variables);
  const exec = execContextOf(environment, context, options);
  const planner = newPlanner(context, environment, options.forceInterpreter !== true, exec.budget.part("plan").reserve);
  const from = { kind: "table", name: statement.table, alias: undefined, span: statement.span } as const;
  const source = await inTurns(sourceOf(from, planner), exec);
  const planned = await inTurns(inputPlan(source, statement.where, planner), exec);
  const isElsewhere = table.deleteMatching !== undefined;
  const travelled = (plan: PlanNode): PlanNode => travelledPlan(plan, context, options);
  const input = isElsewhere ? await settledInput(planned, { exec, travelled }) : planned;
  if (input.split.residual.length === 0) {
    const { timeRange } = input.split;
    const tagPredicates = testsOf(input.split.tagPredicates, environment);
    const rowCount = await table.deleteRange({ timeRange, tagPredicates, signal: context.signal });
    return { kind: "affected", rowCount };
  }
  const { name } = timeIndexOf(table.schema);
  const index = table.schema.columns.findIndex((column) => column.name === name);
  const time: TypedExpression = { kind: "column", type: timeIndexOf(table.schema).type, index, name };
  const { node, place } = await inTurns(prunedInput(input, [time], {}), exec);
  const placed = place(time);
  assert(placed.kind === "column", "a column stays a column");
  if (isElsewhere) {
    const rowCount = await deleteElsewhere(table, node, environment, input.split.timeRange, context.signal);
    return { kind: "affected", rowCount };
  }
  const rows = { table, plan: travelled(node), timeColumn: placed.index, timeRange: input.split.timeRange };
  return { kind: "affected", rowCount: await deleteMatching(rows, exec) };
}

/** Rows that are elsewhere are found where they are. @throws DbError Unsupported for a condition that is not the same everywhere */
async function deleteElsewhere(
  table: Table,
  node: PlanNode,
  { now, timeZone, database }: Environment,
  timeRange: TimeRange,
  signal: AbortSignal,
): Promise<number> {
  const fragment = fragmentOf(node);
  const onTags = fragment?.scan.request.tagPredicates ?? [];
  if (fragment === undefined || !onTags.every((predicate) => predicate.kind === "in" || isClosedExpression(predicate.condition))) {
    throw new DbError(
      StatusCode.Unsupported,
      `cannot delete from table ${table.schema.name}: its rows are elsewhere, where the condition cannot be tested: ` +
        "it calls a function that gives another value each time, or reads the catalogue",
    );
  }
  const environment = { now, timeZone, database };
  const tagPredicates = testsOf(onTags, environment);
  return (await table.deleteMatching?.({ plan: fragmentBytes(fragment, true), environment, timeRange, tagPredicates, signal })) ?? 0;
}
