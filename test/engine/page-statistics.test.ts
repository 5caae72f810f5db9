/** Aggregates answered by statistics of pages beside the same ones computed from rows. */
import { describe, expect, test } from "bun:test";
import { type Random, seededRandom } from "../../bench/macro/random.ts";
import { EngineFixture } from "../support/engine-fixture.ts";
import { MovingClock } from "../support/moving-clock.ts";

/** VARVE_ENGINE_SEED starts elsewhere. */
const FIRST_SEED = Number(process.env["VARVE_ENGINE_SEED"] ?? "1");
const SEEDS = Array.from({ length: Number(process.env["VARVE_ENGINE_LIVES"] ?? "2") }, (_, i) => FIRST_SEED + i);

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)]!;
}

const FIELDS: Readonly<Record<string, string>> = {
  n: "BIGINT",
  u: "BIGINT UNSIGNED",
  f: "DOUBLE",
  g: "FLOAT",
  day: "DATE",
  at: "TIMESTAMP(3)",
  s: "STRING",
};

const KEYS: readonly (readonly string[])[] = [
  [],
  [],
  ["host"],
  ["date_bin('2 seconds', ts)"],
  ["date_trunc('month', ts)"],
  ["host", "date_bin('1 second', ts)"],
  ["s"],
];

/** What is deleted now and then: single rows, ranges of a series, series, and times that are whole pages. */
const GONE = ["host = 'h1' AND ts = 1050", "host = 'h0' AND ts < 2500", "host = 'h2'", "ts >= 3000 AND ts < 4000", "n > 50"];

function literalOf(random: Random, column: string): string {
  if (random.below(8) === 0) return "NULL";
  const number = random.below(200) - (column === "u" ? 0 : 100);
  const isOdd = random.below(40) === 0;
  switch (column) {
    case "n":
      return isOdd ? pick(random, ["9007199254740993", "-9007199254740993"]) : String(number);
    case "u":
      return isOdd ? "9007199254740993" : String(number);
    case "f":
    case "g":
      return isOdd ? pick(random, ["'NaN'", "-0.0", "'inf'"]) : `${number}.5`;
    case "day":
      return `'2024-01-${1 + random.below(28)}'`.replace(/-(\d)'/, "-0$1'");
    case "at":
      return `'2024-01-01 00:00:0${random.below(10)}'`;
    default:
      return `'${random.below(5)}'`;
  }
}

function callOf(random: Random): string {
  const name = pick(random, ["count", "sum", "avg", "min", "max"]);
  const fields = name === "sum" || name === "avg" ? ["n", "u", "f", "g"] : [...Object.keys(FIELDS), "ts", "host"];
  if (random.below(6) === 0) return "count(*)";
  return random.below(15) === 0 ? `${name}(DISTINCT n)` : `${name}(${pick(random, fields)})`;
}

test.each(SEEDS)("statistics of pages give what rows give, seed %i", async (seed) => {
  const random = seededRandom(seed);
  const clock = new MovingClock(8_000_000_000n);
  const fixture = await EngineFixture.start({ clock });
  const mode = pick(random, ["append_mode = 'true'", "merge_mode = 'last_row'", "merge_mode = 'last_non_null'"]);
  const columns = Object.entries(FIELDS).map(([name, type]) => `${name} ${type}`);
  await fixture.sql(
    `CREATE TABLE t (host STRING PRIMARY KEY, ts TIMESTAMP(3) TIME INDEX, ${columns.join(", ")}) WITH (${mode}, ttl = '8s')`,
  );
  const check = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const keys = pick(random, KEYS);
      const where = pick(random, ["", "", "WHERE host IN ('h0', 'h1')", "WHERE ts >= 1500 AND ts < 4000", "WHERE n > 0"]);
      const calls = Array.from({ length: 1 + random.below(4) }, (_, c) => `${callOf(random)} AS c${c}`).join(", ");
      const selected = keys.map((key, k) => `${key} AS k${k}, `).join("");
      const grouped = keys.length === 0 ? "" : `GROUP BY ${keys.join(", ")}`;
      await fixture.both(`SELECT ${selected}${calls} FROM t ${where} ${grouped}`);
    }
  };
  for (let file = 0; file < 6; file++) {
    const series = pick(random, [1, 1, 3]);
    const step = pick(random, [1, 50, 200]);
    const late = random.below(4) === 0 ? 0 : file * 1000;
    const rows = Array.from({ length: 30 }, (_, i) => {
      return `('h${(file + random.below(series)) % 4}', ${late + i * step}, ${Object.keys(FIELDS)
        .map((name) => literalOf(random, name))
        .join(", ")})`;
    });
    await fixture.sql(`INSERT INTO t VALUES ${rows.join(", ")}`);
    if (file < 5) await fixture.sql("ADMIN flush_table('t')");
    if (!mode.startsWith("append") && random.below(2) === 0) await fixture.sql(`DELETE FROM t WHERE ${pick(random, GONE)}`);
    if (file === 3) await fixture.sql(`ALTER TABLE t ADD COLUMN extra BIGINT ${pick(random, ["", "DEFAULT 7"])}`);
    if (file === 3) await fixture.sql("ALTER TABLE t DROP COLUMN extra");
  }
  await check(60);
  clock.nanos += 2_000_000_000n; // Some rows expire.
  await check(20);
  await fixture.sql("ADMIN flush_table('t')");
  await fixture.sql("ADMIN compact_table('t')");
  await check(40);
});

describe("pages are not read", () => {
  async function counters(): Promise<EngineFixture> {
    const fixture = await EngineFixture.start();
    await fixture.sql("CREATE TABLE c (host STRING PRIMARY KEY, ts TIMESTAMP(3) TIME INDEX, v BIGINT, w DOUBLE) WITH (spread = 1)");
    for (let file = 0; file < 3; file++) {
      const rows = Array.from({ length: 200 }, (_, i) => `('h${i % 2}', ${file * 86_400_000 + i}, ${i}, ${i}.5)`);
      await fixture.sql(`INSERT INTO c VALUES ${rows.join(", ")}`);
      await fixture.sql("ADMIN flush_table('c')");
    }
    return fixture;
  }

  const check = async (query: string, summarised: number, read: number): Promise<void> => {
    const fixture = await counters();
    expect(await fixture.statistics(query, "pages_summarised", "pages_read")).toEqual([summarised, read]);
    await fixture.both(query);
  };

  test("for statistics of the whole table", () => check("SELECT count(*), sum(v), avg(w), min(v), max(w), min(ts), max(ts) FROM c", 3, 0));
  test("by day", () => check("SELECT date_bin('1 day', ts) AS d, max(v), count(w) FROM c GROUP BY d", 3, 0));
  test("of whole days of a time range", () => check("SELECT sum(v) FROM c WHERE ts >= 86400000", 2, 0));
  test("unless they hold several series and those are told apart", () => check("SELECT host, max(v) FROM c GROUP BY host", 0, 3));
  test("unless buckets are shorter", () =>
    check("SELECT date_bin('1 second', ts - INTERVAL '0 second') AS d, max(v) FROM c GROUP BY d", 0, 6));
  test("unless one series is wanted", () => check("SELECT max(v) FROM c WHERE host = 'h1'", 0, 3));
  test("unless a row is asked for", () => check("SELECT max(v) FROM c WHERE v < 1000", 0, 3));
  test("unless the aggregate wants rows", () => check("SELECT max(v), median(v) FROM c", 0, 3));
});
