/** Texts as lists and lists as texts (contract query.md 2.8). */
import { type DataType, STRING } from "../../../column/data-type.ts";
import { toText } from "../../../value/value-text.ts";
import { lenient, type ScalarFunction } from "../signature/scalar-function.ts";
import { isString } from "../signature/signature.ts";
import { type Value, textOf } from "../value/value.ts";
import { named } from "./list-signature.ts";
import { elementType, listOf, partsOf, resultOf } from "./parts.ts";

/** Parts between separators; NULL separates every character, an empty separator nothing. */
function split(text: string, separator: Value): string[] {
  if (separator === undefined) return [...text];
  if (separator === "") return [text];
  return text.split(textOf(separator));
}

const splitType: ScalarFunction["resolve"] = (args) =>
  (args.length === 2 || args.length === 3) && args.every(isString) ? { args: args.map(() => STRING), result: listOf(STRING) } : undefined;

const joinType: ScalarFunction["resolve"] = (args) => {
  const [first, ...rest] = args;
  const element = elementType(first);
  if (element === undefined || rest.length < 1 || rest.length > 2 || !rest.every(isString)) return undefined;
  return { args: [listOf(element), ...rest.map(() => STRING)], result: STRING };
};

/** Texts of elements, of lists in lists one after the other. */
function textsOf(value: Value, type: DataType | undefined, missing: string | undefined): string[] {
  if (type?.kind !== "list") return [];
  return partsOf(value, type).flatMap((part) => {
    if (part !== undefined) return type.element.kind === "list" ? textsOf(part, type.element, missing) : [toText(part, type.element)];
    return missing === undefined ? [] : [missing];
  });
}

/** The functions of this file. */
export const LIST_TEXT_FUNCTIONS: readonly ScalarFunction[] = [
  ...named("string_to_array string_to_list", (name) =>
    lenient(`${name}(text, separator[, null])`, splitType, ([text, separator, missing], call) => {
      if (text === undefined) return undefined;
      const parts = split(textOf(text), separator);
      return resultOf(call, missing === undefined ? parts : parts.map((part) => (part === missing ? undefined : part)));
    }),
  ),
  ...named("array_to_string list_to_string array_join list_join", (name) =>
    lenient(`${name}(list, separator[, null])`, joinType, ([value, separator, missing], call) => {
      if (value === undefined || separator === undefined) return undefined;
      return textsOf(value, call.type.args[0], missing === undefined ? undefined : textOf(missing)).join(textOf(separator));
    }),
  ),
];
