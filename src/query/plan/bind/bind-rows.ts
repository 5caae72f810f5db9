/**
 * Row values: `(a, b) < (1, 2)`, `(a, b) IN ((1, 2), (3, 4))`, `(a, b) IN (SELECT …)`. What is written `(a, b)` is the call `struct(a, b)`
 * to the parser; beside another row it compares part by part, as the standard says: so scans see conditions on plain columns, and NULL in
 * a part makes the answer unknown only where the other parts leave it open.
 *
 *   (a, b) = (x, y)     a = x AND b = y
 *   (a, b) < (x, y)     a < x OR (a = x AND b < y)
 */
import type { ComparisonOperator, Expression, Query, Select } from "../../sql/syntax/ast.ts";
import { plainSelect } from "../../sql/syntax/plain-trees.ts";
import { planError } from "./plan-error.ts";

type Of<K extends Expression["kind"]> = Extract<Expression, { kind: K }>;

/** The parts of a row value; undefined for any other expression. */
function partsOf(expression: Expression): readonly Expression[] | undefined {
  const isRow = expression.kind === "call" && (expression.name === "struct" || expression.name === "row") && expression.args.length > 0;
  return isRow && expression.over === undefined ? expression.args : undefined;
}

const join = (operator: "and" | "or" | ComparisonOperator, left: Expression, right: Expression): Expression => ({
  kind: "binary",
  operator,
  left,
  right,
  span: left.span,
});

/** A comparison of two row values as one of their parts; undefined where one side is none. @throws DbError PlanQuery for unequal lengths */
export function rowComparison(operator: ComparisonOperator, left: Expression, right: Expression): Expression | undefined {
  const [a, b] = [partsOf(left), partsOf(right)];
  return a === undefined || b === undefined ? undefined : comparison(operator, a, b);
}

function comparison(operator: ComparisonOperator, a: readonly Expression[], b: readonly Expression[]): Expression {
  if (a.length !== b.length) throw planError(`a row of ${a.length} values cannot be compared with one of ${b.length}`);
  const pairs = a.flatMap((left, i): readonly (readonly [Expression, Expression])[] => {
    const right = b[i];
    return right === undefined ? [] : [[left, right]];
  });
  const compared = pairs.map(([x, y]) => join(operator, x, y));
  if (operator === "=") return compared.reduce((x, y) => join("and", x, y));
  if (operator === "<>") return compared.reduce((x, y) => join("or", x, y));
  // Of all parts but the last, only those that are unequal decide.
  const strict = operator === "<" || operator === "<=" ? "<" : ">";
  return pairs.reduceRight((rest: Expression | undefined, [x, y]) => {
    if (rest === undefined) return join(operator, x, y);
    return join("or", join(strict, x, y), join("and", join("=", x, y), rest));
  }, undefined) as Expression; // A row has parts.
}

/** `row IN (row, …)` as equalities of parts, one an item; undefined where the operand is no row. */
export function rowsInList({ operand, items, negated }: Of<"in-list">): readonly Expression[] | undefined {
  const parts = partsOf(operand);
  if (parts === undefined) return undefined;
  return items.map((item) => {
    const other = partsOf(item);
    if (other === undefined) throw planError(`IN after a row of ${parts.length} values takes rows, as in (a, b) IN ((1, 2), (3, 4))`);
    return comparison(negated ? "<>" : "=", parts, other);
  });
}

/** `row IN (query)` with the columns of the query as one row; others as they are. */
export function rowInQuery(expression: Of<"in-query">): Of<"in-query"> {
  const parts = partsOf(expression.operand);
  if (parts === undefined || parts.length === 1) return expression;
  return { ...expression, query: rowsOf(expression.query, parts.length) };
}

/** The rows of a query of so many columns, each as one value. */
function rowsOf(query: Query, columnCount: number): Query {
  const { span } = query;
  const columns = Array.from({ length: columnCount }, (_, i) => `c${i}`);
  const args = columns.map((name): Expression => ({ kind: "column", name: [name], quoted: true, span }));
  const row: Expression = { kind: "call", name: "struct", args, star: false, distinct: false, orderBy: [], filter: undefined, span };
  const from: Select["from"] = { kind: "derived", query, lateral: false, alias: { name: "row", columns }, span };
  return plainSelect({ items: [{ kind: "expression", expression: row, alias: undefined }], from, span });
}
