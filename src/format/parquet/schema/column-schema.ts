/**
 * Our own description of a file's columns, kept as JSON under the footer key `varve.columns`, because Parquet's annotations do not tell
 * tags from fields, seconds from milliseconds, or vectors from binary.
 */
import type { DataType, StructField, TimeUnit } from "../../../column/data-type.ts";
import type { ColumnRole, ParquetColumn } from "../types.ts";

/** The footer value for `columns`. */
export function encodeColumns(columns: readonly ParquetColumn[]): string {
  return JSON.stringify(columns.map((column) => described(column, column.bloom === true, column.bareSeconds === true)));
}

/** What is told of a column, in this order; flags only where they are set. */
function described({ name, type, nullable, role }: ParquetColumn, bloom: boolean, bareSeconds: boolean): ParquetColumn {
  return { name, type, nullable, role, ...(bloom ? { bloom } : {}), ...(bareSeconds ? { bareSeconds } : {}) };
}

/** The columns of a footer value, or why it is none. */
export function decodeColumns(text: string): readonly ParquetColumn[] | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return `column descriptions that are not JSON: ${String(error)}`;
  }
  if (!Array.isArray(parsed)) return "column descriptions that are not a list";
  const columns: ParquetColumn[] = [];
  for (const item of parsed) {
    const column = decodeColumn(item);
    if (column === undefined) return `an unknown column description ${JSON.stringify(item)}`;
    columns.push(column);
  }
  return columns;
}

type JsonObject = Readonly<Record<string, unknown>>;

interface ColumnFields {
  readonly name?: unknown;
  readonly nullable?: unknown;
  readonly role?: unknown;
  readonly bloom?: unknown;
  readonly bareSeconds?: unknown;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function decodeColumn(item: unknown): ParquetColumn | undefined {
  if (!isObject(item)) return undefined;
  const { name, nullable, role, bloom, bareSeconds }: ColumnFields = item;
  const type = decodeType(item["type"]);
  if (typeof name !== "string" || typeof nullable !== "boolean" || !isRole(role) || type === undefined) return undefined;
  return described({ name, type, nullable, role }, bloom === true, bareSeconds === true);
}

function isRole(value: unknown): value is ColumnRole {
  return value === "tag" || value === "time" || value === "field";
}

function isUnit(value: unknown): value is TimeUnit {
  return value === "second" || value === "millisecond" || value === "microsecond" || value === "nanosecond";
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

/** Most structs and lists inside each other; native histograms are two. */
const TYPE_DEPTH_MAX = 8;

function decodeType(value: unknown, depth = 0): DataType | undefined {
  if (!isObject(value) || depth > TYPE_DEPTH_MAX) return undefined;
  const kind = value["kind"];
  switch (kind) {
    case "boolean":
    case "string":
    case "binary":
    case "date":
    case "interval":
      return { kind };
    case "json":
      return value["structured"] === true ? { kind, structured: true } : { kind };
    case "int": {
      const bits = value["bits"];
      const signed = value["signed"];
      if ((bits !== 8 && bits !== 16 && bits !== 32 && bits !== 64) || typeof signed !== "boolean") return undefined;
      return { kind, bits, signed };
    }
    case "float": {
      const bits = value["bits"];
      return bits === 32 || bits === 64 ? { kind, bits } : undefined;
    }
    case "timestamp":
    case "time":
    case "duration": {
      const unit = value["unit"];
      return isUnit(unit) ? { kind, unit } : undefined;
    }
    case "decimal": {
      const { precision, scale } = { precision: value["precision"], scale: value["scale"] };
      return isCount(precision) && isCount(scale) ? { kind, precision, scale } : undefined;
    }
    case "vector": {
      const dimension = value["dimension"];
      return isCount(dimension) ? { kind, dimension } : undefined;
    }
    case "list": {
      const element = decodeType(value["element"], depth + 1);
      return element && { kind, element };
    }
    case "struct":
      return decodeStruct(value["fields"], depth);
    default:
      return undefined;
  }
}

function decodeStruct(entries: unknown, depth: number): DataType | undefined {
  if (!Array.isArray(entries)) return undefined;
  const fields: StructField[] = [];
  for (const entry of entries) {
    const name: unknown = isObject(entry) ? entry["name"] : undefined;
    const type = isObject(entry) ? decodeType(entry["type"], depth + 1) : undefined;
    if (typeof name !== "string" || type === undefined) return undefined;
    fields.push({ name, type });
  }
  return { kind: "struct", fields };
}
