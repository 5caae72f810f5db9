/** Many rows in the orders that sorts, sets, joins and windows like least: shuffled, up and down, equal, texts that begin alike. */
import { type HostileStatement, repeated } from "./hostile-texts.ts";

/** What many rows hold, as an expression over `number`. */
const SHAPES: readonly (readonly [name: string, value: string])[] = [
  ["shuffled numbers", "number * 7919 % 1000003"],
  ["equal numbers", "number * 0"],
  ["doubles and NULL, up and down", "CASE WHEN number % 3 = 0 THEN NULL WHEN number % 2 = 0 THEN sqrt(number) ELSE -sqrt(number) END"],
  ["texts that begin alike", "concat('a value that begins like all of the others do ', number * 7919 % 1000003)"],
];

/** What is done to them, as `x`; `rows` names a relation of `number` and `x`. */
function operationsOn(rows: string, count: number): readonly (readonly [name: string, sql: string])[] {
  const aggregate = (call: string): string => `SELECT ${call} FROM ${rows}`;
  const window = (call: string): string => `SELECT count(w) FROM (SELECT ${call} AS w FROM ${rows}) AS v`;
  return [
    ["ORDER BY", `SELECT x FROM ${rows} ORDER BY x LIMIT 3 OFFSET ${count - 5}`],
    ["ORDER BY two", `SELECT x FROM ${rows} ORDER BY x DESC, number DESC LIMIT 3 OFFSET ${count - 5}`],
    ["DISTINCT", `SELECT count(*) FROM (SELECT DISTINCT x FROM ${rows}) AS d`],
    ["DISTINCT ON", `SELECT count(*) FROM (SELECT DISTINCT ON (x) x, number FROM ${rows} ORDER BY x, number) AS d`],
    ["GROUP BY", `SELECT x, count(*) AS c FROM ${rows} GROUP BY x ORDER BY c DESC LIMIT 3`],
    ["GROUP BY two", `SELECT count(*) FROM (SELECT x, number % 1000, count(*) FROM ${rows} GROUP BY x, number % 1000) AS g`],
    ["count(DISTINCT)", aggregate("count(DISTINCT x)")],
    ["mode", aggregate("mode(x)")],
    ["min, max, arg_max", aggregate("min(x), max(x), arg_max(number, x)")],
    ["array_agg ORDER BY", aggregate("array_length(array_agg(x ORDER BY x))")],
    ["array_sort", aggregate("array_length(array_sort(array_agg(x)))")],
    ["array_distinct", aggregate("array_length(array_distinct(array_agg(x)))")],
    ["string_agg ORDER BY", aggregate("length(string_agg(cast(x AS string), ',' ORDER BY x))")],
    ["JOIN", `SELECT count(*) FROM ${rows} AS a JOIN (SELECT DISTINCT x FROM ${rows}) AS b ON a.x = b.x`],
    ["IN (sub-query)", `SELECT count(*) FROM ${rows} AS a WHERE a.x IN (SELECT x FROM ${rows} WHERE number % 2 = 0)`],
    ["INTERSECT", `SELECT count(*) FROM (SELECT x FROM ${rows} INTERSECT SELECT x FROM ${rows} WHERE number % 2 = 0) AS i`],
    ["UNION", `SELECT count(*) FROM (SELECT x FROM ${rows} UNION SELECT x FROM ${rows}) AS u`],
    ["row_number", window("row_number() OVER (ORDER BY x)")],
    ["rank, PARTITION BY", window("rank() OVER (PARTITION BY x ORDER BY number DESC)")],
    ["sum, PARTITION BY", window("count(number) OVER (PARTITION BY x)")],
    ["max of rows before", window("max(x) OVER (ORDER BY x ROWS BETWEEN 10 PRECEDING AND CURRENT ROW)")],
    ["lag", window("lag(x) OVER (ORDER BY x, number)")],
    ["window of rows behind", window("min(number) OVER (ORDER BY x ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)")],
    ["window of values near", window("sum(number) OVER (ORDER BY number RANGE BETWEEN 1000 PRECEDING AND 300000 FOLLOWING)")],
    ["window of all rows so far", window("stddev(number) OVER (ORDER BY x)")],
    ["window past NULLs", window("lead(x, 3) IGNORE NULLS OVER (ORDER BY number)")],
  ];
}

const OF_NUMBERS: readonly string[] = ["median(x)", "percentile_cont(0.9) WITHIN GROUP (ORDER BY x)", "approx_percentile_cont(x, 0.9)"];

/** Each operation on each shape of rows. */
export function hostileRows(scale: number): readonly HostileStatement[] {
  const count = Math.max(1000, Math.round(1_000_000 * scale));
  const shaped = SHAPES.flatMap(([shape, value]): readonly HostileStatement[] => {
    const rows = `(SELECT number, ${value} AS x FROM (SELECT number FROM numbers LIMIT ${count}) AS n) AS r`;
    const plain = rows.slice(0, -" AS r".length);
    const operations = operationsOn("r", count).map(([name, sql]) => ({
      name: `${name} of ${shape}`,
      sql: `WITH r AS ${plain} ${sql}`,
    }));
    const ofNumbers = shape.includes("text") ? [] : OF_NUMBERS;
    return [...operations, ...ofNumbers.map((call) => ({ name: `${call} of ${shape}`, sql: `SELECT ${call} FROM ${rows}` }))];
  });
  const listed = Math.max(100, Math.round(300_000 * scale));
  const shuffled = (i: number): number => (i * 7919) % 1_000_003;
  const numbers = `(SELECT number FROM numbers LIMIT ${count}) AS n`;
  return [
    ...shaped,
    {
      name: "IN of 300,000 shuffled, over rows",
      sql: `SELECT count(*) FROM ${numbers} WHERE number IN (${repeated(listed, (i) => String(shuffled(i)), ",")})`,
    },
    {
      name: "IN of 300,000 texts, over rows",
      sql: `SELECT count(*) FROM ${numbers} WHERE cast(number AS string) IN (${repeated(listed, (i) => `'${shuffled(i)}'`, ",")})`,
    },
    {
      name: "IN of 300,000 doubles, equal ones among them",
      sql: `SELECT count(*) FROM ${numbers} WHERE sqrt(number) IN (${repeated(listed, (i) => `${shuffled(i) % 1000}.5`, ",")})`,
    },
    {
      name: "SELECT of IN of 300,000",
      sql: `SELECT usage IN (${repeated(listed, (i) => String(shuffled(i)), ",")}) FROM hostile`,
    },
  ];
}
