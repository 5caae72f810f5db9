/**
 * Answers with what the planner asks of storage beside answers without: tables with every kind of index, in memory, in files, after
 * indexes came and went, and merged. And that pages and files really are left out.
 */
import { expect, test } from "bun:test";
import { type Random, seededRandom } from "../../bench/macro/random.ts";
import { DbError } from "../../src/base/error.ts";
import { EngineFixture } from "../support/engine-fixture.ts";

/** VARVE_ENGINE_SEED starts elsewhere. */
const FIRST_SEED = Number(process.env["VARVE_ENGINE_SEED"] ?? "1");
const SEEDS = Array.from({ length: Number(process.env["VARVE_ENGINE_LIVES"] ?? "2") }, (_, i) => FIRST_SEED + i);
const FILES = 6;
const ROWS_A_FILE = 40;

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)]!;
}

const INDEXES = ["", "SKIPPING INDEX", "SKIPPING INDEX WITH(granularity = 1)", "INVERTED INDEX", "INVERTED INDEX SKIPPING INDEX"];
const TEXT_INDEXES = [
  ...INDEXES,
  "FULLTEXT INDEX",
  "FULLTEXT INDEX WITH(analyzer = 'Chinese', case_sensitive = 'true', backend = 'tantivy')",
];
const FIELDS: Readonly<Record<string, string>> = {
  n: "BIGINT",
  u: "BIGINT UNSIGNED",
  small: "TINYINT",
  f: "DOUBLE",
  g: "FLOAT",
  flag: "BOOLEAN",
  day: "DATE",
  at: "TIMESTAMP(3)",
  level: "STRING",
  msg: "STRING",
};
const WORDS = ["error", "Errors", "warning", "disk", "DISK", "timeout", "café", "手机号", "日志", "user_id", "v1.0", "\u212aelvin", "x"];
const NUMBERS = ["0", "1", "-1", "42", "127", "-9223372036854775808", "9223372036854775807", "9007199254740993", "1000000"];

function textOf(random: Random): string {
  const gaps = [" ", "=", "-", ": ", ""];
  return Array.from({ length: 1 + random.below(4) }, () => `${pick(random, WORDS)}${pick(random, gaps)}`).join("");
}

/** A literal of a column; `around` is a number that all values of a file lie near. */
function literalOf(random: Random, column: string, around: number): string {
  if (random.below(12) === 0) return "NULL";
  switch (column) {
    case "n":
      return random.below(4) === 0 ? pick(random, NUMBERS) : String(around * 100 + random.below(20));
    case "u":
      return random.below(4) === 0 ? "18446744073709551615" : String(around * 100 + random.below(20));
    case "small":
      return String(around + random.below(3));
    case "f":
    case "g":
      return random.below(6) === 0
        ? pick(random, ["'NaN'", "-0.0", "0.0", "'inf'", "1e300"]).replace("1e300", "1e30")
        : `${around}.${random.below(4)}5`;
    case "flag":
      return around % 2 === 0 ? "true" : pick(random, ["true", "false"]);
    case "day":
      return `'2024-01-${String(1 + around).padStart(2, "0")}'`;
    case "at":
      return `'2024-01-01 00:00:0${around}.${random.below(3)}'`;
    case "level":
      return `'${pick(random, ["info", "warn", `level${around}`, "", "é"])}'`;
    default:
      return `'${textOf(random)}${random.below(3) === 0 ? ` id${around}` : ""}'`;
  }
}

/** A condition on fields, nested or not. */
function conditionOf(random: Random, depth: number): string {
  const dice = random.below(depth > 0 ? 13 : 10);
  const column = pick(random, Object.keys(FIELDS));
  const literal = (): string => literalOf(random, column, random.below(FILES + 1));
  if (dice >= 10) return `(${conditionOf(random, depth - 1)} ${pick(random, ["AND", "OR"])} ${conditionOf(random, depth - 1)})`;
  if (dice < 3) return `${column} ${pick(random, ["=", "=", "<", "<=", ">", ">=", "<>"])} ${literal()}`;
  if (dice < 5) return `${column} ${random.below(4) === 0 ? "NOT IN" : "IN"} (${literal()}, ${literal()})`;
  if (dice === 5) return `${column} IS ${pick(random, ["NULL", "NOT NULL"])}`;
  if (dice === 6)
    return pick(random, ["flag", "NOT flag", "flag IS TRUE", "n = 1.5", "n > 41.5", "u > -1", "f = 3", "NOT (level = 'info')"]);
  return searchOf(random);
}

function queryOf(random: Random): string {
  return `${pick(random, ["", "+", "-", "id3 OR "])}${pick(random, WORDS)} ${pick(random, ["", "AND disk", "-error", "id1"])}`;
}

function searchOf(random: Random): string {
  const subject = pick(random, ["msg", "msg", "lower(msg)", "level"]);
  const words = textOf(random).trim();
  switch (random.below(6)) {
    case 0:
      return `matches_term(${subject}, '${pick(random, WORDS)}')`;
    case 1:
      return `${subject} @@ '${words}'`;
    case 2:
      return `matches(${subject}, '${queryOf(random)}')`;
    case 3:
      return `${subject} LIKE '${pick(random, ["", "%"])}${words}${pick(random, ["", "%", "_"])}'`;
    case 4:
      return `${pick(random, ["contains", "starts_with", "ends_with"])}(${subject}, '${words}')`;
    default:
      return `${subject} = '${words}'`;
  }
}

test.each(SEEDS)("answers with indexes are those without, seed %i", async (seed) => {
  const random = seededRandom(seed);
  const fixture = await EngineFixture.start();
  const columns = Object.entries(FIELDS).map(
    ([name, type]) => `${name} ${type} ${pick(random, type === "STRING" ? TEXT_INDEXES : INDEXES)}`,
  );
  const mode = pick(random, ["append_mode = 'true'", "merge_mode = 'last_row'", "merge_mode = 'last_non_null'"]);
  await fixture.sql(`CREATE TABLE t (host STRING PRIMARY KEY, ts TIMESTAMP(3) TIME INDEX, ${columns.join(", ")}) WITH (${mode})`);
  let answered = 0;
  const check = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const tags = random.below(4) === 0 ? ` AND host IN ('h1', '${pick(random, ["h2", "none"])}')` : "";
      const query = `SELECT * FROM t WHERE ${conditionOf(random, 2)}${tags}`;
      try {
        answered += (await fixture.both(query)).rows.length;
      } catch (error) {
        // A list of Int64 and UInt64 casts each row's value, which may fail.
        if (!(error instanceof DbError && error.message.startsWith("Cast error"))) throw error;
      }
    }
  };
  for (let file = 0; file < FILES; file++) {
    const rows = Array.from({ length: ROWS_A_FILE }, (_, i) => {
      const values = Object.keys(FIELDS).map((name) => literalOf(random, name, file));
      return `('h${random.below(5)}', ${random.below(4) === 0 ? i : file * 1000 + i}, ${values.join(", ")})`;
    });
    await fixture.sql(`INSERT INTO t VALUES ${rows.join(", ")}`);
    if (file === 1) await check(15); // One file, the rest in memory.
    await fixture.sql("ADMIN flush_table('t')");
    if (!mode.startsWith("append") && random.below(2) === 0) {
      await fixture.sql(`DELETE FROM t WHERE host = 'h${random.below(5)}' AND ts < ${random.below(file + 1) * 1000 + random.below(500)}`);
      if (random.below(2) === 0) await fixture.sql("ADMIN flush_table('t')");
    }
    if (file !== 2) continue;
    for (const [name, type] of Object.entries(FIELDS)) {
      if (random.below(3) === 0)
        await fixture.sql(`ALTER TABLE t MODIFY COLUMN ${name} SET ${pick(random, ["INVERTED", "SKIPPING"])} INDEX`);
      if (random.below(4) === 0)
        await fixture.sql(`ALTER TABLE t MODIFY COLUMN ${name} UNSET ${type === "STRING" ? "FULLTEXT" : "SKIPPING"} INDEX`);
    }
  }
  await check(25);
  await fixture.sql("ADMIN build_index('t')");
  await check(25);
  await fixture.sql("ADMIN compact_table('t')");
  await check(40);
  await fixture.machine.restart();
  await check(20);
  expect(answered).toBeGreaterThan(1000);
});
