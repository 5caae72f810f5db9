/** Queries whose scans run on worker threads answer as they do without, whatever state the table is in. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fixedClock } from "../../src/base/clock.ts";
import { FIXTURE_NOW } from "../support/query-fixture.ts";
import { ThreadedEngine } from "../support/threaded-engine.ts";

const HOSTS = 12;
const ROWS = 400;

const COLUMNS =
  "host STRING, dc STRING, n INT, big BIGINT, ubig BIGINT UNSIGNED, f DOUBLE, g FLOAT, ok BOOLEAN, s STRING, d DATE, " +
  "m DECIMAL(10, 2), at TIMESTAMP(6), bin BINARY, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (host, dc)";

/** Row `i` as values of an INSERT; every seventh has NULLs. */
function row(i: number): string {
  const cells = [
    `'h${i % HOSTS}'`,
    i % 5 === 0 ? "NULL" : `'dc${i % 3}'`,
    String((i * 37) % 101),
    i % 50 === 0 ? "9007199254740993" : String(i * 1_000_003),
    i % 60 === 0 ? "18446744073709551615" : String(i),
    String(i / 8 - 20),
    String((i % 64) / 4),
    i % 2 === 0 ? "true" : "false",
    `'text ${i % 17}'`,
    `'2024-01-${String((i % 28) + 1).padStart(2, "0")}'`,
    `${i % 90}.${String(i % 100).padStart(2, "0")}`,
    `'2024-02-01 00:00:00.${String(i).padStart(6, "0")}'`,
    `X'${(i % 256).toString(16).padStart(2, "0")}'`,
  ];
  const kept = i % 7 === 3 ? cells.map((cell, c) => (c < 2 ? cell : "NULL")) : cells;
  return `(${kept.join(", ")}, ${1_700_000_000_000 + i * 1700})`;
}

function insertOf(table: string, from: number, to: number): string {
  return `INSERT INTO ${table} VALUES ${Array.from({ length: to - from }, (_, i) => row(from + i)).join(", ")}`;
}

/** How a table gets its rows; `$` is its name. */
const STATES: readonly (readonly [state: string, statements: readonly string[]])[] = [
  ["in memory", [`CREATE TABLE $ (${COLUMNS})`, insertOf("$", 0, ROWS)]],
  [
    "in files",
    [`CREATE TABLE $ (${COLUMNS})`, insertOf("$", 0, 150), "ADMIN flush_table('$')", insertOf("$", 150, ROWS), "ADMIN flush_table('$')"],
  ],
  ["in both", [`CREATE TABLE $ (${COLUMNS})`, insertOf("$", 0, 250), "ADMIN flush_table('$')", insertOf("$", 250, ROWS)]],
  [
    "written twice, the last row wins",
    [`CREATE TABLE $ (${COLUMNS})`, insertOf("$", 0, ROWS), "ADMIN flush_table('$')", insertOf("$", 100, 200).replaceAll("text", "newer")],
  ],
  [
    "written twice, fields that are not NULL win",
    [
      `CREATE TABLE $ (${COLUMNS}) WITH (merge_mode = 'last_non_null')`,
      insertOf("$", 0, ROWS),
      "ADMIN flush_table('$')",
      "INSERT INTO $ (host, dc, n, ts) SELECT host, dc, n + 1000, ts FROM $ WHERE n < 50",
    ],
  ],
  [
    "written twice, all rows kept",
    [`CREATE TABLE $ (${COLUMNS}) WITH (append_mode = 'true')`, insertOf("$", 0, ROWS), "ADMIN flush_table('$')", insertOf("$", 50, 150)],
  ],
  [
    "with rows deleted from files and memory",
    [
      `CREATE TABLE $ (${COLUMNS})`,
      insertOf("$", 0, 300),
      "ADMIN flush_table('$')",
      insertOf("$", 300, ROWS),
      "DELETE FROM $ WHERE host = 'h3'",
      "DELETE FROM $ WHERE n % 10 = 4",
      "ADMIN flush_table('$')",
      "DELETE FROM $ WHERE host = 'h5' AND dc = 'dc1'",
    ],
  ],
  [
    "of which some rows have expired",
    [`CREATE TABLE $ (${COLUMNS}) WITH (ttl = '47d 1h 41m')`, insertOf("$", 0, 200), "ADMIN flush_table('$')", insertOf("$", 200, ROWS)],
  ],
  [
    "with columns that came, went and changed",
    [
      `CREATE TABLE $ (${COLUMNS})`,
      insertOf("$", 0, 200),
      "ADMIN flush_table('$')",
      "ALTER TABLE $ MODIFY COLUMN n BIGINT",
      "ALTER TABLE $ ADD COLUMN extra DOUBLE DEFAULT 2.5",
      "ALTER TABLE $ DROP COLUMN bin",
      "ALTER TABLE $ ADD COLUMN bin BINARY",
      "INSERT INTO $ (host, dc, n, f, bin, ts, extra) VALUES ('h1', 'dc1', 5000000000, 1.5, X'ff', 1700001000000, 7)",
    ],
  ],
  [
    "after compaction",
    [
      `CREATE TABLE $ (${COLUMNS})`,
      ...[0, 100, 200, 300].flatMap((from) => [insertOf("$", from, from + 100), "ADMIN flush_table('$')"]),
      "ADMIN compact_table('$')",
    ],
  ],
];

const KEYS = [
  "host",
  "dc",
  "n",
  "big",
  "ubig",
  "f",
  "g",
  "ok",
  "s",
  "d",
  "m",
  "at",
  "bin",
  "ts",
  "host, dc, ok",
  "date_bin('1m'::INTERVAL, ts), host",
];
const CALLS = [
  "count(*), count(f), count(s)",
  "sum(n), sum(f), sum(m), avg(n), avg(f), avg(g)",
  "min(n), max(big), min(ubig), max(f), min(s), max(d), min(m), max(at), min(ok)",
  "bool_and(ok), bool_or(ok), bit_and(n), bit_or(big), bit_xor(n)",
  "last_value(f ORDER BY ts), first_value(s ORDER BY ts), max(ts), min(ts)",
  "hll_count(hll(s)), sum(n) FILTER (WHERE ok), count(*) FILTER (WHERE f > 3)",
];

let threads: ThreadedEngine;
beforeAll(async () => {
  const clock = { ...fixedClock(FIXTURE_NOW), monotonicMillis: () => performance.now() };
  threads = await ThreadedEngine.start({}, { clock });
});
afterAll(() => threads.close());

describe.each(STATES.map(([state, statements], i) => ({ state, statements, name: `t${i}` })))("a table $state", ({ statements, name }) => {
  beforeAll(async () => {
    for (const statement of statements) await threads.engine.sql(statement.replaceAll("$", name));
  });

  test("aggregates of every kind, by keys of every type", async () => {
    // Without keys and conditions statistics of pages may be enough.
    for (const calls of CALLS) expect(await threads.pullsOf(`SELECT ${calls} FROM ${name} WHERE n >= 0`)).toBeGreaterThan(0);
    for (const [i, keys] of KEYS.entries()) {
      const calls = CALLS[i % CALLS.length] ?? "";
      expect(await threads.pullsOf(`SELECT ${keys}, ${calls} FROM ${name} GROUP BY ${keys}`)).toBeGreaterThan(0);
    }
  });

  test("filters, top-N, RANGE, DISTINCT, and joins of them", async () => {
    const here: string[] = [];
    const queries = [
      `SELECT * FROM ${name} WHERE n > 30`,
      `SELECT host, f * 2 AS twice, upper(s) FROM ${name} WHERE s LIKE '%1%' AND (ok OR f < 0)`,
      `SELECT host, s, n FROM ${name} WHERE host IN ('h1', 'h2', 'h7') AND n % 2 = 1`,
      `SELECT host, dc, ts, n FROM ${name} ORDER BY n DESC, host, dc, ts, s LIMIT 9`,
      `SELECT ts, host, max(n) RANGE '1m' FROM ${name} ALIGN '1m' BY (host)`,
      `SELECT DISTINCT dc, ok FROM ${name}`,
      `SELECT DISTINCT host, dc FROM ${name}`,
      `SELECT host, count(DISTINCT n), sum(n) FROM ${name} GROUP BY host`,
      `SELECT dc, stddev(f), var_pop(n) FROM ${name} GROUP BY dc`,
      `SELECT a.host, c, n FROM (SELECT host, count(*) AS c FROM ${name} GROUP BY host) a JOIN ${name} b ON a.host = b.host WHERE n > 90`,
      `SELECT host, sum(f) FROM ${name} WHERE ts >= 1700000100000 AND ts < 1700000500000 GROUP BY host`,
    ];
    for (const query of queries) if ((await threads.pullsOf(query)) === 0) here.push(query);
    expect(here).toEqual([]);
  });
});
