/** Queries that do not fit in memory give what they give when they do: each operator, by loops and reference. */
import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MemorySpill } from "../../../../test/support/memory-spill.ts";
import { type Answer, QueryFixture } from "../../../../test/support/query-fixture.ts";
import { MemoryCounter, MemoryPool, ServerMemory } from "../../../base/memory/server-memory.ts";

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

/** Compares a query with little memory, by each reference, with the same in plenty. */
async function check(
  sql: string,
  { ordered = false, spills = "yes" as Spills, bytes = TIGHT_BYTES, references = [false, true], byOracle = true } = {},
): Promise<void> {
  const plenty = lines(await data.sql(sql, { forceInterpreter: byOracle }));
  const want = ordered ? plenty : [...plenty].sort();
  for (const forceInterpreter of references) {
    const spill = new MemorySpill();
    const pool = new MemoryPool(new ServerMemory(Number.POSITIVE_INFINITY), "queries", Number.POSITIVE_INFINITY);
    const answer = lines(await data.sql(sql, { forceInterpreter, memoryBytesMax: bytes, spill, memory: pool.account() }));
    expect(ordered ? answer : [...answer].sort(), `${sql}, interpreted: ${forceInterpreter}`).toEqual([...want]);
    if (spills !== "either") expect(spill.written > 0, `${sql} spills, interpreted: ${forceInterpreter}`).toBe(spills === "yes");
    expect([spill.open, pool.used], `open files and bytes held after ${sql}`).toEqual([0, 0]);
  }
}

test("a query spills before the memory of all queries refuses it, however large its own limit is", async () => {
  setBatchRows(100);
  for (const sql of [
    "SELECT t.n, t.s, u.y FROM t JOIN u ON t.n = u.n",
    "SELECT n, string_agg(s, ',') FROM t GROUP BY n",
    "SELECT n, s, ts FROM t ORDER BY s, ts",
  ]) {
    const want = lines(await data.sql(sql)).toSorted();
    const memory = new ServerMemory(200 * 1024);
    const others = new MemoryCounter();
    memory.register("memtables", others);
    others.take(40 * 1024);
    const pool = new MemoryPool(memory, "queries", 48 * 1024);
    const spill = new MemorySpill();
    const answer = await data.sql(sql, { memoryBytesMax: 1024 * 1024 * 1024, spill, memory: pool.account() });
    expect(lines(answer).toSorted(), sql).toEqual(want);
    expect(spill.written, sql).toBeGreaterThan(0);
    expect(pool.used, sql).toBe(0);
  }
});

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
    await check("SELECT host, n, s, ts FROM t ORDER BY s, ts OFFSET 2000", { ordered: true, bytes: 24 * 1024 });
    await check("SELECT host, n, ts FROM t ORDER BY x, ts LIMIT 5", { ordered: true, spills: "no", bytes: 1024 * 1024 });
  });
});

test("ASOF JOIN sorts over the disk", async () => {
  setBatchRows(200);
  const both = "t ASOF LEFT JOIN u ON t.host = u.host AND t.ts >= u.ts";
  await check(`SELECT t.host, t.dc, t.ts, t.s, u.ts FROM ${both}`);
  await check(`SELECT t.host, t.dc, t.ts, u.y FROM ${both.replace("LEFT ", "")} WHERE t.n < 1000`);
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
      await check(`${query} ON a.n = b.n AND a.x > b.y`, { bytes: 16 * 1024, spills: spills(kind) });
      await check(`${query} ON a.n % 50 = b.n AND a.host = b.host`, { bytes: 16 * 1024, spills: spills(kind) });
    }
  });
  test("by a key that most rows have, and by none", async () => {
    setBatchRows(100);
    for (const kind of kinds) {
      const query = `SELECT ${shown(kind)} FROM ${few} ${kind} ${many}`;
      await check(`${query} ON a.one = b.one AND a.n > b.n + 100`, { bytes: 16 * 1024, spills: spills(kind) });
      await check(`${query} ON a.n > b.n + 100`, { bytes: 12 * 1024, spills: "either" });
    }
    const large = few.replace("n < 150", "n < 450");
    await check(`SELECT ${shown("JOIN")} FROM ${large} JOIN ${many} ON a.n > b.n + 100`, { bytes: 12 * 1024 });
  });
});

describe("sets", () => {
  test("INTERSECT and EXCEPT, with ALL and without", async () => {
    setBatchRows(100);
    for (const operator of ["INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]) {
      await check(`SELECT n FROM t ${operator} SELECT n FROM u`, { bytes: 16 * 1024 });
      await check(`SELECT n, host FROM t ${operator} SELECT n, host FROM u`, { bytes: 64 * 1024 });
    }
  });
  test("DISTINCT ON keeps the order asked for", async () => {
    setBatchRows(100);
    await check("SELECT DISTINCT ON (s) s, n, ts FROM t ORDER BY s, ts DESC", { ordered: true });
    await check("SELECT DISTINCT ON (n, dc) n, dc, ts FROM t ORDER BY n, dc, ts", { ordered: true });
  });
});

describe("series without gaps", () => {
  const fill = (rule: string): string =>
    `SELECT ts, host, min(n) RANGE '10s' FILL ${rule} AS a, max(x) RANGE '10s' FILL ${rule} AS b, count(w) RANGE '10s' AS c ` +
    "FROM t WHERE n % 3 = 0 OR ts < 400000 ALIGN '10s' BY (host)";
  /** The oracle holds the slots of a series, however many. */
  const references = [false];
  test("by every rule", async () => {
    for (const batchRows of [40, 4000]) {
      setBatchRows(batchRows);
      for (const rule of ["NULL", "PREV", "LINEAR", "7"]) {
        await check(fill(rule), { bytes: 48 * 1024, references });
        await check(fill(rule), { bytes: 512 * 1024, spills: "either" });
      }
    }
  });
  test("of few long series, and of values that are mostly NULL", async () => {
    setBatchRows(100);
    const rare = "CASE WHEN n % 97 = 0 THEN n END";
    for (const rule of ["PREV", "LINEAR"]) {
      const calls = `min(${rare}) RANGE '2s' FILL ${rule}, max(s) RANGE '2s' FILL PREV`;
      await check(`SELECT ts, ${calls} FROM t ALIGN '2s' BY ()`, { bytes: 32 * 1024, references });
      await check(`SELECT ts, dc, ${calls} FROM t ALIGN '2s' BY (dc)`, { bytes: 32 * 1024, references });
    }
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
  /** Partitions of about a thousand rows and of some. The oracle takes n³ steps: `window.test.ts` asks it about few rows. */
  const skewed = "(SELECT *, CASE WHEN n % 10 < 8 THEN 'most' ELSE 'other ' || CAST(n % 40 AS STRING) END AS part FROM t) AS q";
  const partitions = ["PARTITION BY part", ""];
  const orders = ["ORDER BY ts, host", "ORDER BY n", "ORDER BY n DESC NULLS LAST", "ORDER BY d, host", ""];
  const calls = [
    "row_number()",
    "rank()",
    "dense_rank()",
    "percent_rank()",
    "cume_dist()",
    "ntile(7)",
    "lag(s)",
    "lag(n, 3, -1)",
    "lag(x, 2) IGNORE NULLS",
    "lead(w, 40)",
    "lead(s, 1) IGNORE NULLS",
    "lead(n, 100000)",
    "first_value(ts)",
    "first_value(n) IGNORE NULLS",
    "last_value(x)",
    "nth_value(d, 5)",
    "count(*)",
    "count(x)",
    "sum(n)",
    "sum(w)",
    "avg(x)",
    "min(s)",
    "max(ts)",
    "max(d)",
    "stddev(n)",
    "sum(n) FILTER (WHERE x > 100)",
    "count(DISTINCT dc)",
    "anomaly_score_zscore(x)",
  ];
  const frames = [
    "",
    "ROWS BETWEEN 5 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 30 PRECEDING AND 20 PRECEDING",
    "ROWS BETWEEN 3 FOLLOWING AND 9 FOLLOWING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 4 FOLLOWING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
  ];
  const groups = ["GROUPS BETWEEN 2 PRECEDING AND 1 FOLLOWING", "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"];
  const ranges = ["RANGE BETWEEN 20 PRECEDING AND 3 FOLLOWING", "RANGE BETWEEN UNBOUNDED PRECEDING AND 5 PRECEDING"];
  const framed = (call: string): boolean => !/rank|row_number|cume|ntile|lag|lead/.test(call);

  test("over one partition that does not fit", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...partitions),
        fc.constantFrom(...orders),
        fc.subarray(calls, { minLength: 1, maxLength: 3 }),
        fc.nat(10),
        fc.constantFrom(40, 4000),
        async (partition, order, some, pick, batchRows) => {
          setBatchRows(batchRows);
          const allowed = [...frames, ...(order === "" ? [] : groups), ...(/BY n/.test(order) ? ranges : [])];
          const frame = allowed[pick % allowed.length] ?? "";
          const texts = some.map((call) => `${call} OVER (${partition} ${order} ${framed(call) ? frame : ""})`);
          await check(`SELECT part, ts, host, ${texts.join(", ")} FROM ${skewed}`, {
            bytes: 64 * 1024,
            references: [false],
            byOracle: false,
          });
        },
      ),
      { seed: 5, numRuns: 30 },
    );
  });
  test("over one partition, as the oracle does", async () => {
    setBatchRows(100);
    await check(
      "SELECT n, ts, sum(x) OVER (ORDER BY ts), row_number() OVER (ORDER BY ts), lag(s, 2) OVER (ORDER BY ts) FROM t WHERE ts < 150000",
      {
        bytes: 16 * 1024,
      },
    );
  });
  test("over one partition, to whose end frames reach", async () => {
    setBatchRows(100);
    const frame = "OVER (ORDER BY ts, host ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)";
    const few = { bytes: 64 * 1024, references: [false], byOracle: false };
    await check(`SELECT ts, host, last_value(s) ${frame}, nth_value(n, 3) ${frame}, last_value(x) IGNORE NULLS ${frame} FROM t`, few);
    await check(`SELECT *, sum(n) ${frame} FROM t WHERE ts < 700000`, { ...few, bytes: 128 * 1024 });
  });
  test("a frame that has to be held and does not fit is refused by name", async () => {
    setBatchRows(100);
    const refused = async (call: string, want: RegExp): Promise<void> => {
      const spill = new MemorySpill();
      const run = data.sql(`SELECT n, ${call} FROM t`, { memoryBytesMax: 48 * 1024, spill });
      expect(await run.then(() => "it ran", String), call).toMatch(want);
      expect(spill.open).toBe(0);
    };
    const tooLarge = /a frame of .*\(\) OVER holds \d+ rows of a partition of 1500, which do not fit .* query.memory_limit/;
    await refused("median(x) OVER (ORDER BY ts ROWS BETWEEN 1000 PRECEDING AND CURRENT ROW)", tooLarge);
    await refused("anomaly_score_mad(x) OVER (ORDER BY ts ROWS 1400 PRECEDING)", tooLarge);
    await refused("string_agg(s, ',') OVER (ORDER BY ts)", /query.memory_limit allows \(window holds/);
  });
});
