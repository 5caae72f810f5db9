/** ColumnDef → a column as CREATE TABLE has it. */
import { invalidArguments } from "../../base/error.ts";
import type { DataType } from "../../column/data-type.ts";
import { indexRequestsOf } from "../../ingest/greptime/column-indexes.ts";
import { columnTypeOf, type TypeExtension } from "../../ingest/greptime/column-type.ts";
import type { ColumnClause } from "../../query/sql/syntax/definition-ast.ts";
import type { ColumnDataTypeExtension } from "../../../proto/gen/greptime/v1/common_pb.js";
import type { ColumnDef } from "../../../proto/gen/greptime/v1/ddl_pb.js";
import { defaultExpression } from "./default-value.ts";
import { NO_SPAN } from "./names.ts";

/** The type that a message names. @throws DbError InvalidArguments */
export function typeNamed(column: string, number: number, extension: ColumnDataTypeExtension | undefined): DataType {
  const type = columnTypeOf(number, extensionOf(extension));
  if (typeof type === "string") throw invalidArguments(`Invalid column option, column name: ${column}, error: ${type}`);
  return type.type;
}

function extensionOf(extension: ColumnDataTypeExtension | undefined): TypeExtension {
  switch (extension?.typeExt.case) {
    case "decimalType":
      return { decimal: extension.typeExt.value };
    case "jsonType":
      return { json: true };
    case "vectorType":
      return { dimension: extension.typeExt.value.dim };
    default:
      return {};
  }
}

/** The clause of a column. @throws DbError InvalidArguments */
export function columnClause(column: ColumnDef): ColumnClause {
  const { name, dataType, isNullable, defaultConstraint, comment, datatypeExtension, options } = column;
  const indexes = indexRequestsOf(new Map(Object.entries(options?.options ?? {})));
  if (typeof indexes === "string") throw invalidArguments(`Invalid column option, column name: ${name}, error: ${indexes}`);
  return {
    name,
    type: typeNamed(name, dataType, datatypeExtension),
    nullable: isNullable,
    default: defaultExpression(name, defaultConstraint),
    comment: comment === "" ? undefined : comment,
    primaryKey: false,
    timeIndex: false,
    indexes,
    span: NO_SPAN,
  };
}
