/**
 * Spellings of aggregates that become plain calls:
 *
 *   group_concat(a, b ORDER BY c SEPARATOR ';')        group_concat(a || b, ';' ORDER BY c)
 *   listagg(a, ';') WITHIN GROUP (ORDER BY c)          string_agg(a, ';' ORDER BY c)
 *   mode() WITHIN GROUP (ORDER BY a)                   mode(a), with DESC mode(a, true)
 *   percentile_cont(p) WITHIN GROUP (ORDER BY a)       percentile_cont(a, p), with DESC percentile_cont(a, 1 - p)
 */
import { STRING } from "../../../../column/data-type.ts";
import type { Expression, OrderItem, Span } from "../../syntax/ast.ts";

/** Where the portion stands among the arguments of aggregates that take `WITHIN GROUP (ORDER BY value)`. */
const PORTION_AT: Readonly<Record<string, number>> = {
  percentile_cont: 0,
  quantile_cont: 0,
  approx_percentile_cont: 0,
  approx_percentile_cont_with_weight: 1,
};

/** What a call becomes. */
export interface Spelled {
  readonly name: string;
  readonly args: readonly Expression[];
  readonly orderBy: readonly OrderItem[];
}

/** A call with WITHIN GROUP; undefined where that does not go with it. */
export function withinGroup(name: string, args: readonly Expression[], order: readonly OrderItem[], span: Span): Spelled | undefined {
  if (name === "listagg" || name === "string_agg") {
    const [text, separator, ...rest] = args;
    if (text === undefined || rest.length > 0) return undefined;
    return { name: "string_agg", args: [text, separator ?? { kind: "string", value: "", span }], orderBy: order };
  }
  const [item, ...rest] = order;
  if (item === undefined || rest.length > 0) return undefined;
  if (name === "mode") {
    if (args.length > 0) return undefined;
    return { name, args: [item.expression, ...(item.descending ? [{ kind: "boolean", value: true, span } as const] : [])], orderBy: [] };
  }
  const at = Object.hasOwn(PORTION_AT, name) ? PORTION_AT[name] : undefined;
  const portion = at === undefined ? undefined : args[at];
  if (portion === undefined) return undefined;
  const left: Expression = { kind: "number", text: "1", span: portion.span };
  const turned: Expression = item.descending ? { kind: "binary", operator: "-", left, right: portion, span: portion.span } : portion;
  return { name, args: [item.expression, ...args.map((argument, i) => (i === at ? turned : argument))], orderBy: [] };
}

/** The arguments of `group_concat`: one text, NULL where a part is, and the separator. */
export function groupConcatArguments(args: readonly Expression[], separator: string, span: Span): readonly Expression[] {
  const asText = (operand: Expression): Expression => ({ kind: "cast", operand, type: STRING, safe: false, span: operand.span });
  const [first, ...rest] = args;
  const whole = rest.reduce<Expression | undefined>(
    (left, right) => left && { kind: "binary", operator: "||", left, right: asText(right), span },
    first === undefined || rest.length === 0 ? first : asText(first),
  );
  return [...(whole === undefined ? [] : [whole]), { kind: "string", value: separator, span }];
}

/** Names of the arguments of `make_interval`, in order. */
const INTERVAL_PARTS: readonly string[] = ["years", "months", "weeks", "days", "hours", "mins", "secs"];

/** Arguments in the order of a function's own, where `make_interval(days => 3)` names them; undefined for a name that it has not. */
export function namedArguments(
  name: string,
  args: readonly Expression[],
  labels: readonly (string | undefined)[],
  span: Span,
): readonly Expression[] | undefined {
  if (labels.every((label) => label === undefined)) return args;
  if (name !== "make_interval") return undefined;
  const given: (Expression | undefined)[] = [];
  for (const [i, argument] of args.entries()) {
    const label = labels[i];
    const at = label === undefined ? i : INTERVAL_PARTS.indexOf(label.toLowerCase());
    if (at < 0 || given[at] !== undefined || (label === undefined && labels.slice(0, i).some((before) => before !== undefined)))
      return undefined;
    given[at] = argument;
  }
  return Array.from(given, (argument) => argument ?? { kind: "number", text: "0", span });
}
