/**
 * Functions that read `pg_catalog` by number, as clients of PostgreSQL call them: names of numbers and numbers of names, definitions,
 * comments, sizes. On connections of PostgreSQL the environment has `objects`; elsewhere nothing is known of a number, and casts to names
 * are refused.
 *
 *   x::regclass            regclass(x): the number of a name; a number stays as it is
 *   x::regclass::text      regclassout(x): the name of a number
 *   to_regclass('t')       the number, or NULL where there is none
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { BOOLEAN, type DataType, INT64, STRING } from "../../../column/data-type.ts";
import { declaredType, NUMBERED_KINDS, type NumberedKind } from "../../postgres-types.ts";
import type { CatalogText, Environment, NumberedObjects } from "../signature/environment.ts";
import { alias, type FunctionCall, lenient, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { typed } from "../signature/signature.ts";
import { textOf, type Value } from "../value/value.ts";

const OPTIONS = { volatility: "stable", readsCatalog: true } as const;

/** What the environment knows by number. @throws DbError Unsupported where that is nothing */
function objectsOf({ objects }: Environment): NumberedObjects {
  if (objects !== undefined) return objects;
  throw new DbError(StatusCode.Unsupported, "Not supported: numbers of pg_catalog; only connections of PostgreSQL have them");
}

const WORDS: Readonly<Record<NumberedKind, string>> = {
  regclass: "relation",
  regtype: "type",
  regproc: "function",
  regprocedure: "function",
  regoper: "operator",
  regoperator: "operator",
  regnamespace: "schema",
  regrole: "role",
  regcollation: "collation",
  regconfig: "text search configuration",
  regdictionary: "text search dictionary",
};

/** Codes of what does not exist, which clients tell apart. */
const MISSING: Readonly<Partial<Record<NumberedKind, StatusCode>>> = {
  regclass: StatusCode.TableNotFound,
  regnamespace: StatusCode.DatabaseNotFound,
};

const isWhole = (type: DataType | undefined): boolean => type?.kind === "int" || type?.kind === "null";

/** A name or a number → a number. */
const nameOrNumber: ScalarFunction["resolve"] = ([value, ...rest]) => {
  if (rest.length > 0 || value === undefined) return undefined;
  if (value.kind === "int") return { args: [INT64], result: INT64 };
  return value.kind === "string" || value.kind === "null" ? { args: [STRING], result: INT64 } : undefined;
};

const numberToText: ScalarFunction["resolve"] = ([value, ...rest]) =>
  rest.length === 0 && isWhole(value) ? { args: [INT64], result: STRING } : undefined;

const DIGITS = /^\d{1,10}$/;

/** The number that a text says, or that has this name; undefined: none. */
function numberIn(kind: NumberedKind, text: string, objects: NumberedObjects): number | undefined {
  return DIGITS.test(text) ? Number(text) : text === "-" ? 0 : objects.numberOf(kind, text);
}

function requiredNumber(kind: NumberedKind, text: string, environment: Environment): number {
  const number = numberIn(kind, text, objectsOf(environment));
  if (number !== undefined) return number;
  throw new DbError(MISSING[kind] ?? StatusCode.EngineExecuteQuery, `${WORDS[kind]} "${text.slice(0, 200)}" does not exist`);
}

const NUMBERED: readonly ScalarFunction[] = NUMBERED_KINDS.flatMap((kind) => [
  strict(
    `${kind}(name)`,
    nameOrNumber,
    ([value], { environment }) => (typeof value === "string" ? requiredNumber(kind, value, environment) : value),
    OPTIONS,
  ),
  strict(
    `${kind}out(number)`,
    numberToText,
    ([oid], { environment }) => (Number(oid) === 0 ? "-" : (objectsOf(environment).nameOf(kind, Number(oid)) ?? String(Number(oid)))),
    OPTIONS,
  ),
  strict(
    `to_${kind}(name)`,
    typed(["string"], INT64),
    ([name], { environment }) => numberIn(kind, textOf(name), objectsOf(environment)),
    OPTIONS,
  ),
]);

/** Between `countMin` and `countMax` arguments: a number, or the name of a relation, and others that change nothing. */
function ofObject(countMin: number, countMax: number, result: DataType): ScalarFunction["resolve"] {
  return (args) => {
    const [object, ...rest] = args;
    if (object === undefined || args.length < countMin || args.length > countMax) return undefined;
    if (isWhole(object)) return { args: [INT64, ...rest], result };
    return object.kind === "string" ? { args: [STRING, ...rest], result } : undefined;
  };
}

/** The number that the first argument says. */
const objectIn = (value: Value, { environment }: FunctionCall): number =>
  typeof value === "string" ? requiredNumber("regclass", value, environment) : Number(value);

/** A text about a number. */
function text(signature: string, what: CatalogText, countMax: number, countMin = 1): ScalarFunction {
  const evaluate: ScalarFunction["evaluate"] = ([object], call) =>
    object === undefined ? undefined : call.environment.objects?.textOf(what, objectIn(object, call), 0);
  return lenient(signature, ofObject(countMin, countMax, STRING), evaluate, OPTIONS);
}

const partOf: ScalarFunction["resolve"] = ([object, part, ...rest]) =>
  rest.length === 0 && isWhole(object) && isWhole(part) ? { args: [INT64, INT64], result: STRING } : undefined;

/** The whole of an index, or one of its columns. */
const indexType: ScalarFunction["resolve"] = ([index, column, pretty, ...rest]) => {
  if (rest.length > 0 || !isWhole(index)) return undefined;
  if (column === undefined) return { args: [INT64], result: STRING };
  return isWhole(column) ? { args: [INT64, INT64, ...(pretty === undefined ? [] : [pretty])], result: STRING } : undefined;
};

const formatType: ScalarFunction["resolve"] = (args) =>
  args.length >= 1 && args.length <= 2 && args.every(isWhole) ? { args: args.map(() => INT64), result: STRING } : undefined;

/** Bytes of a relation. */
function size(name: string, countMax = 1): ScalarFunction {
  const evaluate = ([object]: readonly Value[], call: FunctionCall): Value => call.environment.objects?.bytesOf(objectIn(object, call));
  return strict(`${name}(relation)`, ofObject(1, countMax, INT64), evaluate, OPTIONS);
}

/** The functions of this file. */
export const POSTGRES_CATALOG_FUNCTIONS: readonly ScalarFunction[] = [
  ...NUMBERED,
  lenient("format_type(oid[, modifier])", formatType, ([oid, modifier]) =>
    oid === undefined ? undefined : Number(oid) === 0 ? "-" : declaredType(Number(oid), Number(modifier ?? -1)),
  ),
  text("obj_description(oid[, catalog])", "comment", 2),
  text("shobj_description(oid, catalog)", "comment", 2),
  strict(
    "col_description(relation, column)",
    partOf,
    ([oid, part], { environment }) => environment.objects?.textOf("comment", Number(oid), Number(part)),
    OPTIONS,
  ),
  strict(
    "pg_table_is_visible(relation)",
    ofObject(1, 1, BOOLEAN),
    ([object], call) => (call.environment.objects === undefined ? true : call.environment.objects.isVisible(objectIn(object, call))),
    OPTIONS,
  ),
  text("pg_get_viewdef(view[, pretty])", "view", 2),
  strict(
    "pg_get_indexdef(index[, column, pretty])",
    indexType,
    ([oid, part = 0], { environment }) => environment.objects?.textOf("index", Number(oid), Number(part)),
    OPTIONS,
  ),
  text("pg_get_constraintdef(constraint[, pretty])", "constraint", 2),
  text("pg_get_functiondef(function)", "function", 1),
  text("pg_get_function_result(function)", "function-result", 1),
  text("pg_get_function_arguments(function)", "function-arguments", 1),
  alias("pg_get_function_identity_arguments", text("pg_get_function_arguments(function)", "function-arguments", 1)),
  size("pg_relation_size", 2),
  size("pg_table_size"),
  size("pg_total_relation_size"),
  strict("pg_database_size(database)", ofObject(1, 1, INT64), (_, { environment }) => environment.objects?.allBytes(), OPTIONS),
  strict(
    "pg_tablespace_size(tablespace)",
    ofObject(1, 1, INT64),
    ([which], { environment }) => (which === 1664 || which === "pg_global" ? 0 : environment.objects?.allBytes()),
    OPTIONS,
  ),
];
