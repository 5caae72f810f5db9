/**
 * What DuckDB writes differently. Times are BIGINT ticks there, whatever their unit: its TIMESTAMP types do not know all functions of all
 * units, and ticks compare to the last digit.
 */

/** By Varve's template: DuckDB's. */
const TEMPLATES: ReadonlyMap<string, string> = new Map([
  // Division of whole numbers: `/` makes a double there, and a zero makes NULL.
  ["($1 / $2)", "(CASE WHEN $2 = 0 THEN error('Divide by zero') ELSE $1 // $2 END)"],
  ["($1 % $2)", "(CASE WHEN $2 = 0 THEN error('Divide by zero') ELSE $1 % $2 END)"],
  ["($1 / nullif($2, 0))", "($1 // nullif($2, 0))"],
  // A double becomes a whole number by rounding there, by leaving the digits out here.
  ["CAST($1 AS BIGINT)", "CAST(trunc($1) AS BIGINT)"],
  ["CAST($1 AS STRING)", "CAST($1 AS VARCHAR)"],
  // `#` names columns by position there.
  ["($1 # $2)", "xor($1, $2)"],
  // An order without NULLS puts them last there, whatever the direction.
  ["$1 DESC", "$1 DESC NULLS FIRST"],
  ["first_value($1 ORDER BY $2)", "first($1 ORDER BY $2)"],
  ["last_value($1 ORDER BY $2)", "last($1 ORDER BY $2)"],
  ["$1 LEFT SEMI JOIN $2 ON $3", "$1 SEMI JOIN $2 ON $3"],
  ["$1 LEFT ANTI JOIN $2 ON $3", "$1 ANTI JOIN $2 ON $3"],
  // The pattern's escape is a backslash here; there it is none unless named.
  ["($1 LIKE $2)", "($1 LIKE $2 ESCAPE '\\')"],
  ["($1 NOT LIKE $2)", "($1 NOT LIKE $2 ESCAPE '\\')"],
]);

/** The template that says in DuckDB what `template` says here. */
export function duckdbTemplate(template: string): string {
  return TEMPLATES.get(template) ?? template;
}

/** By name of Varve's type, TIMESTAMP aside. */
const TYPES: Readonly<Record<string, string>> = {
  STRING: "VARCHAR",
  BINARY: "BLOB",
  "INT UNSIGNED": "UINTEGER",
  "BIGINT UNSIGNED": "UBIGINT",
};

/** DuckDB's type of a column. */
export function duckdbType(type: string): string {
  return type.startsWith("TIMESTAMP") ? "BIGINT" : (TYPES[type] ?? type);
}

/** `date_bin` of a fixed width: `$1` is the time. */
export function duckdbBin(ticks: bigint): string {
  return `($1 - (($1 % ${ticks}) + ${ticks}) % ${ticks})`;
}

/** `date_trunc` to a calendar unit, by way of the date; `day` is a day's ticks. */
export function duckdbTrunc(part: string, day: bigint): string {
  const date = `(DATE '1970-01-01' + CAST(${duckdbBin(day)} // ${day} AS INTEGER))`;
  return `(CAST(date_trunc('${part}', ${date}) AS DATE) - DATE '1970-01-01')::BIGINT * ${day}`;
}

/** `$1` plus months, by way of the date. */
export function duckdbAddMonths(months: number, day: bigint): string {
  const date = `(DATE '1970-01-01' + CAST(${duckdbBin(day)} // ${day} AS INTEGER))`;
  const moved = `(CAST(${date} + INTERVAL '${months} months' AS DATE) - DATE '1970-01-01')::BIGINT * ${day}`;
  return `(${moved} + $1 - ${duckdbBin(day)})`;
}

/** `date_part` of an hour, minute, second (ticks of it and of what holds it), e.g. the hour: an hour's and a day's. */
export function duckdbClockPart(ticks: bigint, whole: bigint): string {
  return `(((($1 % ${whole}) + ${whole}) % ${whole}) // ${ticks})`;
}

/** `date_part` of a calendar unit. */
export function duckdbDatePart(part: string, day: bigint): string {
  return `date_part('${part}', (DATE '1970-01-01' + CAST(${duckdbBin(day)} // ${day} AS INTEGER)))`;
}
