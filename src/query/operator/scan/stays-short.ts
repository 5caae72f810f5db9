/** Which expressions are quick over short values: what is computed once a tag value, where nothing can wait, is one of them. */
import { operandsOf, partsOf, type TypedExpression } from "../../expression/expression.ts";

/** Most parts, and letters of constants. Reason: 256 parts take 50 µs. */
const PARTS_MAX = 256;
const LETTERS_MAX = 4096;

/** Functions whose result is long where a number says so, or whose work is. */
const GROWING: ReadonlySet<string> = new Set(
  (
    "repeat space lpad rpad range generate_series array_repeat list_repeat array_resize list_resize " +
    "h3_grid_disk h3_grid_disk_distances h3_cell_to_children"
  ).split(" "),
);

/** Whether an expression over short values is quick. */
export function staysShort(expression: TypedExpression): boolean {
  return partsOf(expression, PARTS_MAX) < PARTS_MAX && lettersOf(expression) <= LETTERS_MAX;
}

/** Letters of the constants; Infinity where a function may make many. */
function lettersOf(expression: TypedExpression): number {
  if (expression.kind === "call" && GROWING.has(expression.function.name)) return Number.POSITIVE_INFINITY;
  if (expression.kind === "literal") {
    const { value } = expression;
    return typeof value === "string" || value instanceof Uint8Array ? value.length : 0;
  }
  return operandsOf(expression).reduce((sum, operand) => sum + lettersOf(operand), 0);
}
