/** Random aggregate calls. */
import { leaf } from "./leaves.ts";
import { columnsOf, deeper, type Scope } from "./scope.ts";
import { failing, type Kind, op, plain, type Term } from "./term.ts";

/** A call and what it gives; undefined: values to be shown, not used. */
export interface Call {
  readonly term: Term;
  readonly kind: Kind | undefined;
}

/** An order in which no two rows are equal, undefined where there is none. */
export function uniqueOrder({ sources }: Scope): string | undefined {
  const keys = sources.flatMap(({ key }) => key ?? []);
  return sources.every(({ key }) => key !== undefined) && keys.length > 0 ? keys.join(", ") : undefined;
}

/** An aggregate call without FILTER. */
function bare(scope: Scope): Call {
  const { choices } = scope;
  const inner = deeper(scope);
  const one = (kind: Kind): Term => scope.make.expression(inner, kind);
  const distinct = choices.once(5) ? "DISTINCT " : "";
  switch (choices.below(11)) {
    case 0:
      return { term: plain("count(*)"), kind: "int" };
    case 1:
      return { term: failing(op(`sum(${distinct}$1)`, one("int"))), kind: "int" };
    case 2: {
      const kind = choices.pick<Kind>(["int", "text", "float", "time", "date", "decimal"]);
      return { term: op(`${choices.pick(["max", "min"])}($1)`, one(kind)), kind };
    }
    case 3:
      return {
        term: op(`count(${distinct}$1)`, one(choices.pick<Kind>(["int", "text", "float", "time", "bool", "decimal"]))),
        kind: "int",
      };
    case 4:
      return { term: op(`${choices.pick(["sum", "avg"])}(${distinct}$1)`, leaf(scope, "float")), kind: "float" };
    case 5:
      return { term: op("avg($1)", leaf(scope, "int")), kind: "float" };
    case 6:
      return edge(scope);
    case 7:
      return { term: op(`${choices.pick(["bool_and", "bool_or"])}($1)`, one("bool")), kind: "bool" };
    case 8: {
      const name = choices.pick(["stddev", "var_pop", "stddev_pop", "var_samp"]);
      return { term: op(`${name}($1)`, leaf(scope, choices.pick<Kind>(["float", "int"]))), kind: "float" };
    }
    case 9: {
      const name = choices.pick(["bit_and", "bit_or", "bit_xor"]);
      return { term: op(`${name}(CAST($1 AS BIGINT))`, leaf(scope, "int")), kind: "int" };
    }
    default:
      return ordered(scope);
  }
}

/** Aggregates of values at the edge of their type. */
function edge(scope: Scope): Call {
  const { choices } = scope;
  const found = columnsOf({ ...scope, outer: [] }, ({ kind }) => kind === undefined);
  if (found.length === 0) return { term: plain("count(*)"), kind: "int" };
  const column = plain(choices.pick(found).text);
  return { term: op(choices.pick(["max($1)", "min($1)", "count(DISTINCT $1)", "count($1)"]), column), kind: undefined };
}

/** Aggregates that see rows in an order. */
function ordered(scope: Scope): Call {
  const { choices } = scope;
  const order = uniqueOrder(scope);
  if (order === undefined) return { term: plain("count(*)"), kind: "int" };
  const direction = choices.pick(["", " DESC"]);
  if (choices.once(3)) {
    const texts = op(`string_agg($1, '|' ORDER BY ${order})`, leaf(scope, "text"));
    return { term: texts, kind: "text" };
  }
  const kind = choices.pick<Kind>(["int", "text", "float"]);
  const [first, ...rest] = order.split(", ");
  const by = [`${first ?? ""}${direction === "" ? "" : " DESC NULLS FIRST"}`, ...rest].join(", ");
  return { term: op(`${choices.pick(["first_value", "last_value"])}($1 ORDER BY $2)`, leaf(scope, kind), plain(by)), kind };
}

/** An aggregate call, with FILTER now and then. */
export function aggregate(scope: Scope): Call {
  const call = bare(scope);
  if (!scope.choices.once(5)) return call;
  return { ...call, term: op("$1 FILTER (WHERE $2)", call.term, scope.make.condition({ ...deeper(scope), depth: 1 })) };
}
