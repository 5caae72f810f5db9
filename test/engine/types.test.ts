/**
 * Every type through every place that holds rows: written as SQL literals, read back as JSON cells from the memtable, a file, a merged
 * file, the replayed log and a restarted engine, in every merge mode.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { SqlSession } from "./sql-session.ts";

interface TypeCase {
  readonly type: string;
  readonly literals: readonly (readonly [literal: string, cell: string])[];
}

function of(type: string, ...literals: readonly (readonly [string, string])[]): TypeCase {
  return { type, literals };
}

const DIGITS28 = "9".repeat(28);
const CASES: readonly TypeCase[] = [
  of("BOOLEAN", ["false", "false"], ["true", "true"], ["1", "true"], ["'true'", "true"]),
  of("TINYINT", ["-128", "-128"], ["127", "127"], ["5", "5"]),
  of("SMALLINT", ["-32768", "-32768"], ["32767", "32767"], ["300", "300"]),
  of("INT", ["-2147483648", "-2147483648"], ["2147483647", "2147483647"], ["70000", "70000"]),
  of(
    "BIGINT",
    ["-9223372036854775808", "-9223372036854775808"],
    ["9223372036854775807", "9223372036854775807"],
    ["9007199254740993", "9007199254740993"],
  ),
  of("TINYINT UNSIGNED", ["0", "0"], ["255", "255"], ["128", "128"]),
  of("SMALLINT UNSIGNED", ["0", "0"], ["65535", "65535"], ["40000", "40000"]),
  of("INT UNSIGNED", ["0", "0"], ["4294967295", "4294967295"], ["2147483648", "2147483648"]),
  of("BIGINT UNSIGNED", ["0", "0"], ["18446744073709551615", "18446744073709551615"], ["9223372036854775808", "9223372036854775808"]),
  of("FLOAT", ["-3.4028234e38", "-3.4028234663852886e38"], ["3.4028234e38", "3.4028234663852886e38"], ["1.5", "1.5"], ["'NaN'", "null"]),
  of(
    "DOUBLE",
    ["-1.7976931348623157e308", "-1.7976931348623157e308"],
    ["1.7976931348623157e308", "1.7976931348623157e308"],
    ["0.1", "0.1"],
  ),
  of("DECIMAL(4, 2)", ["-99.99", '"-99.99"'], ["99.99", '"99.99"'], ["1.5", '"1.50"'], ["-0.005", '"-0.01"']),
  of("DECIMAL(9, 3)", ["-999999.999", '"-999999.999"'], ["'999999.999'", '"999999.999"'], ["1", '"1.000"']),
  of(
    "DECIMAL(18, 6)",
    ["-999999999999.999999", '"-999999999999.999999"'],
    ["999999999999.999999", '"999999999999.999999"'],
    ["9007199254.740993", '"9007199254.740993"'],
    ["0.1", '"0.100000"'],
  ),
  of(
    "DECIMAL",
    [`-${DIGITS28}.9999999999`, `"-${DIGITS28}.9999999999"`],
    [`${DIGITS28}.9999999999`, `"${DIGITS28}.9999999999"`],
    ["0.1", '"0.1000000000"'],
  ),
  of(
    "DECIMAL(38, 38)",
    [`-0.${"9".repeat(38)}`, `"-0.${"9".repeat(38)}"`],
    [`0.${"9".repeat(38)}`, `"0.${"9".repeat(38)}"`],
    ["1e-38", `"0.${"0".repeat(37)}1"`],
  ),
  of("STRING", ["''", '""'], ["'it''s é 😀'", '"it\'s é 😀"'], [`'${"x".repeat(300)}'`, `"${"x".repeat(300)}"`]),
  of("BINARY", ["X''", "[]"], ["X'00ff7f'", "[0,255,127]"], ["'ab'", "[97,98]"]),
  of("DATE", ["'0001-01-01'", "-719162"], ["'9999-12-31'", "2932896"], ["'2024-02-29'", "19782"], ["'1969-12-31'", "-1"]),
  of("TIME", ["'00:00:00'", "0"], ["'23:59:59.999999999'", "86399999999999"], ["'12:30'", "45000000000000"]),
  of("TIME(0)", ["'00:00:00'", "0"], ["'23:59:59'", "86399"], ["'12:30:15'", "45015"]),
  of("TIME(3)", ["'00:00:00'", "0"], ["'23:59:59.999'", "86399999"], ["'12:30:15.5'", "45015500"]),
  of("TIME(6)", ["'00:00:00'", "0"], ["'23:59:59.999999'", "86399999999"], ["'00:00:00.000001'", "1"]),
  of(
    "TIMESTAMP(0)",
    ["-9223372036854775808", "-9223372036854775808"],
    ["9223372036854775807", "9223372036854775807"],
    ["'2024-01-31 12:00:00'", "1706702400"],
  ),
  of(
    "TIMESTAMP(3)",
    ["-9223372036854775808", "-9223372036854775808"],
    ["9223372036854775807", "9223372036854775807"],
    ["'2024-01-31T12:00:00.5Z'", "1706702400500"],
  ),
  of(
    "TIMESTAMP(6)",
    ["-9223372036854775808", "-9223372036854775808"],
    ["9223372036854775807", "9223372036854775807"],
    ["'2024-01-31 12:00:00.000001'", "1706702400000001"],
  ),
  of(
    "TIMESTAMP(9)",
    ["-9223372036854775808", "-9223372036854775808"],
    ["9223372036854775807", "9223372036854775807"],
    ["'2024-01-31 12:00:00.000000001'", "1706702400000000001"],
  ),
  of(
    "JSON",
    ["'{}'", "{}"],
    [`'{"b":[1,2.50,"x"],"a":null,"n":123456789012345678901234567890}'`, '{"a":null,"b":[1,2.5,"x"],"n":123456789012345678901234567890}'],
    ["'true'", "true"],
    ["parse_json('[1]')", "[1]"],
  ),
  of(
    "VECTOR(2)",
    ["'[-3.4028235e38, 3.4028235e38]'", "[255,255,127,255,255,255,127,127]"],
    ["'[0.0, 0.0]'", "[0,0,0,0,0,0,0,0]"],
    ["parse_vec('[1,2]')", "[0,0,128,63,0,0,0,64]"],
  ),
];

const MODES = {
  last_row: "",
  last_non_null: " WITH ('merge_mode' = 'last_non_null')",
  append: " WITH ('append_mode' = 'true')",
} as const;

type Mode = keyof typeof MODES;

const PLACES = ["the memtable", "the replayed log", "a file", "a merged file", "a restarted engine"] as const;

/** Brings the rows of a table to the next place. */
async function move(session: SqlSession, table: string, place: (typeof PLACES)[number]): Promise<void> {
  if (place === "the replayed log") await session.machine.crash();
  if (place === "a file") await session.flush(table);
  if (place === "a merged file") await session.compact(table);
  if (place === "a restarted engine") await session.machine.restart();
}

describe("values come back", () => {
  let session: SqlSession;
  beforeAll(async () => {
    session = await SqlSession.start();
  });

  test.each(CASES.map((entry) => [entry.type, entry] as const))("of type %s", async (type, { literals }) => {
    const table = `t_${type.replaceAll(/\W+/g, "_").toLowerCase()}`;
    await session.rows(`CREATE TABLE ${table} (v ${type}, ts TIMESTAMP(3) TIME INDEX)`);
    const values = ["NULL", ...literals.map(([literal]) => literal), "NULL"];
    await session.rows(`INSERT INTO ${table} VALUES ${values.map((literal, i) => `(${literal}, ${i})`).join(", ")}`);
    const cells = ["null", ...literals.map(([, cell]) => cell), "null"];
    const again = `INSERT INTO ${table} VALUES ${values.map((literal, i) => `(${literal}, ${i + 100})`).join(", ")}`;
    for (const place of PLACES) {
      if (place === "a merged file") {
        // Two files, whose times overlap.
        await session.rows(`${again}; INSERT INTO ${table} VALUES (NULL, -1)`);
        await session.flush(table);
      }
      await move(session, table, place);
      const rows = await session.rows(`SELECT ts, v FROM ${table} WHERE ts >= 0 ORDER BY ts`);
      const merged = PLACES.indexOf(place) >= PLACES.indexOf("a merged file");
      const want = [0, ...(merged ? [100] : [])].flatMap((start) => cells.map((cell, i) => [String(start + i), cell]));
      expect([place, rows]).toEqual([place, want]);
      expect(await session.rows(`SELECT count(*), count(v) FROM ${table} WHERE ts >= 0`)).toEqual([
        [String(want.length), String(want.length - (merged ? 4 : 2))],
      ]);
    }
  });
});

describe.each(Object.keys(MODES) as Mode[])("NULL in merge mode %s", (mode) => {
  let session: SqlSession;
  beforeAll(async () => {
    session = await SqlSession.start();
  });

  test.each(CASES.map((entry) => [entry.type, entry] as const))("of type %s", async (type, { literals }) => {
    const table = `n_${type.replaceAll(/\W+/g, "_").toLowerCase()}`;
    const [literal = "", cell = ""] = literals[1] ?? [];
    const [other = "", otherCell = ""] = literals[2] ?? [];
    await session.rows(`CREATE TABLE ${table} (v ${type}, k INT, ts TIMESTAMP(3) TIME INDEX)${MODES[mode]}`);
    // 1: a value, then NULL; 2: NULL, then a value; 3: a value, then left out; 4: two values.
    const older = `(${literal}, 1, 1), (NULL, 1, 2), (${literal}, 1, 3), (${literal}, 1, 4)`;
    const newer = [`(NULL, 2, 1), (${literal}, 2, 2), (${other}, 2, 4)`, "(2, 3)"] as const;
    await session.rows(`INSERT INTO ${table} VALUES ${older}`);
    await session.rows(`INSERT INTO ${table} VALUES ${newer[0]}; INSERT INTO ${table} (k, ts) VALUES ${newer[1]}`);
    const resolved = [
      ["1", mode === "last_non_null" ? cell : "null"],
      ["2", cell],
      ["3", mode === "last_non_null" ? cell : "null"],
      ["4", otherCell],
    ];
    const both = [
      ["1", cell],
      ["1", "null"],
      ["2", "null"],
      ["2", cell],
      ["3", cell],
      ["3", "null"],
      ["4", cell],
      ["4", otherCell],
    ];
    for (const place of PLACES) {
      await move(session, table, place);
      const rows = await session.rows(`SELECT ts, v FROM ${table} ORDER BY ts, k`);
      expect([place, rows]).toEqual([place, mode === "append" ? both : resolved]);
    }
  });

  test("of one row in memory and one in a file", async () => {
    for (const { type, literals } of CASES) {
      const table = `m_${type.replaceAll(/\W+/g, "_").toLowerCase()}`;
      const [literal = "", cell = ""] = literals[1] ?? [];
      await session.rows(`CREATE TABLE ${table} (v ${type}, k INT, ts TIMESTAMP(3) TIME INDEX)${MODES[mode]}`);
      await session.rows(`INSERT INTO ${table} VALUES (${literal}, 1, 1)`);
      await session.flush(table);
      await session.rows(`INSERT INTO ${table} VALUES (NULL, 2, 1)`);
      const want = { last_row: [["null"]], last_non_null: [[cell]], append: [[cell], ["null"]] }[mode];
      const read = `SELECT v FROM ${table} ORDER BY k`;
      expect([type, await session.rows(read)]).toEqual([type, want]);
      await session.flush(table);
      expect([type, await session.rows(read)]).toEqual([type, want]);
      await session.compact(table);
      expect([type, await session.rows(read)]).toEqual([type, want]);
    }
  });
});

test("defaults: left out takes them, NULL does not, DEFAULT asks for them", async () => {
  const session = await SqlSession.start();
  for (const { type, literals } of CASES) {
    if (type === "JSON") continue; // has none
    const table = `d_${type.replaceAll(/\W+/g, "_").toLowerCase()}`;
    const [literal = "", cell = ""] = literals[0] ?? [];
    await session.rows(`CREATE TABLE ${table} (v ${type} DEFAULT ${literal}, ts TIMESTAMP(3) TIME INDEX)`);
    await session.rows(`INSERT INTO ${table} (ts) VALUES (1); INSERT INTO ${table} VALUES (NULL, 2), (DEFAULT, 3)`);
    const want = [[cell], ["null"], [cell]];
    for (const place of PLACES) {
      await move(session, table, place);
      expect([type, place, await session.rows(`SELECT v FROM ${table} ORDER BY ts`)]).toEqual([type, place, want]);
    }
    // A column that comes later shows its default in rows that are older.
    await session.rows(`ALTER TABLE ${table} ADD COLUMN later ${type} DEFAULT ${literal}`);
    expect([type, await session.rows(`SELECT later FROM ${table} ORDER BY ts`)]).toEqual([type, [[cell], [cell], [cell]]]);
    // SHOW CREATE TABLE can be run again.
    const [[, text = ""] = []] = await session.rows(`SHOW CREATE TABLE ${table}`);
    await session.rows(`DROP TABLE ${table}; ${JSON.parse(text)}; INSERT INTO ${table} (ts) VALUES (1)`);
    expect([type, await session.rows(`SELECT v, later FROM ${table}`)]).toEqual([type, [[cell, cell]]]);
  }
});

test("NOT NULL refuses NULL of every type, and being left out", async () => {
  const session = await SqlSession.start();
  for (const { type, literals } of CASES) {
    const table = `r_${type.replaceAll(/\W+/g, "_").toLowerCase()}`;
    await session.rows(`CREATE TABLE ${table} (v ${type} NOT NULL, ts TIMESTAMP(3) TIME INDEX)`);
    const refused = "1004 Invalid request to region, reason: column v is not null but input has null";
    expect([type, await session.refusal(`INSERT INTO ${table} VALUES (NULL, 1)`)]).toEqual([type, refused]);
    expect([type, await session.refusal(`INSERT INTO ${table} (ts) VALUES (1)`)]).toEqual([type, refused]);
    expect(await session.rows(`INSERT INTO ${table} VALUES (${literals[1]?.[0]}, 1)`)).toEqual([["affected", "1"]]);
  }
});

/** Types that tell series apart. */
const TAG_TYPES = CASES.filter(({ type }) => !/^(BINARY|JSON|VECTOR)/.test(type));

describe("tags", () => {
  let session: SqlSession;
  beforeAll(async () => {
    session = await SqlSession.start();
  });

  test.each(TAG_TYPES.map((entry) => [entry.type, entry] as const))("of type %s", async (type, { literals }) => {
    const table = `k_${type.replaceAll(/\W+/g, "_").toLowerCase()}`;
    await session.rows(`CREATE TABLE ${table} (k ${type} PRIMARY KEY, v INT, ts TIMESTAMP(3) TIME INDEX)`);
    const distinct = literals.filter(([, cell], i) => literals.findIndex(([, other]) => other === cell) === i);
    const rows = [["NULL", "null"] as const, ...distinct];
    await session.rows(`INSERT INTO ${table} VALUES ${rows.map(([literal], i) => `(${literal}, ${i}, 1)`).join(", ")}`);
    for (const place of PLACES) {
      await move(session, table, place);
      const read = await session.rows(`SELECT v, k, count(*) FROM ${table} GROUP BY v, k ORDER BY v`);
      expect([place, read]).toEqual([place, rows.map(([, cell], i) => [String(i), cell, "1"])]);
      expect(await session.rows(`SELECT v FROM ${table} WHERE k IS NULL`)).toEqual([["0"]]);
      for (const [i, [literal, cell]] of rows.entries()) {
        if (i === 0 || cell === "null") continue; // NaN prints as NULL does.
        expect([place, literal, await session.rows(`SELECT v FROM ${table} WHERE k = CAST(${literal} AS ${type})`)]).toEqual([
          place,
          literal,
          [[String(i)]],
        ]);
      }
    }
    // The same values again are the same series, and the newer row wins.
    await session.rows(`INSERT INTO ${table} VALUES ${rows.map(([literal], i) => `(${literal}, ${i + 10}, 1)`).join(", ")}`);
    expect(await session.rows(`SELECT count(*), min(v) FROM ${table}`)).toEqual([[String(rows.length), "10"]]);
  });

  test("come in the order of their values, NULL first", async () => {
    await session.rows("CREATE TABLE sorted_decimals (k DECIMAL(20, 2), v INT, ts TIMESTAMP TIME INDEX, PRIMARY KEY (k))");
    await session.rows("INSERT INTO sorted_decimals VALUES (10, 1, 1), (9.5, 2, 1), (NULL, 3, 1), (-10, 4, 1), (-9.5, 5, 1), (0, 6, 1)");
    for (const place of PLACES) {
      await move(session, "sorted_decimals", place);
      expect((await session.rows("SELECT k FROM sorted_decimals")).flat()).toEqual([
        "null",
        '"-10.00"',
        '"-9.50"',
        '"0.00"',
        '"9.50"',
        '"10.00"',
      ]);
      expect(await session.rows("SELECT v FROM sorted_decimals WHERE k IN (9.50, -10)")).toEqual([["4"], ["2"]]);
      expect(await session.rows("SELECT v FROM sorted_decimals WHERE k = 9.501 OR k > 9.501")).toEqual([["1"]]);
    }
  });

  test("the empty text is a value, and not NULL", async () => {
    await session.rows("CREATE TABLE texts (k STRING PRIMARY KEY, v INT, ts TIMESTAMP TIME INDEX)");
    await session.rows("INSERT INTO texts VALUES ('', 1, 1), (NULL, 2, 1), ('a', 3, 1)");
    for (const place of PLACES) {
      await move(session, "texts", place);
      expect(await session.rows("SELECT k, v FROM texts")).toEqual([
        ["null", "2"],
        ['""', "1"],
        ['"a"', "3"],
      ]);
      expect(await session.rows("SELECT v FROM texts WHERE k = ''")).toEqual([["1"]]);
      expect(await session.rows("SELECT v FROM texts WHERE k IS NULL")).toEqual([["2"]]);
      expect(await session.rows("SELECT v FROM texts WHERE k <> 'a'")).toEqual([["1"]]);
    }
  });
});
