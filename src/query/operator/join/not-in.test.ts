/** Values that are, or are not, among those of a sub-query, and keys of several types: the oracle looks at each pair. */
import { beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { MemorySpill } from "../../../../test/support/memory-spill.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import type { ExecOptions } from "../../execute.ts";

let data: QueryFixture;
beforeAll(async () => {
  data = new QueryFixture();
  for (const name of ["l", "r"]) {
    await data.sql(`CREATE TABLE ${name} (i INT, u INT UNSIGNED, b BIGINT, w BIGINT UNSIGNED, s STRING, t TIMESTAMP(9), x DOUBLE,
      n DECIMAL(12, 2), m DECIMAL(30, 2), h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX)`);
    const rows = Array.from({ length: name === "l" ? 300 : 200 }, (_, row) => {
      const k = (row * (name === "l" ? 7 : 11)) % 97;
      const or = (text: string, every: number): string => ((row + k) % every === 0 ? "NULL" : text);
      const wide = k % 5 === 0 ? "4294967301" : k % 7 === 0 ? "-9223372036854775807" : String(k - 40);
      const unsigned = k % 6 === 0 ? "18446744073709551615" : k % 5 === 0 ? "9223372036854775809" : String(k);
      const small = k % 8 === 0 ? "4294967295" : String(k);
      return `(${or(String(k - 40), 13)}, ${or(small, 17)}, ${or(wide, 19)}, ${or(unsigned, 23)}, ${or(`'text-${k}'`, 29)},
        ${or(String(k * 1e15), 31)}, ${or(`${k}.5`, 37)}, ${or(`${k}.25`, 41)}, ${or(`${k}.25`, 43)}, ${or(`'h${k % 20}'`, 47)}, ${row})`;
    });
    await data.sql(`INSERT INTO ${name} VALUES ${rows.join(", ")}`);
  }
});

/** Runs a query, compares its rows with those of the oracle, and gives the bytes that went to disk. */
async function check(sql: string, options: ExecOptions = {}): Promise<number> {
  const lines = async (given: ExecOptions): Promise<readonly string[]> =>
    (await data.sql(sql, given)).rows.map((row) => row.map(String).join("|")).sort();
  const want = await lines({ forceInterpreter: true });
  const spill = new MemorySpill();
  expect(await lines({ ...options, spill }), `${sql} ${JSON.stringify(options)}`).toEqual(want);
  expect(spill.open).toBe(0);
  return spill.written;
}

const setBatchRows = (rows: number): void => {
  for (const name of ["l", "r"]) {
    const table = data.catalog.table("public", name);
    if (table !== undefined) table.batchRows = rows;
  }
};

const INTEGERS = ["i", "u", "b", "w"];
const PAIRS: readonly (readonly [string, string])[] = [
  ...INTEGERS.flatMap((a) => INTEGERS.map((b): readonly [string, string] => [a, b])),
  ...["s", "t", "x", "n", "m", "h"].map((a): readonly [string, string] => [a, a]),
  ["n", "m"],
  ["m", "n"],
  ["s", "h"],
  ["i", "x"],
];

test("keys meet by value, whatever their widths and signs", async () => {
  for (const [a, b] of PAIRS) {
    for (const join of ["JOIN", "LEFT ANTI JOIN"]) {
      const shown = join.includes("SEMI") || join.includes("ANTI") ? "l.ts" : "l.ts, r.ts";
      await check(`SELECT ${shown} FROM l ${join} r ON l.${a} = r.${b}`, { joinRowsFirst: 50 });
    }
  }
});

test("[NOT] IN a sub-query, on random keys, conditions, sizes of batches and memory", async () => {
  const where = fc.constantFrom("", "", " WHERE NOT isnull(KEY)", " WHERE r.ts < 0", " WHERE KEY IS NULL", " WHERE r.ts > 100", " LIMIT 0");
  let written = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...PAIRS),
      fc.constantFrom("IN", "NOT IN", "NOT IN", "<> ALL", "= ANY"),
      where,
      fc.boolean(),
      fc.constantFrom(7, 50, 1000),
      fc.constantFrom(0, 60, 1000),
      fc.constantFrom(undefined, undefined, 8, 16, 32),
      async ([a, b], operator, condition, isNegated, batch, joinRowsFirst, kib) => {
        setBatchRows(batch);
        const not = isNegated ? "NOT " : "";
        const own = condition.replace("NOT isnull(KEY)", `r.${b} IS NOT NULL`).replaceAll("KEY", `r.${b}`);
        const sql = `SELECT l.ts, l.${a} FROM l WHERE ${not}(l.${a} ${operator} (SELECT r.${b} FROM r${own}))`;
        // Of integers of two signs, one of 64 bits, a sub-query holds the values: it has no room on disk.
        const isHeld = a !== b && (a === "w" || b === "w");
        written += await check(sql, { joinRowsFirst, ...(kib !== undefined && !isHeld && { memoryBytesMax: kib * 1024 }) });
      },
    ),
    { seed: 20261124, numRuns: 200 },
  );
  expect(written).toBeGreaterThan(0);
});

test("NOT IN is a join, and a NULL on the right leaves nothing", async () => {
  setBatchRows(1000);
  const { rows } = await data.sql("EXPLAIN SELECT s FROM l WHERE s NOT IN (SELECT s FROM r)");
  expect(rows.map(String).join("\n")).toContain("HashJoinExec: not-in, on=[s = s]");
  const count = async (condition: string): Promise<unknown> => (await data.sql(`SELECT count(*) FROM l WHERE ${condition}`)).rows[0]?.[0];
  expect(await count("s NOT IN (SELECT s FROM r)")).toBe(0);
  expect(await count("s NOT IN (SELECT s FROM r WHERE ts < 0)")).toBe(300);
});

test("[NOT] IN of rows of several values, some NULL, as a condition and as a value, in plenty of memory and with little", async () => {
  const columns = fc.uniqueArray(fc.constantFrom("i % 4", "s", "b % 3", "t", "h", "x", "n", "u % 5"), { minLength: 2, maxLength: 3 });
  const rows = fc.constantFrom("", " WHERE i > 20", " WHERE i > 999", " WHERE i % 4 = 1 AND b IS NOT NULL");
  const memory = fc.constantFrom({}, {}, { memoryBytesMax: 24 * 1024 });
  await fc.assert(
    fc.asyncProperty(
      columns,
      rows,
      fc.constantFrom("IN", "NOT IN"),
      fc.constantFrom(7, 1000),
      memory,
      async (own, where, operator, batch, limit) => {
        setBatchRows(batch);
        const row = own.join(", ");
        await check(`SELECT ts FROM l WHERE (${row}) ${operator} (SELECT ${row} FROM r${where})`, limit);
        await check(`SELECT ts FROM l WHERE NOT ((${row}) ${operator} (SELECT ${row} FROM r${where}))`, limit);
        await check(`SELECT ts, (${row}) ${operator} (SELECT ${row} FROM r${where}) FROM l`);
      },
    ),
    { seed: 20261124, numRuns: 25 },
  );
});

test("NULL in a row of values leaves open what its other values do", async () => {
  const left = "(VALUES (1, 1), (1, NULL), (NULL, NULL), (2, 5), (NULL, 5)) AS l(a, b)";
  const answers = async (right: string): Promise<readonly string[]> => {
    const { rows } = await data.sql(`SELECT (a, b) IN (SELECT x, y FROM ${right}) FROM ${left}`);
    const none = await data.sql(`SELECT a, b FROM ${left} WHERE (a, b) NOT IN (SELECT x, y FROM ${right})`);
    return [rows.map(([value]) => String(value)).join(" "), none.rows.map((row) => row.join()).join(" ")];
  };
  expect(await answers("(VALUES (1, 1), (1, NULL), (3, 4)) AS r(x, y)")).toEqual(["true undefined undefined false undefined", "2,5"]);
  expect(await answers("(VALUES (1, 1), (NULL, 5)) AS r(x, y)")).toEqual(["true undefined undefined undefined undefined", ""]);
  expect(await answers("(VALUES (NULL::INT, NULL::INT)) AS r(x, y)")).toEqual([Array(5).fill("undefined").join(" "), ""]);
  expect(await answers("(SELECT 1 AS x, 2 AS y WHERE 1 = 2) AS r")).toEqual([Array(5).fill("false").join(" "), "1,1 1, , 2,5 ,5"]);
});

test("NOT IN of rows of values is a join of several keys", async () => {
  const { rows } = await data.sql("EXPLAIN SELECT ts FROM l WHERE (i, s) NOT IN (SELECT i, s FROM r)");
  expect(String(rows[0]?.[1])).toContain("HashJoin: not-in, on=[i = c0 AND s = c1]");
});
