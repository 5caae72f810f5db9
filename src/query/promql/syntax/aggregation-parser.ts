/**
 * `sum by (job) (x)`, `topk(3, x) without (pod)`.
 */
import { type Aggregator, AGGREGATORS } from "./operators.ts";
import type { AggregateExpression, Expression, Span } from "./ast.ts";
import { Refusal } from "./refusal.ts";
import { labelList } from "./selector-parser.ts";
import type { Place, TokenStream } from "./token-stream.ts";

const AGGREGATION: Place = { where: "aggregation", expected: "" };

/** How series are put together. */
interface Grouping {
  readonly labels: readonly string[];
  readonly isWithout: boolean;
}

/** Whether what follows the name of an aggregation makes it one; it may also be the name of a metric. */
export function isAggregation(tokens: TokenStream): boolean {
  const { kind } = tokens.peek();
  return kind === "(" || kind === "by" || kind === "without";
}

/**
 * @param name the token of the aggregation, which was read
 * @param args parses arguments in parentheses
 * @throws Refusal
 */
export function aggregateExpression(
  tokens: TokenStream,
  name: Span & { readonly kind: Aggregator },
  args: (place: Place) => readonly Expression[],
): AggregateExpression {
  const before = groupingIn(tokens);
  const list = args(AGGREGATION);
  const grouping = before ?? groupingIn(tokens);
  const end = grouping === undefined ? tokens.closingBefore() : tokens.lastClosing;
  const span: Span = { start: name.start, end };
  if (list.length === 0) throw new Refusal("no arguments for aggregate expression provided", span);
  const expected = AGGREGATORS[name.kind] === undefined ? 1 : 2;
  const [first, second] = list;
  const expression = expected === 1 ? first : second;
  if (list.length !== expected || expression === undefined)
    throw new Refusal(`wrong number of arguments for aggregate expression provided, expected ${expected}, got ${list.length}`, span);
  return {
    kind: "AggregateExpression",
    operator: name.kind,
    expression,
    parameter: expected === 2 ? first : undefined,
    grouping: grouping?.labels ?? [],
    isWithout: grouping?.isWithout ?? false,
    valueType: "vector",
    span,
  };
}

function groupingIn(tokens: TokenStream): Grouping | undefined {
  const { kind } = tokens.peek();
  if (kind !== "by" && kind !== "without") return undefined;
  tokens.next();
  return { labels: labelList(tokens), isWithout: kind === "without" };
}
