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
