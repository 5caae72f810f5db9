/**
 * DELETE: rows that the WHERE matches are deleted by their tags and time (contract query.md 1.6).
 *
 * A WHERE of tags and times alone goes to the table as a range. Any other is evaluated over a scan; the keys of its rows are deleted in
 * parts while the scan goes on over its snapshot, so memory is bounded. A statement that fails or is cancelled leaves earlier parts
 * deleted.
 *
 * The condition was evaluated on what the scan saw: rows that were written again since are left out, and looked at by another scan. Where a
 * write replaces the whole row, those that go on being written count as written after the DELETE; where fields merge one by one, what it
 * matched would show through.
 */
import { assert } from "../../../base/assert.ts";
import { DbError, invalidArguments } from "../../../base/error.ts";
import { DELETE_BATCH_ROWS } from "../../../base/limits.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { TimeVector } from "../../../column/vector.ts";
import type { Table } from "../../../table/catalog.ts";
import type { OverwriteWatch } from "../../../table/delete.ts";
import { mergeModeOf, timeIndexOf } from "../../../table/schema.ts";
import type { SeriesView } from "../../../table/series-view.ts";
import { inTurns } from "../../../base/scheduler/pace.ts";
import type { ExecBatch } from "../../operator/contract/exec-context.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import { fragmentBytes, fragmentOf, isClosed } from "../../operator/parallel/fragment.ts";
import type { Environment } from "../../function/signature/environment.ts";
import type { TimeRange } from "../../../table/scan.ts";
import { testsOf } from "../../operator/scan/scan.ts";
import { run } from "../../operator/run.ts";
import { type ExecOptions, execContextOf, travelledPlan } from "../shared/select.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { inputPlan, prunedInput } from "../../plan/select/input-plan.ts";
import { newPlanner } from "../../plan/plan-query.ts";
import { environmentOf } from "../../plan/common/planner.ts";
import { sourceOf } from "../../plan/from/source.ts";
import type { QueryContext } from "../../query-context.ts";
import type { Delete } from "../../sql/syntax/statement-ast.ts";
import type { StatementResult } from "../../statement-result.ts";
import { tableToChange } from "../table/table-to-change.ts";

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
  const input = await inTurns(inputPlan(source, statement.where, planner), exec);
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
  const isMerged = mergeModeOf(table.schema) === "last_non_null";
  if (table.deleteMatching !== undefined) {
    const rowCount = await deleteElsewhere(table, node, environment, input.split.timeRange, context.signal);
    return { kind: "affected", rowCount };
  }
  const plan = travelledPlan(node, context, options);
  let rowCount = 0;
  for (let round = 1; ; round++) {
    const watch = table.watchOverwrites(input.split.timeRange);
    try {
      const keys = new KeyBuffer(table, exec.series.of(table), watch);
      for await (const batch of run(plan, exec)) await keys.add(batch, placed.index);
      await keys.flush();
      rowCount += keys.deleted;
      if (keys.leftOut === 0 || (!isMerged && round >= ROUNDS && !watch.isFull)) return { kind: "affected", rowCount };
      if (round >= ROUNDS_MAX) throw overwritten(table.schema.name, keys.leftOut);
    } finally {
      watch.end();
    }
  }
}

/** Rows that are elsewhere are found where they are. @throws DbError Unsupported for a condition that reads more than the table's rows */
async function deleteElsewhere(
  table: Table,
  node: PlanNode,
  { now, timeZone, database }: Environment,
  timeRange: TimeRange,
  signal: AbortSignal,
): Promise<number> {
  const fragment = fragmentOf(node);
  if (fragment === undefined || !isClosed(fragment.scan)) {
    throw new DbError(
      StatusCode.Unsupported,
      `cannot delete from table ${table.schema.name}: its rows are elsewhere, where the condition cannot be tested; use its columns only`,
    );
  }
  const environment = { now, timeZone, database };
  const tagPredicates = testsOf(fragment.scan.request.tagPredicates, environment);
  return (await table.deleteMatching?.({ plan: fragmentBytes(fragment, true), environment, timeRange, tagPredicates, signal })) ?? 0;
}

/** Scans after which rows that are replaced all the time are left alone. */
const ROUNDS = 3;
/** Scans of one DELETE at most. */
const ROUNDS_MAX = 16;

function overwritten(table: string, rows: number): DbError {
  return new DbError(
    StatusCode.RegionBusy,
    `cannot delete from table ${table}: ${rows} rows that match are being written all the time; the others are deleted; try again`,
    { retryAfterSeconds: 1 },
  );
}

/** Keys of rows until there are enough for a delete. */
class KeyBuffer {
  /** Rows that were deleted, and that were not since they were written again. */
  deleted = 0;
  leftOut = 0;
  private readonly table: Table;
  private readonly numbers: SeriesView;
  private readonly watch: OverwriteWatch;
  private readonly series: Uint32Array = new Uint32Array(DELETE_BATCH_ROWS);
  private readonly offsets: Float64Array = new Float64Array(DELETE_BATCH_ROWS);
  private base = 0n;
  private count = 0;

  constructor(table: Table, numbers: SeriesView, watch: OverwriteWatch) {
    this.table = table;
    this.numbers = numbers;
    this.watch = watch;
  }

  /** Adds the rows of a batch, whose times are its column `timeColumn`. */
  async add({ rowCount, vectors, runs }: ExecBatch, timeColumn: number): Promise<void> {
    const times = vectors[timeColumn];
    assert(times?.kind === "time", `a scan gives times as a time vector; got ${times?.kind}`);
    assert(runs !== undefined, "rows of a scan come with their series");
    if (this.count > 0 && this.base !== times.base) await this.flush();
    this.base = times.base;
    for (let run = 0; run < runs.series.length; run++) {
      const series = runs.series[run] as number;
      for (let row = runs.starts[run] as number; row < Math.min(rowCount, runs.starts[run + 1] as number); row++) {
        if (this.count === DELETE_BATCH_ROWS) await this.flush();
        this.series[this.count] = series;
        this.offsets[this.count++] = times.offsets[row] as number;
      }
    }
  }

  async flush(): Promise<void> {
    if (this.count === 0) return;
    const times: TimeVector = { kind: "time", base: this.base, offsets: this.offsets, validity: undefined };
    const keys = { rowCount: this.count, series: this.series, numbers: this.numbers, times };
    this.count = 0;
    const leftOut = await this.table.deleteRows(keys, this.watch);
    this.deleted += keys.rowCount - leftOut;
    this.leftOut += leftOut;
  }
}
