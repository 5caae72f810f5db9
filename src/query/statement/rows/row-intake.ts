/** Rows of a client into a table: `INSERT … SELECT` whose rows are sent (`table/rows/row-intake.ts`). */
import { ownRowsWritten } from "./own-rows-written.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { RowIntake } from "../../../table/rows/row-intake.ts";
import type { ExecContext } from "../../operator/contract/exec-context.ts";
import { environmentOf } from "../../plan/common/planner.ts";
import type { QueryContext } from "../../query-context.ts";
import type { ObjectName } from "../../sql/syntax/ast.ts";
import { type ExecOptions, execContextOf } from "../shared/select.ts";
import { targetTable } from "../table/table-to-change.ts";
import { ColumnBatchBuilder } from "./column-batch.ts";
import type { Target } from "./complete-row.ts";
import { namedColumns } from "./insert.ts";
import { QueryColumns } from "./query-columns.ts";

/** Rows of one write, and bytes. Reason: they wait in memory. */
const PART_ROWS = 65_536;
const PART_BYTES: number = 16 * 1024 * 1024;

/** Opens a table. @param columns that rows have; undefined: all @throws DbError TableNotFound, TableColumnNotFound, InvalidArguments */
export function openRowIntake(
  name: ObjectName,
  columns: readonly string[] | undefined,
  context: QueryContext,
  options: ExecOptions,
): RowIntake {
  const { database, table } = targetTable(name, context);
  const environment = environmentOf(context.clock, context.variables);
  const target: Target = { schema: table.schema, named: namedColumns(columns, table.schema), environment };
  return new Intake(target, database, context, execContextOf(environment, context, options));
}

class Intake implements RowIntake {
  readonly columns: RowIntake["columns"];
  writtenRows = 0;
  private readonly target: Target;
  private readonly database: string;
  private readonly context: QueryContext;
  private readonly exec: ExecContext;
  private readonly budget: MemoryBudget;
  private builder: ColumnBatchBuilder;
  private types: readonly DataType[] = [];
  private given: QueryColumns;

  constructor(target: Target, database: string, context: QueryContext, exec: ExecContext) {
    this.target = target;
    this.database = database;
    this.context = context;
    this.exec = exec;
    this.columns = target.named.map(({ name, type, semantic }) => ({ name, type, isTag: semantic === "tag" }));
    this.budget = exec.budget.part("rows of COPY");
    this.builder = new ColumnBatchBuilder(target.schema);
    this.given = new QueryColumns([], target, exec);
  }

  async add(vectors: readonly Vector[], types: readonly DataType[], rowCount: number): Promise<void> {
    if (types !== this.types) {
      this.types = types;
      const headers = types.map((type, i) => ({ name: this.columns[i]?.name ?? "", type }));
      this.given = new QueryColumns(headers, this.target, this.exec);
    }
    const { builder, budget, exec } = this;
    builder.add(await this.given.of(vectors, rowCount), rowCount);
    if (builder.bytes > budget.used) budget.reserve(builder.bytes - budget.used);
    checkCancelled(exec);
    if (exec.pace.isDue()) await exec.pace.turn();
    if (builder.rowCount >= PART_ROWS || builder.bytes >= PART_BYTES) await this.write();
  }

  async finish(): Promise<number> {
    await this.write();
    return this.writtenRows;
  }

  async close(): Promise<void> {
    this.budget.close();
  }

  private async write(): Promise<void> {
    const { builder, context, target } = this;
    if (builder.rowCount === 0) return;
    // Rows of an "instant" table expire as they arrive, so they are checked and not written.
    if (target.schema.options["ttl"] !== "instant") {
      await context.admit?.(context.signal);
      await ownRowsWritten(context, this.database, builder.batch());
    }
    this.writtenRows += builder.rowCount;
    this.builder = new ColumnBatchBuilder(target.schema);
    this.budget.release(this.budget.used);
  }
}
