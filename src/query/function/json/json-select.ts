/**
 * Follows paths through JSON text and tests conditions on it. Steps that do not fit a value find nothing; only `[*]` takes what is no array
 * as its one element. A comparison holds when it holds for any pair of the values that both sides find.
 *
 * Limits: `JSON_WORK_MAX` for one document, since conditions in conditions visit it over and over.
 */
import { executionError } from "../value/execution-error.ts";
import { compareCodePoints } from "../../../column/code-points.ts";
import { orderHolds } from "../../../value/order-holds.ts";
import type { JsonPath, PathCondition, PathIndex, PathOperand, PathOperator, PathStep } from "./json-path.ts";
import { jsonElements, jsonKind, jsonMember, jsonMembers, stringOf } from "./json-slices.ts";

/** Most work of a path on one document: a character read counts 1. About half a second. Error: EngineExecuteQuery. */
const JSON_WORK_MAX = 64 * 1024 * 1024;
/** What a value found costs, and what a condition tested costs, beside the characters. */
const VALUE_WORK = 32;
const CONDITION_WORK = 64;

/** The values that a path finds, in document order, as JSON text. @throws DbError EngineExecuteQuery beyond the limit */
export function selectJson(json: string, path: JsonPath): readonly string[] {
  return new Selection(json).find(path, json);
}

/** Whether a condition holds; undefined when it is a value that is no Boolean. @throws DbError EngineExecuteQuery beyond the limit */
export function jsonHolds(json: string, condition: PathCondition): boolean | undefined {
  const selection = new Selection(json);
  if (condition.kind !== "value") return selection.holds(condition, json);
  const [only, ...more] = selection.operand(condition.operand, json);
  return more.length > 0 || (only !== "true" && only !== "false") ? undefined : only === "true";
}

/** One document under a path, and the work that is left. */
class Selection {
  private readonly root: string;
  private work = JSON_WORK_MAX;

  constructor(root: string) {
    this.root = root;
  }

  find(path: JsonPath, current: string): readonly string[] {
    let values: readonly string[] = [path.from === "root" ? this.root : current];
    for (const step of path.steps) {
      const next: string[] = [];
      for (const value of values) {
        this.spend(value.length);
        for (const found of this.step(step, value)) next.push(found);
        this.spend(VALUE_WORK);
      }
      this.spend(VALUE_WORK * next.length);
      values = next;
    }
    return values;
  }

  operand(operand: PathOperand, current: string): readonly string[] {
    return operand.kind === "path" ? this.find(operand, current) : [operand.json];
  }

  holds(condition: PathCondition, current: string): boolean {
    this.spend(CONDITION_WORK);
    switch (condition.kind) {
      case "and":
        return this.holds(condition.left, current) && this.holds(condition.right, current);
      case "or":
        return this.holds(condition.left, current) || this.holds(condition.right, current);
      case "not":
        return !this.holds(condition.operand, current);
      case "exists":
        return this.find(condition.path, current).length > 0;
      case "starts-with":
        return this.operand(condition.operand, current).some(
          (value) => jsonKind(value) === "string" && stringOf(value).startsWith(condition.prefix),
        );
      case "compare": {
        const left = this.operand(condition.left, current);
        const right = this.operand(condition.right, current);
        this.spend(CONDITION_WORK * left.length * right.length);
        return left.some((a) => right.some((b) => compares(condition.operator, a, b)));
      }
      case "value":
        return this.operand(condition.operand, current).some((value) => value === "true");
    }
  }

  private step(step: PathStep, value: string): readonly string[] {
    const kind = jsonKind(value);
    switch (step.kind) {
      case "key": {
        const member = kind === "object" ? jsonMember(value, step.name) : undefined;
        return member === undefined ? [] : [member];
      }
      case "any-key":
        return kind === "object" ? jsonMembers(value).map((member) => member.value) : [];
      case "any-element":
        return kind === "array" ? jsonElements(value) : [value];
      case "elements":
        return kind === "array" ? this.elements(jsonElements(value), step.ranges) : [];
      case "filter":
        return this.filtered(kind === "array" ? jsonElements(value) : [value], step.condition);
    }
  }

  private elements(all: readonly string[], ranges: Extract<PathStep, { kind: "elements" }>["ranges"]): readonly string[] {
    const found: string[] = [];
    for (const { from, to } of ranges) {
      const part = all.slice(Math.max(positionOf(from, all.length), 0), Math.max(positionOf(to, all.length) + 1, 0));
      this.spend(VALUE_WORK * part.length);
      found.push(...part);
    }
    return found;
  }

  private filtered(values: readonly string[], condition: PathCondition): readonly string[] {
    return values.filter((value) => this.holds(condition, value));
  }

  private spend(work: number): void {
    this.work -= work;
    if (this.work >= 0) return;
    throw executionError("a json path takes too many steps on one document; make it simpler");
  }
}

function positionOf(index: PathIndex, length: number): number {
  return index.fromLast ? length - 1 + index.offset : index.offset;
}

/** Values of two kinds differ and have no order; null differs from everything else. */
function compares(operator: PathOperator, a: string, b: string): boolean {
  const order = orderOf(a, b);
  if (order === undefined) return operator === "!=" && (a === "null") !== (b === "null");
  return orderHolds(operator, order);
}

function orderOf(a: string, b: string): number | undefined {
  const kind = jsonKind(a);
  if (kind !== jsonKind(b)) return undefined;
  switch (kind) {
    case "number": {
      const [x, y] = /[.eE]/.test(a + b) ? [Number(a), Number(b)] : [BigInt(a), BigInt(b)];
      return x < y ? -1 : x > y ? 1 : 0;
    }
    case "string":
      return compareCodePoints(stringOf(a), stringOf(b));
    case "boolean":
      return a === b ? 0 : a === "true" ? 1 : -1;
    case "null":
      return 0;
    default:
      return undefined;
  }
}
