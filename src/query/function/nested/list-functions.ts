/** Functions that make lists, take them apart and change them (contract query.md 2.8). Positions count from 1, from the end from -1. */
import { NESTED_PARTS_MAX } from "../../../base/limits.ts";
import { BOOLEAN, type DataType, FLOAT64, INT64, NULL, UINT64 } from "../../../column/data-type.ts";
import { tooManyParts } from "../../../column/nested.ts";
import { type FunctionCall, lenient, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { isNumeric } from "../signature/signature.ts";
import { compareValues, type Present, textOf, type Value } from "../value/value.ts";
import { executionError } from "../value/execution-error.ts";
import { commonElement, list, listAndNew, named } from "./list-signature.ts";
import { elementsAt, elementType, listOf, partsOf, resultOf } from "./parts.ts";

/** A function from the elements of a list to those of another. */
const changed =
  (change: (elements: Value[], args: readonly Value[]) => readonly Value[]) =>
  (args: readonly Value[], call: FunctionCall): Value =>
    resultOf(call, change(elementsAt(args, call, 0), args));

const itself = (element: DataType): DataType => element;

/** Where position `at` lies among `length` elements, from 0; -1 when nowhere. */
function placeOf(at: Value, length: number): number {
  const index = Number(at);
  const place = index < 0 ? index + length : index - 1;
  return place >= 0 && place < length ? place : -1;
}

/** Elements `[from, to]`, every `stride`th; a bound beyond the list is its end. */
function slice(elements: Value[], [, from, to, stride]: readonly Value[]): readonly Value[] {
  const { length } = elements;
  const step = stride === undefined ? 1 : Number(stride);
  if (step === 0) throw executionError("array_slice got invalid stride: 0, it cannot be 0");
  const [first, last] = [Number(from), Number(to)];
  const start = first < 0 ? Math.max(first + length, 0) : Math.max(first - 1, 0);
  const end = last < 0 ? last + length : Math.min(last, length) - 1;
  if (length === 0 || start >= length || end < 0) return [];
  const picked: Value[] = [];
  if (step > 0) for (let i = start; i <= end; i += step) picked.push(elements[i]);
  else for (let i = start; i >= end; i += step) picked.push(elements[i]);
  return picked;
}

function repeated(value: Value, count: Value): Value[] {
  const times = Math.max(Number(count), 0);
  if (times > NESTED_PARTS_MAX) throw tooManyParts();
  return new Array<Value>(times).fill(value);
}

function resized(elements: Value[], [, size, value]: readonly Value[]): readonly Value[] {
  const wanted = Number(size);
  if (wanted < 0) throw executionError(`array_resize: the size cannot be negative; it was ${wanted}`);
  return wanted <= elements.length ? elements.slice(0, wanted) : [...elements, ...repeated(value, wanted - elements.length)];
}

/** `ASC` or `DESC`, then `NULLS FIRST` or `NULLS LAST`. */
function sorted(elements: Value[], [, direction, nulls]: readonly Value[]): readonly Value[] {
  const way = textOf(direction ?? "ASC").toUpperCase();
  const place = textOf(nulls ?? "NULLS FIRST").toUpperCase();
  if (way !== "ASC" && way !== "DESC") throw executionError(`array_sort takes ASC or DESC, not '${way.slice(0, 40)}'`);
  if (place !== "NULLS FIRST" && place !== "NULLS LAST")
    throw executionError(`array_sort takes NULLS FIRST or NULLS LAST, not '${place.slice(0, 40)}'`);
  const present = elements.filter((element): element is Present => element !== undefined).sort(compareValues);
  if (way === "DESC") present.reverse();
  const missing = new Array<Value>(elements.length - present.length).fill(undefined);
  return place === "NULLS FIRST" ? [...missing, ...present] : [...present, ...missing];
}

const sortType: ScalarFunction["resolve"] = ([first, ...rest]) => {
  const element = elementType(first);
  const good = rest.length <= 2 && rest.every((type) => type.kind === "string" || type.kind === "null");
  return element !== undefined && good ? { args: [listOf(element), ...rest], result: listOf(element) } : undefined;
};

/** The least (-1) or greatest (1) element that is not NULL. */
const extreme =
  (sign: 1 | -1) =>
  (args: readonly Value[], call: FunctionCall): Value => {
    let best: Value;
    for (const element of elementsAt(args, call, 0)) {
      if (element !== undefined && (best === undefined || compareValues(element, best) * sign > 0)) best = element;
    }
    return best;
  };

/** How deep lists lie in a type. */
function depthOf(type: DataType | undefined): number {
  return type?.kind === "list" ? 1 + depthOf(type.element) : 0;
}

/** Lists of any depths, as lists of the deepest: a list among lists of lists is one list of it. */
const concatType: ScalarFunction["resolve"] = (args) => {
  if (args.length === 0 || !args.every((type) => elementType(type) !== undefined)) return undefined;
  const depth = Math.max(1, ...args.map(depthOf));
  const lifted = args.map((type) => {
    let lift = type;
    while (lift.kind !== "null" && depthOf(lift) < depth) lift = listOf(lift);
    return lift.kind === "null" ? NULL : lift;
  });
  const type = commonElement(lifted);
  const result = type?.kind === "list" ? type : listOf(NULL);
  return type && { args: args.map((argument) => (depthOf(argument) < depth && argument.kind !== "null" ? argument : result)), result };
};

/** NULL lists are left out; without any other the result is NULL. */
function concat(args: readonly Value[], call: FunctionCall): Value {
  if (args.every((argument) => argument === undefined)) return undefined;
  const target = call.type.result;
  const all: Value[] = [];
  for (const [i, argument] of args.entries()) {
    const type = call.type.args[i];
    if (argument === undefined || type === undefined) continue;
    if (depthOf(type) < depthOf(target)) all.push(argument);
    else for (const element of partsOf(argument, type)) all.push(element);
  }
  return resultOf(call, all);
}

const flatType: ScalarFunction["resolve"] = (args) => {
  const element = elementType(args[0]);
  if (element === undefined || args.length !== 1) return undefined;
  return { args: [listOf(element)], result: element.kind === "list" ? element : listOf(element) };
};

/** Lists in a list as one list: one level. */
function flatten(args: readonly Value[], call: FunctionCall): Value {
  const elements = elementsAt(args, call, 0);
  const element = elementType(call.type.args[0]);
  return resultOf(call, element?.kind === "list" ? elements.flatMap((inner) => partsOf(inner, element)) : elements);
}

/** Lengths of a list, of its first list, and so on. */
function dimensions(value: Value, type: DataType | undefined): number[] {
  if (type?.kind !== "list" || value === undefined) return [];
  const elements = partsOf(value, type);
  const [first] = elements;
  return [elements.length, ...(first === undefined ? [] : dimensions(first, type.element))];
}

function lengthAt(args: readonly Value[], call: FunctionCall): Value {
  const [value, dimension] = args;
  if (dimension === undefined) return elementsAt(args, call, 0).length;
  const wanted = Number(dimension);
  return wanted < 1 ? undefined : dimensions(value, call.type.args[0])[wanted - 1];
}

/** Elements of lists in lists, all together. */
function deepCount(value: Value, type: DataType | undefined): number {
  const parts = partsOf(value, type);
  if (type?.kind === "map") return parts.length / 2;
  if (type?.kind !== "list" || type.element.kind !== "list") return parts.length;
  return parts.reduce((sum: number, part) => sum + deepCount(part, type.element), 0);
}

function distance(args: readonly Value[], call: FunctionCall): Value {
  const [a, b] = [elementsAt(args, call, 0), elementsAt(args, call, 1)];
  if (a.length !== b.length) throw executionError(`Both arrays must have the same length; they have ${a.length} and ${b.length}`);
  if (a.includes(undefined) || b.includes(undefined)) return undefined;
  return Math.sqrt(a.reduce((sum: number, value, i) => sum + (Number(value) - Number(b[i])) ** 2, 0));
}

const floatLists: ScalarFunction["resolve"] = (args) => {
  const numbers = args.every((type) => {
    const element = elementType(type);
    return element !== undefined && (isNumeric(element) || ["decimal", "null"].includes(element.kind));
  });
  return args.length === 2 && numbers ? { args: [listOf(FLOAT64), listOf(FLOAT64)], result: FLOAT64 } : undefined;
};

const makeType: ScalarFunction["resolve"] = (args) => {
  const element = commonElement(args);
  return element && { args: args.map(() => element), result: listOf(element) };
};

const repeatType: ScalarFunction["resolve"] = ([value, count, ...rest]) =>
  value !== undefined && (count?.kind === "int" || count?.kind === "null") && rest.length === 0
    ? { args: [value, INT64], result: listOf(value) }
    : undefined;

const resizeType: ScalarFunction["resolve"] = ([first, size, value, ...rest]) => {
  const element = elementType(first);
  if (element === undefined || rest.length > 0 || (size?.kind !== "int" && size?.kind !== "null")) return undefined;
  const type = value === undefined ? element : commonElement([element, value]);
  return type && { args: [listOf(type), INT64, ...(value === undefined ? [] : [type])], result: listOf(type) };
};

const countable: ScalarFunction["resolve"] = (args) => {
  const [type] = args;
  if (args.length !== 1 || type === undefined || !["list", "map", "null"].includes(type.kind)) return undefined;
  return { args: [type.kind === "null" ? listOf(NULL) : type], result: UINT64 };
};

/** The functions of this file. */
export const LIST_FUNCTIONS: readonly ScalarFunction[] = [
  ...named("make_array make_list", (name) => lenient(`${name}(value, …)`, makeType, (args, call) => resultOf(call, args))),
  ...named("array_element array_extract list_element list_extract", (name) =>
    strict(`${name}(list, position)`, list(itself, 1), (args, call) => {
      const elements = elementsAt(args, call, 0);
      return elements[placeOf(args[1], elements.length)];
    }),
  ),
  ...named("array_slice list_slice", (name) => strict(`${name}(list, from, to[, stride])`, list(listOf, 3, 2), changed(slice))),
  ...named("array_append list_append array_push_back list_push_back", (name) =>
    lenient(
      `${name}(list, value)`,
      listAndNew(false),
      changed((elements, [, value]) => [...elements, value]),
    ),
  ),
  ...named("array_prepend list_prepend array_push_front list_push_front", (name) =>
    lenient(`${name}(value, list)`, listAndNew(true), (args, call) => resultOf(call, [args[0], ...elementsAt(args, call, 1)])),
  ),
  ...named("array_concat array_cat list_concat list_cat", (name) => lenient(`${name}(list, …)`, concatType, concat)),
  ...named("array_pop_back list_pop_back", (name) =>
    strict(
      `${name}(list)`,
      list(listOf),
      changed((elements) => elements.slice(0, -1)),
    ),
  ),
  ...named("array_pop_front list_pop_front", (name) =>
    strict(
      `${name}(list)`,
      list(listOf),
      changed((elements) => elements.slice(1)),
    ),
  ),
  ...named("array_any_value list_any_value", (name) =>
    strict(`${name}(list)`, list(itself), (args, call) => elementsAt(args, call, 0).find((element) => element !== undefined)),
  ),
  ...named("array_reverse list_reverse", (name) =>
    strict(
      `${name}(list)`,
      list(listOf),
      changed((elements) => elements.reverse()),
    ),
  ),
  ...named("array_sort list_sort", (name) => strict(`${name}(list[, direction[, nulls]])`, sortType, changed(sorted))),
  ...named("array_max list_max", (name) => strict(`${name}(list)`, list(itself), extreme(1))),
  ...named("array_min list_min", (name) => strict(`${name}(list)`, list(itself), extreme(-1))),
  ...named("array_repeat list_repeat", (name) =>
    lenient(`${name}(value, count)`, repeatType, ([value, count], call) =>
      count === undefined ? undefined : resultOf(call, repeated(value, count)),
    ),
  ),
  ...named("array_resize list_resize", (name) =>
    lenient(`${name}(list, size[, value])`, resizeType, (args, call) =>
      args[0] === undefined || args[1] === undefined ? undefined : changed(resized)(args, call),
    ),
  ),
  ...named("flatten array_flatten list_flatten", (name) => strict(`${name}(list of lists)`, flatType, flatten)),
  ...named("array_length list_length", (name) =>
    strict(
      `${name}(list[, dimension])`,
      list(() => UINT64, 1, 0),
      lengthAt,
    ),
  ),
  ...named("array_dims list_dims", (name) =>
    strict(
      `${name}(list)`,
      list(() => listOf(UINT64)),
      ([value], call) => (elementsAt([value], call, 0).length === 0 ? undefined : resultOf(call, dimensions(value, call.type.args[0]))),
    ),
  ),
  ...named("array_ndims list_ndims", (name) =>
    strict(
      `${name}(list)`,
      list(() => UINT64),
      (_, call) => depthOf(call.type.args[0]),
    ),
  ),
  strict("cardinality(list or map)", countable, ([value], call) => deepCount(value, call.type.args[0])),
  ...named("empty array_empty list_empty", (name) =>
    strict(
      `${name}(list)`,
      list(() => BOOLEAN),
      (args, call) => elementsAt(args, call, 0).length === 0,
    ),
  ),
  ...named("array_distance list_distance", (name) => strict(`${name}(list, list)`, floatLists, distance)),
];
