/** Functions that look for values in lists, take them out, put others in their places; lists as sets (contract query.md 2.8). */
import { BOOLEAN, type DataType, INT64, UINT64 } from "../../../column/data-type.ts";
import { type FunctionCall, lenient, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { commonType } from "../signature/common-type.ts";
import { type Value, valueKey } from "../value/value.ts";
import { executionError } from "../value/execution-error.ts";
import { listAndElement, list, named, twoLists } from "./list-signature.ts";
import { elementsAt, elementType, listOf, resultOf } from "./parts.ts";

type Evaluate = ScalarFunction["evaluate"];

const toBoolean = (): DataType => BOOLEAN;

/** Whether two values of one type are the same; NULL is NULL. */
const same = (a: Value, b: Value): boolean => valueKey(a) === valueKey(b);

/** Whether a list has a value. NULL is in no list: whether it is one is unknown. */
const has: Evaluate = (args, call) => elementsAt(args, call, 0).some((element) => same(element, args[1]));

const sets = (args: readonly Value[], call: FunctionCall): readonly [Value[], Value[], Set<string>, Set<string>] => {
  const [a, b] = [elementsAt(args, call, 0), elementsAt(args, call, 1)];
  return [a, b, new Set(a.map(valueKey)), new Set(b.map(valueKey))];
};

const hasAll: Evaluate = (args, call) => {
  const [, , a, b] = sets(args, call);
  return b.isSubsetOf(a);
};

const hasAny: Evaluate = (args, call) => {
  const [, , a, b] = sets(args, call);
  return !a.isDisjointFrom(b);
};

/** One of each, in the order in which they come first. */
function distinct(elements: readonly Value[]): Value[] {
  const seen = new Set<string>();
  return elements.filter((element) => {
    const key = valueKey(element);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

const setOperation =
  (combine: (a: Value[], b: Value[], inA: Set<string>, inB: Set<string>) => readonly Value[]): Evaluate =>
  (args, call) =>
    resultOf(call, distinct(combine(...sets(args, call))));

/** The first position of a value from a position on, from 1; NULL when there is none. */
function position(args: readonly Value[], call: FunctionCall): Value {
  const [value, wanted, start] = args;
  if (value === undefined || (args.length > 2 && start === undefined)) return undefined;
  const elements = elementsAt(args, call, 0);
  const from = start === undefined ? 1 : Number(start);
  if (from < 1 || from > elements.length + 1) {
    const why = `start_from out of bounds: ${from}; the list has positions 1 to ${elements.length}`;
    throw executionError(why);
  }
  const found = elements.findIndex((element, i) => i >= from - 1 && same(element, wanted));
  return found < 0 ? undefined : found + 1;
}

const positions: Evaluate = (args, call) => {
  if (args[0] === undefined) return undefined;
  return resultOf(
    call,
    elementsAt(args, call, 0).flatMap((element, i) => (same(element, args[1]) ? [i + 1] : [])),
  );
};

/** Drops, or with `replacement` at that place of the arguments replaces, the first so many elements that equal the second argument. */
const withoutFirst =
  (most: (args: readonly Value[]) => number, replacement?: number): Evaluate =>
  (args, call) => {
    if (args[0] === undefined) return undefined;
    let left = most(args);
    const kept: Value[] = [];
    for (const element of elementsAt(args, call, 0)) {
      if (left > 0 && same(element, args[1])) {
        left--;
        if (replacement !== undefined) kept.push(args[replacement]);
      } else kept.push(element);
    }
    return resultOf(call, kept);
  };

const once = (): number => 1;
const always = (): number => Number.POSITIVE_INFINITY;
const nth =
  (place: number) =>
  (args: readonly Value[]): number =>
    Number(args[place] ?? 0);

/** A list, a value and what takes its place, and with `count` how often. */
const replaceType =
  (count: boolean): ScalarFunction["resolve"] =>
  ([first, from, to, most, ...rest]) => {
    const element = elementType(first);
    if (element === undefined || from === undefined || to === undefined || rest.length > 0) return undefined;
    if (count ? most?.kind !== "int" && most?.kind !== "null" : most !== undefined) return undefined;
    const met = commonType(element, from);
    const type = met && commonType(met, to);
    return type && { args: [listOf(type), type, type, ...(count ? [INT64] : [])], result: listOf(type) };
  };

const zipType: ScalarFunction["resolve"] = (args) => {
  const fields: { readonly name: string; readonly type: DataType }[] = [];
  for (const [i, argument] of args.entries()) {
    const type = elementType(argument);
    if (type === undefined) return undefined;
    fields.push({ name: `c${i}`, type });
  }
  if (fields.length === 0) return undefined;
  return { args: fields.map((field) => listOf(field.type)), result: listOf({ kind: "struct", fields }) };
};

/** Lists side by side as a list of structs; shorter ones end with NULLs. */
const zip: Evaluate = (args, call) => {
  const element = elementType(call.type.result);
  if (element === undefined || args.every((argument) => argument === undefined)) return undefined;
  const lists = args.map((_, i) => elementsAt(args, call, i));
  const length = Math.max(...lists.map((each) => each.length));
  const structCall = { ...call, type: { ...call.type, result: element } };
  const rows = Array.from({ length }, (_, row) =>
    resultOf(
      structCall,
      lists.map((each) => each[row]),
    ),
  );
  return resultOf(call, rows);
};

/** The functions of this file. */
export const LIST_SEARCH_FUNCTIONS: readonly ScalarFunction[] = [
  ...named("array_has list_has array_contains list_contains", (name) => strict(`${name}(list, value)`, listAndElement(toBoolean), has)),
  ...named("array_has_all list_has_all", (name) => strict(`${name}(list, list)`, twoLists(toBoolean), hasAll)),
  ...named("array_has_any list_has_any arrays_overlap", (name) => strict(`${name}(list, list)`, twoLists(toBoolean), hasAny)),
  ...named("array_position list_position array_indexof list_indexof", (name) =>
    lenient(
      `${name}(list, value[, from])`,
      listAndElement(() => UINT64, 1, 0),
      position,
    ),
  ),
  ...named("array_positions list_positions", (name) =>
    lenient(
      `${name}(list, value)`,
      listAndElement(() => listOf(UINT64)),
      positions,
    ),
  ),
  ...named("array_remove list_remove", (name) => strict(`${name}(list, value)`, listAndElement(listOf), withoutFirst(once))),
  ...named("array_remove_n list_remove_n", (name) =>
    strict(`${name}(list, value, count)`, listAndElement(listOf, 1), withoutFirst(nth(2))),
  ),
  ...named("array_remove_all list_remove_all", (name) => strict(`${name}(list, value)`, listAndElement(listOf), withoutFirst(always))),
  ...named("array_replace list_replace", (name) => lenient(`${name}(list, from, to)`, replaceType(false), withoutFirst(once, 2))),
  ...named("array_replace_n list_replace_n", (name) =>
    lenient(`${name}(list, from, to, count)`, replaceType(true), withoutFirst(nth(3), 2)),
  ),
  ...named("array_replace_all list_replace_all", (name) => lenient(`${name}(list, from, to)`, replaceType(false), withoutFirst(always, 2))),
  ...named("array_distinct list_distinct", (name) =>
    strict(`${name}(list)`, list(listOf), (args, call) => resultOf(call, distinct(elementsAt(args, call, 0)))),
  ),
  ...named("array_union list_union", (name) =>
    strict(
      `${name}(list, list)`,
      twoLists(listOf),
      setOperation((a, b) => [...a, ...b]),
    ),
  ),
  ...named("array_intersect list_intersect", (name) =>
    strict(
      `${name}(list, list)`,
      twoLists(listOf),
      setOperation((a, _, __, inB) => a.filter((element) => inB.has(valueKey(element)))),
    ),
  ),
  ...named("array_except list_except", (name) =>
    strict(
      `${name}(list, list)`,
      twoLists(listOf),
      setOperation((a, _, __, inB) => a.filter((element) => !inB.has(valueKey(element)))),
    ),
  ),
  ...named("arrays_zip list_zip", (name) => lenient(`${name}(list, …)`, zipType, zip)),
];
