/** Random queries about the keys of `keyed-tables.ts`: groups, distinct rows, joins of every kind, set operations, orders, texts. */
import type { Choices } from "./choices.ts";
import type { Query } from "./queries.ts";
import { dialects, joined, op, plain, type Term } from "./term.ts";

/** Columns of which many rows are equal. */
const FEW = ["i", "ok", "h"];
const MANY = ["n", "s", "big", "d", "long", "dw", "dt", "t2", "ubig", "x"];
const ALL = [...MANY, ...FEW];
/** Columns whose sums neither overflow nor round. */
const SUMMED = ["n", "i", "d", "k", "dw"];
const TEXTS = ["s", "long", "h"];
const ORDERS = ["ASC NULLS FIRST", "ASC NULLS LAST", "DESC NULLS FIRST", "DESC NULLS LAST"];

type Maker = (choices: Choices) => Query;

const KINDS: readonly Maker[] = [grouped, total, distinct, innerJoin, outerJoin, halfJoin, subQuery, setOperation, ordered, texts, nearest];

/** A query over tables `t` and `u`. */
export function keyedQuery(choices: Choices, isAppend: boolean): Query {
  const make = choices.pick(isAppend ? KINDS.filter((kind) => kind !== nearest) : KINDS);
  return make(choices);
}

function some(choices: Choices, least: number, most: number, list: readonly string[]): readonly string[] {
  return [...new Set(choices.some(least, most, () => choices.pick(list)))];
}

function query(term: Term, isOrdered = false): Query {
  return { term, isOrdered };
}

/** An aggregate; `of` is what stands before a column's name. */
function aggregate(choices: Choices, of = ""): Term {
  const column = `${of}${choices.pick(ALL)}`;
  switch (choices.below(9)) {
    case 0:
      return plain("count(*)");
    case 1:
      return plain(`count(DISTINCT ${column})`);
    case 2:
      return plain(`${choices.pick(["min", "max"])}(${column})`);
    case 3:
      return plain(`${choices.pick(["min", "max"])}(${of}${choices.pick(TEXTS)})`);
    case 4:
      return plain(`sum(${of}${choices.pick(SUMMED)})`);
    case 5:
      return plain(`count(${column})`);
    case 6:
      return op(`${choices.pick(["first_value", "last_value"])}($1 ORDER BY $2)`, plain(column), plain(`${of}k`));
    case 7:
      return plain(`sum(DISTINCT ${of}n)`);
    default:
      return plain(`count(DISTINCT ${of}${choices.pick(TEXTS)})`);
  }
}

function where(choices: Choices, of = ""): string {
  return choices.pick(["", "", ` WHERE ${of}k % 3 <> 1`, ` WHERE ${of}i > 3`, ` WHERE ${of}s > 'k'`, ` WHERE ${of}x IS NOT NULL`]);
}

function grouped(choices: Choices): Query {
  const keys = some(choices, 1, 3, ALL);
  const calls = choices.some(1, 3, () => aggregate(choices));
  const having = choices.pick(["", "", " HAVING count(*) > 1", " HAVING max(k) > 20"]);
  return query(op(`SELECT ${keys.join(", ")}, $1 FROM t${where(choices)} GROUP BY ${keys.join(", ")}${having}`, joined(calls, ", ")));
}

function total(choices: Choices): Query {
  return query(
    op(
      `SELECT $1 FROM t${where(choices)}`,
      joined(
        choices.some(1, 4, () => aggregate(choices)),
        ", ",
      ),
    ),
  );
}

function distinct(choices: Choices): Query {
  const columns = some(choices, 1, 3, ALL).join(", ");
  const text = `SELECT DISTINCT ${columns} FROM t${where(choices)}`;
  return query(plain(choices.once(3) ? `SELECT count(*) FROM (${text}) AS q` : text));
}

/** Equalities of columns, at least one of which tells rows apart. */
function on(choices: Choices): string {
  const pairs = some(choices, 1, 2, MANY).map((name) => `a.${name} = b.${name}`);
  if (choices.once(8)) pairs.push("a.i = b.n");
  if (choices.once(4)) pairs.push(`a.${choices.pick(FEW)} = b.${choices.pick(["i", "ok", "h"])}`);
  const typed = pairs.filter((pair) => !/a\.(i|ok|h) = b\.(i|ok|h)/.test(pair) || /a\.(\w+) = b\.\1$/.test(pair));
  if (choices.once(4)) typed.push(choices.pick(["a.k < b.k", "a.i <= b.i", "a.s <> b.s"]));
  return typed.join(" AND ");
}

function overJoin(choices: Choices, kind: string): Query {
  const calls = choices.some(1, 3, () => aggregate(choices, choices.pick(["a.", "b."])).text.replaceAll(/DISTINCT /g, "DISTINCT "));
  // Rows of a join have no key of their own: what comes first among equals is open.
  const safe = calls.filter((call) => !call.includes("_value("));
  const list = ["count(*)", "sum(a.k)", "sum(b.k)", ...safe].join(", ");
  const by = choices.once(2) ? `a.${choices.pick(FEW)}` : undefined;
  const from = `FROM t AS a ${kind} u AS b ON ${on(choices)}${where(choices, "a.")}`;
  return query(plain(by === undefined ? `SELECT ${list} ${from}` : `SELECT ${by}, ${list} ${from} GROUP BY ${by}`));
}

function innerJoin(choices: Choices): Query {
  return overJoin(choices, "JOIN");
}

function outerJoin(choices: Choices): Query {
  return overJoin(choices, choices.pick(["LEFT JOIN", "FULL JOIN", "RIGHT JOIN"]));
}

function halfJoin(choices: Choices): Query {
  const kind = choices.pick(["SEMI JOIN", "ANTI JOIN"]);
  const rest = `u AS b ON ${on(choices)}`;
  const [list, end] = choices.pick([
    ["count(*), sum(a.k)", ""],
    ["a.k, a.s", ""],
    ["a.i, count(*)", " GROUP BY a.i"],
  ] as const);
  return query(dialects(`SELECT ${list} FROM t AS a LEFT ${kind} ${rest}${end}`, `SELECT ${list} FROM t AS a ${kind} ${rest}${end}`));
}

function subQuery(choices: Choices): Query {
  const column = choices.pick(MANY);
  const not = choices.pick(["", "NOT "]);
  const filter = choices.pick(["", `b.${column} IS NOT NULL`, "b.i > 3", "b.k % 2 = 0"]);
  const and = filter === "" ? "" : ` AND ${filter}`;
  const condition = choices.pick([
    `${not}EXISTS (SELECT 1 FROM u AS b WHERE b.${column} = a.${column}${and})`,
    `a.${column} ${not}IN (SELECT b.${column} FROM u AS b${filter === "" ? "" : ` WHERE ${filter}`})`,
    `a.${column} ${not}IN (SELECT b.${column} FROM u AS b WHERE b.i = a.i${and})`,
    `${not}EXISTS (SELECT 1 FROM u AS b WHERE b.${column} = a.${column} AND b.k > a.k${and})`,
  ]);
  const more = choices.pick(["", "", " OR a.k < 5", " AND a.i > 3"]);
  const list = choices.pick(["count(*), sum(a.k)", "a.k", `a.${column}, a.k`]);
  return query(plain(`SELECT ${list} FROM t AS a WHERE (${condition})${more}`));
}

function setOperation(choices: Choices): Query {
  const columns = some(choices, 1, 3, ALL).join(", ");
  const operator = choices.pick(["UNION", "INTERSECT", "EXCEPT", "UNION ALL", "INTERSECT ALL", "EXCEPT ALL"]);
  const more = choices.once(3) ? ` ${choices.pick(["UNION", "EXCEPT"])} SELECT ${columns} FROM t WHERE k % 5 = 0` : "";
  const text = `SELECT ${columns} FROM t${where(choices)} ${operator} SELECT ${columns} FROM u${where(choices)}${more}`;
  return query(plain(choices.once(3) ? `SELECT count(*) FROM (${text}) AS q` : text));
}

function ordered(choices: Choices): Query {
  const keys = some(choices, 1, 3, ALL);
  const by = [...keys.map((key) => `${key} ${choices.pick(ORDERS)}`), `k ${choices.pick(["ASC", "DESC"])} NULLS LAST`].join(", ");
  const limit = choices.pick(["", " LIMIT 10", " LIMIT 100", " LIMIT 3", " LIMIT 0"]);
  const offset = choices.pick(["", "", " OFFSET 5", " OFFSET 700", " OFFSET 100000"]);
  return query(plain(`SELECT ${[...keys, "k"].join(", ")} FROM t${where(choices)} ORDER BY ${by}${limit}${offset}`), true);
}

/** A function of a text, in both dialects. */
function textOf(choices: Choices, column: string): Term {
  const name = plain(column);
  switch (choices.below(9)) {
    case 0:
      return op("lower($1)", name);
    case 1:
      return op("upper($1)", name);
    case 2:
      return op(`substr($1, ${choices.pick(["1", "2", "5", "30"])}, ${choices.pick(["1", "5", "20"])})`, name);
    case 3:
      return op("concat($1, '-', $2)", name, plain(choices.pick(TEXTS)));
    case 4:
      return op("($1 || $2)", name, plain(choices.pick(["'x'", "h"])));
    case 5:
      return op("replace($1, 'e', 'E')", name);
    case 6:
      return op("reverse($1)", name);
    case 7:
      return op(`regexp_replace($1, '[0-9]+', '#')`, name);
    default:
      return op("CAST($1 AS STRING)", plain(choices.pick(["n", "i", "big", "dt"])));
  }
}

function textCondition(choices: Choices, column: string): Term {
  const pattern = choices.pick(["'%1%'", "'key%'", "'%e'", "'_'", "'%every%2_'", "'%'"]);
  switch (choices.below(5)) {
    case 0:
      return op("($1 LIKE $2)", plain(column), plain(pattern));
    case 1:
      return op("($1 NOT LIKE $2)", plain(column), plain(pattern));
    case 2:
      return dialects(`${column} ~ '[2-5]+$'`, `regexp_matches(${column}, '[2-5]+$')`);
    case 3:
      return plain(`starts_with(${column}, 'key 1')`);
    default:
      return plain(`length(${column}) > ${choices.pick(["5", "0", "100"])}`);
  }
}

function texts(choices: Choices): Query {
  const column = choices.pick(TEXTS);
  const made = textOf(choices, column);
  const condition = choices.once(2) ? op(" WHERE $1", textCondition(choices, choices.pick(TEXTS))) : plain("");
  switch (choices.below(4)) {
    case 0:
      return query(op("SELECT $1, count(*), max(k) FROM t$2 GROUP BY 1", made, condition));
    case 1:
      return query(op("SELECT DISTINCT $1 FROM t$2", made, condition));
    case 2:
      return query(op(`SELECT ${choices.pick(["min", "max"])}($1), count(DISTINCT $1) FROM t$2`, made, condition));
    default:
      return query(op("SELECT k, $1 FROM t$2", made, condition));
  }
}

/** The nearest earlier row of the same tag. */
function nearest(choices: Choices): Query {
  const comparison = choices.pick([">=", ">"]);
  const list = choices.pick(["a.k, b.k", "count(*), sum(a.k), sum(b.k)", "a.h, count(b.k)"]);
  const kind = choices.pick(["", "LEFT "]);
  const by = list.startsWith("a.h") ? " GROUP BY a.h" : "";
  return query(plain(`SELECT ${list} FROM t AS a ASOF ${kind}JOIN u AS b ON a.h = b.h AND a.ts ${comparison} b.ts${by}`));
}
