/** Lists, structs and maps of a file as values of a column: of another nested type, or lists of numbers as vectors. */
import { type DbError, invalidArguments } from "../../base/error.ts";
import { type DataType, displayName, isNested, type NestedType, type StructField } from "../../column/data-type.ts";
import { floatOfDecimal } from "../../column/decimal.ts";
import { decodeNested, encodeNested, type NestedPart } from "../../column/nested.ts";
import type { Scalar } from "../../column/vector.ts";

/** A part of a file's value as one of the column's. @throws DbError when it has no counterpart */
type PartConverter = (part: NestedPart) => NestedPart;

/** The same question about parts, so that the two files need not import each other. @throws DbError when they never fit */
type PartsOf = (from: DataType, to: DataType) => PartConverter;

/**
 * How nested values of a file become values of a type.
 *
 * @param partsOf for parts that are not nested
 * @throws DbError InvalidArguments, naming both types, when they never do
 */
export function nestedConverter(from: NestedType, to: DataType, partsOf: PartsOf): (value: Scalar) => Scalar {
  const convert = partConverter(from, to, partsOf);
  return (value) => convert(value) as Scalar; // Nested values and vectors are bytes.
}

function partConverter(from: DataType, to: DataType, partsOf: PartsOf): PartConverter {
  if (!isNested(from) && !isNested(to)) return partsOf(from, to);
  if (from.kind === "list" && to.kind === "vector") return vectorConverter(from, to.dimension);
  if (from.kind === "list" && to.kind === "list") return entries(from, to, [partConverter(from.element, to.element, partsOf)]);
  if (from.kind === "map" && to.kind === "map")
    return entries(from, to, [partConverter(from.key, to.key, partsOf), partConverter(from.value, to.value, partsOf)]);
  if (from.kind === "struct" && to.kind === "struct") return structConverter(from, to, partsOf);
  throw mismatch(from, to);
}

/** @param parts converters that take turns */
function entries(from: NestedType, to: NestedType, parts: readonly PartConverter[]): PartConverter {
  return (value) => {
    if (!(value instanceof Uint8Array)) return undefined;
    return encodeNested(
      to,
      decodeNested(from, value).map((part, i) => (part === undefined ? part : parts[i % parts.length]?.(part))),
    );
  };
}

/** Fields meet by name, wherever they stand. One that only one side has is an error: a value would be lost, or made up. */
function structConverter(
  from: Extract<DataType, { kind: "struct" }>,
  to: Extract<DataType, { kind: "struct" }>,
  partsOf: PartsOf,
): PartConverter {
  const missing = to.fields.find((field) => !hasField(from.fields, field));
  if (missing !== undefined) throw mismatch(from, to, `the file has no field ${missing.name}`);
  const added = from.fields.find((field) => !hasField(to.fields, field));
  if (added !== undefined) throw mismatch(from, to, `the column has no field ${added.name}`);
  const places = to.fields.map(({ name }) => from.fields.findIndex((field) => field.name === name));
  const parts = to.fields.map(({ type }, i) => partConverter(from.fields[places[i] ?? i]?.type ?? type, type, partsOf));
  return (value) => {
    if (!(value instanceof Uint8Array)) return undefined;
    const values = decodeNested(from, value);
    return encodeNested(
      to,
      parts.map((part, i) => {
        const found = values[places[i] ?? i];
        return found === undefined ? found : part(found);
      }),
    );
  };
}

const hasField = (fields: readonly StructField[], { name }: StructField): boolean => fields.some((field) => field.name === name);

const NUMBERS: ReadonlySet<DataType["kind"]> = new Set(["int", "float", "decimal"]);

function vectorConverter(from: Extract<NestedType, { kind: "list" }>, dimension: number): PartConverter {
  const to: DataType = { kind: "vector", dimension };
  const { element } = from;
  if (!NUMBERS.has(element.kind)) throw mismatch(from, to);
  return (value) => {
    if (!(value instanceof Uint8Array)) return undefined;
    const parts = decodeNested(from, value);
    if (parts.length !== dimension) throw mismatch(from, to, `a list has ${parts.length} elements`);
    const view = new DataView(new ArrayBuffer(dimension * 4));
    for (const [i, part] of parts.entries()) {
      if (part === undefined) throw mismatch(from, to, "an element is NULL");
      const number = part as number | bigint; // what the types in NUMBERS have
      view.setFloat32(i * 4, element.kind === "decimal" ? floatOfDecimal(number, element.scale) : Number(number), true);
    }
    return new Uint8Array(view.buffer);
  };
}

/** The error of values that do not fit. */
export function mismatch(from: DataType, to: DataType, why?: string): DbError {
  const message = `values of type ${displayName(from)} cannot become ${displayName(to)}`;
  return invalidArguments(why === undefined ? message : `${message}: ${why}`);
}
