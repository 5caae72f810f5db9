/** Casts of lists, structs and maps: part by part. Fields of structs meet by name where all names are the same, else by place. */
import { type DataType, isNested, type NestedType, type StructField } from "../column/data-type.ts";
import { decodeNested, encodeNested } from "../column/nested.ts";
import type { Present, Value } from "./any-value.ts";
import { CastFailure } from "./cast-failure.ts";

/** Whether a cast from or to a nested type has a meaning. @param canCastPart the same question about parts */
export function canCastNested(from: DataType, to: DataType, canCastPart: (from: DataType, to: DataType) => boolean): boolean {
  if (to.kind === "string") return true;
  if (from.kind === "list" && to.kind === "list") return canCastPart(from.element, to.element);
  if (from.kind === "map" && to.kind === "map") return canCastPart(from.key, to.key) && canCastPart(from.value, to.value);
  if (from.kind === "struct" && to.kind === "struct") {
    if (from.fields.length !== to.fields.length) return false;
    const places = placesOf(from.fields, to.fields);
    return to.fields.every((field, i) => canCastPart(from.fields[places[i] ?? i]?.type ?? field.type, field.type));
  }
  // One value as a list of one.
  return to.kind === "list" && !isNested(from) && canCastPart(from, to.element);
}

type CastPart = (part: Value, from: DataType, to: DataType) => Value | CastFailure;

/**
 * A nested value as another nested type, or one value as a list of one; the first failure of a part is that of the whole.
 *
 * @param castPart casts parts, NULL included
 */
export function castNested(value: Present, from: DataType, to: DataType, castPart: CastPart): Present | CastFailure {
  if (!isNested(to)) throw new Error(`a nested type has parts; got ${to.kind}`);
  const cast: Value[] = [];
  for (const part of castParts(value, from, to, castPart)) {
    if (part instanceof CastFailure) return part;
    cast.push(part);
  }
  return encodeNested(to, cast);
}

function* castParts(value: Present, from: DataType, to: NestedType, castPart: CastPart): Generator<Value | CastFailure> {
  if (!isNested(from) || !(value instanceof Uint8Array)) {
    if (to.kind === "list") yield castPart(value, from, to.element);
    return;
  }
  const parts = decodeNested(from, value);
  if (from.kind === "list" && to.kind === "list") {
    for (const part of parts) yield castPart(part, from.element, to.element);
  } else if (from.kind === "map" && to.kind === "map") {
    for (const [i, part] of parts.entries()) yield i % 2 === 0 ? castPart(part, from.key, to.key) : castPart(part, from.value, to.value);
  } else if (from.kind === "struct" && to.kind === "struct") {
    const places = placesOf(from.fields, to.fields);
    for (const [i, field] of to.fields.entries()) {
      const place = places[i] ?? i;
      yield castPart(parts[place], from.fields[place]?.type ?? field.type, field.type);
    }
  } else throw new Error(`no cast from ${from.kind} to ${to.kind}`);
}

/** Where the fields of one struct lie in another. */
function placesOf(from: readonly StructField[], to: readonly StructField[]): readonly number[] {
  const byName = to.map((field) => from.findIndex((other) => other.name === field.name));
  return byName.includes(-1) || new Set(byName).size < to.length ? to.map((_, i) => i) : byName;
}
