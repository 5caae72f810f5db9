/** Random conditions. */
import { constant, leaf } from "./leaves.ts";
import { columnsOf, deeper, type Scope } from "./scope.ts";
import { dialects, joined, type Kind, op, plain, type Term } from "./term.ts";

const KINDS: readonly Kind[] = ["int", "text", "float", "time", "bool", "date", "decimal"];
const COMPARISONS = ["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"];
const PATTERNS = ["'a%'", "'%a'", "'_'", "'%'", "''", "'a\\%'", "'%b%'", "'\\_b'", "'ä'", "'__'"];

/** A condition. */
export function condition(scope: Scope): Term {
  const { choices } = scope;
  if (scope.depth > 0) {
    const inner = deeper(scope);
    switch (choices.below(5)) {
      case 1:
        return op("($1 AND $2)", condition(inner), condition(inner));
      case 2:
        return op("($1 OR $2)", condition(inner), condition(inner));
      case 3:
        return choices.once(2)
          ? op("(NOT $1)", condition(inner))
          : op(`($1 IS ${choices.pick(["TRUE", "NOT TRUE", "FALSE", "NULL"])})`, condition(inner));
      case 4:
        if (choices.once(2)) return scope.make.subQueryCondition(inner);
    }
  }
  return simple(scope);
}

function simple(scope: Scope): Term {
  const { choices } = scope;
  const kind = choices.pick(KINDS);
  const one = (): Term => scope.make.expression(deeper(scope), kind);
  switch (choices.below(10)) {
    case 0:
      return op(`($1 ${choices.pick(COMPARISONS)} $2)`, one(), one());
    case 1:
      return op(`($1 ${choices.pick(COMPARISONS)} $2)`, leaf(scope, kind), constant(scope, kind));
    case 2:
      return op(`($1 IS ${choices.pick(["NULL", "NOT NULL"])})`, one());
    case 3: {
      const list = choices.some(1, 3, () => (choices.once(8) ? plain("NULL") : constant(scope, kind)));
      return op(`($1 ${choices.pick(["IN", "NOT IN"])} ($2))`, leaf(scope, kind), joined(list, ", "));
    }
    case 4:
      return op(`($1 ${choices.pick(["BETWEEN", "NOT BETWEEN"])} $2 AND $3)`, one(), constant(scope, kind), leaf(scope, kind));
    case 5:
      return op(
        choices.pick(["($1 LIKE $2)", "($1 NOT LIKE $2)"]),
        scope.make.expression(deeper(scope), "text"),
        plain(choices.pick(PATTERNS)),
      );
    case 6:
      return edge(scope);
    case 7:
      return mixed(scope);
    case 8:
      return op("($1 ILIKE $2)", scope.make.expression(deeper(scope), "text"), plain(choices.pick(["'A%'", "'%B'", "'_'", "'Ä'"])));
    default:
      return op("starts_with($1, $2)", scope.make.expression(deeper(scope), "text"), leaf(scope, "text"));
  }
}

/** Values of different types: a number with a fraction beside whole ones, a date beside times. */
function mixed(scope: Scope): Term {
  const { choices } = scope;
  const comparison = choices.pick(COMPARISONS);
  switch (choices.below(4)) {
    case 0:
      return op(`($1 ${comparison} $2)`, leaf(scope, "int"), leaf(scope, "float"));
    case 1:
      return op(`($1 ${comparison} $2)`, leaf(scope, "decimal"), constant(scope, "int"));
    case 2:
      return op(`($1 ${comparison} $2)`, leaf(scope, "decimal"), leaf(scope, "decimal"));
    default: {
      // A text beside a time is a time, to the last digit.
      const seconds = 1_709_164_740n;
      const literal = dialects("'2024-02-28 23:59:00'", String(seconds * scope.unit.perSecond));
      return op(`($1 ${comparison} $2)`, leaf(scope, "time"), literal);
    }
  }
}

/** A column with values at the edge of its type beside such a value. */
function edge(scope: Scope): Term {
  const { choices } = scope;
  const found = columnsOf(scope, ({ kind }) => kind === undefined);
  if (found.length === 0) return plain("true");
  const { text } = choices.pick(found);
  const list = text.endsWith("x")
    ? [
        dialects("0.0", "0.0::DOUBLE"),
        ...["NaN", "inf", "-inf"].map((name) => plain(`CAST('${name}' AS DOUBLE)`)),
        dialects("1e300", "1e300::DOUBLE"),
      ]
    : text.endsWith("ubig")
      ? ["0", "1", "18446744073709551615", "9223372036854775808"].map((value) => dialects(value, `${value}::UBIGINT`))
      : ["0", "9007199254740993", "9223372036854775807", "-9223372036854775807"].map((value) => dialects(value, `(${value})::BIGINT`));
  const column = plain(text);
  if (choices.once(4)) return op("($1 IN ($2, $3))", column, choices.pick(list), choices.pick(list));
  return op(`($1 ${choices.pick(COMPARISONS)} $2)`, column, choices.pick(list));
}
