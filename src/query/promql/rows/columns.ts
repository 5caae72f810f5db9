/** Columns of a query as rows: their names and types, in the order of `layout.ts`. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { FLOAT64, STRING, TIMESTAMP_MILLISECOND } from "../../../column/data-type.ts";
import { timeIndexOf } from "../../../table/schema.ts";
import type { Expression } from "../syntax/ast.ts";
import { printPromql } from "../syntax/printer.ts";
import { selectTables, type TableSelection } from "../tables/table-selection.ts";
import { layoutOf } from "./layout.ts";
import type { MetricPlace } from "./selected-fields.ts";
import { unwrapped } from "../evaluation/scope.ts";
import { selectorsOf } from "./tree-parts.ts";

/** Longest name of a column, in characters. */
const NAME_CHARACTERS_MAX = 256;

/** A column and where its values come from: the time, a label, or the values of a field, by the field's place. */
export type RowColumn = ColumnHeader & ({ readonly role: "time" | "label" } | { readonly role: "value"; readonly field: number });

/**
 * The columns of a query, in the order in which clients see them.
 *
 * @param fields the query of each field, see `fieldQueries`
 * @throws DbError InvalidArguments
 */
export function columnsOf(
  expression: Expression,
  fields: readonly Expression[],
  alias: string | undefined,
  place: MetricPlace,
): readonly RowColumn[] {
  if (alias !== undefined && fields.length > 1) {
    const why = `AS ${alias.slice(0, 80)} names one value, and the query has ${fields.length}: name a field by {__field__="…"}`;
    throw new DbError(StatusCode.InvalidArguments, why);
  }
  const [first] = selectorsOf(expression);
  const tables = first === undefined ? undefined : selectTables(first.matchers, place.catalog, place.database);
  const only = tables?.length === 1 ? tables[0] : undefined;
  const time = only === undefined ? "time" : timeIndexOf(only.table.schema).name;
  return layoutOf(expression, alias !== undefined, place).flatMap((slot): readonly RowColumn[] => {
    switch (slot.role) {
      case "time":
        return [{ role: "time", name: time, type: TIMESTAMP_MILLISECOND }];
      case "label":
        return [{ role: "label", name: slot.name, type: STRING }];
      case "value": {
        const all = fields.map((query, field): RowColumn => {
          return { role: "value", field, name: alias ?? valueName(query, place, tables !== undefined), type: FLOAT64 };
        });
        return slot.field === "all" ? all : all.slice(slot.field, slot.field + 1);
      }
    }
  });
}

/** A selector's is its field, that of all else the query as it is written in its normal form (contract README 12). */
function valueName(query: Expression, { catalog, database }: MetricPlace, reads: boolean): string {
  const node = unwrapped(query);
  if (node.kind === "VectorSelector") return fieldOf(selectTables(node.matchers, catalog, database)) ?? "value";
  return reads ? shortened(printPromql(node)) : "value";
}

function fieldOf(tables: readonly TableSelection[]): string | undefined {
  const [only, ...others] = tables;
  return others.length === 0 && only?.showsField === false ? only.columns[0]?.name : undefined;
}

function shortened(text: string): string {
  return text.length > NAME_CHARACTERS_MAX ? `${text.slice(0, NAME_CHARACTERS_MAX)}…` : text;
}
