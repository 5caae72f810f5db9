/**
 * Every type through every place that holds rows: written as SQL literals, read back as JSON cells from the memtable, a file, a merged
 * file, the replayed log and a restarted engine, in every merge mode.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { SqlSession } from "./sql-session.ts";
import { CASES, move, nameFor, PLACES } from "./type-cases.ts";

const MODES = {
  last_row: "",
  last_non_null: " WITH ('merge_mode' = 'last_non_null')",
  append: " WITH ('append_mode' = 'true')",
} as const;

type Mode = keyof typeof MODES;

describe("values come back", () => {
  let session: SqlSession;
  beforeAll(async () => {
    session = await SqlSession.start();
  });

  test.each(CASES.map((entry) => [entry.type, entry] as const))("of type %s", async (type, { literals }) => {
    const table = nameFor("t", type);
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
    const table = nameFor("n", type);
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
      const table = nameFor("m", type);
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
    const table = nameFor("d", type);
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
    const table = nameFor("r", type);
    await session.rows(`CREATE TABLE ${table} (v ${type} NOT NULL, ts TIMESTAMP(3) TIME INDEX)`);
    const refused = "1004 Invalid request to region, reason: column v is not null but input has null";
    expect([type, await session.refusal(`INSERT INTO ${table} VALUES (NULL, 1)`)]).toEqual([type, refused]);
    expect([type, await session.refusal(`INSERT INTO ${table} (ts) VALUES (1)`)]).toEqual([type, refused]);
    expect(await session.rows(`INSERT INTO ${table} VALUES (${literals[1]?.[0]}, 1)`)).toEqual([["affected", "1"]]);
  }
});
