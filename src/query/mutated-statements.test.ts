/**
 * Statements that went wrong on their way: their words are dropped, doubled, swapped or replaced. Each gives a result or an error for the
 * client, by loops and reference alike, and never anything else. `VARVE_FUZZ_STATEMENTS=10000 bun test
 * src/query/mutated-statements.test.ts` runs more of them.
 */
import { expect, test } from "bun:test";
import { QueryFixture } from "../../test/support/query-fixture.ts";
import { DbError } from "../base/error.ts";
import { StatusCode } from "../base/status-code.ts";

const STATEMENTS = Number(process.env["VARVE_FUZZ_STATEMENTS"] ?? "1500");

const SEEDS = [
  "SELECT host, max(a) AS m FROM t WHERE ts >= 1 AND a < 5 OR host IN ('x') GROUP BY host HAVING count(*) > 0 ORDER BY m DESC LIMIT 3",
  "SELECT date_bin(INTERVAL '1 minute', ts) AS b, avg(x), sum(a) FROM t GROUP BY b ORDER BY 1 OFFSET 1",
  "SELECT l.host, r.n FROM t l JOIN u r ON l.host = r.host AND l.a < r.n LEFT JOIN t AS q ON q.host = r.host WHERE r.n IS NOT NULL",
  "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.host = t.host AND n > a) AND a NOT IN (SELECT n FROM u WHERE n > 0)",
  "WITH c (k, v) AS (SELECT host, max(x) FROM t GROUP BY host), d AS (SELECT * FROM c WHERE v > 1) SELECT * FROM c FULL JOIN d USING (k)",
  "SELECT a, (SELECT count(*) FROM u WHERE u.host = t.host) FROM t UNION ALL SELECT n, n FROM u EXCEPT SELECT 1, 1 ORDER BY 1",
  "SELECT CASE WHEN a > 1 THEN 'big' WHEN a IS NULL THEN NULL ELSE host END, TRY_CAST(x AS BIGINT), a::TEXT, a % 2, -x, NOT (a = 2) FROM t",
  "SELECT DISTINCT ON (host) host, a, x FROM t ORDER BY host, a DESC NULLS LAST",
  "SELECT s.n + 1 FROM (SELECT a AS n FROM t UNION SELECT n FROM u) AS s, LATERAL (SELECT max(a) FROM t WHERE a = s.n) AS m WHERE n < 9",
  "SELECT host LIKE 'h%', host || 'z', length(host), substr(host, 1, 2), coalesce(a, 0), CAST('2024-01-01' AS TIMESTAMP(3)) > ts FROM t",
  "SELECT last_value(a ORDER BY ts), first_value(x ORDER BY ts DESC), count(DISTINCT host), sum(a) FILTER (WHERE x > 1) FROM t",
  "VALUES (1, 'a'), (2, NULL) ORDER BY column1 LIMIT 1",
  "EXPLAIN SELECT * FROM t WHERE host = 'x' AND a > 1",
  "INSERT INTO u (host, n, ts) VALUES ('a', 1, 1), ('b', DEFAULT, '2024-01-01')",
  "INSERT INTO u SELECT host, a, ts FROM t WHERE a > 100",
  "SHOW TABLES LIKE 't%'",
  "DESCRIBE TABLE t",
];

const WORDS = [
  ..."( ) , . * = < > <> + - / % || :: ? ; ' \" 1 0 -1 9223372036854775807 1e400 '2024-01-01' NULL TRUE 'x' host a x ts n t u nope".split(
    " ",
  ),
  ..."SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT JOIN LEFT FULL ON USING UNION ALL EXCEPT WITH AS AND OR NOT IN IS EXISTS ANY".split(
    " ",
  ),
  ..."DISTINCT CASE WHEN THEN END INTERVAL CAST count max sum avg upper date_trunc now LATERAL VALUES BETWEEN LIKE NULLS FIRST DESC".split(
    " ",
  ),
];

/** A generator of numbers below a bound, always the same for a seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function mutated(seed: string, random: (below: number) => number): string {
  const words = seed.match(/\w+|'[^']*'|[<>|:]{2}|[<>]=|\S/g) ?? [];
  for (let edits = random(2); edits >= 0; edits--) {
    const at = random(words.length);
    const other = random(words.length);
    const kind = random(6);
    if (kind === 0) words.splice(at, 1);
    else if (kind === 1) words.splice(at, 0, words[other] ?? "");
    else if (kind === 2) words[at] = words[other] ?? "";
    else if (kind === 3) words[at] = WORDS[random(WORDS.length)] ?? "";
    else if (kind === 4) words.splice(at, 0, WORDS[random(WORDS.length)] ?? "");
    else [words[at], words[other]] = [words[other] ?? "", words[at] ?? ""];
  }
  return words.join(" ");
}

/** What a client reads: rows, or an error. @throws Error for anything that is no error for a client */
async function outcome(fixture: QueryFixture, text: string, forceInterpreter: boolean): Promise<string> {
  try {
    const { rows, affected } = await fixture.sql(text, { forceInterpreter });
    return affected === undefined ? `${rows.length} rows` : "affected";
  } catch (thrown) {
    if (!(thrown instanceof DbError)) throw new Error(`no error for a client: ${text}`, { cause: thrown });
    const internal: readonly number[] = [StatusCode.Unknown, StatusCode.Unexpected, StatusCode.Internal];
    if (internal.includes(thrown.code)) throw new Error(`an internal error: ${text}`, { cause: thrown });
    expect(thrown.message, text).not.toMatch(/\n\s+at /);
    return "error";
  }
}

test("mutated statements give a result or an error for the client", async () => {
  const random = randomFrom(20241121);
  let answered = 0;
  const fixture = new QueryFixture();
  await fixture.sql("CREATE TABLE t (host STRING PRIMARY KEY, a INT, x DOUBLE, ts TIMESTAMP TIME INDEX)");
  await fixture.sql("CREATE TABLE u (host STRING PRIMARY KEY, n BIGINT, ts TIMESTAMP TIME INDEX)");
  await fixture.sql("INSERT INTO t VALUES ('x', 1, 1.5, 1), ('x', 2, NULL, 2), ('y', 3, 'NaN', 3), (NULL, NULL, -2, 60004)");
  await fixture.sql("INSERT INTO u VALUES ('x', 1, 1), ('y', 9007199254740993, 2), ('z', NULL, 3)");
  for (const seed of SEEDS) expect([seed, await outcome(fixture, seed, false)]).not.toEqual([seed, "error"]);
  for (let round = 0; round < STATEMENTS; round++) {
    const text = mutated(SEEDS[round % SEEDS.length] ?? "", random);
    const got = await outcome(fixture, text, false);
    if (/^\s*(SELECT|VALUES|WITH)/i.test(text) && !/random|now|uuid/i.test(text)) {
      // A plan that pushes conditions down may meet a failing one later, or never, than one that does not.
      const wanted = await outcome(fixture, text, true);
      if (wanted !== "error" && got !== "error") expect(got, text).toBe(wanted);
    }
    if (got !== "error") answered++;
  }
  expect(answered).toBeGreaterThan(STATEMENTS / 50);
}, 600_000);

test("large statements are answered, or refused", async () => {
  const fixture = new QueryFixture();
  await fixture.sql("CREATE TABLE t (host STRING PRIMARY KEY, a INT, ts TIMESTAMP TIME INDEX)");
  await fixture.sql("INSERT INTO t VALUES ('h7', 7, 1)");
  const list = Array.from({ length: 10_000 }, (_, i) => `'h${i}'`).join(", ");
  expect((await fixture.both(`SELECT a FROM t WHERE host IN (${list})`)).rows).toEqual([[7]]);
  const numbers = Array.from({ length: 10_000 }, (_, i) => i).join(", ");
  expect((await fixture.both(`SELECT a FROM t WHERE a IN (${numbers})`)).rows).toEqual([[7]]);
  const deep = (levels: number): string => `SELECT ${"(".repeat(levels)}1${")".repeat(levels)}`;
  expect((await fixture.sql(deep(400))).rows).toEqual([[1]]);
  expect(await outcome(fixture, deep(5000), false)).toBe("error");
  const unions = Array.from({ length: 300 }, (_, i) => `SELECT ${i}`).join(" UNION ALL ");
  expect((await fixture.sql(unions)).rows).toHaveLength(300);
  expect((await fixture.sql(`SELECT '${"x".repeat(1 << 20)}' = 'y'`)).rows).toEqual([[false]]);
  const chain = Array.from({ length: 60 }, (_, i) => `c${i} AS (SELECT * FROM ${i === 0 ? "t" : `c${i - 1}`})`).join(", ");
  expect((await fixture.sql(`WITH ${chain} SELECT a FROM c59`)).rows).toEqual([[7]]);
});
