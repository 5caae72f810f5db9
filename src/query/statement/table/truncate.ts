/** TRUNCATE TABLE. */
import { invalidArguments } from "../../../base/error.ts";
import { ALL_TIME, type TimeRange } from "../../../table/scan.ts";
import { type ColumnSchema, timeIndexOf } from "../../../table/schema.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { environmentOf } from "../../plan/common/planner.ts";
import type { QueryContext } from "../../query-context.ts";
import type { Expression } from "../../sql/syntax/ast.ts";
import type { Statement } from "../../sql/syntax/statement-ast.ts";
import { NO_ROWS_CHANGED, type StatementResult } from "../../statement-result.ts";
import { literalValue } from "../shared/literal-value.ts";
import { tableToChange } from "./table-to-change.ts";

/** Removes the rows of a table, or of its files within ranges of time. @throws DbError TableNotFound, InvalidArguments, InvalidSyntax */
export async function truncate(statement: Extract<Statement, { kind: "truncate" }>, context: QueryContext): Promise<StatementResult> {
  const { database, table } = tableToChange(statement.name, context);
  const environment = environmentOf(context.clock, context.variables);
  const time = timeIndexOf(table.schema);
  const ranges = statement.ranges?.map(([start, end]): TimeRange => {
    const range = { start: timeOf(start, time, environment), end: timeOf(end, time, environment) };
    if (range.start > range.end) {
      throw invalidArguments(`Invalid time range: its start ${range.start} is after its end ${range.end}`);
    }
    return range;
  });
  if (ranges === undefined) await context.catalog.truncateTable(database, table.schema.name);
  else await context.catalog.truncateTable(database, table.schema.name, ranges);
  return NO_ROWS_CHANGED;
}

/** A bound in the unit of the time index; NULL is the end of time. */
function timeOf(expression: Expression, column: ColumnSchema, environment: Environment): bigint {
  const value = literalValue(expression, column.name, column.type, environment);
  return typeof value === "bigint" || typeof value === "number" ? BigInt(value) : ALL_TIME.end;
}
