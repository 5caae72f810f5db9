/** A value of any type as JSON, as `to_json` and its like make it: times and decimals without a JSON number are text. */
import { type DataType, isNested } from "../../../column/data-type.ts";
import { nestedJson } from "../../../value/nested-json.ts";
import { floatText } from "../../../value/number-text.ts";
import { toText } from "../../../value/value-text.ts";
import { textOf, type Value } from "../value/value.ts";

/** NULL, NaN and infinities are `null`. */
export function jsonOfValue(value: Value, type: DataType): string {
  if (value === undefined || type.kind === "null") return "null";
  if (value instanceof Uint8Array && isNested(type)) return nestedJson(type, value);
  switch (type.kind) {
    case "json":
    case "boolean":
    case "int":
      return textOf(value);
    case "float":
      return Number.isFinite(Number(value)) ? floatText(Number(value)) : "null";
    case "decimal":
      return toText(value, type);
    default:
      return JSON.stringify(toText(value, type));
  }
}
