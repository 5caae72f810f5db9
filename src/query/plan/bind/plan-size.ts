/**
 * How much a statement's plan has grown to, in parts: an operator, a column of one, a part of an expression, a constant of a list are one
 * each. A query of WITH, or a view, that is read several times counts as often as it is read, since its rows are computed, and passes
 * over the plan walk through it, that often: twenty of them that each read the one before twice are a million.
 *
 * Parts are counted before they are made, so that a text of some hundred bytes takes no more memory or time than its limit allows.
 */
import { operandsOf, type TypedExpression } from "../../expression/expression.ts";
import { inputsOf, type PlanNode, visitExpressions } from "../../operator/contract/node.ts";
import { planError } from "./plan-error.ts";

/** Most parts of one plan. Reason: each pass over that many takes some ten milliseconds, and a part about 150 B. Error: PlanQuery. */
export const PLAN_PARTS_MAX = 500_000;

/** Bytes of a part, of which the query's memory is counted. */
const PART_BYTES = 150;
/** Parts whose memory is not counted: every plan has some, and a limit of memory is for what rows take. */
const FREE_PARTS = 16_384;
/** Parts whose memory is counted at a time. */
const COUNTED_PARTS = 8192;

/** Counts the parts of one plan. */
export class PlanSize {
  private parts = 0;
  private counted = FREE_PARTS;
  private readonly reserve: (bytes: number) => void;

  /** @param reserve counts memory of the query; what it throws ends the planning */
  constructor(reserve: (bytes: number) => void = () => undefined) {
    this.reserve = reserve;
  }

  /** Counts so many parts more. @throws DbError PlanQuery past the limit, RuntimeResourcesExhausted without memory */
  add(parts: number): void {
    this.parts += parts;
    if (this.parts > PLAN_PARTS_MAX) {
      throw planError(
        `the plan has more than ${PLAN_PARTS_MAX} parts (operators, their columns, parts of expressions; WITH queries and views count ` +
          "as often as they are read); make it of fewer, or keep a part of its rows in a table",
      );
    }
    if (this.parts <= this.counted) return;
    const more = this.parts - this.counted + COUNTED_PARTS;
    this.reserve(more * PART_BYTES);
    this.counted += more;
  }
}

const sizes = new WeakMap<PlanNode, number>();

/** Parts of a plan; one that is read in several places counts in each. Past `PLAN_PARTS_MAX` not exact. */
export function partsOfPlan(node: PlanNode): number {
  const known = sizes.get(node);
  if (known !== undefined) return known;
  let parts = 1 + node.columns.length;
  visitExpressions(node, (expression) => void (parts += partsOfExpression(expression, PLAN_PARTS_MAX)));
  for (const input of inputsOf(node)) parts += partsOfPlan(input);
  parts = Math.min(parts, 2 * PLAN_PARTS_MAX);
  sizes.set(node, parts);
  return parts;
}

function partsOfExpression(expression: TypedExpression, max: number): number {
  let parts = expression.kind === "in-set" ? 1 + expression.values.length : 1;
  for (const operand of operandsOf(expression)) {
    if (parts > max) return parts;
    parts += partsOfExpression(operand, max - parts);
  }
  return parts;
}
