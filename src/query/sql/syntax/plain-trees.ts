/** Trees of which only a part is said. */
import type { DataType } from "../../../column/data-type.ts";
import type { QueryEnd, Select, Span } from "./ast.ts";
import type { ColumnClause } from "./definition-ast.ts";

/** No ORDER BY, LIMIT and OFFSET. */
export const NO_END: QueryEnd = { orderBy: [], limit: undefined, offset: undefined };

/** A SELECT of these parts; of the others there are none. */
export function plainSelect(parts: Pick<Select, "items" | "from" | "span"> & Partial<Select>): Select {
  return {
    kind: "select",
    distinct: false,
    distinctOn: [],
    where: undefined,
    groupBy: [],
    having: undefined,
    ...NO_END,
    ...parts,
  };
}

/** A column of a table without options. */
export function plainColumn(name: string, type: DataType, span: Span): ColumnClause {
  return {
    name,
    type,
    nullable: undefined,
    default: undefined,
    comment: undefined,
    primaryKey: false,
    timeIndex: false,
    indexes: [],
    span,
  };
}
