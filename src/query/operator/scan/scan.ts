/** Reads a table. */
import { DbError } from "../../../base/error.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { sameType } from "../../../column/data-type.ts";
import { newScanMetrics, type ScanRequest, type TagPredicate } from "../../../table/scan.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { evaluate } from "../../expression/interpreter.ts";
import type { Environment } from "../../function/signature/environment.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { PlannedTagPredicate, ScanNode } from "./node.ts";

/** What a scan is asked beyond its plan. */
type Tests = Pick<ScanRequest, "rowTests" | "unread">;

/**
 * The rows of a scan, without those that do not pass its tests where storage makes them.
 *
 * @throws DbError RequestOutdated when a type has changed since it was planned
 */
export async function* scan(node: ScanNode, context: ExecContext, tests: Tests = {}): AsyncIterable<ExecBatch> {
  const { start, end } = node.request.timeRange;
  if (start >= end) return;
  const metrics = context.metrics?.get(node);
  if (metrics !== undefined) metrics.scan ??= newScanMetrics();
  checkTypes(node); // From here to the scan's first batch nothing waits.
  for await (const batch of node.table.scan({ ...requestOf(node, context), ...tests }, metrics?.scan)) {
    checkCancelled(context);
    yield batch;
    await context.pace.turn();
  }
}

/** What the table is asked: the plan's request with what the run adds. */
export function requestOf({ request, table }: ScanNode, context: ExecContext): ScanRequest {
  const tagPredicates = testsOf(request.tagPredicates, context.environment);
  return { ...request, tagPredicates, signal: context.signal, numbers: context.series.of(table) };
}

/** Conditions on tags as tests. */
export function testsOf(predicates: readonly PlannedTagPredicate[], environment: Environment): readonly TagPredicate[] {
  return predicates.map((predicate): TagPredicate => {
    if (predicate.kind === "in") return predicate;
    const { column, condition } = predicate;
    const planned = new PlannedTest(condition, environment);
    return { kind: "test", column, test: (value) => evaluate(condition, () => value, environment) === true, planned };
  });
}

/** A test of a tag as the plan has it, with what its query is evaluated by: for whoever makes the test elsewhere. */
export class PlannedTest {
  readonly condition: TypedExpression;
  readonly environment: Environment;

  constructor(condition: TypedExpression, environment: Environment) {
    this.condition = condition;
    this.environment = environment;
  }
}

/** The types that the plan was made for still hold. @throws DbError RequestOutdated */
export function checkTypes({ table, request, columns }: ScanNode): void {
  for (const [i, name] of request.projection.entries()) {
    const planned = columns[i]?.type;
    const now = table.schema.columns.find((column) => column.name === name);
    if (planned === undefined || now === undefined || now.semantic !== "field" || sameType(planned, now.type)) continue;
    throw new DbError(
      StatusCode.RequestOutdated,
      `cannot read table ${table.schema.name}: the type of column ${name} changed while the statement began; run it again`,
    );
  }
}
