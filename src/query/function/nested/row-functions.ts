/**
 * Functions of PostgreSQL whose results are rows: lists here, which `unnest` makes rows of where they are called
 * (`sql/syntax/call-name.ts` has their names). Rows of several columns are lists of structs.
 */
import { type DataType, INT32, INT64, STRING } from "../../../column/data-type.ts";
import { RESERVED } from "../../sql/syntax/keywords.ts";
import { textOf, type Value } from "../value/value.ts";
import { type FunctionCall, lenient, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { isString } from "../signature/signature.ts";
import { elementsAt, elementType, firstSubscript, listOf, nestedOf, resultOf } from "./parts.ts";

type Struct = Extract<DataType, { kind: "struct" }>;

/** A struct of fields by their names. */
function struct(fields: Readonly<Record<string, DataType>>): Struct {
  return { kind: "struct", fields: Object.entries(fields).map(([name, type]) => ({ name, type })) };
}

/** The numbers of the elements of a list, from 1 on; of a vector of the catalogue from 0 on. */
const subscripts = (list: readonly Value[], type: DataType | undefined): number[] => list.map((_, i) => i + firstSubscript(type));

const subscriptType: ScalarFunction["resolve"] = ([list, dimension, ...rest]) => {
  const good = elementType(list) !== undefined && list !== undefined && (dimension?.kind === "int" || dimension?.kind === "null");
  return good && rest.length <= 1 ? { args: [list, INT64, ...rest], result: listOf(INT64) } : undefined;
};

const expandedType: ScalarFunction["resolve"] = ([list, ...rest]) => {
  const element = elementType(list);
  if (list === undefined || element === undefined || rest.length > 0) return undefined;
  return { args: [list], result: listOf(struct({ x: element, n: INT32 })) };
};

/** Rows of structs of a list. */
function structs(call: FunctionCall, rows: readonly (readonly Value[])[]): Value {
  const type = elementType(call.type.result);
  if (type?.kind !== "struct") throw new Error("rows of several columns are structs");
  return resultOf(
    call,
    rows.map((row) => nestedOf(type, row)),
  );
}

const OPTION = struct({ option_name: STRING, option_value: STRING });
const KEYWORD = struct({ word: STRING, catcode: STRING, catdesc: STRING });
const PARTITION = struct({ relid: INT64, parentrelid: INT64, isleaf: { kind: "boolean" }, level: INT32 });
const GRANT = struct({ grantor: INT64, grantee: INT64, privilege_type: STRING, is_grantable: { kind: "boolean" } });

const ofTexts =
  (result: DataType): ScalarFunction["resolve"] =>
  ([list, ...rest]) =>
    list !== undefined && elementType(list) !== undefined && rest.length === 0 ? { args: [listOf(STRING)], result } : undefined;

const ofNumber =
  (result: DataType): ScalarFunction["resolve"] =>
  ([oid, ...rest]) =>
    (oid?.kind === "int" || oid?.kind === "null") && rest.length === 0 ? { args: [INT64], result } : undefined;

const splitType: ScalarFunction["resolve"] = ([text, separator, missing, ...rest]) =>
  isString(text) && isString(separator) && (missing === undefined || isString(missing)) && rest.length === 0
    ? { args: missing === undefined ? [STRING, STRING] : [STRING, STRING, STRING], result: listOf(STRING) }
    : undefined;

/** `name=value` as its two parts. */
function optionOf(text: Value): readonly Value[] {
  const option = textOf(text ?? "");
  const at = option.indexOf("=");
  return at < 0 ? [option, undefined] : [option.slice(0, at), option.slice(at + 1)];
}

/** The functions of this file. */
export const ROW_FUNCTIONS: readonly ScalarFunction[] = [
  strict("generate_subscripts(list, dimension[, reverse])", subscriptType, (args, call) => {
    const all = Number(args[1]) === 1 ? subscripts(elementsAt(args, call, 0), call.type.args[0]) : [];
    return resultOf(call, args[2] === true ? all.toReversed() : all);
  }),
  strict("_pg_expandarray(list)", expandedType, (args, call) =>
    structs(
      call,
      elementsAt(args, call, 0).map((x, i) => [x, i + 1]),
    ),
  ),
  lenient(
    "row_ordinals_op(list, …)",
    (args) => (args.every((type) => elementType(type) !== undefined) ? { args, result: listOf(INT64) } : undefined),
    (args, call) => {
      const lengths = args.map((list, i) => (list === undefined ? 0 : elementsAt(args, call, i).length));
      return resultOf(
        call,
        Array.from({ length: Math.max(0, ...lengths) }, (_, i) => i + 1),
      );
    },
  ),
  strict("pg_options_to_table(options)", ofTexts(listOf(OPTION)), (args, call) => structs(call, elementsAt(args, call, 0).map(optionOf))),
  // No table of this catalogue has partitions, so that each is its own tree.
  strict("pg_partition_tree(relation)", ofNumber(listOf(PARTITION)), ([oid], call) => structs(call, [[oid, undefined, true, 0]])),
  lenient(
    "pg_get_keywords()",
    (args) => (args.length === 0 ? { args, result: listOf(KEYWORD) } : undefined),
    (_, call) =>
      structs(
        call,
        RESERVED.map((word) => [word.toLowerCase(), "R", "reserved"]),
      ),
  ),
  strict("aclexplode(privileges)", ofTexts(listOf(GRANT)), (_, call) => structs(call, [])),
  lenient("string_to_table(text, separator[, null])", splitType, ([text, separator, missing], call) => {
    if (text === undefined) return undefined;
    const parts = separator === undefined ? [...textOf(text)] : separator === "" ? [text] : textOf(text).split(textOf(separator));
    return resultOf(
      call,
      parts.map((part) => (part === missing ? undefined : part)),
    );
  }),
];
