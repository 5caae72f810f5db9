/**
 * INSERT: rows of VALUES or of a query become a `WriteBatch`, column by column. Columns that are left out take their default, else NULL.
 * Rows of a query are written in parts of `PART_ROWS`, each durable before the next is read.
 */
import { ownRowsWritten } from "./own-rows-written.ts";
import { invalidArguments } from "../../../base/error.ts";
import { displayName, STRING } from "../../../column/data-type.ts";
import type { ColumnSchema, TableSchema } from "../../../table/schema.ts";
import { columnNamed } from "../../../table/not-found.ts";
import type { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import { execContextOf, type ExecOptions, prepareSelect } from "../shared/select.ts";
import { answer } from "../../operator/answer.ts";
import { pieces } from "../../operator/rows/pieces.ts";
import { canCast } from "../../../value/cast.ts";
import { environmentOf } from "../../plan/common/planner.ts";
import { planError } from "../../plan/bind/plan-error.ts";
import type { QueryContext } from "../../query-context.ts";
import type { Expression, Query } from "../../sql/syntax/ast.ts";
import type { Insert } from "../../sql/syntax/statement-ast.ts";
import type { ValueRows } from "../../sql/syntax/value-rows.ts";
import type { StatementResult } from "../../statement-result.ts";
import { targetTable } from "../table/table-to-change.ts";
import { ColumnBatchBuilder } from "./column-batch.ts";
import type { Target } from "./complete-row.ts";
import { givenColumns, rowPieces, rowsOfPiece } from "./given-columns.ts";
import { QueryColumns } from "./query-columns.ts";

/** Rows of INSERT … SELECT in one write. */
const PART_ROWS = 16_384;
/** Rows between two turns of others at most and at least, and values: a value takes 0.2 µs at most, unless it is long. */
const TURN_ROWS = 1024;
const TURN_ROWS_MIN = 16;
const TURN_VALUES = 16 * 1024;

/** Inserts rows; the count is that of rows given. @throws DbError of contract query.md 1.6 */
export async function insert(statement: Insert, context: QueryContext, options: ExecOptions): Promise<StatementResult> {
  const { database, table } = targetTable(statement.table, context);
  const target: Target = {
    schema: table.schema,
    named: namedColumns(statement.columns, table.schema),
    environment: environmentOf(context.clock, context.variables),
  };
  const { source } = statement;
  const isInstant = table.schema.options["ttl"] === "instant";
  if (source.kind !== "values") {
    const rowCount = await insertSelect(source, target, database, context, options);
    return { kind: "affected", rowCount: isInstant ? 0 : rowCount };
  }
  const rowCount = await insertValues(source.rows, target, database, context, options);
  // Rows of an "instant" table expire as they arrive, so they are checked and not written.
  return { kind: "affected", rowCount: isInstant ? 0 : rowCount };
}

/** Writes the rows of VALUES, all at once; gives how many. */
async function insertValues(
  rows: ValueRows<Expression>,
  target: Target,
  database: string,
  context: QueryContext,
  options: ExecOptions,
): Promise<number> {
  const exec = execContextOf(target.environment, context, options);
  const builder = new ColumnBatchBuilder(target.schema);
  let budget: MemoryBudget | undefined;
  try {
    for (const piece of rowPieces(rows)) {
      if (builder.rowCount > 0) {
        budget ??= exec.budget.part("rows of INSERT");
        budget.reserve(builder.bytes - budget.used);
        checkCancelled(exec);
        await exec.pace.turn();
      }
      builder.add(await givenColumns(piece, target, exec), rowsOfPiece(piece));
    }
    if (target.schema.options["ttl"] !== "instant") await write(builder, database, context);
    return builder.rowCount;
  } finally {
    budget?.close();
  }
}

/** The columns of a table that a statement names; all where it names none. @throws DbError TableColumnNotFound, InvalidArguments */
export function namedColumns(names: readonly string[] | undefined, schema: TableSchema): readonly ColumnSchema[] {
  if (names === undefined) return schema.columns;
  const named = names.map((name) => columnNamed(schema, name));
  const twice = named.find((column, i) => named.indexOf(column) !== i);
  if (twice !== undefined) throw invalidArguments(`Invalid SQL, error: column ${twice.name} is named twice in INSERT`);
  return named;
}

async function write(builder: ColumnBatchBuilder, database: string, context: QueryContext): Promise<void> {
  if (builder.rowCount > 0) await ownRowsWritten(context, database, builder.batch());
}

/**
 * Writes the rows of a query in parts; gives how many. @throws DbError of the query, and of contract query.md 1.6
 */
export async function insertSelect(
  query: Query,
  target: Target,
  database: string,
  context: QueryContext,
  options: ExecOptions,
): Promise<number> {
  const { plan, exec } = await prepareSelect(query, context, options);
  const { named, schema } = target;
  if (plan.columns.length !== named.length) throw planError("Column count doesn't match insert query!");
  for (const [i, column] of named.entries()) {
    const from = plan.columns[i]?.type ?? STRING;
    if (!canCast(from, column.type))
      throw planError(`cannot insert ${displayName(from)} into column ${column.name} of type ${displayName(column.type)}; cast it`);
  }
  const given = new QueryColumns(plan.columns, target, exec);
  const turnRows = Math.max(
    TURN_ROWS_MIN,
    Math.min(TURN_ROWS, 2 ** Math.floor(Math.log2(TURN_VALUES / Math.max(1, schema.columns.length)))),
  );
  let builder = new ColumnBatchBuilder(schema);
  let total = 0;
  for await (const batch of answer(plan, exec)) {
    for (const { rowCount, vectors } of pieces(batch, turnRows)) {
      builder.add(await given.of(vectors, rowCount), rowCount);
      total += rowCount;
      checkCancelled(exec);
      await exec.pace.turn();
      if (builder.rowCount < PART_ROWS) continue;
      await context.admit?.(context.signal);
      await write(builder, database, context);
      builder = new ColumnBatchBuilder(schema);
    }
  }
  await write(builder, database, context);
  return total;
}
