/** Joins of as many tables as may be, and a call that takes long in each place of a statement that computes something. */
import { type HostileStatement, repeated } from "./hostile-texts.ts";

/** FROM of many small tables: as many as a session may join, and half of that. */
export function hostileJoins(scale: number): readonly HostileStatement[] {
  const counts = [100, 199].map((count) => Math.max(10, Math.round(count * Math.min(1, scale * 10))));
  return counts.flatMap((count): readonly HostileStatement[] => {
    const joined = (kind: string, on: (i: number) => string): string =>
      `SELECT count(*) FROM hostile t0 ${repeated(count - 1, (i) => `${kind} hostile t${i + 1} ${on(i)}`, " ")}`;
    const equal = (i: number): string => `t${i}.usage = t${i + 1}.usage`;
    const listed = (place: (i: number) => number): string =>
      `SELECT count(*) FROM ${repeated(count, (i) => `hostile t${place(i)}`, ", ")} WHERE ${repeated(count - 1, equal, " AND ")}`;
    return [
      { name: `JOIN ON of ${count} tables`, sql: `${joined("JOIN", (i) => `ON ${equal(i)}`)} WHERE t0.host <> 'z'` },
      { name: `JOIN ON of ${count} tables, *`, sql: joined("JOIN", (i) => `ON ${equal(i)}`).replace("count(*)", "*") },
      { name: `LEFT JOIN of ${count} tables`, sql: `${joined("LEFT JOIN", (i) => `ON ${equal(i)}`)} WHERE t0.host <> 'z'` },
      { name: `FULL JOIN USING of ${count} tables`, sql: joined("FULL JOIN", () => "USING (usage)") },
      { name: `NATURAL JOIN of ${count} tables`, sql: joined("NATURAL JOIN", () => "") },
      { name: `FROM of ${count} tables`, sql: `${listed((i) => i)} AND t0.host <> 'z'` },
      {
        name: `FROM of ${count} tables, out of order`,
        sql: `${listed((i) => (i % 2 === 0 ? i : count - (count % 2) - i))} AND t0.host <> 'z'`,
      },
      {
        name: `FROM of ${count} queries`,
        sql:
          `SELECT count(*) FROM ` +
          `${repeated(count, (i) => `(SELECT usage FROM hostile) AS t${i}`, ", ")} WHERE ${repeated(count - 1, equal, " AND ")}`,
      },
    ];
  });
}

/** A long call in each place of a statement that computes something. */
export function longInPlaces(scale: number): readonly HostileStatement[] {
  const text = Math.max(1000, Math.round(4_000_000 * scale));
  const rows = (name: string): string => `(SELECT number FROM numbers LIMIT 3) AS ${name}`;
  const long = (over = "number"): string => `length(replace(repeat('a', ${over} + ${text}), 'a', 'b'))`;
  const from = `FROM ${rows("n")}`;
  const ofUsage = `length(replace(repeat('a', usage + ${text}), 'a', 'b'))`;
  const texts: readonly (readonly [place: string, sql: string])[] = [
    ["SELECT", `SELECT ${long()} ${from}`],
    ["WHERE", `SELECT number ${from} WHERE ${long()} > 5`],
    ["WHERE of a tag", `SELECT count(*) FROM hostile WHERE length(replace(repeat(host, ${text}), 'a', 'b')) > 5`],
    ["GROUP BY", `SELECT ${long()} AS l, count(*) ${from} GROUP BY l`],
    ["GROUP BY of a tag", `SELECT length(replace(repeat(host, ${text}), 'a', 'b')) AS l, count(*) FROM hostile GROUP BY l`],
    ["GROUP BY of a constant", `SELECT count(*) FROM hostile GROUP BY ${long("1")}`],
    ["ROLLUP", `SELECT ${long()} AS l, count(*) ${from} GROUP BY ROLLUP (${long()})`],
    ["HAVING", `SELECT number ${from} GROUP BY number HAVING ${long()} > 5`],
    ["ORDER BY", `SELECT number ${from} ORDER BY ${long()} DESC`],
    ["ORDER BY LIMIT", `SELECT number ${from} ORDER BY ${long()} DESC LIMIT 2`],
    ["LIMIT", `SELECT number FROM numbers LIMIT ${long("1")}`],
    ["an aggregate", `SELECT sum(${long()}), count(DISTINCT ${long()}) ${from}`],
    ["FILTER", `SELECT sum(number) FILTER (WHERE ${long()} > 5) ${from}`],
    ["ORDER BY in an aggregate", `SELECT string_agg(cast(number AS string), ',' ORDER BY ${long()} DESC) ${from}`],
    ["WITHIN GROUP", `SELECT approx_percentile_cont(0.5) WITHIN GROUP (ORDER BY ${long()}) ${from}`],
    ["PARTITION BY", `SELECT number, count(*) OVER (PARTITION BY ${long()}) ${from}`],
    ["ORDER BY in a window", `SELECT number, row_number() OVER (ORDER BY ${long()} DESC) ${from}`],
    ["a window", `SELECT number, sum(${long()}) OVER (ORDER BY number), lag(${long()}) OVER (ORDER BY number) ${from}`],
    ["DISTINCT ON", `SELECT DISTINCT ON (${long()}) number ${from} ORDER BY ${long()}`],
    ["JOIN ON, keys", `SELECT a.number FROM ${rows("a")} JOIN ${rows("b")} ON ${long("a.number")} = ${long("b.number")}`],
    ["JOIN ON, others", `SELECT a.number FROM ${rows("a")} JOIN ${rows("b")} ON ${long("a.number + b.number")} > 5`],
    ["unnest", `SELECT count(*) FROM (SELECT unnest(range(number + ${text / 4})) ${from}) AS u`],
    ["IN (sub-query)", `SELECT number ${from} WHERE ${long()} IN (SELECT ${long("m.number")} FROM ${rows("m")})`],
    ["a correlated sub-query", `SELECT (SELECT max(m.number) FROM ${rows("m")} WHERE m.number < ${long("n.number")}) ${from}`],
    ["VALUES", `SELECT a FROM (VALUES (${long("0")}), (${long("1")})) AS v (a)`],
    ["UNION", `SELECT ${long()} ${from} UNION SELECT ${long()} ${from}`],
    ["RANGE", `SELECT greptime_timestamp, max(${ofUsage}) RANGE '1h' FROM hostile ALIGN '1h' BY (host)`],
    ["ALIGN BY", `SELECT greptime_timestamp, max(usage) RANGE '1h' FROM hostile ALIGN '1h' BY (${ofUsage})`],
    ["INSERT", `INSERT INTO hostile (host, usage, greptime_timestamp) VALUES ('long', ${long("0")}, 6)`],
    ["INSERT SELECT", `INSERT INTO hostile (host, usage, greptime_timestamp) SELECT 'long', ${long()}, 7 ${from}`],
    ["UPDATE", `UPDATE hostile SET usage = ${long("usage % 3")} WHERE host = 'long'`],
    ["DELETE", `DELETE FROM hostile WHERE host = 'long' AND ${long("usage % 3")} > 5`],
  ];
  return texts.map(([place, sql]) => ({ name: `long in ${place}`, sql }));
}
