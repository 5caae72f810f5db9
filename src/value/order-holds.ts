/** Operators that compare, as the languages spell them. */
export type OrderOperator = "=" | "==" | "<>" | "!=" | "<" | "<=" | ">" | ">=";

/** Whether the order of two values is what an operator asks for: negative, 0 or positive; NaN, which has no order, is only unequal. */
export function orderHolds(operator: OrderOperator, order: number): boolean {
  switch (operator) {
    case "=":
    case "==":
      return order === 0;
    case "<>":
    case "!=":
      return order !== 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
  }
}
