/** Random expressions of every kind. The first alternative of each is the simplest one. */
import { duckdbAddMonths, duckdbBin, duckdbClockPart, duckdbDatePart, duckdbTrunc } from "./duckdb-dialect.ts";
import { constant, leaf } from "./leaves.ts";
import { deeper, type Scope } from "./scope.ts";
import { failing, joined, type Kind, op, plain, type Term } from "./term.ts";

/** An expression of the kind. */
export function expression(scope: Scope, kind: Kind): Term {
  if (scope.depth <= 0 || scope.choices.below(3) === 0) return leaf(scope, kind);
  const inner = deeper(scope);
  if (scope.choices.once(8)) return choice(inner, kind);
  switch (kind) {
    case "int":
      return integer(inner);
    case "float":
      return float(inner);
    case "text":
      return text(inner);
    case "bool":
      return scope.make.condition(inner);
    case "time":
      return time(inner);
    case "date":
    case "decimal":
      return kind === "decimal" ? decimal(inner) : leaf(inner, kind);
  }
}

/** Expressions that choose one of several of a kind. */
function choice(scope: Scope, kind: Kind): Term {
  const one = (): Term => expression(scope, kind);
  switch (scope.choices.below(6)) {
    case 0:
      return op("coalesce($1, $2)", one(), one());
    case 1:
      return op("nullif($1, $2)", one(), one());
    case 2: {
      const arms = scope.choices.some(1, 2, () => op("WHEN $1 THEN $2", scope.make.condition(scope), one()));
      const otherwise = scope.choices.once(3) ? plain("") : op(" ELSE $1", one());
      return op("CASE $1$2 END", joined(arms, " "), otherwise);
    }
    case 3:
      return op("CASE $1 WHEN $2 THEN $3 ELSE $4 END", leaf(scope, "int"), constant(scope, "int"), one(), one());
    case 4:
      return op(`${scope.choices.pick(["greatest", "least"])}($1, $2)`, one(), one());
    default:
      return scope.make.scalarQuery(scope, kind) ?? one();
  }
}

function integer(scope: Scope): Term {
  const { choices } = scope;
  const one = (kind: Kind = "int"): Term => expression(scope, kind);
  switch (choices.below(9)) {
    case 0:
      return failing(op(`($1 ${choices.pick(["+", "-", "*"])} $2)`, one(), one()));
    case 1:
      return failing(op("($1 / nullif($2, 0))", one(), one()));
    case 2:
      return failing(op(choices.pick(["($1 % $2)", "($1 / $2)"]), one(), constant(scope, "int")));
    case 3:
      return failing(op(choices.pick(["(- CAST($1 AS BIGINT))", "abs($1)"]), one()));
    case 4:
      return op("length($1)", one("text"));
    case 5:
      return failing(op("CAST($1 AS BIGINT)", one("float")));
    case 6:
      return op(`($1 ${choices.pick(["&", "|", "#"])} $2)`, op("CAST($1 AS BIGINT)", one()), constant(scope, "int"));
    case 7:
      return op("strpos($1, $2)", one("text"), one("text"));
    default:
      return part(scope);
  }
}

function float(scope: Scope): Term {
  const { choices } = scope;
  const one = (): Term => expression(scope, "float");
  switch (choices.below(5)) {
    case 0:
      return op(`($1 ${choices.pick(["+", "-", "*"])} $2)`, one(), one());
    case 1:
      return op("($1 / nullif($2, 0.0))", one(), one());
    case 2:
      return op("CAST($1 AS DOUBLE)", expression(scope, "int"));
    case 3:
      return op(`${choices.pick(["abs", "floor", "ceil"])}($1)`, one());
    default:
      return op("sqrt(abs(CAST($1 AS DOUBLE)))", one());
  }
}

function text(scope: Scope): Term {
  const { choices } = scope;
  const one = (): Term => expression(scope, "text");
  switch (choices.below(8)) {
    case 0:
      return op("($1 || $2)", one(), one());
    case 1:
      return op(`${choices.pick(["upper", "lower", "trim", "ltrim", "rtrim"])}($1)`, one());
    case 2:
      return op("substr($1, $2, $3)", one(), plain(choices.pick(["1", "2", "0"])), plain(choices.pick(["1", "2", "0", "9"])));
    case 3:
      return op("CAST($1 AS STRING)", expression(scope, choices.pick(["int", "bool", "date"])));
    case 4:
      return op("replace($1, $2, $3)", one(), plain(choices.pick(["'a'", "'ä'", "'%'"])), one());
    case 5:
      return op(`${choices.pick(["left", "right"])}($1, $2)`, one(), plain(choices.pick(["1", "0", "2", "-1"])));
    case 6:
      return op(`${choices.pick(["lpad", "rpad"])}($1, $2, 'xy')`, one(), plain(choices.pick(["3", "0", "5"])));
    default:
      return op("concat($1, $2)", one(), one());
  }
}

function decimal(scope: Scope): Term {
  const one = (): Term => leaf(scope, "decimal");
  switch (scope.choices.below(3)) {
    case 0:
      return op(`($1 ${scope.choices.pick(["+", "-", "*"])} $2)`, one(), one());
    case 1:
      return op("(- $1)", one());
    default:
      return op("abs($1)", one());
  }
}

const DAY = 86_400n;

/** An operation on a time of the scope's unit. */
function time(scope: Scope): Term {
  const { choices, unit } = scope;
  const operand = expression(scope, "time");
  const ticks = (seconds: bigint): bigint => seconds * unit.perSecond;
  const both = (template: string, duck: string): Term => ({ ...op(template, operand), duck: duck.replaceAll("$1", operand.duck) });
  switch (choices.below(4)) {
    case 0: {
      const [name, seconds] = choices.pick([
        ["1 minute", 60n],
        ["7 seconds", 7n],
        ["1 day", DAY],
        ["36 hours", 129_600n],
      ] as const);
      return both(`date_bin(INTERVAL '${name}', $1)`, duckdbBin(ticks(seconds)));
    }
    case 1: {
      const [name, seconds] = choices.pick([
        ["minute", 60n],
        ["hour", 3600n],
        ["day", DAY],
        ["second", 1n],
      ] as const);
      return both(`date_trunc('${name}', $1)`, duckdbBin(ticks(seconds)));
    }
    case 2: {
      const name = choices.pick(["month", "year", "week", "quarter"]);
      return both(`date_trunc('${name}', $1)`, duckdbTrunc(name, ticks(DAY)));
    }
    default: {
      const [name, seconds] = choices.pick([
        ["1 day", DAY],
        ["90 seconds", 90n],
        ["1 month", 0n],
        ["12 months", 0n],
      ] as const);
      const sign = choices.pick(["+", "-"]);
      const months = Number.parseInt(name, 10) * (sign === "+" ? 1 : -1);
      const duck = seconds === 0n ? duckdbAddMonths(months, ticks(DAY)) : `($1 ${sign} ${ticks(seconds)})`;
      return both(`($1 ${sign} INTERVAL '${name}')`, duck);
    }
  }
}

/** A part of a time. */
function part(scope: Scope): Term {
  const { choices, unit } = scope;
  const operand = expression(scope, "time");
  const [hour, day] = [3600n * unit.perSecond, DAY * unit.perSecond];
  const name = choices.pick(["hour", "minute", "year", "month", "day", "dow", "week", "doy", "quarter"]);
  const duck =
    name === "hour"
      ? duckdbClockPart(hour, day)
      : name === "minute"
        ? duckdbClockPart(60n * unit.perSecond, hour)
        : duckdbDatePart(name, day);
  return { ...op(`date_part('${name}', $1)`, operand), duck: duck.replaceAll("$1", operand.duck) };
}
