import { beforeEach, describe, expect, test } from "bun:test";
import type { ScanRequest } from "../../table/scan.ts";
import { rowsHere } from "../../../test/support/cluster/rows-here.ts";
import { MemorySpill } from "../../../test/support/memory-spill.ts";
import { checkFails } from "../../../test/support/query-check.ts";
import { QueryFixture } from "../../../test/support/query-fixture.ts";

let fixture: QueryFixture;
beforeEach(async () => {
  fixture = new QueryFixture();
  await fixture.sql("CREATE TABLE cpu (host STRING, dc STRING, v BIGINT, w DOUBLE, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (host, dc))");
  const rows = Array.from({ length: 600 }, (_, i) => `('h${i % 3}', 'd', ${i}, ${i / 2}, ${1_700_000_000_000 + i * 10_000})`);
  await fixture.sql(`INSERT INTO cpu VALUES ${rows.join(", ")}`);
});

/** The last request that a query makes of its table. */
async function request(sql: string): Promise<ScanRequest> {
  await fixture.sql(sql);
  const last = fixture.catalog.table("public", "cpu")?.requests.at(-1);
  if (last === undefined) throw new Error("no scan");
  return last;
}

async function explained(sql: string): Promise<string> {
  const { rows } = await fixture.sql(`EXPLAIN ${sql}`);
  return String(rows[1]?.[1]);
}

describe("push-down", () => {
  rowsHere("what its scan is asked for").test("reads only the columns that are used", async () => {
    expect((await request("SELECT v + 1 FROM cpu WHERE w > 3")).projection).toEqual(["v", "w"]);
    expect((await request("SELECT count(*) FROM cpu")).projection).toEqual([]);
    expect((await request("SELECT max(v) FROM cpu GROUP BY host")).projection).toEqual(["v"]);
  });

  async function range(where: string, start: bigint | undefined, end: bigint | undefined): Promise<void> {
    const { timeRange } = await request(`SELECT v FROM cpu WHERE ${where}`);
    expect([where, timeRange.start, timeRange.end]).toEqual([where, start ?? -(2n ** 63n), end ?? 2n ** 63n]);
    expect(await explained(`SELECT v FROM cpu WHERE ${where}`)).not.toContain("FilterExec");
  }

  test("makes the time range exact", async () => {
    await range("ts >= 1000", 1000n, undefined);
    await range("ts > 1000", 1001n, undefined);
    await range("1000 > ts", undefined, 1000n);
    await range("ts <= 1000", undefined, 1001n);
    await range("ts = 1000", 1000n, 1001n);
    await range("ts BETWEEN 1000 AND 2000", 1000n, 2001n);
    await range("ts >= '2023-11-14T00:00:00Z' AND ts < ' 2023-11-15 '", 1_699_920_000_000n, 1_700_006_400_000n);
    await range("ts > now() - INTERVAL '1 hour'", 1_704_067_200_000n - 3_600_000n + 1n, undefined);
  });

  test("compares digits finer than the column's unit exactly", async () => {
    await range("ts >= '1970-01-01 00:00:00.0000001'", 1n, undefined);
    await range("ts < '1970-01-01 00:00:00.0019'", undefined, 2n);
  });

  test("reads text in the zone of the session", async () => {
    await fixture.sql("SET time_zone = '+08:00'");
    await range("ts >= '1970-01-01 08:00:00'", 0n, undefined);
  });

  test("turns choices of one tag into a list", async () => {
    const { tagPredicates } = await request("SELECT v FROM cpu WHERE (host = 'h1' OR host IN ('h2') OR host IS NULL) AND dc = 'd'");
    expect(tagPredicates).toEqual([
      { kind: "in", column: "host", values: ["h1", "h2", undefined] },
      { kind: "in", column: "dc", values: ["d"] },
    ]);
  });

  rowsHere("what its scan is asked for").test("turns other conditions on one tag into a test", async () => {
    const { tagPredicates } = await request("SELECT v FROM cpu WHERE host <> 'h1' AND v > 0");
    const [predicate] = tagPredicates;
    expect(predicate?.kind === "test" ? ["h1", "h2", undefined].map((value) => predicate.test(value)) : []).toEqual([false, true, false]);
  });

  test("turns choices of a tag of another type than text into a list of its texts", async () => {
    await fixture.sql(
      "CREATE TABLE typed (id INT, big BIGINT UNSIGNED, b BOOLEAN, d DOUBLE, day DATE, at TIMESTAMP(3), v INT, ts TIMESTAMP TIME INDEX, " +
        "PRIMARY KEY (id, big, b, d, day, at))",
    );
    const check = async (where: string, column: string, values: readonly (string | undefined)[]): Promise<void> => {
      await fixture.sql(`SELECT v FROM typed WHERE ${where}`);
      const { tagPredicates } = fixture.catalog.table("public", "typed")?.requests.at(-1) ?? {};
      expect([where, tagPredicates]).toEqual([where, [{ kind: "in", column, values }]]);
    };
    await check("id = 5", "id", ["5"]);
    await check("id = -5 OR id IS NULL", "id", ["-5", undefined]);
    await check("id IN (1, 2, 3)", "id", ["1", "2", "3"]);
    await check("id = 99999999999", "id", []);
    await check("big = 18446744073709551615", "big", ["18446744073709551615"]);
    await check("b = true", "b", ["true"]);
    await check("d = 1.50", "d", ["1.5"]);
    await check("d = -0.0", "d", ["0"]);
    await check("day = '2024-02-29'", "day", ["19782"]);
  });

  test("tests conditions on such a tag by its value", async () => {
    await fixture.sql("CREATE TABLE typed (id INT PRIMARY KEY, v INT, ts TIMESTAMP TIME INDEX)");
    await fixture.sql("SELECT v FROM typed WHERE id > 9");
    const [predicate] = fixture.catalog.table("public", "typed")?.requests.at(-1)?.tagPredicates ?? [];
    expect(predicate?.kind === "test" ? ["9", "10", "-50", undefined].map((text) => predicate.test(text)) : []).toEqual([
      false,
      true,
      false,
      false,
    ]);
  });

  rowsHere("what its scan is asked for").test("prunes by integer fields and keeps the filter", async () => {
    const { fieldBounds } = await request("SELECT v FROM cpu WHERE v > 90.5 AND v <= 200");
    expect(fieldBounds).toEqual([
      { column: "v", min: 90.5, max: undefined },
      { column: "v", min: undefined, max: 200 },
    ]);
    expect(await explained("SELECT v FROM cpu WHERE v > 90.5")).toContain("FilterExec");
  });

  rowsHere("what its scan is asked for").test("gives floats no lower bound, since NaN is above every number", async () => {
    expect((await request("SELECT v FROM cpu WHERE w > 1")).fieldBounds).toEqual([]);
    expect((await request("SELECT v FROM cpu WHERE w < 1")).fieldBounds).toEqual([{ column: "w", min: undefined, max: 1 }]);
  });

  rowsHere("what its scan is asked for").test("limits a scan only when nothing is dropped after it", async () => {
    expect((await request("SELECT v FROM cpu LIMIT 3 OFFSET 2")).limit).toBe(5);
    expect((await request("SELECT v FROM cpu WHERE v > 1 LIMIT 3")).limit).toBeUndefined();
  });

  test("orders rows by tags and time when no order is asked for", async () => {
    expect((await request("SELECT v FROM cpu")).order).toBe("listed");
    const { rows } = await fixture.sql("SELECT host, v FROM cpu LIMIT 2");
    expect(rows).toEqual([
      ["h0", 0],
      ["h0", 3],
    ]);
  });
});

describe("rules", () => {
  rowsHere("what its scan is asked for").test("newest values by tag read the newest row of each series", async () => {
    expect((await request("SELECT host, last_value(v ORDER BY ts), max(ts) FROM cpu GROUP BY host")).newestPerSeries).toBe(true);
    expect((await request("SELECT last_value(v ORDER BY ts) FROM cpu WHERE host = 'h1'")).newestPerSeries).toBe(true);
  });

  rowsHere("what its scan is asked for").test("anything else does not", async () => {
    for (const sql of [
      "SELECT last_value(v ORDER BY ts DESC) FROM cpu",
      "SELECT last_value(v ORDER BY ts), sum(v) FROM cpu",
      "SELECT last_value(v ORDER BY ts) FROM cpu WHERE v > 1",
      "SELECT last_value(v ORDER BY ts) FROM cpu GROUP BY v",
      "SELECT last_value(v ORDER BY ts), date_trunc('hour', ts) FROM cpu GROUP BY 2",
      "SELECT last_value(v ORDER BY v) FROM cpu",
    ]) {
      expect([sql, (await request(sql)).newestPerSeries]).toEqual([sql, undefined]);
    }
  });

  rowsHere("what its scan is asked for").test("the newest buckets are read first, and older ones only as needed", async () => {
    const table = fixture.catalog.table("public", "cpu");
    const { rows } = await fixture.sql("SELECT max(v), date_trunc('minute', ts) FROM cpu GROUP BY 2 ORDER BY 2 DESC LIMIT 3");
    expect(rows.map(([value]) => value)).toEqual([599, 597, 591]);
    expect(table?.requests.length).toBe(1);
    const first = table?.requests[0]?.timeRange.start ?? 0n;
    expect(first > 1_700_005_000_000n).toBe(true);
  });

  test("a gap makes the ranges grow until enough buckets are found", async () => {
    await fixture.sql("INSERT INTO cpu VALUES ('h0', 'd', 7, 7, '2023-12-24')");
    const { rows } = await fixture.both("SELECT max(v), date_trunc('minute', ts) FROM cpu GROUP BY 2 ORDER BY 2 DESC LIMIT 3");
    expect(rows.map(([value]) => value)).toEqual([7, 599, 597]);
  });

  rowsHere("what its scan is asked for").test("the newest rows are read first", async () => {
    const { rows } = await fixture.sql("SELECT v FROM cpu ORDER BY ts DESC LIMIT 2");
    expect(rows).toEqual([[599], [598]]);
    expect((fixture.catalog.table("public", "cpu")?.requests[0]?.timeRange.start ?? 0n) > 1_700_005_900_000n).toBe(true);
  });
});

describe("errors", () => {
  const fails = (sql: string, code: number, message: string): Promise<void> => checkFails(fixture, sql, message, code);

  test("name what is wrong and what is near", async () => {
    await fails("SELECT nope FROM cpu", 3000, "No field named nope. Valid fields are cpu.host, cpu.dc, cpu.v, cpu.w, cpu.ts.");
    await fails("SELECT hostt FROM cpu", 3000, "Did you mean 'host'?");
    await fails("SELECT a", 3000, "No field named a.");
    await fails("SELECT * FROM nope", 4001, "Table not found: greptime.public.nope");
    await fails("SELECT sqr(v) FROM cpu", 3000, "Invalid function 'sqr'.\nDid you mean 'sqrt'?");
    await fails("SELECT round('a') FROM cpu", 3000, "No function matches round(String); use round(number[, digits])");
  });

  test("guard grouping", async () => {
    await fails("SELECT v, max(w) FROM cpu", 3000, 'column "v" is neither');
    await fails("SELECT max(v) FROM cpu WHERE max(v) > 1", 3000, "aggregates are not allowed in WHERE");
    await fails("SELECT max(sum(v)) FROM cpu", 3000, "has an aggregate inside");
    await fails("SELECT v FROM cpu GROUP BY 3", 3000, "position 3");
  });

  test("guard aliases in ORDER BY", async () => {
    await fails("SELECT v AS x FROM cpu ORDER BY y + 1", 3000, "No field named y");
    await fails("SELECT DISTINCT v AS x FROM cpu ORDER BY x + 1", 3000, "must appear in select list");
  });

  test("guard order and limit", async () => {
    await fails("SELECT v FROM cpu ORDER BY 3", 3000, "Order by column out of bounds, specified: 3, max: 1");
    await fails("SELECT DISTINCT v FROM cpu ORDER BY w", 3000, "must appear in select list");
    await fails("SELECT v FROM cpu LIMIT 'a'", 3001, "Expected LIMIT to be an integer or null");
  });

  test("guard types", async () => {
    await fails("SELECT v + true FROM cpu", 3000, "Cannot coerce arithmetic expression Int64 + Boolean");
    await fails("SELECT v FROM cpu WHERE v", 3000, "WHERE must be a Boolean condition");
    await fails("SELECT v FROM cpu WHERE ts > 'garbage'", 3001, "Error parsing timestamp from 'garbage'");
    await fails("SELECT CAST('abc' AS INT)", 3001, "Cannot cast string 'abc' to value of Int32 type");
    await fails("SELECT 1 / 0", 3001, "Divide by zero error");
    await fails("SELECT 100::DECIMAL(3,1)", 3001, "100.0 is too large to store in a Decimal128 of precision 3. Max is 99.9");
  });
});

test("EXPLAIN names what the scan is asked for", async () => {
  const text = await explained(
    "SELECT max(v) FROM cpu WHERE host = 'h1' AND ts < '2023-11-15' AND w > 1 GROUP BY date_trunc('hour', ts), dc",
  );
  expect(text.split("\n")).toEqual([
    "ProjectionExec: [max AS max(v)]",
    "  AggregateExec: by=[time bucket of 3600000 milliseconds, dc (once a series)], aggregates=[max(v)]",
    "    FilterExec: (w > 1.0)",
    "      ScanExec: public.cpu, projection=[v, w, ts], time=[-inf, 2023-11-15T00:00:00), tags=[host in ('h1')], " +
      "prune=[w in 1..+inf], order=none",
  ]);
});

test("EXPLAIN ANALYZE counts rows", async () => {
  const { columns, rows } = await fixture.sql("EXPLAIN ANALYZE SELECT v FROM cpu WHERE v < 10");
  expect(columns).toEqual(["stage", "node", "plan"]);
  expect(String(rows[0]?.[2])).toContain("rows_scanned: 600");
  expect(rows[1]).toEqual([undefined, undefined, "Total rows: 10"]);
});

test("EXPLAIN ANALYZE tells times with and without the operators below, and what was spilled", async () => {
  const spill = new MemorySpill();
  const { rows } = await fixture.sql("EXPLAIN ANALYZE FORMAT JSON SELECT v, w FROM cpu ORDER BY v", { memoryBytesMax: 32_768, spill });
  const sort: unknown = JSON.parse(String(rows[0]?.[2]));
  const metrics = { output_batches: expect.any(Number), output_bytes: expect.any(Number), elapsed: expect.any(Number) };
  const scanned = { spilled_bytes: 0, rows_returned: 600, pages_read: expect.any(Number), files_skipped: 0 };
  expect(sort).toMatchObject({
    name: "SortExec",
    output_rows: 600,
    elapsed_compute: expect.any(Number),
    metrics: { ...metrics, spilled_bytes: spill.written },
    children: [{ metrics: { ...metrics, spilled_bytes: 0 }, children: [{ metrics: { ...metrics, ...scanned } }] }],
  });
  expect(spill.written).toBeGreaterThan(0);
  const text = await fixture.sql("EXPLAIN ANALYZE SELECT v, w FROM cpu ORDER BY v", { memoryBytesMax: 32_768, spill: new MemorySpill() });
  expect(String(text.rows[0]?.[2])).toMatch(/SortExec.* metrics=\[output_rows: 600, elapsed_compute: \d+\.\d+ms, .*spilled_bytes: \d+\]/);
});

test("EXPLAIN VERBOSE shows generated loops", async () => {
  const { rows } = await fixture.sql("EXPLAIN VERBOSE SELECT v FROM cpu WHERE v < 10");
  expect(String(rows[2]?.[1])).toContain("for (let i = 0; i < n; i++)");
});

test("ORDER BY takes aliases as parts of expressions, columns before them", async () => {
  const values = async (sql: string): Promise<readonly unknown[]> => (await fixture.both(sql)).rows.map((row) => row[0]);
  expect(await values("SELECT v AS x FROM cpu WHERE v < 3 ORDER BY x * -1")).toEqual([2, 1, 0]);
  expect(await values("SELECT -v AS w FROM cpu WHERE v < 3 ORDER BY w + 0")).toEqual([0, -1, -2]);
  expect(await values("SELECT upper(host) AS x, count(*) AS n FROM cpu GROUP BY host ORDER BY n * 2, concat(x, 'z') DESC")).toEqual([
    "H2",
    "H1",
    "H0",
  ]);
  expect(await values("SELECT host AS x, max(v) AS m FROM cpu GROUP BY x HAVING abs(m) < 599 ORDER BY abs(m) DESC, upper(x)")).toEqual([
    "h1",
    "h0",
  ]);
  expect(await values("SELECT v, row_number() OVER (ORDER BY v) AS r FROM cpu WHERE v < 3 ORDER BY r % 2, v")).toEqual([1, 0, 2]);
});

test("a SELECT of too many columns, and too many set operations, are refused", async () => {
  const fixture = new QueryFixture();
  const refused = (sql: string): Promise<string> => fixture.sql(sql).then(() => "no error", String);
  const columns = (count: number): string => Array.from({ length: count }, (_, i) => `${i}`).join(", ");
  expect(await refused(`SELECT ${columns(4096)}`)).toBe("no error");
  expect(await refused(`SELECT ${columns(4097)}`)).toContain("a SELECT gives 4096 columns at most; this one gives 4097");
  const unions = (count: number): string => new Array<string>(count + 1).fill("SELECT 1").join(" UNION ALL ");
  expect(await refused(unions(1000))).toBe("no error");
  expect(await refused(unions(1001))).toContain("more than 1000 set operations");
});
