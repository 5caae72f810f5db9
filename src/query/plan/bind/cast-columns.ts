/** The columns of a plan under other names and types. */
import type { ColumnHeader } from "../../../column/batch.ts";
import { sameType } from "../../../column/data-type.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { castTo } from "./coerce.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import type { PlanNode } from "../../operator/contract/node.ts";

/** A plan whose columns are called and typed so; itself when their types are these. @throws DbError PlanQuery when there is no such cast */
export function castColumns(node: PlanNode, columns: readonly ColumnHeader[], environment: Environment): PlanNode {
  if (columns.every((column, i) => sameType(column.type, node.columns[i]?.type ?? column.type))) return node;
  const expressions = node.columns.map(({ name, type }, index): TypedExpression => {
    const column: TypedExpression = { kind: "column", type, index, name };
    return castTo(column, columns[index]?.type ?? type, environment);
  });
  return { kind: "project", input: node, columns, expressions };
}
