/**
 * Calls whose type hangs on a constant among their arguments:
 *
 *   date_part('epoch', x)    seconds, which a part of a second may follow
 *   date_part('nanosecond', x)  more than 32 bits hold; of durations the parts below seconds too
 *   str_to_date(x, '%Y-%m-%d')  a date, since the format names no time of day
 *   round(x, 2)              a decimal of as many digits after the point
 */
import { type DataType, DATE } from "../../../column/data-type.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { operatorFunction } from "../../function/registry.ts";
import { partName } from "../../function/time/date-part.ts";
import { isDayFormat } from "../../function/time/mysql-format.ts";
import { textOf } from "../../function/value/value.ts";
import type { BindCall } from "./bind-nested.ts";
import { castTo } from "./coerce.ts";
import type { TypedExpression } from "../../expression/expression.ts";

/** What a call is by its constants; undefined for a call that needs none. @throws DbError PlanQuery for arguments that do not go with it */
export function constantCall(
  name: string,
  args: readonly TypedExpression[],
  environment: Environment,
  bindCall: BindCall,
): TypedExpression | undefined {
  const [first, second] = args;
  if ((name === "date_part" || name === "datepart") && first?.kind === "literal") {
    const part = partName(textOf(first.value));
    if (part === "epoch") return bindCall(operatorFunction("date_part_epoch"), name, args);
    const isLong = second?.type.kind === "duration" && (part === "millisecond" || part === "microsecond");
    if (part === "nanosecond" || isLong) return bindCall(operatorFunction("date_part_nanosecond_op"), name, args);
  }
  if (name === "str_to_date" && second?.kind === "literal" && args.length === 2 && isDayFormat(textOf(second.value ?? "")))
    return castTo(bindCall(operatorFunction("str_to_date"), name, args), DATE, environment);
  if (name !== "round" || first?.type.kind !== "decimal" || args.length > 2) return undefined;
  const digits = second === undefined ? 0 : second.kind === "literal" && second.type.kind === "int" ? second.value : undefined;
  const scale = Math.max(Number(digits), 0);
  // Where digits behind the point go, there is room for the one that 9.9 gets before it.
  if (digits === undefined || scale >= first.type.scale) return undefined;
  const type: DataType = { ...first.type, scale };
  return castTo(bindCall(operatorFunction("round"), name, args), type, environment);
}
