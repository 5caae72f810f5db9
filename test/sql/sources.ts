/** FROM: tables, joins of every kind, queries, LATERAL. */
import type { Choices } from "./choices.ts";
import { leaf } from "./leaves.ts";
import { tableSource } from "./query-parts.ts";
import { columnOf, deeper, type Named, type Scope, type Source } from "./scope.ts";
import { joined, type Kind, op, plain, type Term } from "./term.ts";

/** A FROM and the relations that it makes. */
export interface From {
  readonly term: Term;
  readonly sources: readonly Source[];
}

const JOINS = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"];

/** A FROM of one to three relations. */
export function fromOf(scope: Scope): From {
  let from = relation(scope);
  const joins = scope.choices.below(4) === 1 ? 1 : scope.choices.once(8) ? 2 : 0;
  for (let i = 0; i < joins; i++) from = join(scope, from, relation(deeper(scope)));
  if (scope.depth > 1 && scope.choices.once(10)) from = lateral(scope, from);
  return from;
}

function relation(scope: Scope): From {
  if (scope.depth > 1 && scope.choices.once(5)) return derived(scope);
  const { term, source } = tableSource(scope.choices);
  return { term, sources: [source] };
}

/** A query under a name. */
function derived(scope: Scope): From {
  const { choices } = scope;
  const { term: table, source } = tableSource(choices);
  const inner: Scope = { ...deeper(scope), sources: [source], outer: [] };
  const alias = choices.name("q");
  const { list, columns } = selectList(inner, alias, choices);
  const where = choices.once(2) ? op(" WHERE $1", scope.make.condition(deeper(inner))) : plain("");
  const distinct = choices.once(4) ? "DISTINCT " : "";
  return { term: op(`(SELECT ${distinct}$1 FROM $2$3) AS ${alias}`, list, table, where), sources: [{ columns, key: undefined }] };
}

/** Expressions of several kinds with names. */
function selectList(scope: Scope, alias: string, choices: Choices): { readonly list: Term; readonly columns: readonly Named[] } {
  const kinds: readonly Kind[] = ["int", "text", ...choices.some<Kind>(0, 2, () => choices.pick(["float", "time", "bool", "decimal"]))];
  const items = kinds.map((kind, i) => op(`$1 AS c${i}`, scope.make.expression(scope, kind)));
  return { list: joined(items, ", "), columns: kinds.map((kind, i) => ({ text: `${alias}.c${i}`, kind })) };
}

function join(scope: Scope, left: From, right: From): From {
  const { choices } = scope;
  const kind = choices.pick(JOINS);
  const both = [...left.sources, ...right.sources];
  if (choices.once(10)) return using(choices, left, right);
  if (choices.once(12)) return { term: op("$1 CROSS JOIN $2", left.term, right.term), sources: both };
  const on = onOf(scope, left, right);
  const term = op(`$1 ${kind} $2 ON $3`, left.term, right.term, on);
  return { term, sources: kind.startsWith("LEFT S") || kind.startsWith("LEFT A") ? left.sources : both };
}

/** A join of two tables by columns of the same names; the columns are named with their table. */
function using(choices: Choices, left: From, right: From): From {
  const both = [...left.sources, ...right.sources];
  const shared = ["h", "i", "ts", "s", "f"].filter((name) =>
    [left, right].every(
      ({ sources }) => sources.length === 1 && sources[0]?.columns.some(({ text }) => text.endsWith(`.${name}`)) === true,
    ),
  );
  if (shared.length === 0) return { term: op("$1 CROSS JOIN $2", left.term, right.term), sources: both };
  const names = choices.once(3) ? shared.slice(0, 2).join(", ") : choices.pick(shared);
  return { term: op(`$1 ${choices.pick(["JOIN", "LEFT JOIN", "FULL JOIN"])} $2 USING (${names})`, left.term, right.term), sources: both };
}

/** Equalities between the sides, and another condition now and then. */
function onOf(scope: Scope, left: From, right: From): Term {
  const { choices } = scope;
  const at = (sources: readonly Source[]): Scope => ({ ...scope, depth: 0, sources, outer: [] });
  const parts = choices.some(1, 2, () => {
    if (choices.once(6)) return edgeOf(choices, left, right);
    const kind = choices.pick<Kind>(["text", "int", "time", "float"]);
    const [a, b] = [columnOf(at(left.sources), kind), columnOf(at(right.sources), kind)];
    return a === undefined || b === undefined ? plain("true") : op(`($1 ${choices.pick(["=", "=", "=", "<="])} $2)`, a, b);
  });
  const more = choices.once(4) ? [scope.make.condition(at([...left.sources, ...right.sources]))] : [];
  return joined([...parts, ...more], " AND ");
}

/** An equality of columns with values at the edge of their type, of one type or of several. */
function edgeOf(choices: Choices, left: From, right: From): Term {
  const edges = (sources: readonly Source[]): readonly Named[] =>
    sources.flatMap(({ columns }) => columns).filter(({ text, kind }) => (kind === undefined && !text.endsWith("x")) || kind === "int");
  const [a, b] = [edges(left.sources), edges(right.sources)];
  return a.length === 0 || b.length === 0 ? plain("true") : op("($1 = $2)", plain(choices.pick(a).text), plain(choices.pick(b).text));
}

/** A query that names what stands left of it. */
function lateral(scope: Scope, left: From): From {
  const { choices } = scope;
  const { term: table, source } = tableSource(choices);
  const inner: Scope = { ...deeper(scope), depth: 1, sources: [source], outer: left.sources };
  const alias = choices.name("l");
  const [own, other] = [leaf({ ...inner, outer: [] }, "text"), leaf({ ...inner, sources: left.sources, outer: [] }, "text")];
  const query = op(
    `(SELECT max($1) AS c0 FROM $2 WHERE $3 = $4) AS ${alias}`,
    scope.make.expression({ ...inner, outer: [] }, "int"),
    table,
    own,
    other,
  );
  return {
    term: op("$1, LATERAL $2", left.term, query),
    sources: [...left.sources, { columns: [{ text: `${alias}.c0`, kind: "int" }], key: [] }],
  };
}
