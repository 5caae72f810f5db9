/**
 * What a client sees of numbers that stand for names: a column of the result that is cast to `regclass` and the like shows the name, as
 * PostgreSQL prints it. Inside a query it is the number, which others are compared with.
 */
import { isNumberedKind } from "../postgres-types.ts";
import type { Expression, Query, SelectItem } from "../sql/syntax/ast.ts";

/** The same query, whose rows show names. */
export function withShownNames<Q extends Query>(query: Q): Q {
  switch (query.kind) {
    case "select":
      return query.items.some(isNumbered) ? { ...query, items: query.items.map(shown) } : query;
    case "with": {
      const inner = withShownNames(query.query);
      return inner === query.query ? query : { ...query, query: inner };
    }
    default:
      return query;
  }
}

type Call = Extract<Expression, { kind: "call" }>;

const isNumbered = (item: SelectItem): item is Extract<SelectItem, { kind: "expression" }> & { readonly expression: Call } =>
  item.kind === "expression" && item.expression.kind === "call" && isNumberedKind(item.expression.name);

function shown(item: SelectItem): SelectItem {
  if (!isNumbered(item)) return item;
  const { expression, alias } = item;
  const [of] = expression.args;
  const name = of?.kind === "column" ? of.name.at(-1) : expression.name;
  return { kind: "expression", expression: { ...expression, name: `${expression.name}out`, args: [expression] }, alias: alias ?? name };
}
