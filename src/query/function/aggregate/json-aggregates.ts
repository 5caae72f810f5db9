/** `json_agg(value)` and `json_object_agg(key, value)`: rows as one JSON value. */
import { type DataType, JSON_TYPE, STRING } from "../../../column/data-type.ts";
import { jsonOfValue } from "../json/json-of-value.ts";
import { executionError } from "../value/execution-error.ts";
import { textOf, type Value } from "../value/value.ts";
import type { AggregateFunction } from "./accumulator.ts";

/** About what a text costs beside its characters, bytes. */
const TEXT_BYTES = 32;

/** One value of any type. */
export const jsonListType: AggregateFunction["resolve"] = (args) => (args.length === 1 ? { args, result: JSON_TYPE } : undefined);

/** A key and a value. */
export const jsonObjectType: AggregateFunction["resolve"] = ([key, value, ...rest]) =>
  key === undefined || value === undefined || rest.length > 0 ? undefined : { args: [STRING, value], result: JSON_TYPE };

/** Texts between two marks; NULL without rows. */
function joined(partOf: (values: readonly Value[], types: readonly DataType[]) => string, marks: "[]" | "{}"): AggregateFunction["create"] {
  return (type, reserve) => {
    const parts: string[] = [];
    return {
      add(values) {
        const part = partOf(values, type.args);
        reserve(TEXT_BYTES + part.length * 2);
        parts.push(part);
      },
      result: () => (parts.length === 0 ? undefined : `${marks[0]}${parts.join(",")}${marks[1]}`),
    };
  };
}

/** An array of all values, NULLs included, in the order of the rows. */
export const jsonList: AggregateFunction["create"] = joined(([value], [type = STRING]) => jsonOfValue(value, type), "[]");

/** An object of keys and values; keys keep the order of the rows. @throws DbError EngineExecuteQuery for a key that is NULL */
export const jsonObject: AggregateFunction["create"] = joined(([key, value], [, type = STRING]) => {
  if (key === undefined) throw executionError("json_object_agg: a key cannot be NULL");
  return `${JSON.stringify(textOf(key))}:${jsonOfValue(value, type)}`;
}, "{}");
