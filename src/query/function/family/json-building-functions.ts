/** JSON made of values, as PostgreSQL has it. Keys of an object are sorted, and of equal ones the last counts, as in every JSON here. */
import { type DataType, INT64, JSON_TYPE, STRING } from "../../../column/data-type.ts";
import { canonicalJson } from "../../../value/json-text.ts";
import { toText } from "../../../value/value-text.ts";
import { jsonOfValue } from "../json/json-of-value.ts";
import { alias, type FunctionCall, lenient, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { executionError } from "../value/execution-error.ts";
import { textOf, type Value } from "../value/value.ts";

const anyToJson: ScalarFunction["resolve"] = (args) => ({ args, result: JSON_TYPE });
const oneToJson: ScalarFunction["resolve"] = (args) => (args.length === 1 ? { args, result: JSON_TYPE } : undefined);

/** @throws DbError EngineExecuteQuery for JSON that nests too deep */
function canonical(text: string): string {
  const made = canonicalJson(text);
  if (made.ok) return made.text;
  throw executionError(`cannot make JSON: ${made.why}`);
}

const typeAt = (call: FunctionCall, index: number): DataType => call.type.args[index] ?? STRING;

function builtObject(args: readonly Value[], call: FunctionCall): string {
  if (args.length % 2 !== 0) throw executionError("argument list must have even number of elements: json_build_object(key, value, …)");
  const members: string[] = [];
  for (let i = 0; i < args.length; i += 2) {
    const key = args[i];
    if (key === undefined) throw executionError(`argument ${i + 1} of json_build_object: a key cannot be NULL`);
    members.push(`${JSON.stringify(toText(key, typeAt(call, i)))}:${jsonOfValue(args[i + 1], typeAt(call, i + 1))}`);
  }
  return canonical(`{${members.join(",")}}`);
}

const builtArray = (args: readonly Value[], call: FunctionCall): string =>
  canonical(`[${args.map((value, i) => jsonOfValue(value, typeAt(call, i))).join(",")}]`);

const arrayLengthType: ScalarFunction["resolve"] = ([json, ...rest]) =>
  rest.length === 0 && ["json", "string", "null"].includes(json?.kind ?? "") ? { args: [JSON_TYPE], result: INT64 } : undefined;

function arrayLength(json: string): number {
  const value: unknown = JSON.parse(json);
  if (Array.isArray(value)) return value.length;
  throw executionError("cannot get array length of a JSON value that is no array");
}

const BUILD_OBJECT = lenient("json_build_object(key, value, …)", anyToJson, builtObject);
const BUILD_ARRAY = lenient("json_build_array(value, …)", anyToJson, builtArray);
const TO_JSON = strict("to_json(value)", oneToJson, ([value], call) => canonical(jsonOfValue(value, typeAt(call, 0))));
const ARRAY_LENGTH = strict("json_array_length(json)", arrayLengthType, ([json]) => arrayLength(textOf(json)));

/** The functions of this file. */
export const JSON_BUILDING_FUNCTIONS: readonly ScalarFunction[] = [
  BUILD_OBJECT,
  alias("jsonb_build_object", BUILD_OBJECT),
  BUILD_ARRAY,
  alias("jsonb_build_array", BUILD_ARRAY),
  TO_JSON,
  alias("to_jsonb", TO_JSON),
  alias("row_to_json", TO_JSON),
  ARRAY_LENGTH,
  alias("jsonb_array_length", ARRAY_LENGTH),
];
