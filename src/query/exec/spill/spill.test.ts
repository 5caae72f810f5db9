/** Queries that do not fit in memory give what they give when they do: each operator, by both twins. */
import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MemorySpill } from "../../../../test/support/memory-spill.ts";
import { type Answer, QueryFixture } from "../../../../test/support/query-fixture.ts";

/** Little enough that some hundred rows do not fit. */
const TIGHT_BYTES = 96 * 1024;
const ROWS = 1500;

let data: QueryFixture;
beforeAll(async () => {
  data = new QueryFixture();
  await data.sql(
    "CREATE TABLE t (host STRING, dc STRING, n BIGINT, x DOUBLE, s STRING, d DATE, w BIGINT, b BINARY, " +
      "ts TIMESTAMP TIME INDEX, PRIMARY KEY (host, dc))",
  );
  await data.sql("CREATE TABLE u (host STRING PRIMARY KEY, n BIGINT, y DOUBLE, ts TIMESTAMP TIME INDEX)");
  let seed = 7;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const some = (text: string): string => (random(20) === 0 ? "NULL" : text);
  for (let from = 0; from < ROWS; from += 500) {
    const rows = Array.from({ length: 500 }, (_, i) => {
      const wide = random(3) === 0 ? `90071992547409${random(90) + 10}` : String(random(50));
      return (
        `(${some(`'h${random(40)}'`)}, ${some(`'d${random(3)}'`)}, ${some(String(random(1500)))}, ${some(`${random(400)}.5`)}, ` +
        `${some(`'é${random(900)}'`)}, ${some(`'2024-01-${String(random(28) + 1).padStart(2, "0")}'`)}, ` +
        `${some(wide)}, X'0${random(10)}', ${(from + i) * 1000 * (random(2) + 1)})`
      );
    });
    await data.sql(`INSERT INTO t VALUES ${rows.join(", ")}`);
    const others = Array.from(
      { length: 300 },
      (_, i) => `(${some(`'h${random(60)}'`)}, ${some(String(random(1500)))}, ${random(400)}.5, ${(from + i) * 1000})`,
    );
    await data.sql(`INSERT INTO u VALUES ${others.join(", ")}`);
  }
});

function setBatchRows(rows: number): void {
  for (const name of ["t", "u"]) {
    const table = data.catalog.table("public", name);
    if (table !== undefined) table.batchRows = rows;
  }
}

/** Cells as text; floats to 9 digits, since sums may add in another order. */
function lines({ rows, types }: Answer): readonly string[] {
  const text = (value: unknown, type: string): string =>
    typeof value === "number" && type.startsWith("Float")
      ? value.toPrecision(9)
      : value instanceof Uint8Array
        ? value.toHex()
        : String(value);
  return rows.map((row) => row.map((value, i) => text(value, types[i] ?? "")).join("|"));
}

/** Whether a query writes to disk. */
type Spills = "yes" | "no" | "either";

/** Compares a query with little memory, by each twin, with the same in plenty. */
async function check(sql: string, { ordered = false, spills = "yes" as Spills, bytes = TIGHT_BYTES } = {}): Promise<void> {
  const plenty = lines(await data.sql(sql, { forceInterpreter: true }));
  const want = ordered ? plenty : [...plenty].sort();
  for (const forceInterpreter of [false, true]) {
    const spill = new MemorySpill();
    const answer = lines(await data.sql(sql, { forceInterpreter, memoryBytesMax: bytes, spill }));
    expect(ordered ? answer : [...answer].sort(), `${sql}, interpreted: ${forceInterpreter}`).toEqual([...want]);
    if (spills !== "either") expect(spill.written > 0, `${sql} spills, interpreted: ${forceInterpreter}`).toBe(spills === "yes");
    expect(spill.open, "open files").toBe(0);
  }
}

describe("sorting", () => {
  test("equal rows keep their order, whatever the types of keys", async () => {
    const keys = fc.uniqueArray(fc.constantFrom("host", "dc", "n", "x", "s", "d", "w", "ts", "n % 7", "x + n", "b"), {
      minLength: 1,
      maxLength: 3,
    });
    const direction = fc.constantFrom("", " DESC", " NULLS FIRST", " DESC NULLS LAST");
    await fc.assert(
      fc.asyncProperty(keys, direction, fc.constantFrom(10, 100, 4000), async (by, how, batchRows) => {
        setBatchRows(batchRows);
        await check(`SELECT * FROM t ORDER BY ${by.map((key) => key + how).join(", ")}, ts, host, dc`, { ordered: true });
      }),
      { seed: 1, numRuns: 10 },
    );
  });
  test("runs are merged in several passes, and a LIMIT cuts them short", async () => {
    setBatchRows(50);
    await check("SELECT host, n, s, ts FROM t ORDER BY s, ts", { ordered: true, bytes: 24 * 1024 });
    await check("SELECT host, n, s, ts FROM t ORDER BY s, ts LIMIT 1200 OFFSET 100", { ordered: true, bytes: 24 * 1024 });
    await check("SELECT host, n, ts FROM t ORDER BY x, ts LIMIT 5", { ordered: true, spills: "no", bytes: 1024 * 1024 });
  });
});

describe("grouping", () => {
  const calls = [
    "count(*)",
    "sum(n)",
    "avg(x)",
    "min(s)",
    "max(w)",
    "count(DISTINCT dc)",
    "last_value(n ORDER BY ts)",
    "first_value(s ORDER BY ts)",
    "sum(n) FILTER (WHERE x > 100)",
    "max(ts)",
    "string_agg(s, ',' ORDER BY ts)",
    "stddev(x)",
  ];
  test("by keys of rows, of series and of time", async () => {
    const keys = fc.constantFrom(
      "n",
      "s",
      "host, dc, n",
      "w",
      "x",
      "s, d",
      "date_bin('1 minute', ts), host",
      "date_bin('10 seconds', ts)",
      "ts",
      "b, n",
      "n IS NULL, s",
    );
    await fc.assert(
      fc.asyncProperty(
        keys,
        fc.subarray(calls, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(10, 300, 4000),
        async (by, some, batchRows) => {
          setBatchRows(batchRows);
          await check(`SELECT ${by}, ${some.join(", ")} FROM t GROUP BY ${by}`, { spills: "either" });
        },
      ),
      { seed: 2, numRuns: 14 },
    );
  });
  test("distinct rows, and groups of groups", async () => {
    setBatchRows(200);
    await check("SELECT DISTINCT host, n, s FROM t");
    await check("SELECT count(*), sum(c) FROM (SELECT n, count(*) AS c FROM t GROUP BY n) AS g");
    await check("SELECT n, s FROM t UNION SELECT n, host FROM u");
    await check("SELECT n, s, count(*) FROM t GROUP BY ROLLUP (n, s)");
  });
  test("one group needs no room on disk", async () => {
    setBatchRows(200);
    await check("SELECT count(*), sum(n), max(s) FROM t", { spills: "no" });
    await check("SELECT dc, count(*), sum(n), max(x) FROM t GROUP BY dc", { spills: "no" });
  });
});

describe("joins", () => {
  const kinds = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"];
  /** Of all sides that are held, only the one on the right does not fit. */
  const spills = (kind: string): Spills => (/RIGHT|SEMI|ANTI/.test(kind) ? "either" : "yes");
  const shown = (kind: string): string => (kind.includes("SEMI") || kind.includes("ANTI") ? "a.n, a.s" : "a.n, a.s, b.n, b.y");
  const few = "(SELECT *, 1 AS one FROM t WHERE n < 150) AS a";
  const many = "(SELECT n, y, host, 1 AS one FROM u WHERE n < 500) AS b";

  test("by keys that split well, of several types", async () => {
    setBatchRows(100);
    for (const kind of kinds) {
      const query = `SELECT ${shown(kind)} FROM ${few} ${kind} ${many}`;
      await check(`${query} ON a.n = b.n AND a.x > b.y`, { bytes: 24 * 1024, spills: spills(kind) });
      await check(`${query} ON a.n % 50 = b.n AND a.host = b.host`, { bytes: 24 * 1024, spills: spills(kind) });
    }
  });
  test("by a key that most rows have, and by none", async () => {
    setBatchRows(100);
    for (const kind of kinds) {
      const query = `SELECT ${shown(kind)} FROM ${few} ${kind} ${many}`;
      await check(`${query} ON a.one = b.one AND a.n > b.n + 100`, { bytes: 24 * 1024, spills: spills(kind) });
      await check(`${query} ON a.n > b.n + 100`, { bytes: 24 * 1024, spills: spills(kind) });
    }
  });
});

describe("sets", () => {
  test("INTERSECT and EXCEPT, with ALL and without", async () => {
    setBatchRows(100);
    for (const operator of ["INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]) {
      await check(`SELECT n FROM t ${operator} SELECT n FROM u`, { bytes: 64 * 1024 });
      await check(`SELECT n, host FROM t ${operator} SELECT n, host FROM u`, { bytes: 64 * 1024 });
    }
  });
  test("DISTINCT ON keeps the order asked for", async () => {
    setBatchRows(100);
    await check("SELECT DISTINCT ON (s) s, n, ts FROM t ORDER BY s, ts DESC", { ordered: true });
    await check("SELECT DISTINCT ON (n, dc) n, dc, ts FROM t ORDER BY n, dc, ts", { ordered: true });
  });
});

describe("windows", () => {
  test("over many partitions", async () => {
    setBatchRows(100);
    const calls =
      "row_number() OVER w, sum(n) OVER w, lag(s) OVER w, " +
      "avg(x) OVER (PARTITION BY host ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)";
    await check(`SELECT host, ts, ${calls} FROM t WHERE n < 400 WINDOW w AS (PARTITION BY host ORDER BY ts)`, { bytes: 32 * 1024 });
    await check("SELECT s, n, rank() OVER (PARTITION BY s ORDER BY n DESC), count(*) OVER (PARTITION BY s) FROM t WHERE n < 400", {
      bytes: 32 * 1024,
    });
  });
  test("one partition has to fit, and the error says who holds what", async () => {
    setBatchRows(100);
    const spill = new MemorySpill();
    const run = data.sql("SELECT n, sum(x) OVER (ORDER BY ts) FROM t", { memoryBytesMax: 64 * 1024, spill });
    expect(await run.then(() => "it ran", String)).toMatch(
      /needs more than the 64 KiB of memory that query.memory_limit allows \(window holds \d+ KiB/,
    );
    expect(spill.open).toBe(0);
  });
});
