/** Times by the clock of a zone, and back. */
import { assert } from "../../../base/assert.ts";
import { STRING } from "../../../column/data-type.ts";
import { operatorFunction } from "../../function/registry.ts";
import { literal, type TypedExpression } from "../../expression/expression.ts";

/** What a clock in the zone shows at a time (`in_time_zone_op`), or the moment at which it shows it (`at_time_zone_op`). */
export function inZone(name: "in_time_zone_op" | "at_time_zone_op", time: TypedExpression, zone: string): TypedExpression {
  const found = operatorFunction(name);
  const functionType = found.resolve([time.type, STRING]);
  assert(functionType !== undefined, "a time column has a clock");
  return { kind: "call", type: functionType.result, function: found, functionType, args: [time, literal(STRING, zone)] };
}
