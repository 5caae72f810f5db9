/**
 * DELETE: rows that the WHERE matches are deleted by their tags and time (contract query.md 1.6).
 *
 * A WHERE of tags and times alone goes to the table as a range. Any other is evaluated over a scan; the keys of its rows are deleted in
 * parts while the scan goes on over its snapshot, so memory is bounded. A statement that fails or is cancelled leaves earlier parts
 * deleted.
 */
import { assert } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import { DELETE_BATCH_ROWS } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { TimeVector } from "../../column/vector.ts";
import type { Table } from "../../table/catalog.ts";
import { mergeModeOf, timeIndexOf } from "../../table/schema.ts";
import type { ExecBatch } from "../exec/exec-context.ts";
import { run } from "../exec/run.ts";
import { type ExecOptions, execContextOf } from "../exec/select.ts";
import type { TypedExpression } from "../plan/expression.ts";
import { inputPlan, prunedInput } from "../plan/input-plan.ts";
import { newPlanner } from "../plan/plan-query.ts";
import { environmentOf } from "../plan/planner.ts";
import { sourceOf } from "../plan/source.ts";
import type { QueryContext } from "../query-context.ts";
import type { Delete } from "../sql/statement-ast.ts";
import type { StatementResult } from "../statement-result.ts";
import { tableToChange } from "./table-to-change.ts";

/** Deletes rows; the count is that of rows that matched. @throws DbError TableNotFound, InvalidArguments, PlanQuery */
export async function deleteFrom(statement: Delete, context: QueryContext, options: ExecOptions): Promise<StatementResult> {
  const { table } = tableToChange(statement.table, context);
  if (mergeModeOf(table.schema) === "append") {
    throw new DbError(StatusCode.InvalidArguments, "Invalid request to region, reason: DELETE is not allowed under append mode");
  }
  const environment = environmentOf(context.clock, context.variables);
  const planner = newPlanner(context, environment, options.forceInterpreter !== true);
  const source = sourceOf({ kind: "table", name: statement.table, alias: undefined, span: statement.span }, planner);
  const input = inputPlan(source, statement.where, planner);
  if (input.split.residual.length === 0) {
    const { timeRange, tagPredicates } = input.split;
    const rowCount = await table.deleteRange({ timeRange, tagPredicates, signal: context.signal });
    return { kind: "affected", rowCount };
  }
  const { name } = timeIndexOf(table.schema);
  const index = table.schema.columns.findIndex((column) => column.name === name);
  const time: TypedExpression = { kind: "column", type: timeIndexOf(table.schema).type, index, name };
  const { node, place } = prunedInput(input, [time], {});
  const placed = place(time);
  assert(placed.kind === "column", "a column stays a column");
  const keys = new KeyBuffer(table);
  let rowCount = 0;
  for await (const batch of run(node, execContextOf(environment, context, options))) {
    await keys.add(batch, placed.index);
    rowCount += batch.rowCount;
  }
  await keys.flush();
  return { kind: "affected", rowCount };
}

/** Keys of rows until there are enough for a delete. */
class KeyBuffer {
  private readonly table: Table;
  private readonly series: Uint32Array = new Uint32Array(DELETE_BATCH_ROWS);
  private readonly offsets: Float64Array = new Float64Array(DELETE_BATCH_ROWS);
  private base = 0n;
  private count = 0;

  constructor(table: Table) {
    this.table = table;
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
    const keys = { rowCount: this.count, series: this.series, times };
    this.count = 0;
    await this.table.deleteRows(keys);
  }
}
