/** INTERSECT and EXCEPT give the rows that counting them by their text gives, whichever side is held, in memory and beyond it. */
import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MemorySpill } from "../../../../test/support/memory-spill.ts";
import { type Answer, QueryFixture } from "../../../../test/support/query-fixture.ts";
import type { ExecOptions } from "../../execute.ts";

let data: QueryFixture;
beforeAll(async () => {
  data = new QueryFixture();
  for (const [name, rows, step] of [
    ["few", 60, 7],
    ["many", 900, 5],
  ] as const) {
    await data.sql(`CREATE TABLE ${name} (k STRING PRIMARY KEY, a BIGINT, w BIGINT, s STRING, x DOUBLE, ts TIMESTAMP TIME INDEX)`);
    const some = (i: number, text: string): string => (i % 11 === 0 ? "NULL" : text);
    const values = Array.from({ length: rows }, (_, i) => {
      const wide = `${9_000_000_000_000_000_000n + BigInt((i * step) % 300)}`;
      const text = `'${"long text of ".repeat(i % 3)}${(i * step) % 40}'`;
      const numbers = `${some(i, String((i * step) % 70))}, ${some(i + 3, wide)}`;
      return `('k${i % 9}', ${numbers}, ${some(i + 5, text)}, ${["-0.0", "0.0", "1.5"][i % 3]}, ${i})`;
    });
    await data.sql(`INSERT INTO ${name} VALUES ${values.join(", ")}`);
  }
});

const lines = ({ rows }: Answer): string[] => rows.map((row) => row.map((value) => (Object.is(value, -0) ? "0" : String(value))).join("|"));

function countsOf(rows: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + 1);
  return counts;
}

/** The reference, sorted. */
function naive(left: readonly string[], right: readonly string[], operator: string): string[] {
  const [own, other] = [countsOf(left), countsOf(right)];
  const found: string[] = [];
  for (const [row, count] of own) {
    const theirs = other.get(row) ?? 0;
    const stay = operator === "INTERSECT" ? Math.min(theirs, 1) : operator === "EXCEPT" ? (theirs > 0 ? 0 : 1) : -1;
    const ofAll = operator === "INTERSECT ALL" ? Math.min(count, theirs) : Math.max(0, count - theirs);
    for (let i = stay < 0 ? ofAll : stay; i > 0; i--) found.push(row);
  }
  return found.sort();
}

async function check(left: string, right: string, operator: string, batchRows: number, options: ExecOptions): Promise<number> {
  for (const name of ["few", "many"]) {
    const table = data.catalog.table("public", name);
    if (table !== undefined) table.batchRows = batchRows;
  }
  const want = naive(lines(await data.sql(left)), lines(await data.sql(right)), operator);
  const spill = new MemorySpill();
  const sql = `${left} ${operator} ${right}`;
  expect(lines(await data.sql(sql, { ...options, spill })).sort(), `${sql} ${JSON.stringify(options)}`).toEqual(want);
  expect(spill.open, "open files").toBe(0);
  return spill.written;
}

const operators = ["INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"];

describe("rows that both sides have, or one", () => {
  const columns = fc.subarray(["k", "a", "w", "s", "x"], { minLength: 1, maxLength: 3 });
  const sides = ["few", "many", "(SELECT * FROM few WHERE a > 999)", "(SELECT * FROM many WHERE a < 40)", "(SELECT * FROM many LIMIT 500)"];
  const side = fc.constantFrom(...sides);
  test("of any columns, sizes of batches and limits of memory", async () => {
    const memory = fc.constantFrom(undefined, 12 * 1024, 40 * 1024);
    await fc.assert(
      fc.asyncProperty(columns, side, side, fc.constantFrom(...operators), fc.constantFrom(7, 100, 2000), memory, async (...given) => {
        const [names, left, right, operator, batchRows, memoryBytesMax] = given;
        const query = (from: string): string => `(SELECT ${names.join(", ")} FROM ${from})`;
        await check(query(left), query(right), operator, batchRows, memoryBytesMax === undefined ? {} : { memoryBytesMax });
      }),
      { numRuns: 60 },
    );
  }, 30_000);
  for (const operator of operators) {
    test(`${operator}: of more rows than fit in memory`, async () => {
      for (const [left, right] of [
        ["few", "many"],
        ["many", "few"],
        ["many", "many"],
      ] as const) {
        const query = (from: string): string => `SELECT w, s, ts FROM ${from}`;
        const written = await check(query(left), query(right), operator, 100, { memoryBytesMax: 48 * 1024 });
        if (left === "many" && right === "many") expect(written, `${operator}: bytes on disk`).toBeGreaterThan(0);
      }
    });
  }
});
