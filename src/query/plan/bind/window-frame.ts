/** Frames of window calls: defaults, checks, and how far RANGE reaches. */
import { DATE, displayName, INT64, INTERVAL } from "../../../column/data-type.ts";
import { isInterval, textOf } from "../../function/value/value.ts";
import type { FrameClause, FrameEdge } from "../../sql/syntax/ast.ts";
import { type Binder, bind } from "./bind.ts";
import { arithmeticOf, castTo, unify } from "./coerce.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import type { FrameBound, WindowFrame } from "../../operator/window/node.ts";
import type { SortItem } from "../../operator/node-parts/sort-item.ts";
import { planError } from "./plan-error.ts";

/** Most rows or groups that a frame may reach away from its row: more than there can be. */
const STEPS_MAX = 2 ** 40;

const ALL_ROWS: WindowFrame = { unit: "rows", start: { kind: "unbounded" }, end: { kind: "unbounded" } };
const UP_TO_PEERS: WindowFrame = { unit: "range", start: { kind: "unbounded" }, end: { kind: "current" } };

/**
 * The frame of a clause; without one, the whole partition, or with an order all rows up to the peers of the current one.
 *
 * @param binder binds distances, which are constants
 */
export function frameOf(clause: FrameClause | undefined, orderBy: readonly SortItem[], binder: Binder): WindowFrame {
  if (clause === undefined) return orderBy.length === 0 ? ALL_ROWS : UP_TO_PEERS;
  if (placeOf(clause.start, -2) > placeOf(clause.end, 2)) throw planError("a window frame must not end before it begins");
  if (clause.unit === "groups" && orderBy.length === 0) throw planError("GROUPS needs an ORDER BY in the window");
  const bound = (edge: FrameEdge): FrameBound => {
    if (edge.kind !== "offset") return edge;
    const sign = edge.direction === "preceding" ? -1 : 1;
    const offset = constant(edge, binder);
    return clause.unit === "range"
      ? valueBound(offset, sign, orderBy, binder)
      : { kind: "steps", steps: sign * stepsOf(offset, clause.unit) };
  };
  return { unit: clause.unit, start: bound(clause.start), end: bound(clause.end) };
}

/** Where an edge lies, whatever its distance: before the current row (negative), at it, or behind it. */
function placeOf(edge: FrameEdge, unbounded: number): number {
  if (edge.kind === "offset") return edge.direction === "preceding" ? -1 : 1;
  return edge.kind === "unbounded" ? unbounded : 0;
}

type Literal = Extract<TypedExpression, { kind: "literal" }>;

function constant(edge: Extract<FrameEdge, { kind: "offset" }>, { environment }: Binder): Literal {
  const bound = bind(edge.offset, { scope: [], environment });
  if (bound.kind !== "literal" || bound.value === undefined)
    throw planError("a distance of a window frame must be a constant that is not NULL");
  return bound;
}

function stepsOf({ type, value }: Literal, unit: FrameClause["unit"]): number {
  if (type.kind !== "int") throw planError(`a distance of ${unit.toUpperCase()} must be a whole number, not ${displayName(type)}`);
  if (Number(value) < 0) throw planError(`a distance of a window frame must not be negative; got ${textOf(value)}`);
  return Math.min(Number(value), STEPS_MAX);
}

/** The value of the order's key at which a frame begins or ends, from each row's own. */
function valueBound(offset: Literal, sign: 1 | -1, orderBy: readonly SortItem[], { environment }: Binder): FrameBound {
  const [item] = orderBy;
  if (item === undefined || orderBy.length !== 1) throw planError("RANGE with a distance needs an ORDER BY of exactly one expression");
  const key = exactKey(item.expression, environment);
  const distance = key.isTime && offset.type.kind === "string" ? castTo(offset, INTERVAL, environment) : offset;
  if (key.isTime && distance.type.kind !== "interval" && distance.type.kind !== "duration")
    throw planError(`RANGE over times needs an interval such as INTERVAL '5 minutes', not ${displayName(distance.type)}`);
  if (isNegative(distance)) throw planError("a distance of a window frame must not be negative");
  // In a descending order larger values precede.
  const operator = (sign === 1) === item.descending ? "-" : "+";
  const [own, value] = unify([key.expression, arithmeticOf(operator, key.expression, distance, environment)], "RANGE", environment);
  if (own === undefined || value === undefined) throw planError("RANGE needs a key");
  return { kind: "value", key: own, value };
}

/** The key with room for a distance below or above it. */
function exactKey(
  expression: TypedExpression,
  environment: Binder["environment"],
): { readonly expression: TypedExpression; readonly isTime: boolean } {
  const { type } = expression;
  switch (type.kind) {
    case "int": {
      // Below the least unsigned number there is no room.
      if (type.signed) return { expression: type.bits === 64 ? expression : castTo(expression, INT64, environment), isTime: false };
      const wide = type.bits === 64 ? ({ kind: "decimal", precision: 20, scale: 0 } as const) : INT64;
      return { expression: castTo(expression, wide, environment), isTime: false };
    }
    case "float":
    case "decimal":
      return { expression, isTime: false };
    case "timestamp":
    case "duration":
      return { expression, isTime: true };
    case "date":
      return { expression: castTo(expression, DATE, environment), isTime: true };
    default:
      throw planError(`RANGE with a distance needs an ORDER BY of numbers or times, not of ${displayName(type)}`);
  }
}

function isNegative(distance: TypedExpression): boolean {
  if (distance.kind !== "literal" || distance.value === undefined) return false;
  const { value } = distance;
  if (isInterval(value)) return value.months < 0 || value.days < 0 || value.nanos < 0n;
  return Number(value) < 0;
}
