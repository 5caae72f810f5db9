/** Defaults of columns as DESCRIBE, SHOW COLUMNS and `information_schema.columns` show them. */
import type { TimeUnit } from "../../../column/data-type.ts";
import type { ColumnDefinition } from "../../../table/schema.ts";
import { toText } from "../../../value/value-text.ts";
import { floatText } from "../../../value/number-text.ts";
import { formatDate, formatTimestamp } from "../../../value/format-time.ts";
import { parseTimestamp } from "../../../value/parse-time.ts";

/** A default as a person writes it, without quotes; undefined when there is none or it is NULL. */
export function defaultDisplay({ type, ...column }: Pick<ColumnDefinition, "type" | "default">): string | undefined {
  if (column.default === undefined) return undefined;
  if (column.default.kind === "now") return column.default.written ?? "current_timestamp()";
  const { value } = column.default;
  if (value === undefined) return undefined;
  if (type.kind === "timestamp") return timestampDisplay(BigInt(value as bigint), type.unit);
  if (type.kind === "date") return formatDate(Number(value));
  if (type.kind === "float") return floatText(Number(value));
  if (type.kind === "decimal" || type.kind === "time" || type.kind === "vector") return toText(value, type);
  return value instanceof Uint8Array ? `X'${value.toHex()}'` : String(value);
}

/** A time that can be read again: years of more digits than are read are left as the number they are. */
function timestampDisplay(value: bigint, unit: TimeUnit): string {
  const text = formatTimestamp(value, unit);
  return parseTimestamp(text, "UTC") === undefined ? String(value) : `${text.replace("T", " ")}+0000`;
}
