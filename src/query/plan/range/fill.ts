/** FILL of a call: what it does to the column that the call becomes. */
import { DbError } from "../../../base/error.ts";
import { type DataType, displayName, FLOAT64, STRING } from "../../../column/data-type.ts";
import type { Environment } from "../../function/signature/environment.ts";
import type { Value } from "../../function/value/value.ts";
import type { Expression, FillClause } from "../../sql/syntax/ast.ts";
import { printWhole } from "../../sql/print/print.ts";
import { bindConstant } from "../bind/bind.ts";
import { castTo } from "../bind/coerce.ts";
import { literal } from "../../expression/expression.ts";
import type { FillRule } from "../../operator/fill/node.ts";
import { planError } from "../bind/plan-error.ts";

/** A rule, the type of the column that it gives, and a text that tells rules apart. */
export interface BoundFill {
  readonly rule: FillRule;
  readonly type: DataType;
  readonly key: string;
}

/** What a FILL means for a call of a type. @throws DbError PlanQuery when it does not go with that type */
export function boundFill(fill: FillClause | undefined, type: DataType, environment: Environment): BoundFill {
  switch (fill?.kind) {
    case undefined:
      return { rule: { kind: "none" }, type, key: "" };
    case "null":
    case "prev":
      return { rule: { kind: fill.kind }, type, key: fill.kind };
    case "linear":
      return { rule: { kind: "linear" }, type: lineType(type), key: "linear" };
    case "constant":
      return {
        rule: { kind: "constant", value: constantOf(fill.value, type, environment) },
        type,
        key: `= ${printWhole(fill.value)}`,
      };
  }
}

/** Points on a line between whole numbers are none. */
function lineType(type: DataType): DataType {
  switch (type.kind) {
    case "float":
      return type;
    case "int":
    case "decimal":
    case "null":
      return FLOAT64;
    default:
      throw planError(`Use FILL LINEAR on Non-numeric DataType ${displayName(type)}; use FILL PREV or a constant`);
  }
}

/** The constant as it is written, read as the call's type: `3.0` is no whole number. */
function constantOf(value: Expression, type: DataType, environment: Environment): Value {
  const text = value.kind === "string" ? value.value : printWhole(value);
  const isPlain =
    ["string", "number", "boolean", "column"].includes(value.kind) || (value.kind === "unary" && value.operand.kind === "number");
  try {
    const given = isPlain ? literal(STRING, text) : bindConstant(value, environment);
    const bound = castTo(given, type, environment);
    if (bound.kind === "literal") return bound.value;
  } catch (thrown) {
    if (!(thrown instanceof DbError)) throw thrown;
    throw planError(`${text.slice(0, 80)} is not a valid fill option, fail to convert to a const value. { ${thrown.message} }`);
  }
  throw planError(`${text.slice(0, 80)} is not a valid fill option: it is no constant`);
}
