/** Random queries. */
import { aggregate, uniqueOrder } from "./aggregates.ts";
import type { Choices } from "./choices.ts";
import { condition } from "./conditions.ts";
import { expression } from "./expressions.ts";
import { scalarQuery, subQueryCondition } from "./query-parts.ts";
import type { Scope } from "./scope.ts";
import { fromOf, type From } from "./sources.ts";
import type { Unit } from "./tables.ts";
import { joined, type Kind, op, plain, type Term } from "./term.ts";
import { windowCall } from "./windows.ts";

const DEPTH = 3;
const KINDS: readonly Kind[] = ["int", "text", "float", "bool", "time", "date", "decimal"];

/** A query and what is known of its answer. */
export interface Query {
  readonly term: Term;
  /** Rows come in one order only. */
  readonly isOrdered: boolean;
}

/** A query before its ORDER BY. */
interface Body {
  readonly term: Term;
  readonly width: number;
  /** Expressions that ORDER BY must begin with. */
  readonly orderFirst: string | undefined;
}

/** A query over the tables of a case. */
export function randomQuery(choices: Choices, unit: Unit): Query {
  const make = { expression, condition, scalarQuery, subQueryCondition };
  const scope: Scope = { make, choices, unit, sources: [], outer: [], depth: DEPTH };
  const query = ordered(choices, choices.once(8) ? setOperation(scope) : select(scope));
  return choices.once(10) ? named(choices, query) : query;
}

/** The query under a name, asked once or beside itself. */
function named(choices: Choices, { term }: Query): Query {
  const text = choices.pick(["WITH c AS ($1) SELECT * FROM c", "WITH c AS ($1) SELECT count(*) FROM c", "SELECT * FROM ($1) AS c"]);
  return { term: op(text, term), isOrdered: false };
}

/** ORDER BY all columns: rows that are equal there are equal everywhere, so that LIMIT has one answer. */
function ordered(choices: Choices, { term, width, orderFirst }: Body): Query {
  if (orderFirst === undefined && choices.below(3) !== 1) return { term, isOrdered: false };
  const first = choices.below(width);
  const positions = Array.from({ length: width }, (_, i) => String(((i + first) % width) + 1));
  const items = [...(orderFirst === undefined ? [] : [orderFirst]), ...positions].map((item) =>
    op(choices.pick(["$1", "$1 DESC", "$1 NULLS FIRST", "$1 DESC NULLS LAST"]), plain(item)),
  );
  const limit = choices.once(2) ? ` LIMIT ${choices.pick(["3", "1", "0", "10"])}` : "";
  const offset = choices.once(3) ? ` OFFSET ${choices.pick(["1", "0", "5"])}` : "";
  return { term: op(`$1 ORDER BY $2${limit}${offset}`, term, joined(items, ", ")), isOrdered: true };
}

function select(scope: Scope): Body {
  const from = fromOf(scope);
  const inner: Scope = { ...scope, sources: from.sources };
  const where = scope.choices.once(2) ? op(" WHERE $1", condition(inner)) : plain("");
  switch (scope.choices.below(6)) {
    case 0:
    case 1:
      return rows(inner, from, where);
    case 2:
    case 3:
      return grouped(inner, from, where);
    case 4:
      return windowed(inner, from, where);
    default:
      return distinctOn(inner, from, where);
  }
}

function rows(scope: Scope, from: From, where: Term): Body {
  const { choices } = scope;
  const items = choices.some(1, 4, () => expression(scope, choices.pick(KINDS)));
  const edges = scope.sources.flatMap(({ columns }) => columns).filter(({ kind }) => kind === undefined);
  if (edges.length > 0 && choices.once(3)) items.push(plain(choices.pick(edges).text));
  const distinct = choices.once(4) ? "DISTINCT " : "";
  return { term: op(`SELECT ${distinct}$1 FROM $2$3`, joined(items, ", "), from.term, where), width: items.length, orderFirst: undefined };
}

function grouped(scope: Scope, from: From, where: Term): Body {
  const { choices } = scope;
  const keys = choices.some(0, 3, () => {
    const edges = scope.sources.flatMap(({ columns }) => columns).filter(({ kind }) => kind === undefined);
    if (edges.length > 0 && choices.once(5)) return plain(choices.pick(edges).text);
    // A constant as a key would be a position.
    const made = expression({ ...scope, depth: 2 }, choices.pick(KINDS));
    return /[a-z]\d\./.test(made.text) ? made : op("coalesce($1)", made);
  });
  const unique = keys.filter(({ text }, i) => keys.findIndex((other) => other.text === text) === i);
  const calls = choices.some(1, 3, () => aggregate(scope));
  const having = choices.once(4) ? op(" HAVING $1", havingOf(scope)) : plain("");
  const by = unique.length === 0 ? plain("") : op(" GROUP BY $1", groupBy(choices, unique));
  const items = joined([...unique, ...calls.map(({ term }) => term)], ", ");
  return {
    term: op("SELECT $1 FROM $2$3$4$5", items, from.term, where, by, having),
    width: unique.length + calls.length,
    orderFirst: undefined,
  };
}

function havingOf(scope: Scope): Term {
  const { choices } = scope;
  if (choices.once(2)) return op("count(*) > $1", plain(choices.pick(["1", "0", "2"])));
  const { term } = aggregate(scope);
  return op(`$1 IS ${choices.pick(["NOT NULL", "NULL"])}`, term);
}

function groupBy(choices: Choices, keys: readonly Term[]): Term {
  const list = joined(keys, ", ");
  switch (choices.below(6)) {
    case 1:
      return op("ROLLUP ($1)", list);
    case 2:
      return op("CUBE ($1)", list);
    case 3: {
      const sets = choices.some(1, 3, () =>
        op(
          "($1)",
          joined(
            keys.filter(() => choices.once(2)),
            ", ",
          ),
        ),
      );
      // Every key must be in some set to be in the select list.
      return op("GROUPING SETS ($1)", joined([op("($1)", list), ...sets], ", "));
    }
    case 4:
      return plain(keys.map((_, i) => i + 1).join(", "));
    default:
      return list;
  }
}

function windowed(scope: Scope, from: From, where: Term): Body {
  const { choices } = scope;
  const unique = uniqueOrder(scope);
  const calls = choices.some(1, 2, () => windowCall(scope)).filter((call) => call !== undefined);
  if (unique === undefined || calls.length === 0) return rows(scope, from, where);
  const items = [...unique.split(", ").map(plain), ...calls];
  const qualify = choices.once(4)
    ? op(` QUALIFY $1 ${choices.pick([">", "<=", "="])} 2`, op(`row_number() OVER (ORDER BY ${unique})`))
    : plain("");
  return { term: op("SELECT $1 FROM $2$3$4", joined(items, ", "), from.term, where, qualify), width: items.length, orderFirst: undefined };
}

function distinctOn(scope: Scope, from: From, where: Term): Body {
  const { choices } = scope;
  const named = scope.sources.flatMap(({ columns }) => columns).filter(({ kind }) => kind === "text" || kind === "int");
  if (named.length === 0) return rows(scope, from, where);
  const key = choices.pick(named).text;
  const items = choices.some(1, 3, () => expression(scope, choices.pick(KINDS)));
  const term = op(`SELECT DISTINCT ON (${key}) $1 FROM $2$3`, joined(items, ", "), from.term, where);
  return { term, width: items.length, orderFirst: key };
}

function setOperation(scope: Scope): Body {
  const { choices } = scope;
  const kinds = choices.some<Kind>(1, 3, () => choices.pick(KINDS));
  const one = (): Term => {
    const from = fromOf({ ...scope, depth: 1 });
    const inner: Scope = { ...scope, depth: 1, sources: from.sources };
    const where = choices.once(2) ? op(" WHERE $1", condition(inner)) : plain("");
    return op(
      "SELECT $1 FROM $2$3",
      joined(
        kinds.map((kind) => expression(inner, kind)),
        ", ",
      ),
      from.term,
      where,
    );
  };
  let term = one();
  for (const operator of choices.some(1, 2, () =>
    choices.pick(["UNION ALL", "UNION", "EXCEPT", "INTERSECT", "EXCEPT ALL", "INTERSECT ALL"]),
  ))
    term = op(`$1 ${operator} $2`, term, one());
  return { term, width: kinds.length, orderFirst: undefined };
}
