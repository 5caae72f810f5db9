/**
 * Columns of a query as rows (contract query.md 6.3, as far as they are known before it runs).
 *
 *   up                    as the table has them: time, value, tags           sum by (a) (up)   labels, time, value
 *   up{__field__="v"}     value, tags, time; so with AS                      topk(2, up)       value, tags, time
 *   rate(up[5m])          time, value, tags                                  up / 2            tags, time, value
 *   1, time()             time, value
 */
import type { ColumnHeader } from "../../../column/batch.ts";
import { FLOAT64, STRING, TIMESTAMP_MILLISECOND } from "../../../column/data-type.ts";
import { timeIndexOf } from "../../../table/schema.ts";
import type { Expression } from "../syntax/ast.ts";
import { printPromql } from "../syntax/printer.ts";
import { FIELD_LABEL } from "../tables/table-selection.ts";
import { firstTables, labelsOf, type MetricPlace, PICKING } from "./labels-of.ts";

/** Longest name of a column, in characters. */
const NAME_CHARACTERS_MAX = 256;

/** A column and where its values come from. */
export interface RowColumn extends ColumnHeader {
  readonly role: "time" | "value" | "label";
}

/** The columns of a query, in the order in which clients see them. @throws DbError InvalidArguments */
export function columnsOf(expression: Expression, alias: string | undefined, place: MetricPlace): readonly RowColumn[] {
  const node = unwrapped(expression);
  const tables = firstTables(node, place);
  const [only] = tables?.length === 1 ? tables : [];
  const time: RowColumn = {
    role: "time",
    name: only === undefined ? "time" : timeIndexOf(only.table.schema).name,
    type: TIMESTAMP_MILLISECOND,
  };
  const isSelector = node.kind === "VectorSelector";
  const field = only?.showsField === false ? only.columns[0]?.name : undefined;
  const name = alias ?? (isSelector || tables === undefined ? (field ?? "value") : shortened(printPromql(node)));
  const value: RowColumn = { role: "value", name, type: FLOAT64 };
  const labels = labelsOf(node, place).map((label): RowColumn => ({ role: "label", name: label, type: STRING }));
  if (isSelector && alias === undefined && only !== undefined && !node.matchers.some((matcher) => matcher.name === FIELD_LABEL)) {
    return asDeclared(
      [time, value, ...labels],
      only.table.schema.columns.map((column) => column.name),
    );
  }
  if (alias !== undefined || isSelector || (node.kind === "AggregateExpression" && PICKING.has(node.operator)))
    return [value, ...labels, time];
  if (node.kind === "AggregateExpression" || node.kind === "BinaryExpression") return [...labels, time, value];
  return [time, value, ...labels];
}

function asDeclared(columns: readonly RowColumn[], names: readonly string[]): readonly RowColumn[] {
  return columns.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
}

function unwrapped(expression: Expression): Expression {
  return expression.kind === "ParenExpression" ? unwrapped(expression.expression) : expression;
}

function shortened(text: string): string {
  return text.length > NAME_CHARACTERS_MAX ? `${text.slice(0, NAME_CHARACTERS_MAX)}…` : text;
}
