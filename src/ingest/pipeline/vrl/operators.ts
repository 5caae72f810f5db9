/** Operators of VRL on values. */
import { kindOf, floatValue, intValue, isObject, PipelineTime, type PipelineValue, timeIn, WholeFloat } from "../../common/value.ts";
import { orderHolds } from "../../../value/order-holds.ts";
import { plainText } from "../json/json-text.ts";
import { executeError, kindName } from "./node.ts";

/** Longest text that a program may make in characters. */
const TEXT_CHARACTERS_MAX = 16 * 1024 * 1024;

/** The text, unless it is too long. @throws DbError InvalidArguments */
export function boundedText(text: string): string {
  if (text.length > TEXT_CHARACTERS_MAX) throw executeError(`a text gets longer than ${TEXT_CHARACTERS_MAX} characters`);
  return text;
}

/** The number of an int or float; bigint for ints. */
function numberOf(value: PipelineValue): number | bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return kindOf(value) === "int" ? BigInt(value) : value;
  return value instanceof WholeFloat ? value.value : undefined;
}

/** The float of an int or float. */
export function floatOf(value: PipelineValue): number | undefined {
  const number = numberOf(value);
  return number === undefined ? undefined : Number(number);
}

function wrapped(value: bigint): PipelineValue {
  return intValue(BigInt.asIntN(64, value));
}

/** `+ - * /` @throws DbError InvalidArguments */
export function arithmetic(operator: string, left: PipelineValue, right: PipelineValue): PipelineValue {
  if (operator === "+") {
    if (typeof left === "string" || typeof right === "string") {
      const isFine = (value: PipelineValue): boolean => typeof value === "string" || value === null;
      if (isFine(left) && isFine(right))
        return boundedText(`${left === null ? "" : plainText(left)}${right === null ? "" : plainText(right)}`);
    }
  }
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a === undefined || b === undefined) {
    throw executeError(`cannot compute ${kindName(left)} ${operator} ${kindName(right)}`);
  }
  if (operator === "/") {
    if (Number(b) === 0) throw executeError("cannot divide by zero");
    return floatValue(Number(a) / Number(b));
  }
  if (typeof a === "bigint" && typeof b === "bigint") return wrapped(operator === "+" ? a + b : operator === "-" ? a - b : a * b);
  const [x, y] = [Number(a), Number(b)];
  return floatValue(operator === "+" ? x + y : operator === "-" ? x - y : x * y);
}

/** Whether two values are equal: numbers by value, containers by what is in them. */
export function isEqual(left: PipelineValue, right: PipelineValue): boolean {
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== undefined && b !== undefined) return typeof a === typeof b ? a === b : Number(a) === Number(b);
  if (left instanceof PipelineTime && right instanceof PipelineTime) return timeIn(left, "nanosecond") === timeIn(right, "nanosecond");
  if (Array.isArray(left) && Array.isArray(right)) return left.length === right.length && left.every((item, i) => isEqual(item, right[i]));
  if (isObject(left) && isObject(right)) {
    const keys = Object.keys(left);
    return keys.length === Object.keys(right).length && keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key], right[key]));
  }
  return (left ?? null) === (right ?? null);
}

/** `< <= > >=` @throws DbError InvalidArguments */
export function isOrdered(operator: "<" | "<=" | ">" | ">=", left: PipelineValue, right: PipelineValue): boolean {
  const order = orderOf(left, right);
  if (order === undefined) throw executeError(`cannot compare ${kindName(left)} ${operator} ${kindName(right)}`);
  return orderHolds(operator, order);
}

function orderOf(left: PipelineValue, right: PipelineValue): number | undefined {
  const [a, b] = [comparable(left), comparable(right)];
  if (a === undefined || b === undefined || (typeof a === "string") !== (typeof b === "string")) return undefined;
  if (left instanceof PipelineTime !== right instanceof PipelineTime) return undefined;
  return a < b ? -1 : a > b ? 1 : a === b || Number(a) === Number(b) ? 0 : Number.NaN;
}

function comparable(value: PipelineValue): string | number | bigint | undefined {
  if (typeof value === "string") return value;
  return value instanceof PipelineTime ? timeIn(value, "nanosecond") : numberOf(value);
}

/** Whether a value counts as a condition. @throws DbError InvalidArguments when it is no boolean */
export function condition(value: PipelineValue): boolean {
  if (typeof value !== "boolean") throw executeError(`a condition must be a boolean, but is ${kindName(value)}`);
  return value;
}
