/** Queries inside expressions. */
import type { Choices } from "./choices.ts";
import { constant, leaf } from "./leaves.ts";
import { columnOf, deeper, type Named, type Scope, type Source } from "./scope.ts";
import { type Kind, op, plain, type Term } from "./term.ts";

/** Columns of the tables, for names in FROM. */
const TABLE_COLUMNS: Readonly<Record<"t" | "u", readonly (readonly [string, Kind | undefined])[]>> = {
  t: [
    ["i", "int"],
    ["h", "text"],
    ["f", "float"],
    ["ok", "bool"],
    ["ts", "time"],
    ["k", "int"],
    ["id", "int"],
    ["n", "int"],
    ["y", "int"],
    ["w", "int"],
    ["big", undefined],
    ["ubig", undefined],
    ["x", undefined],
    ["g", "float"],
    ["s", "text"],
    ["d", "date"],
    ["m", "decimal"],
  ],
  u: [
    ["i", "int"],
    ["h", "text"],
    ["f", "float"],
    ["s", "text"],
    ["ts", "time"],
    ["k", "int"],
  ],
};

/** A table under a new name: the text for FROM and what it brings. */
export function tableSource(
  choices: Choices,
  table: "t" | "u" = choices.pick(["t", "u"]),
): { readonly term: Term; readonly source: Source } {
  const alias = choices.name(table);
  const columns = TABLE_COLUMNS[table].map(([name, kind]): Named => ({ text: `${alias}.${name}`, kind }));
  return { term: plain(`${table} AS ${alias}`), source: { columns, key: [`${alias}.k`] } };
}

/** The scope inside a sub-query over one table. */
function inside(scope: Scope): { readonly from: Term; readonly inner: Scope } {
  const { term, source } = tableSource(scope.choices);
  return { from: term, inner: { ...deeper(scope), sources: [source], outer: [...scope.sources, ...scope.outer] } };
}

/** A WHERE of a sub-query that mostly names a column from outside. */
function whereOf({ choices, ...scope }: Scope): Term {
  const inner = { ...scope, choices };
  if (choices.below(3) === 0) return plain("");
  const kind = choices.pick<Kind>(["text", "int"]);
  const [own, other] = [columnOf({ ...inner, outer: [] }, kind), columnOf({ ...inner, sources: [], outer: scope.outer }, kind)];
  const link = own === undefined || other === undefined ? plain("true") : op(`($1 ${choices.pick(["=", "=", "<"])} $2)`, own, other);
  return choices.once(2) ? op(" WHERE $1 AND $2", link, inner.make.condition(inner)) : op(" WHERE $1", link);
}

/** A query that gives one value; undefined where queries nest too deep. */
export function scalarQuery(scope: Scope, kind: Kind): Term | undefined {
  if (scope.depth <= 0) return undefined;
  const { from, inner } = inside(scope);
  const call = kind === "bool" ? "bool_or" : scope.choices.pick(["max", "min"]);
  return op(`(SELECT ${call}($1) FROM $2$3)`, scope.make.expression({ ...inner, outer: [] }, kind), from, whereOf(inner));
}

/** EXISTS, IN, ANY, ALL. */
export function subQueryCondition(scope: Scope): Term {
  const { choices } = scope;
  const { from, inner } = inside(scope);
  const kind = choices.pick<Kind>(["int", "text", "float"]);
  const own = (): Term => scope.make.expression({ ...inner, depth: 1, outer: [] }, kind);
  switch (choices.below(3)) {
    case 0:
      return op(`(${choices.pick(["", "NOT "])}EXISTS (SELECT 1 FROM $1$2))`, from, whereOf(inner));
    case 1:
      return op(`($1 ${choices.pick(["IN", "NOT IN"])} (SELECT $2 FROM $3$4))`, leaf(scope, kind), own(), from, whereOf(inner));
    default: {
      const comparison = `${choices.pick(["=", "<", ">=", "<>"])} ${choices.pick(["ANY", "ALL"])}`;
      const left = choices.once(3) ? constant(scope, kind) : leaf(scope, kind);
      return op(`($1 ${comparison} (SELECT $2 FROM $3$4))`, left, own(), from, whereOf(inner));
    }
  }
}
