/** Which type two values meet at when they are compared, added or chosen between. */
import { type DataType, FLOAT32, FLOAT64, INT64, isNested, STRING, sameType, type StructField } from "../../../column/data-type.ts";
import { asDecimal, widerDecimal } from "../value/decimal.ts";
import { finerUnit } from "../../../value/time-units.ts";

/** The type both cast to without surprise, or undefined when there is none. Text yields to every other type, NULL to all. */
export function commonType(a: DataType, b: DataType): DataType | undefined {
  if (sameType(a, b) || b.kind === "null") return a;
  if (a.kind === "null") return b;
  if (isNested(a) || isNested(b)) return commonNested(a, b);
  if (isNumber(a) && isNumber(b)) return commonNumber(a, b);
  if (a.kind === "decimal" || b.kind === "decimal") return commonDecimal(a, b);
  if (a.kind === "time" && b.kind === "time") return { kind: "time", unit: finerUnit(a.unit, b.unit) };
  if (a.kind === "timestamp" && b.kind === "timestamp") return { kind: "timestamp", unit: finerUnit(a.unit, b.unit) };
  if (a.kind === "duration" && b.kind === "duration") return { kind: "duration", unit: finerUnit(a.unit, b.unit) };
  if (a.kind === "duration" && b.kind === "interval") return b;
  if (a.kind === "interval" && b.kind === "duration") return a;
  if (a.kind === "date" && b.kind === "timestamp") return b;
  if (a.kind === "timestamp" && b.kind === "date") return a;
  if (a.kind === "string" && b.kind !== "json" && b.kind !== "vector") return b;
  if (b.kind === "string" && a.kind !== "json" && a.kind !== "vector") return a;
  if (a.kind === "timestamp" && b.kind === "int") return a;
  if (a.kind === "int" && b.kind === "timestamp") return b;
  if (a.kind === "boolean" && b.kind === "int") return b;
  if (a.kind === "int" && b.kind === "boolean") return a;
  return undefined;
}

/**
 * The type that values meet at when one of them is chosen: branches of CASE, arguments of COALESCE, columns of UNION and VALUES. As
 * `commonType`, but a number or a Boolean beside text becomes text, since the text may be any.
 */
export function chosenType(a: DataType, b: DataType): DataType | undefined {
  const [text, other] = a.kind === "string" ? [a, b] : [b, a];
  if (text.kind === "string" && ["int", "float", "decimal", "boolean"].includes(other.kind)) return STRING;
  return commonType(a, b);
}

/** Lists meet at what their elements meet at, structs of equally many fields and maps likewise. */
function commonNested(a: DataType, b: DataType): DataType | undefined {
  if (a.kind === "list" && b.kind === "list") {
    const element = commonType(a.element, b.element);
    return element && { kind: "list", element };
  }
  if (a.kind === "map" && b.kind === "map") {
    const [key, value] = [commonType(a.key, b.key), commonType(a.value, b.value)];
    return key && value && { kind: "map", key, value };
  }
  if (a.kind !== "struct" || b.kind !== "struct" || a.fields.length !== b.fields.length) return undefined;
  const fields: StructField[] = [];
  for (const [i, field] of a.fields.entries()) {
    const type = commonType(field.type, b.fields[i]?.type ?? field.type);
    if (type === undefined) return undefined;
    fields.push({ name: field.name, type });
  }
  return { kind: "struct", fields };
}

/** Where a decimal meets another type: whole numbers become decimals, floats make floats, text is read as what it meets. */
function commonDecimal(a: DataType, b: DataType): DataType | undefined {
  const [x, y] = [asDecimal(a), asDecimal(b)];
  if (x !== undefined && y !== undefined) return widerDecimal(x, y);
  const other = x === undefined ? a : b;
  if (other.kind === "float") return FLOAT64;
  return other.kind === "string" ? (x ?? y) : undefined;
}

/** A number type. */
export type NumberType = Extract<DataType, { kind: "int" | "float" }>;

const isNumber = (type: DataType): type is NumberType => type.kind === "int" || type.kind === "float";

/** The number type that arithmetic on two number types has. */
export function commonNumber(a: NumberType, b: NumberType): NumberType {
  if (a.kind === "float" || b.kind === "float") {
    const wide = (a.kind === "float" && a.bits === 64) || (b.kind === "float" && b.bits === 64);
    return (wide ? FLOAT64 : FLOAT32) as NumberType;
  }
  if (a.signed === b.signed) return a.bits >= b.bits ? a : b;
  const [signed, unsigned] = a.signed ? [a, b] : [b, a];
  if (unsigned.bits === 64) return INT64 as NumberType;
  if (signed.bits > unsigned.bits) return signed;
  const bits = (unsigned.bits * 2) as 16 | 32 | 64;
  return { kind: "int", bits, signed: true };
}
