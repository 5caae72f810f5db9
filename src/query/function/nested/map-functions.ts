/**
 * Functions on structs and maps (contract query.md 2.8). `named_struct` and `get_field`, whose types hang on constants, are in
 * `member-functions.ts`.
 */
import { type DataType, NULL, STRING } from "../../../column/data-type.ts";
import { canCast } from "../../../value/cast.ts";
import { toText } from "../../../value/value-text.ts";
import { type FunctionCall, lenient, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { type Value, valueKey } from "../value/value.ts";
import { executionError } from "../value/execution-error.ts";
import { commonElement, named } from "./list-signature.ts";
import { elementsAt, elementType, listOf, nestedOf, partsOf, resultOf } from "./parts.ts";

type MapType = Extract<DataType, { kind: "map" }>;

/** A map of keys and their values. @throws DbError EngineExecuteQuery for NULL and repeated keys, and lists of two lengths */
function mapOf(keys: readonly Value[], values: readonly Value[], call: FunctionCall): Value {
  if (keys.length !== values.length)
    throw executionError(`map requires key and value lists to have the same length; got ${keys.length} and ${values.length}`);
  const seen = new Set<string>();
  for (const key of keys) {
    if (key === undefined) throw executionError("map key cannot be null");
    const text = valueKey(key);
    if (seen.has(text))
      throw executionError(`map key must be unique, duplicate key found: ${toText(key, (call.type.result as MapType).key).slice(0, 80)}`);
    seen.add(text);
  }
  return resultOf(
    call,
    keys.flatMap((key, i) => [key, values[i]]),
  );
}

/** Two lists, or one key and one value. */
const mapType: ScalarFunction["resolve"] = (args) => {
  const [keys, values] = args;
  if (keys === undefined || values === undefined || args.length !== 2) return undefined;
  if (keys.kind !== "list") return { args, result: { kind: "map", key: keys, value: values } };
  const value = elementType(values);
  return value && { args: [keys, listOf(value)], result: { kind: "map", key: keys.element, value } };
};

const entriesType: ScalarFunction["resolve"] = (args) => {
  if (args.length % 2 !== 0) return undefined;
  const key = commonElement(args.filter((_, i) => i % 2 === 0));
  const value = commonElement(args.filter((_, i) => i % 2 === 1));
  return key && value && { args: args.map((_, i) => (i % 2 === 0 ? key : value)), result: { kind: "map", key, value } };
};

const ofMap =
  (result: (type: MapType) => DataType): ScalarFunction["resolve"] =>
  ([type, ...rest]) =>
    type?.kind === "map" && rest.length === 0 ? { args: [type], result: result(type) } : undefined;

const mapAndKey: ScalarFunction["resolve"] = ([type, key, ...rest]) => {
  if (type?.kind === "null") return { args: [NULL, key ?? NULL], result: listOf(NULL) };
  if (type?.kind !== "map" || key === undefined || rest.length > 0) return undefined;
  return canCast(key, type.key) ? { args: [type, type.key], result: listOf(type.value) } : undefined;
};

/** Every second part, from `first` on. */
const halfOf = (parts: readonly Value[], first: 0 | 1): Value[] => parts.filter((_, i) => i % 2 === first);

/** The value of a key as a list of one, which is NULL where the map has no such key. */
function extract(args: readonly Value[], call: FunctionCall): Value {
  const parts = elementsAt(args, call, 0);
  const wanted = valueKey(args[1]);
  for (let i = 0; i + 1 < parts.length; i += 2) if (valueKey(parts[i]) === wanted) return resultOf(call, [parts[i + 1]]);
  return resultOf(call, [undefined]);
}

const entryOf = (type: MapType): DataType => ({
  kind: "struct",
  fields: [
    { name: "key", type: type.key },
    { name: "value", type: type.value },
  ],
});

function entries([map]: readonly Value[], call: FunctionCall): Value {
  const type = call.type.args[0];
  const parts = partsOf(map, type);
  if (type?.kind !== "map") return undefined;
  const entry = entryOf(type);
  return resultOf(
    call,
    halfOf(parts, 0).map((key, i) => nestedOf(entry, [key, parts[2 * i + 1]])),
  );
}

const structType: ScalarFunction["resolve"] = (args) =>
  args.length === 0 ? undefined : { args, result: { kind: "struct", fields: args.map((type, i) => ({ name: `c${i}`, type })) } };

/** What is noted about a value's column: values have no notes here, so that there are none, and no note has a given name. */
const metadataType: ScalarFunction["resolve"] = ([value, key, ...rest]) => {
  if (value === undefined || rest.length > 0) return undefined;
  if (key === undefined) return { args: [value], result: { kind: "map", key: STRING, value: STRING } };
  return key.kind === "string" || key.kind === "null" ? { args: [value, STRING], result: STRING } : undefined;
};

/** The functions of this file. */
export const MAP_FUNCTIONS: readonly ScalarFunction[] = [
  ...named("struct row", (name) => lenient(`${name}(value, …)`, structType, (args, call) => resultOf(call, args))),
  lenient("map(keys, values)", mapType, (args, call) => {
    const [keys, values] = args;
    if (call.type.args[0]?.kind !== "list") return mapOf([keys], [values], call);
    return keys === undefined || values === undefined ? undefined : mapOf(elementsAt(args, call, 0), elementsAt(args, call, 1), call);
  }),
  lenient("make_map(key, value, …)", entriesType, (args, call) => mapOf(halfOf(args, 0), halfOf(args, 1), call)),
  ...named("map_extract element_at", (name) =>
    lenient(`${name}(map, key)`, mapAndKey, (args, call) => (args[0] === undefined ? undefined : extract(args, call))),
  ),
  strict(
    "map_keys(map)",
    ofMap((type) => listOf(type.key)),
    (args, call) => resultOf(call, halfOf(elementsAt(args, call, 0), 0)),
  ),
  strict(
    "map_values(map)",
    ofMap((type) => listOf(type.value)),
    (args, call) => resultOf(call, halfOf(elementsAt(args, call, 0), 1)),
  ),
  strict(
    "map_entries(map)",
    ofMap((type) => listOf(entryOf(type))),
    entries,
  ),
  lenient("arrow_metadata(value[, key])", metadataType, (args, call) => (args.length === 1 ? mapOf([], [], call) : undefined)),
];
