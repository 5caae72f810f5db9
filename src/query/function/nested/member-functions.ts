/** What `named_struct`, `get_field` and subscripts are bound to: the planner knows their types, which hang on constants. */
import type { ScalarFunction } from "../signature/scalar-function.ts";
import { textOf, type Value, valueKey } from "../value/value.ts";
import { partsOf, resultOf } from "./parts.ts";

function member(name: string, signature: string, nulls: "own" | "propagate", evaluate: ScalarFunction["evaluate"]): ScalarFunction {
  return { name, signature, nulls, volatility: "immutable", resolve: () => undefined, evaluate };
}

/** A struct of names and values in turns. */
export const NAMED_STRUCT: ScalarFunction = member("named_struct", "named_struct(name, value, …)", "own", (args, call) =>
  resultOf(
    call,
    args.filter((_, i) => i % 2 === 1),
  ),
);

/** A field of a struct. */
export const FIELD: ScalarFunction = member("get_field", "get_field(struct, name)", "propagate", ([value, name], { type }) => {
  const [struct] = type.args;
  if (struct?.kind !== "struct") return undefined;
  return partsOf(value, struct)[struct.fields.findIndex((field) => field.name === textOf(name))];
});

/** The value of a map's key. */
export const MAP_VALUE: ScalarFunction = member("map_value", "get_field(map, key)", "propagate", ([value, key], { type }): Value => {
  const parts = partsOf(value, type.args[0]);
  const wanted = valueKey(key);
  const at = parts.findIndex((part, i) => i % 2 === 0 && valueKey(part) === wanted);
  return at < 0 ? undefined : parts[at + 1];
});

/** All of them. */
export const MEMBER_FUNCTIONS: readonly ScalarFunction[] = [NAMED_STRUCT, FIELD, MAP_VALUE];
