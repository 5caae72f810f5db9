/** Tags of every type that can be one, and NULL and the empty text in tags, from every place that holds rows. */
import { beforeAll, describe, expect, test } from "bun:test";
import { SqlSession } from "./sql-session.ts";
import { CASES, move, nameFor, PLACES } from "./type-cases.ts";

/** Types that tell series apart. */
const TAG_TYPES = CASES.filter(({ type }) => !/^(BINARY|JSON|VECTOR)/.test(type));

describe("tags", () => {
  let session: SqlSession;
  beforeAll(async () => {
    session = await SqlSession.start();
  });

  test.each(TAG_TYPES.map((entry) => [entry.type, entry] as const))("of type %s", async (type, { literals }) => {
    const table = nameFor("k", type);
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
