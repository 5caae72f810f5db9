/** Which side of a join is held, and that its rows are the same whichever it is: the oracle joins by nested loops. */
import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { rowsHere } from "../../../../test/support/cluster/rows-here.ts";
import { MemorySpill } from "../../../../test/support/memory-spill.ts";
import { type Answer, QueryFixture } from "../../../../test/support/query-fixture.ts";
import { INT64 } from "../../../column/data-type.ts";
import type { ExecOptions } from "../../execute.ts";
import type { PlanNode } from "../contract/node.ts";
import type { ExecBatch } from "../contract/exec-context.ts";
import type { RowSources } from "../contract/row-sources.ts";
import { execContextOf } from "../../statement/shared/select.ts";
import { run } from "../run.ts";

let data: QueryFixture;
beforeAll(async () => {
  data = new QueryFixture();
  await data.sql("CREATE TABLE few (k STRING PRIMARY KEY, a BIGINT, s STRING, ts TIMESTAMP TIME INDEX)");
  await data.sql("CREATE TABLE many (k STRING PRIMARY KEY, b BIGINT, y DOUBLE, ts TIMESTAMP TIME INDEX)");
  const some = (i: number, text: string): string => (i % 11 === 0 ? "NULL" : text);
  const few = Array.from({ length: 40 }, (_, i) => `(${some(i, `'k${i % 9}'`)}, ${some(i + 3, String(i % 13))}, 's${i % 4}', ${i})`);
  const many = Array.from(
    { length: 400 },
    (_, i) => `(${some(i, `'k${(i * 7) % 12}'`)}, ${some(i + 5, String((i * 5) % 60))}, ${i % 17}.5, ${i})`,
  );
  await data.sql(`INSERT INTO few VALUES ${few.join(", ")}`);
  await data.sql(`INSERT INTO many VALUES ${many.join(", ")}`);
});

function setBatchRows(rows: number): void {
  for (const name of ["few", "many"]) {
    const table = data.catalog.table("public", name);
    if (table !== undefined) table.batchRows = rows;
  }
}

const lines = ({ rows }: Answer): readonly string[] => rows.map((row) => row.map(String).join("|"));

/** Runs a query that may hold either side, and compares its rows with those of the oracle; gives the bytes that went to disk. */
async function check(sql: string, options: ExecOptions): Promise<number> {
  const want = lines(await data.sql(sql, { forceInterpreter: true }));
  const spill = new MemorySpill();
  const got = lines(await data.sql(sql, { ...options, spill }));
  expect([...got].sort(), `${sql} ${JSON.stringify(options)}`).toEqual([...want].sort());
  expect(spill.open, "open files").toBe(0);
  return spill.written;
}

/** The side that a join held, as EXPLAIN ANALYZE tells. */
async function checkHeld(from: string, want: string, options: ExecOptions = {}): Promise<void> {
  const sql = `EXPLAIN ANALYZE SELECT * FROM ${from}`;
  const { rows } = await data.sql(sql, { joinRowsFirst: 50, spill: new MemorySpill(), ...options });
  expect(/held_side: (\w+)/.exec(String(rows[0]?.[2]))?.[1] ?? "none", sql).toBe(want);
}

describe("rows are the same whichever side is held", () => {
  const kinds = fc.constantFrom(
    "JOIN",
    "JOIN",
    "LEFT SEMI JOIN",
    "LEFT ANTI JOIN",
    "RIGHT SEMI JOIN",
    "RIGHT ANTI JOIN",
    "LEFT JOIN",
    "FULL JOIN",
  );
  const conditions = fc.subarray(["l.k = r.k", "a = b", "l.ts = r.ts", "a < b", "y > 4", "s < 's3'", "a + 1 = b"], {
    minLength: 1,
    maxLength: 3,
  });
  const tables = fc.constantFrom(["few", "many"], ["many", "few"], ["(SELECT * FROM few WHERE a > 99)", "many"]);
  const memory = fc.constantFrom(undefined, undefined, 8, 16, 32);

  rowsHere("memory of a few KiB").test("on random kinds, conditions, sizes of batches and memory", async () => {
    const bounds = fc.constantFrom(0, 1, 10, 60, 1000);
    await fc.assert(
      fc.asyncProperty(
        kinds,
        conditions,
        tables,
        bounds,
        fc.constantFrom(7, 50, 1000),
        memory,
        async (kind, on, sides, first, batch, kib) => {
          setBatchRows(batch);
          const columns = sides[1] === "few" ? ["r.k, a, s", "l.k, b, y"] : ["l.k, a, s", "r.k, b, y"];
          const [ofFew = "", ofMany = ""] = columns;
          const isLeft = kind.startsWith("LEFT SEMI") || kind.startsWith("LEFT ANTI");
          const one = isLeft === (sides[1] === "many") ? ofFew : ofMany;
          const shown = /SEMI|ANTI/.test(kind) ? one : `${ofFew}, ${ofMany}`;
          const limit = kib === undefined ? {} : { memoryBytesMax: kib * 1024 };
          await check(`SELECT ${shown} FROM ${sides[0]} l ${kind} ${sides[1]} r ON ${on.join(" AND ")}`, {
            joinRowsFirst: first,
            ...limit,
          });
        },
      ),
      { seed: 20240107, numRuns: 100 },
    );
  });
  test("columns of the left come first, also to conditions and to nested joins", async () => {
    setBatchRows(50);
    await check("SELECT * FROM few JOIN many ON few.k = many.k AND a * 3 < b", { joinRowsFirst: 1 });
    await check("SELECT * FROM few l JOIN (few m JOIN many r ON m.k = r.k) ON l.a = m.a AND l.ts < r.ts", { joinRowsFirst: 1 });
    await check("SELECT few.k, count(*), max(y) FROM few, many WHERE few.k = many.k GROUP BY few.k ORDER BY few.k LIMIT 3", {
      joinRowsFirst: 1,
    });
  });
});

test("columns that nobody reads make no difference, in memory and on disk", async () => {
  const reads = fc.subarray(["count(*)", "max(l.ts)", "sum(a + b)", "min(s)", "max(m.y)", "count(r.k)"], { minLength: 1, maxLength: 3 });
  const kinds = fc.constantFrom("JOIN", "LEFT JOIN", "FULL JOIN");
  await fc.assert(
    fc.asyncProperty(
      reads,
      kinds,
      kinds,
      fc.constantFrom(undefined, 24, 64),
      fc.boolean(),
      async (read, first, second, kib, isFiltered) => {
        setBatchRows(50);
        const limit = kib === undefined ? {} : { memoryBytesMax: kib * 1024 };
        const few = isFiltered ? "(SELECT * FROM few WHERE a > 2 AND s <> 's1')" : "few";
        const many = "(SELECT k, b, y, ts FROM many WHERE b < 50)";
        const from = `${few} l ${first} ${many} m ON l.k = m.k AND l.a < m.y ${second} few r ON m.ts = r.ts`;
        await check(`SELECT ${read.map((call) => call.replace("(s)", "(l.s)").replace("(a + b)", "(l.a + b)")).join(", ")} FROM ${from}`, {
          joinRowsFirst: 10,
          ...limit,
        });
        await check(`SELECT count(*) FROM few l WHERE EXISTS (SELECT 1 FROM many m WHERE m.k = l.k AND m.b > 20 AND m.y > l.a)`, limit);
        await check(`SELECT max(ts) FROM few WHERE k NOT IN (SELECT k FROM many WHERE b > 40 AND k IS NOT NULL)`, limit);
      },
    ),
    { seed: 20261124, numRuns: 25 },
  );
});

describe("the smaller side is held", () => {
  test("whichever it is, once the right one is not small", async () => {
    for (const rows of [10, 1000]) {
      setBatchRows(rows);
      await checkHeld("few JOIN many ON few.k = many.k", "left");
      await checkHeld("few JOIN many ON few.k = many.k", "left", { joinRowsFirst: 0 });
      await checkHeld("many JOIN few ON few.k = many.k", "right");
      await checkHeld("few LEFT SEMI JOIN many ON few.k = many.k", "left", { joinRowsFirst: 0 });
      await checkHeld("few LEFT ANTI JOIN many ON few.k = many.k", "left", { joinRowsFirst: 0 });
      await checkHeld("few CROSS JOIN many", "left", { joinRowsFirst: 0 });
    }
  });
  test("but outer joins, the oracle and what has no room on disk hold the right one", async () => {
    setBatchRows(10);
    await checkHeld("few LEFT JOIN many ON few.k = many.k", "right");
    await checkHeld("few FULL JOIN many ON few.k = many.k", "right");
    await checkHeld("few LEFT SEMI JOIN many ON a < b", "right");
    await checkHeld("few JOIN many ON few.k = many.k", "right", { forceInterpreter: true });
    const { rows } = await data.sql("EXPLAIN ANALYZE SELECT * FROM few JOIN many ON few.k = many.k", { joinRowsFirst: 1 });
    expect(String(rows[0]?.[2])).toContain("held_side: right");
    const json = await data.sql("EXPLAIN ANALYZE FORMAT JSON SELECT * FROM few JOIN many ON few.k = many.k");
    expect(String(json.rows[0]?.[2])).toContain('"held_side":"right"');
  });
  test("a right side within the bound is held, and rows come in the order of the left one", async () => {
    setBatchRows(10);
    await checkHeld("few JOIN many ON few.k = many.k", "right", { joinRowsFirst: 1000 });
    const { rows } = await data.sql("SELECT l.ts FROM (SELECT * FROM few ORDER BY ts) l JOIN many r ON l.k = r.k", {
      spill: new MemorySpill(),
    });
    const times = rows.map(([ts]) => Number(ts));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });
  test("so a large right side needs no room on disk beside a small left one", async () => {
    setBatchRows(10);
    const join = (left: string, right: string): string => `SELECT few.k, b FROM ${left} JOIN ${right} ON few.a = many.b AND few.k < many.k`;
    const tight = { memoryBytesMax: 16 * 1024 };
    expect(await check(join("few", "many"), tight)).toBe(0);
    expect(await check(join("many", "few"), tight)).toBe(0);
    expect(await check(join("few", "many").replace(" JOIN", " LEFT JOIN"), tight)).toBeGreaterThan(0);
  });
});

describe("a join that nobody reads on ends both its sides", () => {
  const columns = [{ name: "n", type: INT64 }];
  const ended: string[] = [];
  const read = { left: 0, right: 0 };

  async function* rows(name: "left" | "right", batches: bigint): AsyncGenerator<ExecBatch> {
    try {
      for (; read[name] < batches; read[name]++) {
        const values = Float64Array.from({ length: 100 }, (_, i) => i);
        yield { rowCount: 100, vectors: [{ kind: "number", values, validity: undefined }] };
      }
    } finally {
      ended.push(name);
    }
  }
  const side = (name: "left" | "right", batches: number): PlanNode => {
    const start = name === "left" ? 0n : 1n;
    return { kind: "source", name, columns, source: { kind: "series", start, step: 1n, count: BigInt(batches) } };
  };
  const sources: RowSources = {
    open: (source) => (source.kind === "series" ? rows(source.start === 0n ? "left" : "right", source.count) : []),
  };

  async function firstRows(left: number, right: number): Promise<void> {
    ended.length = 0;
    read.left = 0;
    read.right = 0;
    const key = { kind: "column", index: 0, type: INT64, name: "n" } as const;
    const node: PlanNode = {
      kind: "join",
      join: "inner",
      left: side("left", left),
      right: side("right", right),
      columns: [...columns, ...columns],
      keys: [{ left: key, right: key }],
      residual: undefined,
    };
    const spill = new MemorySpill();
    const options = { spill, joinRowsFirst: 150 };
    const context = { ...execContextOf({ now: 0n, timeZone: "UTC", database: "public" }, data.context, options), sources };
    for await (const batch of run({ kind: "limit", input: node, columns: node.columns, offset: 0, count: 5 }, context)) {
      expect(batch.rowCount).toBe(5);
    }
    expect(ended.toSorted()).toEqual(["left", "right"]);
    expect(context.budget.used).toBe(0);
    expect(spill.open).toBe(0);
  }

  test("when the left one is held, after few rows of the right", async () => {
    await firstRows(3, 1000);
    expect(read.right).toBeLessThan(10);
  });
  test("when the right one is held, after few rows of the left", async () => {
    await firstRows(1000, 3);
    expect(read.left).toBeLessThan(10);
    await firstRows(1000, 1);
    expect(read.left).toBe(0);
  });
});
