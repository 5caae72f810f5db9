/** Random window calls, whose answers do not depend on the order of equal rows. */
import { uniqueOrder } from "./aggregates.ts";
import { leaf } from "./leaves.ts";
import type { Scope } from "./scope.ts";
import { failing, joined, type Kind, op, plain, type Term } from "./term.ts";

const BOUNDS = ["UNBOUNDED PRECEDING", "2 PRECEDING", "1 PRECEDING", "CURRENT ROW", "1 FOLLOWING", "3 FOLLOWING", "UNBOUNDED FOLLOWING"];

/** A frame; `isNumeric`: RANGE may name distances. */
function frame(scope: Scope, isNumeric: boolean): string {
  const { choices } = scope;
  const start = choices.below(BOUNDS.length - 1);
  const end = Math.max(start, 1) + choices.below(BOUNDS.length - Math.max(start, 1));
  const unit = choices.pick(["ROWS", "GROUPS", "RANGE"]);
  const distant = [start, end].some((bound) => [1, 2, 4, 5].includes(bound));
  const checked = unit === "RANGE" && distant && !isNumeric ? "ROWS" : unit;
  return ` ${checked} BETWEEN ${BOUNDS[start] ?? ""} AND ${BOUNDS[end] ?? ""}`;
}

/** A window call; undefined where rows have no key. */
export function windowCall(scope: Scope): Term | undefined {
  const { choices } = scope;
  const unique = uniqueOrder(scope);
  if (unique === undefined) return undefined;
  const by = choices.once(2) ? op("PARTITION BY $1 ", leaf(scope, choices.pick<Kind>(["text", "int", "bool"]))) : plain("");
  const ascending = unique
    .split(", ")
    .map((key) => `${key} NULLS LAST`)
    .join(", ");
  switch (choices.below(5)) {
    case 0: {
      const name = choices.pick(["row_number()", "rank()", "dense_rank()", "percent_rank()", "cume_dist()", "ntile(3)"]);
      return op(`${name} OVER ($1ORDER BY $2, ${ascending})`, by, order(scope, "text"));
    }
    case 1: {
      const name = choices.pick(["rank()", "dense_rank()", "percent_rank()", "cume_dist()"]);
      return op(`${name} OVER ($1ORDER BY $2)`, by, order(scope, choices.pick<Kind>(["int", "float", "time", "text"])));
    }
    case 2: {
      const call = choices.pick(["lag($1)", "lead($1)", "lag($1, 2)", "lead($1, 3)", "lag($1, 0)"]);
      return op(`${call} OVER ($2ORDER BY ${ascending})`, leaf(scope, choices.pick<Kind>(["int", "text", "float"])), by);
    }
    case 3: {
      const call = choices.pick(["first_value($1)", "last_value($1)", "nth_value($1, 2)"]);
      const value = leaf(scope, choices.pick<Kind>(["int", "text", "float", "time"]));
      return op(`${call} OVER ($2ORDER BY $3, ${ascending}${rows(scope)})`, value, by, order(scope, "int"));
    }
    default:
      return aggregateOver(scope, by);
  }
}

/** A frame of rows. */
function rows(scope: Scope): string {
  return frame(scope, false).replace(/ (GROUPS|RANGE) /, " ROWS ");
}

function order(scope: Scope, kind: Kind): Term {
  return op(`$1 ${scope.choices.pick(["ASC NULLS LAST", "DESC NULLS LAST", "ASC NULLS FIRST", "DESC NULLS FIRST"])}`, leaf(scope, kind));
}

/** An aggregate over a frame. Peers come and go together unless the frame is of rows, which then have an order of their own. */
function aggregateOver(scope: Scope, by: Term): Term {
  const { choices } = scope;
  const calls = ["count(*)", "sum($1)", "min($1)", "max($1)", "count($1)", "avg($1)"];
  const value = leaf(scope, choices.pick<Kind>(["int", "float"]));
  const [call, key] = [choices.pick(calls), order(scope, choices.pick<Kind>(["int", "float"]))];
  const within = choices.below(3) === 0 ? "" : frame(scope, true);
  const ascending = (uniqueOrder(scope) ?? "").split(", ").map((name) => plain(`${name} NULLS LAST`));
  const keys = within.startsWith(" ROWS") ? joined([key, ...ascending], ", ") : key;
  return failing(op(`${call} OVER ($2ORDER BY $3${within})`, value, by, keys));
}
