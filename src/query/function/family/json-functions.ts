/** Functions on JSON (contract query.md 2.5). A document is a JSON value or its text. */
import { BOOLEAN, type DataType, FLOAT64, INT64, JSON_TYPE, STRING } from "../../../column/data-type.ts";
import { floatText } from "../../../value/number-text.ts";
import { shortestFloat32 } from "../../../value/float32.ts";
import { arrowName } from "../value/arrow-type.ts";
import { executionError } from "../value/execution-error.ts";
import { toJson } from "../../../value/cast-document.ts";
import { fits } from "../../../value/integer-range.ts";
import { jsonConditionOf, jsonPathOf } from "../json/json-path.ts";
import { jsonHolds, selectJson } from "../json/json-select.ts";
import { type JsonKind, jsonKind, jsonMembers, stringOf } from "../json/json-slices.ts";
import { listOf, resultOf } from "../nested/parts.ts";
import { type FunctionCall, lenient, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { typed } from "../signature/signature.ts";
import { exactInteger, type Present, textOf, type Value } from "../value/value.ts";

const DOCUMENT_KINDS: readonly string[] = ["json", "string", "null"];
const isDocument = (type: DataType | undefined): type is DataType => type !== undefined && DOCUMENT_KINDS.includes(type.kind);

/** The canonical text of an argument. @throws DbError EngineExecuteQuery for text that is no JSON */
function documentOf(value: Present | undefined, type: DataType | undefined): string {
  return type?.kind === "json" ? textOf(value) : toJson(textOf(value));
}

const ofDocument =
  (result: DataType): ScalarFunction["resolve"] =>
  (args) =>
    args.length === 1 && isDocument(args[0]) ? { args, result } : undefined;

const ofDocumentAndText =
  (result: DataType): ScalarFunction["resolve"] =>
  ([json, path, ...rest]) => {
    const good = rest.length === 0 && isDocument(json) && (path?.kind === "string" || path?.kind === "null");
    return good ? { args: [json, STRING], result } : undefined;
  };

/** The first value that a path finds. */
function firstAt(json: string, path: string): string | undefined {
  const read = jsonPathOf(path);
  if (read.kind === "path") return selectJson(json, read)[0];
  const holds = jsonHolds(json, read);
  return holds === undefined ? undefined : String(holds);
}

const keysType: ScalarFunction["resolve"] = (args) => (args.length === 1 ? ofDocument : ofDocumentAndText)(listOf(STRING))(args);

/** The keys of an object, or of the one that a path finds, sorted; NULL for what is none. */
function objectKeys([json, path]: readonly Present[], call: FunctionCall): Value {
  const document = documentOf(json, call.type.args[0]);
  const found = path === undefined ? document : firstAt(document, textOf(path));
  if (found === undefined || jsonKind(found) !== "object") return undefined;
  return resultOf(
    call,
    jsonMembers(found).map((member) => member.key),
  );
}

/** `json_get_…`: the value that a path finds when `read` takes it, else NULL. */
function getter(name: string, result: DataType, read: (json: string, kind: JsonKind) => Value): ScalarFunction {
  return strict(`${name}(json, path)`, ofDocumentAndText(result), ([json, path], { type }) => {
    const found = firstAt(documentOf(json, type.args[0]), textOf(path));
    return found === undefined ? undefined : read(found, jsonKind(found));
  });
}

/** A whole number of 64 bits, or NULL. */
function integerOf(json: string, kind: JsonKind): Value {
  if (kind !== "number" || !/^-?\d+$/.test(json)) return undefined;
  const value = exactInteger(BigInt(json));
  return fits(value, { kind: "int", bits: 64, signed: true }) ? value : undefined;
}

/** A Boolean counts as 1 or 0 where `json_get_int` and `json_get_float` ask for a number, as in other servers of the interface. */
const orFlag =
  (read: (json: string, kind: JsonKind) => Value) =>
  (json: string, kind: JsonKind): Value =>
    kind === "boolean" ? Number(json === "true") : read(json, kind);

const floatOf = (json: string, kind: JsonKind): Value => (kind === "number" ? Number(json) : undefined);
const booleanOf = (json: string, kind: JsonKind): Value => (kind === "boolean" ? json === "true" : undefined);

/** Any scalar as text; NULL for null, arrays and objects. */
function scalarText(json: string, kind: JsonKind): Value {
  if (kind === "string") return stringOf(json);
  return kind === "number" || kind === "boolean" ? json : undefined;
}

/** `json_get`: text, or the type of the NULL that is its third argument. What has no value of that type is NULL. */
function anyValue(args: readonly Value[], { type }: FunctionCall): Value {
  const [json, path] = args;
  if (json === undefined || path === undefined) return undefined;
  const found = firstAt(documentOf(json, type.args[0]), textOf(path));
  if (found === undefined) return undefined;
  const kind = jsonKind(found);
  switch (type.result.kind) {
    case "int": {
      const integer = integerOf(found, kind);
      return integer !== undefined && fits(integer as number | bigint, type.result) ? integer : undefined;
    }
    case "float": {
      const number = floatOf(found, kind);
      return number !== undefined && type.result.bits === 32 ? Math.fround(Number(number)) : number;
    }
    case "boolean":
      return booleanOf(found, kind);
    default:
      return kind === "array" || kind === "object" ? found : scalarText(found, kind);
  }
}

/** Whether `json_get` can give values of a type. */
export function isJsonScalar(type: DataType): boolean {
  return ["int", "float", "boolean"].includes(type.kind);
}

const anyValueType: ScalarFunction["resolve"] = ([json, path, wanted, ...rest]) => {
  if (rest.length > 0 || !isDocument(json) || (path?.kind !== "string" && path?.kind !== "null")) return undefined;
  if (wanted === undefined || wanted.kind === "null" || wanted.kind === "string") {
    return { args: wanted === undefined ? [json, STRING] : [json, STRING, wanted], result: STRING };
  }
  return isJsonScalar(wanted) ? { args: [json, STRING, wanted], result: wanted } : undefined;
};

function kindTest(name: string, test: (kind: JsonKind, json: string) => boolean): ScalarFunction {
  return strict(`${name}(json)`, ofDocument(BOOLEAN), ([json], { type }) => {
    const document = documentOf(json, type.args[0]);
    return test(jsonKind(document), document);
  });
}

/** `json_object`: keys sorted, of equal keys the last. */
function makeObject(args: readonly Value[], { type }: FunctionCall): string {
  if (args.length % 2 !== 0) {
    throw executionError(`json_object expects (key, value) argument pairs, got ${args.length} arguments`);
  }
  const members: string[] = [];
  for (let i = 0; i < args.length; i += 2) {
    const key = args[i];
    if (key === undefined) throw executionError("json_object does not allow NULL keys");
    if (typeof key !== "string") throw executionError(`json_object keys are texts, got ${arrowName(type.args[i] as DataType)}`);
    members.push(`${JSON.stringify(key)}:${memberText(args[i + 1], type.args[i + 1])}`);
  }
  return toJson(`{${members.join(",")}}`);
}

function memberText(value: Value, type: DataType = { kind: "null" }): string {
  if (value === undefined) return "null";
  switch (type.kind) {
    case "string":
      return JSON.stringify(value);
    case "json":
      return textOf(value);
    case "boolean":
    case "int":
      return textOf(value);
    case "float": {
      const number = type.bits === 32 ? shortestFloat32(Number(value)) : Number(value);
      if (!Number.isFinite(number)) throw executionError(`json_object cannot hold ${floatText(number)}: JSON has no such number`);
      return floatText(number);
    }
    default:
      throw executionError(`json_object does not support values of type ${arrowName(type)}; cast the value to a string`);
  }
}

/** The functions of this file. */
export const JSON_FUNCTIONS: readonly ScalarFunction[] = [
  strict("parse_json(text)", typed(["text"], JSON_TYPE), ([text]) => toJson(textOf(text))),
  strict("json_to_string(json)", ofDocument(STRING), ([json], { type }) => documentOf(json, type.args[0])),
  getter("json_get_int", INT64, orFlag(integerOf)),
  getter("json_get_float", FLOAT64, orFlag(floatOf)),
  getter("json_get_string", STRING, scalarText),
  getter("json_get_bool", BOOLEAN, booleanOf),
  strict("json_object_keys(json[, path])", keysType, objectKeys),
  getter("json_get_object", JSON_TYPE, (json, kind) => (kind === "object" || kind === "array" ? json : undefined)),
  lenient("json_get(json, path[, NULL::type])", anyValueType, anyValue),
  kindTest("json_is_null", (kind) => kind === "null"),
  kindTest("json_is_int", (kind, json) => integerOf(json, kind) !== undefined),
  kindTest("json_is_float", (kind) => kind === "number"),
  kindTest("json_is_string", (kind) => kind === "string"),
  kindTest("json_is_bool", (kind) => kind === "boolean"),
  kindTest("json_is_array", (kind) => kind === "array"),
  kindTest("json_is_object", (kind) => kind === "object"),
  lenient("json_object(key, value, …)", (args) => ({ args, result: JSON_TYPE }), makeObject),
  strict("json_path_exists(json, path)", ofDocumentAndText(BOOLEAN), ([json, path], { type }) => {
    const read = jsonPathOf(textOf(path));
    const document = documentOf(json, type.args[0]);
    return read.kind === "path" ? selectJson(document, read).length > 0 : jsonHolds(document, read) !== undefined;
  }),
  strict("json_path_match(json, condition)", ofDocumentAndText(BOOLEAN), ([json, condition], { type }) => {
    const document = documentOf(json, type.args[0]);
    return document === "null" ? undefined : jsonHolds(document, jsonConditionOf(textOf(condition)));
  }),
];
