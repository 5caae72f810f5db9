/** Columns and constants: expressions that hold no other. */
import { columnOf, type Scope } from "./scope.ts";
import { dialects, type Kind, plain, type Term } from "./term.ts";

const INTEGERS = ["1", "0", "2", "-1", "3", "7", "100", "-50", "60"];
const FLOATS = ["1.0", "0.5", "-2.0", "0.0", "4.0"];
const TEXTS = ["'a'", "''", "'b'", "'ä'", "'%'", "'x y'", "'😀'", "'12'"];
const DATES = ["2024-02-29", "1970-01-01", "1969-12-31"];

/** A constant of a kind. */
export function constant(scope: Scope, kind: Kind): Term {
  const { choices } = scope;
  switch (kind) {
    case "int": {
      // A number alone takes the width of what it meets in DuckDB.
      const value = choices.pick(INTEGERS);
      return dialects(value, `(${value})::BIGINT`);
    }
    case "float": {
      // A number with a point is a decimal in DuckDB.
      const value = choices.pick(FLOATS);
      return dialects(value, `(${value})::DOUBLE`);
    }
    case "text":
      return plain(choices.pick(TEXTS));
    case "bool":
      return plain(choices.pick(["true", "false"]));
    case "date":
      return plain(`CAST('${choices.pick(DATES)}' AS DATE)`);
    case "decimal":
      return plain(`CAST('${choices.pick(["1.50", "0.00", "-2.25"])}' AS DECIMAL(10, 2))`);
    case "time": {
      const seconds = choices.pick([1_709_164_800n, 1_709_164_740n, 0n]);
      const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19).replace("T", " ");
      return dialects(`CAST('${text}' AS ${scope.unit.type})`, String(seconds * scope.unit.perSecond));
    }
  }
}

/** A column of the kind, or a constant where there is none. */
export function leaf(scope: Scope, kind: Kind): Term {
  return (scope.choices.once(4) ? undefined : columnOf(scope, kind)) ?? constant(scope, kind);
}
